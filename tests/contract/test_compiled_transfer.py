"""Responses: the compiled module makes of them what Python does, and leaves the transfer as Python does."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import msgspec
import pycurl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.fetch import fetcher as fetcher_module
from gossamer.fetch import transfer as transfer_module
from gossamer.fetch.route import Route
from gossamer.fetch.transfer import Transfer, compiled
from gossamer.model import Fault, Method, Page, Visit

built = pytest.mark.skipif(
    compiled is None, reason="THE COMPILED MODULE IS NOT BUILT: Python alone is tested elsewhere"
)
HOSTS = ["127.0.0.1", "127.0.0.2:8080", "rule.test", "refused.test:22", "several.test", "late.test", "é.test"]
NOW = 1_000.5
USUAL = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"


class Handle:
    """A handle that the test plays libcurl on."""

    def __init__(self) -> None:
        self.options: dict[int, Any] = {}
        self.said = 0  # the length of the response, for libcurl

    def setopt(self, option: int, value: object) -> None:
        self.options[option] = value

    def unsetopt(self, option: int) -> None:
        del self.options[option]

    def getinfo(self, what: int) -> object:
        return {pycurl.PRIMARY_IP: "127.0.0.5", pycurl.CONTENT_LENGTH_DOWNLOAD_T: self.said}[what]

    def close(self) -> None:
        pass


class Handles:
    """The multi handle of them."""

    def __init__(self) -> None:
        self.added: list[Handle] = []
        self.over: tuple[list[Handle], list[tuple[Handle, int, str]]] = [], []

    def add_handle(self, curl: Handle) -> None:
        self.added.append(curl)

    def remove_handle(self, curl: Handle) -> None:
        self.added.remove(curl)

    def info_read(self, most: int) -> tuple[int, list[Handle], list[tuple[Handle, int, str]]]:
        return 0, *self.over

    def perform(self) -> None:
        pass

    def setopt(self, option: int, value: object) -> None:
        pass

    close = perform


class Response(msgspec.Struct):
    host: str = HOSTS[0]
    path: str = "/a"
    robots: bool = False
    source: bool = False
    method: Method = Method.GET
    validators: tuple[bytes, bytes] = (b"", b"")
    opens: bool = False  # a new connection
    asks: int = 1  # times
    head: bytes = USUAL
    pieces: list[bytes] = msgspec.field(default_factory=lambda: [b"hello"])
    said: int = 5
    error: int = 0


def by(one: Response) -> Visit:
    return Visit(
        f"http://{one.host}{one.path}", HOSTS[1] if one.robots else one.host, 0, 0, 1,
        robots=one.robots, source=one.source, method=one.method, validators=one.validators,
    )  # fmt: skip


def answered(curl: Handle, transfer: Transfer, one: Response) -> list[object]:
    """What libcurl does with a response, and what it was told."""
    transfer._opened, transfer.refused = one.opens, "192.0.2.9" if one.opens else transfer.refused
    told: list[object] = [curl.options[pycurl.PREREQFUNCTION]("1", "2", 3, 4) for _ in range(one.asks)]
    curl.said = one.said
    for line in one.head.splitlines(keepends=True):
        curl.options[pycurl.HEADERFUNCTION](line)
    for piece in one.pieces:
        told.append(curl.options[pycurl.WRITEFUNCTION](piece))
        if told[-1] == 0:
            break
    return told


def left(transfer: Transfer) -> dict[str, object]:
    """Its state, but for what nobody can compare."""
    state = {name: getattr(transfer, name, None) for name in Transfer.__slots__}
    state["_more"] = transfer._more and transfer._more.getvalue()
    state["options"] = {key: value for key, value in transfer.curl.options.items() if not callable(value)}
    state["route"] = transfer.route._name, transfer.route._chosen, transfer.route._told._under_way
    for name in ("curl", "_guard", "_limits", "_watch", "_may_post"):
        del state[name]
    return state


async def trial(responses: list[Response], max_length: int, compiles: bool) -> list[str]:
    """All that can be seen of one response after the other."""
    seen: list[str] = []
    config = FetchConfig(allow_private=True, connect=("rule.test=127.0.0.3:80",), max_body=60, max_headers=300)
    with ExitStack() as stack:
        stack.enter_context(patch.object(pycurl, "Curl", Handle))
        stack.enter_context(patch.object(pycurl, "CurlMulti", Handles))
        if not compiles:
            stack.enter_context(patch.object(fetcher_module, "compiled", None))
            stack.enter_context(patch.object(transfer_module, "compiled", None))
        resolver = Resolver(config.connect, (), lambda: NOW)
        types = ("text/html", "text/plain")
        fetcher = Fetcher(config, "us", types, (), resolver, lambda: NOW, max_length=max_length, sources=True)
        refused = fetcher._routes.by_host["refused.test:22"] = Route("refused.test:22")
        refused.refused = {"http": "no"}
        fetcher._routes.by_host["several.test"] = Route("several.test", addresses=["127.0.0.4", "127.0.0.5"])
        fetcher._routes.by_host["late.test"] = Route("late.test", until=NOW)
        fetcher._routes.by_host["é.test"] = Route("é.test")
        for one in responses:
            visit = by(one)
            fetcher.start(visit)
            seen.append(repr((len(fetcher._resolving), [left(transfer) for transfer in fetcher._busy.values()])))
            fetcher.abort(lambda visit: visit.host == "late.test")
            for curl, transfer in list(fetcher._busy.items()):
                told = answered(curl, transfer, one)
                error = 23 if 0 in told[one.asks :] else 42 if any(told[: one.asks]) else one.error
                fetcher._multi.over = ([], [(curl, error, "why")]) if error else ([curl], [])
                seen.append(repr((told, left(transfer))))
            outcomes = fetcher._collect()
            assert all(settled is visit for settled, _ in outcomes)
            seen.append(repr((outcomes, [left(transfer) for transfer in fetcher._free], len(fetcher._multi.added))))
        await fetcher.close()
    return seen


def the_same(responses: list[Response], max_length: int = 0) -> None:
    """After some others, so that types are known and a transfer is there."""
    known = [
        Response(head=USUAL.replace(b"text/html", one)) for one in (b"text/html", b"image/png", b"application/xml")
    ]
    ours = asyncio.run(trial(known + responses, max_length, compiles=True))
    assert ours == asyncio.run(trial(known + responses, max_length, compiles=False))


_LINES = [
    b"Server: x", b"Content-Type: text/html", b"content-TYPE\t : \ttext/html ", b"Content-Type: text/plain",
    b"ETag: 1", b"Content-Type: image/png", b"Content-Type: application/xml", b"Content-Type: no type",
    b"Content-Type:", b"X-Content-Type: image/png", b"Content-Types: x", b"Content-Length: 5",
    b"Content-Length: 41", b"content-length:39", b"Content-Length : 99", b"Content-Length: x",
    b"Content-Length: 999999999999999999", b"Content-Length: 1" + b"0" * 18, b"Content-Length: " + b"0" * 30,
    b"Content-Length: 9223372036854775808", b"Transfer-Encoding: chunked", b"Content-Encoding: gzip",
    b"X: -eNcoding", b"X: -", b"Content-Type", b"Content-Length", b"", b"\xff\0: \x80", b"X: " + b"y" * 250,
]  # fmt: skip
_STATUS = [
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 204 x", b"HTTP/1.1 301 x", b"HTTP/1.1 304 x", b"HTTP/1.1 404 x",
    b"HTTP/1.1 200", b"HTTP/1.1 999\tx", b"HTTP/1.1 2000", b"HTTP/1.1 099 x", b"HTTP/1.1 100 Continue", b"HTTP/1.1 20",
    b"HTTP/1.1 103 x", b"HTTP/2 200 ", b"HTTP/2 404 ", b"HTTP/2.0 200 x", b"HTTP/1 200 x", b"HTTP/3 200 ",
    b"ICY 200 OK", b"http/1.1 200 OK", b"HTTP/1.1 200\0", b"HTTP/1.x 200 OK", b"HTTP/1.1  200 OK", b"",
]  # fmt: skip
_BREAK = st.sampled_from([b"\r\n"] * 8 + [b"\n", b"\n", b"\r", b"", b" \r\n"])
_BLOCK = st.builds(
    lambda status, lines, end: b"".join([*status, *(part for line in lines for part in line), end]),
    st.tuples(st.just(_STATUS[0]) | st.sampled_from(_STATUS), _BREAK),
    st.lists(st.tuples(st.just(_LINES[1]) | st.sampled_from(_LINES), _BREAK), max_size=5),
    st.sampled_from([b"\r\n"] * 6 + [b"\n", b"\r", b""]),
)
_HEAD = st.just(USUAL) | _BLOCK | st.lists(_BLOCK, max_size=3).map(b"".join)
_PIECE = st.sampled_from([b"", b"x", b"hello", b"5\r\nhello\r\n0\r\n\r\n", b"<html>", b"%PDF-", b"y" * 39, b"z" * 61])
_PIECES = st.lists(_PIECE, max_size=3) | st.lists(_PIECE, max_size=20) | st.integers(14, 20).map(lambda n: [b"a"] * n)
_RESPONSE = st.builds(
    Response,
    host=st.just(HOSTS[0]) | st.sampled_from(HOSTS),
    path=st.sampled_from(["/", "/a/b?c=//d", "/sitemap.xml", "/é", "//x//"]),
    robots=st.sampled_from([False] * 5 + [True]),
    source=st.sampled_from([False] * 5 + [True]),
    method=st.sampled_from([Method.GET] * 5 + [Method.HEAD]),
    validators=st.sampled_from([(b"", b"")] * 5 + [(b'"e"', b""), (b"", b"Sun, 06 Nov 1994 08:49:37 GMT")]),
    opens=st.booleans(),
    asks=st.sampled_from([1, 1, 1, 2]),
    head=_HEAD,
    pieces=_PIECES,
    said=st.sampled_from([5, -1]),
    error=st.sampled_from([0] * 6 + [18, 28, 56]),
)


@built
@given(st.lists(_RESPONSE, min_size=1, max_size=4), st.sampled_from([0, 40]))
@example([Response(head=b""), Response()], 0)
@settings(max_examples=600)
def test_responses_of_any_form(responses: list[Response], max_length: int) -> None:
    the_same(responses, max_length)


@built
@pytest.mark.parametrize("status", _STATUS)
@pytest.mark.parametrize("robots", [False, True])
@pytest.mark.parametrize("max_length", [0, 40])
def test_each_status_with_each_line(status: bytes, robots: bool, max_length: int) -> None:
    heads = [b"\r\n".join([status, *lines, b"", b""]) for line in _LINES for lines in ([line], [_LINES[1], line])]
    bodies: list[list[bytes]] = [[], [b"hello"], [b"5\r\nhello\r\n0\r\n\r\n"]]
    the_same(
        [Response(robots=robots, head=head, pieces=body, said=-1) for head in heads for body in bodies], max_length
    )


@built
@pytest.mark.parametrize("line_break", [b"\r\n", b"\n"])
@pytest.mark.parametrize("interim", [100, 103])
def test_what_comes_before_the_response(interim: int, line_break: bytes) -> None:
    head = b"HTTP/1.1 %d x\r\nLink: y\r\n\r\n" % interim + USUAL
    the_same([Response(head=head.replace(b"\r\n", line_break)), Response()])


@built
@pytest.mark.parametrize("lines", [998, 999, 1000, 1001, 5999, 6000, 6001])
def test_many_lines(lines: int) -> None:
    the_same([Response(head=USUAL[:-2] + b"\n" * lines), Response()])


def python_calls(usual: int, compiles: bool) -> int:
    """Of the methods that the compiled module stands for."""
    with ExitStack() as stack:
        spies = [
            stack.enter_context(patch.object(Transfer, name, autospec=True, side_effect=getattr(Transfer, name)))
            for name in ("begin", "end", "_on_body", "_end_of_headers", "_before_request")
        ]
        asyncio.run(trial([Response()] * usual, 0, compiles))
        return sum(spy.call_count for spy in spies)


@built
def test_what_is_usual_needs_no_python() -> None:
    assert python_calls(9, compiles=True) == python_calls(2, compiles=True)
    assert python_calls(9, compiles=False) > python_calls(2, compiles=False)


@built
def test_nothing_is_held_for_ever() -> None:
    """Neither by what is usual nor by what is left to Python."""
    shared = None, True, False, 0, "", b"", Page, Fault, Visit, Transfer, Route

    def counts() -> list[int]:
        return [sys.getallocatedblocks(), *map(sys.getrefcount, shared)]

    def held(rounds: int) -> list[int]:
        heads = USUAL, _LINES[1], USUAL.replace(b"200", b"404"), USUAL.replace(b"html", b"none")
        responses = [Response(head=head, host=host) for head in heads for host in HOSTS[:4]] * rounds
        before = counts()
        asyncio.run(trial(responses, 0, compiles=True))
        del responses
        gc.collect()
        return [now - then for now, then in zip(counts(), before, strict=True)]

    held(1)
    assert max(held(100)) < 200, "1,600 responses"


@built
def test_wrong_arguments_are_said() -> None:
    for call, arguments in (
        (compiled.start, ()), (compiled.start, (None, {}, NOW, (), {}, None)),
        (compiled.finish, ()), (compiled.finish, ([], {}, None, [], "", None, NOW)),
        (compiled.finish, ([Handle()], {}, Handles(), [], b"", None, NOW)),
        (compiled.bind, ()), (compiled.bind, (1, 2, 3, 4, 5, 6, 7)),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            call(*arguments)
    handles, handle = Handles(), Handle()
    handles.add_handle(handle)
    with pytest.raises(KeyError):
        compiled.finish([handle], {}, handles, [], b"", None, NOW)
