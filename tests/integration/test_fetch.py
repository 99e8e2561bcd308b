"""The fetcher against servers that answer well and badly: each answer has its result, its bytes are kept exactly."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
from collections.abc import Iterator

import pycurl
import pytest

from gossamer.config import FetchConfig
from gossamer.fetch import Answer, Fetcher, Outcome, Resolver
from gossamer.fetch.fetcher import turns_apart
from gossamer.fetch.guard import Guard
from gossamer.fetch.transfer import Limits, Transfer
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request

URL = "http://a.test/page?x=1"
BODY = b"<html>" + b"hello " * 500 + b"</html>"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


def fetch(web: TinyWeb, *urls: str, types: tuple[str, ...] = ("text/html",), **options: object) -> list[Page | Fault]:
    """The outcomes of these URLs, in their order, all asked for at once."""
    config = FetchConfig(allow_private=True, connect=(web.connect,), **options)  # type: ignore[arg-type]

    async def run() -> list[Page | Fault]:
        resolver = Resolver(config.connect, (), time.time)
        fetcher = Fetcher(config, "gossamer/test (+mailto:a@b.test)", types, (), resolver, time.time)
        found: dict[str, Page | Fault] = {}
        for url in urls:
            fetcher.start(Visit(url, "a.test", 0, 0, 1))
        while len(found) < len(urls):
            for visit, outcome in await fetcher.wait(1.0):
                found[visit.url] = outcome
        assert fetcher.in_flight == 0
        await fetcher.close()
        return [found[url] for url in urls]

    return asyncio.run(run())


def answer(web: TinyWeb, *parts: bytes | float, end: End = End.CLOSE, **options: object) -> Page | Fault:
    web.add_handler(URL, lambda request: Reply(parts, end))
    return fetch(web, URL, **options)[0]  # type: ignore[arg-type]


def page(outcome: Page | Fault) -> Page:
    assert isinstance(outcome, Page), outcome
    return outcome


def fault(outcome: Page | Fault) -> Fault:
    assert isinstance(outcome, Fault), outcome
    return outcome


def test_the_request_is_recorded_as_it_was_sent(web: TinyWeb) -> None:
    heads: list[bytes] = []

    def handler(request: Request) -> bytes:
        heads.append(request.head)
        return HTML + b"Content-Length: 2\r\n\r\nok"

    web.add_handler(URL, handler)
    got = page(fetch(web, URL)[0])
    assert got.request == heads[0] + b"\r\n"
    assert b"User-Agent: gossamer/test (+mailto:a@b.test)\r\n" in got.request
    assert got.head == HTML + b"Content-Length: 2\r\n\r\n"
    assert (got.status, got.raw, got.body, got.address, got.content_type) == (
        200,
        b"ok",
        b"ok",
        "127.0.0.1",
        "text/html",
    )


def test_compressed_and_chunked_bodies_are_kept_as_sent(web: TinyWeb) -> None:
    packed = gzip.compress(BODY)
    chunks = b"".join(
        b"%x\r\n%b\r\n" % (len(packed[at : at + 50]), packed[at : at + 50]) for at in range(0, len(packed), 50)
    )
    sent = chunks + b"0\r\n\r\n"
    got = page(answer(web, HTML, b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", sent, end=End.KEEP))
    assert got.raw == sent
    assert got.body == BODY
    assert got.truncated == ""


def test_interim_responses_are_left_out(web: TinyWeb) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
    got = page(answer(web, early, HTML, b"Content-Length: 2\r\n\r\nok"))
    assert got.status == 200
    assert got.head.startswith(b"HTTP/1.1 200 OK\r\n")


def test_http_1_0_without_a_length_ends_with_the_connection(web: TinyWeb) -> None:
    got = page(answer(web, b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n", BODY))
    assert (got.body, got.truncated) == (BODY, "")


def test_a_body_over_the_cap_is_cut_and_marked(web: TinyWeb) -> None:
    def endless() -> Iterator[bytes]:
        yield HTML + b"\r\n"
        while True:
            yield b"x" * 10_000

    web.add_handler(URL, lambda request: Reply(endless(), End.CLOSE))
    got = page(fetch(web, URL, max_body=123_456)[0])
    assert (len(got.body), got.truncated) == (123_456, "length")


def test_a_bomb_is_cut_and_marked(web: TinyWeb) -> None:
    bomb = gzip.compress(bytes(30_000_000))
    got = page(
        answer(web, HTML, b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb), bomb, max_body=100_000)
    )
    assert (len(got.body), got.truncated, got.raw) == (100_000, "length", bomb)


def test_an_early_close_keeps_what_came(web: TinyWeb) -> None:
    got = page(answer(web, HTML, b"Content-Length: 10000\r\n\r\n", BODY))
    assert (got.body, got.truncated) == (BODY, "disconnect")


def test_a_body_that_stops_coming_keeps_what_came(web: TinyWeb) -> None:
    got = page(answer(web, HTML, b"Content-Length: 10000\r\n\r\n", BODY, end=End.HANG, timeout=0.3))
    assert (got.body, got.truncated) == (BODY, "time")


@pytest.mark.parametrize(
    ("parts", "end", "reason", "retry"),
    [
        ((), End.HANG, Reason.TIMEOUT, True),
        ((), End.CLOSE, Reason.CLOSED, True),
        ((), End.RESET, Reason.CLOSED, True),
        ((HTML,), End.CLOSE, Reason.CLOSED, True),
        ((HTML + b"Content-Length: 10\r\n\r\n",), End.CLOSE, Reason.CLOSED, True),
        ((b"220 mail.example.org ESMTP\r\n",), End.CLOSE, Reason.PROTOCOL, False),
        ((HTML + b"X: " + b"y" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",), End.CLOSE, Reason.TOO_LARGE, False),
        ((HTML + b"".join(b"X-%d: y\r\n" % n for n in range(100_000)),), End.CLOSE, None, None),
    ],
)
def test_no_page_has_a_reason(
    web: TinyWeb, parts: tuple[bytes, ...], end: End, reason: Reason | None, retry: bool | None
) -> None:
    got = fault(answer(web, *parts, end=end, timeout=0.5))
    if reason is not None:
        assert (got.reason, got.retry) == (reason, retry)


def test_other_types_stop_after_the_headers(web: TinyWeb) -> None:
    sent = []

    def parts() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000000\r\n\r\n"
        for number in range(10_000):
            sent.append(number)
            yield b"x" * 10_000

    web.add_handler(URL, lambda request: Reply(parts(), End.CLOSE))
    assert fault(fetch(web, URL)[0]).reason is Reason.UNWANTED_TYPE
    assert len(sent) < 5_000
    kind = b"HTTP/1.1 200 OK\r\nContent-Type: Image/PNG ; x=y\r\nContent-Length: 3\r\n\r\npng"
    assert page(answer(web, kind, types=("image/*",))).raw == b"png"
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nnone"
    assert page(answer(web, missing)).status == 404


def test_refused_connections_and_refused_addresses(web: TinyWeb) -> None:
    config = FetchConfig(connect=("*=127.0.0.1:1",), allow_private=True)
    for settings, reason in ((config, Reason.CONNECT), (FetchConfig(connect=(web.connect,)), Reason.ADDRESS)):

        async def run(settings: FetchConfig = settings) -> Page | Fault:
            fetcher = Fetcher(settings, "x", ("*/*",), (), Resolver(settings.connect, (), time.time), time.time)
            fetcher.start(Visit(URL, "a.test", 0, 0, 1))
            while not (done := await fetcher.wait(1.0)):
                pass
            await fetcher.close()
            return done[0][1]

        assert fault(asyncio.run(run())).reason is reason
    assert web.log.arrivals == []


def test_a_family_of_addresses_that_this_machine_has_not_is_no_shortage() -> None:
    transfer = Transfer(Guard(True), Limits(1, 1, ()), lambda _: None, {})
    unknown_family = 99
    assert transfer._open_socket(0, (unknown_family, socket.SOCK_STREAM, 0, ("127.0.0.1", 80))) == pycurl.SOCKET_BAD
    assert not transfer.starved, "it would be tried again for ever"


def test_many_at_once_each_get_their_own(web: TinyWeb) -> None:
    urls = [f"http://a.test/{number}" for number in range(200)]
    for number, url in enumerate(urls):
        web.add_page(url, body=f"page {number} " * number)
    for number, outcome in enumerate(fetch(web, *urls, connections=50)):
        assert page(outcome).body == b"page %d " % number * number


def test_what_comes_and_starts_at_once_is_taken_in_parts(web: TinyWeb) -> None:
    """So that no single turn of the loop is long."""
    urls = [f"http://h{number}.test/" for number in range(200)]
    for url in urls:
        web.add_handler(url, lambda request: Reply((0.2, HTML + b"Content-Length: 2\r\n\r\nok")))
    config = FetchConfig(allow_private=True, connect=(web.connect,), connections=300)

    async def run() -> tuple[list[int], list[int]]:
        resolver = Resolver(config.connect, (), time.time)
        fetcher = Fetcher(config, "gossamer/test (+mailto:a@b.test)", ("text/html",), (), resolver, time.time)
        rooms = [fetcher.room]
        for number, url in enumerate(urls):
            fetcher.start(Visit(url, f"h{number}.test", 0, 0, number))
        rooms.append(fetcher.room)
        parts = []
        while fetcher.in_flight:
            parts.append(len(await fetcher.wait(1.0)))
        await fetcher.close()
        return rooms, parts

    rooms, parts = asyncio.run(run())
    assert rooms == [64, 64]
    assert sum(parts) == 200
    assert max(parts) <= 64


@pytest.mark.parametrize(
    ("in_flight", "answer", "apart"),
    [
        (1, 10.0, 0.0),  # nobody is looked at in vain
        (20, 10.0, 0.0),
        (250, 0.0, 0.0),  # nothing is known yet
        (250, 0.02, 0.0),  # it would cost speed
        (250, 0.2, 0.005),
        (250, 10.0, 0.01),
        (4_000, 10.0, 0.05),
    ],
)
def test_how_far_turns_are_apart(in_flight: int, answer: float, apart: float) -> None:
    assert turns_apart(in_flight, answer) == pytest.approx(apart)


def test_where_answers_trickle_in_turns_are_apart_and_somebody_who_calls_is_heard(web: TinyWeb) -> None:
    urls = [f"http://h{number}.test/" for number in range(60)]
    for number, url in enumerate(urls):
        web.add_handler(url, lambda request, wait=number / 600: Reply((wait, HTML + b"Content-Length: 2\r\n\r\nok")))
    config = FetchConfig(allow_private=True, connect=(web.connect,), connections=100)

    async def run() -> list[tuple[float, float]]:
        resolver = Resolver(config.connect, (), time.time)
        fetcher = Fetcher(config, "gossamer/test (+mailto:a@b.test)", ("text/html",), (), resolver, time.time)
        fetcher._took = 10.0  # as if it had seen slow servers
        for number, url in enumerate(urls):
            fetcher.start(Visit(url, f"h{number}.test", 0, 0, number))
        turns = []
        ended = 0.0
        while fetcher.in_flight:
            await fetcher.wait(1.0)
            before, ended = ended, time.perf_counter()
            turns.append((turns_apart(len(fetcher._busy), fetcher._took), ended - before))
        asyncio.get_running_loop().call_soon(fetcher.wake)
        await fetcher._gather(3600.0)
        await fetcher.close()
        return turns

    turns = asyncio.run(run())
    assert len([wanted for wanted, _ in turns if wanted]) > 5
    assert all(taken > 0.9 * wanted for wanted, taken in turns)
    assert len(web.log.arrivals) == 60


def test_a_mistake_while_a_visit_is_started_loses_no_visit() -> None:
    class Broken(Resolver):
        async def resolve(self, name: str) -> Answer:
            raise RuntimeError("a mistake of ours")

    async def run() -> tuple[list[Outcome], list[str]]:
        seen: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context["message"]))
        fetcher = Fetcher(FetchConfig(), "gossamer", ("*/*",), (), Broken((), (), time.time), time.time)
        fetcher.start(Visit("http://a.test/", "a.test", 0, 0, 1))
        done = await fetcher.wait(5.0)
        assert fetcher.in_flight == 0
        await fetcher.close()
        return done, seen

    ((visit, outcome),), seen = asyncio.run(run())
    assert visit.url == "http://a.test/"
    assert fault(outcome).retry
    assert seen == ["http://a.test/ cannot be started"]
