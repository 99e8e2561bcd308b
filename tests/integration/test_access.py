"""Proxies, logins, headers and cookies over real sockets: who gets what, and what is kept of it."""

from __future__ import annotations

import asyncio
import base64
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawling import NAMES
from fastwarc.warc import ArchiveIterator, WarcRecordType
from proxying import proxy
from test_fetch import fault, page
from tls import tls_front

from gossamer.agent import read_visits, run
from gossamer.agent.explain import explain
from gossamer.agent.progress import Summary
from gossamer.config import Config, FetchConfig, HostRule, load
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Page, Reason, State, Visit
from gossamer.model.url import host_of
from gossamer.testing import TinyWeb
from gossamer.testing.web import Request

NO_DNS = "127.0.0.1:1"  # nothing listens there: every name fails at once
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


class Heads:
    """Remembers the requests for a page, and answers."""

    def __init__(self, answer: bytes = OK) -> None:
        self.seen: list[bytes] = []
        self.answer = answer

    def __call__(self, request: Request) -> bytes:
        self.seen.append(request.head + b"\r\n")
        return self.answer

    def header(self, name: str) -> list[bytes | None]:
        found = [re.search(rb"^%b: (.*)\r$" % name.encode(), head, re.M) for head in self.seen]
        return [match[1] if match else None for match in found]


def fetch(
    *urls: str,
    hosts: tuple[HostRule, ...] = (),
    networks: tuple[str, ...] = (),
    domains: tuple[str, ...] = (),
    **options: object,
) -> list[Page | Fault]:
    """The outcomes of these URLs, asked for one after the other by one fetcher."""
    config = FetchConfig(**{"dns": (NO_DNS,), **options})  # type: ignore[arg-type]

    async def visit() -> list[Page | Fault]:
        resolver = Resolver(config.connect, config.dns, time.time)
        fetcher = Fetcher(config, "gossamer/test", ("*/*",), networks, resolver, time.time, hosts, domains=domains)
        found = []
        for url in urls:
            fetcher.start(Visit(url, host_of(url), 0, 0, 1))
            while not (done := await fetcher.wait(1.0)):
                pass
            found += [outcome for _, outcome in done]
        await fetcher.close()
        return found

    return asyncio.run(visit())


def crawl(
    home: Path, seeds: list[str], hosts: tuple[HostRule, ...] = (), notices: list[str] | None = None, **options: object
) -> Summary:
    given = {"delay": "0", "scope": "any", "retry_wait": "10ms", **options}
    config = load(None, {NAMES[key]: value for key, value in given.items()})
    config = Config(
        **{name: getattr(config, name) for name in Config.__dataclass_fields__ if name != "hosts"}, hosts=hosts
    )
    return run(config, home, seeds, notice=None if notices is None else notices.append)


def stored_requests(home: Path) -> bytes:
    with open(next((home / "warc").glob("*.warc.gz")), "rb") as file:
        return b"".join(
            record.reader.read() for record in ArchiveIterator(file, WarcRecordType.request, parse_http=False)
        )


# -- proxies -----------------------------------------------------------------------------------------------------------


def test_plain_http_is_asked_of_the_proxy_and_the_request_kept_but_for_the_login(web: TinyWeb) -> None:
    heads = Heads()
    web.add_handler("http://www.example.org/x?y", heads)
    got = page(fetch("http://www.example.org/x?y", proxy=f"http://na%40me:pass@127.0.0.1:{web.port}")[0])
    login = base64.b64encode(b"na@me:pass")
    assert heads.header("Proxy-Authorization") == [b"Basic " + login]
    assert heads.seen[0].startswith(b"GET http://www.example.org/x?y HTTP/1.1\r\n")
    assert got.request == heads.seen[0].replace(b"Basic " + login, b"(withheld)")
    assert got.address == "", "the proxy's address is not the host's"


@pytest.mark.parametrize(("scheme", "asked"), [("socks5h", b"www.example.org"), ("socks5", b"93.184.216.34")])
def test_socks_with_names_resolved_there_and_here(web: TinyWeb, scheme: str, asked: bytes) -> None:
    heads = Heads()
    web.add_handler("http://www.example.org/", heads)
    web.add_handler("http://93.184.216.34/", heads)
    host = "www.example.org" if scheme == "socks5h" else "93.184.216.34"
    with proxy(web.port, login="name:pass") as socks:
        got = page(fetch(f"http://{host}/", proxy=f"{scheme}://name:pass@127.0.0.1:{socks.port}")[0])
        assert socks.asked == [asked]
        assert socks.logins == [b"name:pass"]
    assert got.request == heads.seen[0]
    assert got.address == ""


def test_socks_without_remote_names_pins_the_address_that_was_judged(web: TinyWeb) -> None:
    web.add_handler("http://localhost/", Heads())
    with proxy(web.port) as socks:
        settings = {"proxy": f"socks5://127.0.0.1:{socks.port}", "dns": ()}
        page(fetch("http://localhost/", allow_private=True, **settings)[0])
        assert socks.asked == [b"127.0.0.1"]
        assert fault(fetch("http://localhost/", **settings)[0]).reason is Reason.ADDRESS
        assert fault(fetch("http://no-such-name.invalid/", **settings)[0]).reason is Reason.DNS
        assert socks.asked == [b"127.0.0.1"]


def test_https_goes_through_a_tunnel(tmp_path: Path, web: TinyWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = Heads()
    web.add_handler("http://www.example.org/", heads)
    rule = HostRule("www.example.org", user="me:secret")
    with tls_front(tmp_path, "www.example.org", web.port) as (port, authority), proxy(port) as tunnel:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        got = page(fetch("https://www.example.org/", proxy=f"http://n:p@127.0.0.1:{tunnel.port}", hosts=(rule,))[0])
    assert tunnel.asked[0].startswith(b"CONNECT www.example.org:443 HTTP/1.1\r\n")
    assert b"\r\nAuthorization" not in tunnel.asked[0], "the login is for the server, not for the proxy"
    assert b"Proxy-Authorization: Basic bjpw\r\n" in tunnel.asked[0]
    assert b"Proxy-" not in heads.seen[0]
    assert got.head == OK[: -len(b"ok")], "the proxy's own answer is no part of it"
    assert got.request == heads.seen[0].replace(base64.b64encode(b"me:secret"), b"").replace(b"Basic ", b"(withheld)")


@pytest.mark.parametrize(
    "name", ["127.0.0.1", "10.1.2.3", "[::1]", "169.254.169.254", "localhost", "printer", "x.corp"]
)
def test_targets_that_are_not_allowed_are_not_sent_to_a_proxy(web: TinyWeb, name: str) -> None:
    with proxy(web.port) as through:
        for scheme in ("http", "socks5h"):
            got = fault(fetch(f"http://{name}/", proxy=f"{scheme}://127.0.0.1:{through.port}")[0])
            assert (got.reason, got.retry) == (Reason.ADDRESS, False)
        assert through.asked == []
        named = ("169.254.169.254/32",) if name.startswith("169.254.") else ()
        settings = {"proxy": f"http://127.0.0.1:{through.port}", "allow_private": True, "networks": named}
        page(fetch(f"http://{name}/", **settings)[0])  # type: ignore[arg-type]
        assert len(through.asked) == 1


def test_the_way_to_the_proxy_can_be_encrypted_and_is_verified(
    tmp_path: Path, web: TinyWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = Heads()
    web.add_handler("http://www.example.org/", heads)
    with tls_front(tmp_path, "localhost", web.port) as (port, authority):
        settings = {"proxy": f"https://n:p@localhost:{port}"}
        assert fault(fetch("http://www.example.org/", **settings)[0]).reason is Reason.PROXY
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        got = page(fetch("http://www.example.org/", **settings)[0])
    assert got.request == heads.seen[0].replace(b"Basic bjpw", b"(withheld)")


def test_networks_hold_through_a_proxy(web: TinyWeb) -> None:
    settings = {"proxy": f"http://127.0.0.1:{web.port}", "networks": ("93.184.216.0/24",)}
    page(fetch("http://93.184.216.34/", **settings)[0])  # type: ignore[arg-type]
    assert fault(fetch("http://93.184.217.34/", **settings)[0]).reason is Reason.ADDRESS  # type: ignore[arg-type]
    unknown = fault(fetch("http://www.example.org/", **settings)[0])  # type: ignore[arg-type]
    assert (unknown.reason, len(web.log.arrivals)) == (Reason.DNS, 1)
    settings["domains"] = ("example.org",)
    page(fetch("http://www.example.org/", **settings)[0])  # type: ignore[arg-type]
    unknown = fault(fetch("http://www.example.com/", **settings)[0])  # type: ignore[arg-type]
    assert (unknown.reason, len(web.log.arrivals)) == (Reason.DNS, 2)


def test_the_environment_neither_sets_nor_turns_off_a_proxy(web: TinyWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    web.add_handler("http://www.example.org/", Heads())
    monkeypatch.setenv("no_proxy", "*")
    page(fetch("http://www.example.org/", proxy=f"http://127.0.0.1:{web.port}")[0])
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{web.port}")
    assert fault(fetch("http://www.example.org/")[0]).reason is Reason.DNS
    assert len(web.log.arrivals) == 1


def test_a_pattern_has_its_own_proxy_or_none(web: TinyWeb) -> None:
    web.add_handler("http://in.example.org/", Heads())
    web.add_handler("http://out.example.org/", Heads())
    rules = (HostRule("in.example.org", proxy=f"http://127.0.0.1:{web.port}"), HostRule("127.0.0.1", proxy=""))
    urls = ("http://in.example.org/", "http://out.example.org/", web.url("/"))
    with proxy(web.port) as general:
        got = fetch(*urls, hosts=rules, proxy=f"socks5h://127.0.0.1:{general.port}", allow_private=True)
        assert general.asked == [b"out.example.org"]
    assert [page(outcome).address for outcome in got] == ["", "", "127.0.0.1"]


def test_a_connect_rule_goes_past_the_proxy_and_is_judged(web: TinyWeb) -> None:
    settings = {"proxy": "http://127.0.0.1:1", "connect": (web.connect,)}
    assert page(fetch("http://a.test/", allow_private=True, **settings)[0]).status == 404
    assert fault(fetch("http://a.test/", **settings)[0]).reason is Reason.ADDRESS


@pytest.mark.parametrize(
    ("status", "reason"), [(407, Reason.PROXY), (403, Reason.PROXY), (502, Reason.CONNECT), (504, Reason.CONNECT)]
)
def test_a_proxy_that_refuses_is_told_from_a_server_that_is_down(web: TinyWeb, status: int, reason: Reason) -> None:
    with proxy(web.port, connect_status=status) as through:
        where = f"127.0.0.1:{through.port}"
        got = fault(fetch("https://www.example.org/", proxy=f"http://n:secret@{where}")[0])
    assert (got.reason, got.retry) == (reason, True)
    assert f"the proxy http://{where} answers {status}" in got.detail
    assert "secret" not in got.detail


def test_plain_http_that_a_proxy_wants_a_login_for(web: TinyWeb) -> None:
    web.add_page("http://www.example.org/", status=407)
    got = fault(fetch("http://www.example.org/", proxy=f"http://127.0.0.1:{web.port}")[0])
    assert (got.reason, got.retry) == (Reason.PROXY, True)


def test_a_dead_proxy_costs_no_page_for_good(tmp_path: Path, web: TinyWeb) -> None:
    home, seeds = tmp_path / "c", ["http://www.example.org/"]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and listens to nobody; the port is no one else's meanwhile
        nobody = f"http://n:secret@127.0.0.1:{closed.getsockname()[1]}"
        for scheme in ("http", "socks5", "socks5h"):
            got = fault(fetch("http://93.184.216.34/", proxy=nobody.replace("http", scheme))[0])
            assert (got.reason, got.retry) == (Reason.PROXY, True)
            assert "the proxy" in got.detail
            assert "secret" not in got.detail
        web.add_page("http://www.example.org/", ["/next"])
        web.add_page("http://www.example.org/next")
        notices: list[str] = []
        first = crawl(home, seeds, notices=notices, proxy=nobody, dns=NO_DNS, max_tries=2)
    assert any("the proxy failed 2 times" in notice for notice in notices), notices
    assert (first.pages, first.faults, first.reason) == (0, 0, "complete")
    assert [visit.state for visit in read_visits(home)] == [State.QUEUED]
    second = crawl(home, seeds, proxy=f"http://127.0.0.1:{web.port}", dns=NO_DNS)
    assert (second.pages, second.ok) == (2, 2)


def test_a_proxy_that_dies_while_crawling_uses_up_no_tries(tmp_path: Path, web: TinyWeb) -> None:
    with proxy(web.port) as through:

        def last(request: Request) -> bytes:
            through.close()
            return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 14\r\n\r\n<a href=/next>"

        web.add_handler("http://www.example.org/", last)
        web.add_page("http://www.example.org/next")
        home, seeds = tmp_path / "c", ["http://www.example.org/"]
        crawl(home, seeds, proxy=f"http://127.0.0.1:{through.port}", dns=NO_DNS, max_tries=2)
    assert {visit.url[22:]: visit.state for visit in read_visits(home)} == {"/": State.FETCHED, "/next": State.QUEUED}
    crawl(home, seeds, proxy=f"http://127.0.0.1:{web.port}", dns=NO_DNS)
    assert {visit.state for visit in read_visits(home)} == {State.FETCHED}


def test_hosts_behind_a_proxy_do_not_share_its_address_limit(tmp_path: Path) -> None:
    hosts = [f"www.example{number}.org" for number in range(8)]
    home = tmp_path / "c"
    with TinyWeb(latency=0.3) as web:
        for host in hosts:
            web.add_page(f"http://{host}/")
        through = f"http://127.0.0.1:{web.port}"
        crawl(home, [f"http://{host}/" for host in hosts], proxy=through, dns=NO_DNS, address_connections=1)
        arrivals = [arrival.time for arrival in web.log.arrivals if arrival.path == "/"]
    assert len(arrivals) == 8
    assert arrivals[-1] - arrivals[0] < 0.3, "one after the other they would have taken seven times as long"
    with open(next((home / "warc").glob("*.warc.gz")), "rb") as file:
        addresses = [record.headers.get("WARC-IP-Address") for record in ArchiveIterator(file, WarcRecordType.response)]
    assert set(addresses) == {None}


# -- logins and headers ------------------------------------------------------------------------------------------------

LOGIN = HostRule("*.in.test", user="me:pässword", headers=("X-Token: open-sesame", "accept-language: de"))


def test_a_login_goes_to_its_hosts_only_and_not_along_a_redirect(tmp_path: Path, web: TinyWeb) -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://other.test/\r\nContent-Length: 0\r\n\r\n"
    home, robots, inside, outside, robots_outside = tmp_path / "c", Heads(), Heads(moved), Heads(), Heads()
    robots.answer = moved.replace(b"other.test/", b"other.test/robots.txt")
    web.add_handler("http://a.in.test/robots.txt", robots)
    web.add_handler("http://a.in.test/", inside)
    web.add_handler("http://other.test/robots.txt", robots_outside)
    web.add_handler("http://other.test/", outside)
    notices: list[str] = []
    crawl(home, ["http://a.in.test/"], (LOGIN,), notices, connect=[web.connect], allow_private=True)
    secret = b"Basic " + base64.b64encode("me:pässword".encode())
    for heads in (robots, inside):
        assert set(heads.header("Authorization")) == {secret}
        assert set(heads.header("X-Token")) == {b"open-sesame"}
        assert set(heads.header("accept-language")) == {b"de"}
        assert set(heads.header("Accept-Language")) == {None}
    for heads in (outside, robots_outside):
        assert heads.seen
        assert set(heads.header("Authorization")) == set(heads.header("X-Token")) == {None}
    # Nothing that was written or said has it, but for the settings, which are their owner's.
    kept = stored_requests(home)
    for name in (b"Authorization", b"X-Token"):
        assert kept.count(name + b": (withheld)\r\n") == len(robots.seen) + len(inside.seen)
    settings = home / "gossamer.toml"
    assert settings.stat().st_mode & 0o777 == 0o600
    assert load(settings).hosts == (LOGIN,)
    told = " ".join([*notices, repr(explain(home, "http://a.in.test/")), repr(load(settings))])
    for hidden in ("pässword", secret.decode()[6:], "open-sesame"):
        assert hidden not in told
        for file in home.rglob("*"):
            if file.is_file() and file != settings:
                assert hidden.encode() not in file.read_bytes()
        assert hidden.encode() not in kept


def test_the_request_with_login_headers_and_cookie_is_exact_but_for_the_secrets(web: TinyWeb) -> None:
    heads = Heads()
    web.add_handler("http://a.in.test/p?q", heads)
    rule = HostRule(
        "a.in.test", user="me:secret", headers=("X-Token: open-sesame", "Accept-Language: de", "Cookie: id=7")
    )
    got = page(fetch("http://a.in.test/p?q", hosts=(rule,), connect=(web.connect,), allow_private=True)[0])
    sent = heads.seen[0]
    for secret in (b"Basic " + base64.b64encode(b"me:secret"), b"open-sesame", b"id=7"):
        assert secret in sent
        sent = sent.replace(secret, b"(withheld)")
    assert got.request == sent
    assert b"Accept-Language: de\r\n" in sent


def test_settings_without_secrets_are_written_as_other_files_are(tmp_path: Path, web: TinyWeb) -> None:
    web.add_page("http://a.test/")
    crawl(tmp_path / "c", ["http://a.test/"], connect=[web.connect], allow_private=True)
    other = tmp_path / "other"
    other.touch()
    assert (tmp_path / "c" / "gossamer.toml").stat().st_mode == other.stat().st_mode


# -- cookies -----------------------------------------------------------------------------------------------------------


def setting(cookie: str, links: str = "") -> bytes:
    body = links.encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        cookie.encode(), len(body), body
    )  # fmt: skip


@pytest.mark.parametrize("rule", [None, HostRule("*.test", cookies=True)])
def test_a_session_goes_from_page_to_page_of_its_host_alone(web: TinyWeb, rule: HostRule | None) -> None:
    first, second, other = Heads(setting("sid=1; Path=/")), Heads(), Heads()
    web.add_handler("http://a.test/", first)
    web.add_handler("http://a.test/2", second)
    web.add_handler("http://b.test/", other)
    urls = ("http://a.test/", "http://b.test/", "http://a.test/2")
    settings = {"cookies": True} if rule is None else {"hosts": (rule,)}
    got = fetch(*urls, connect=(web.connect,), allow_private=True, **settings)  # type: ignore[arg-type]
    assert (first.header("Cookie"), second.header("Cookie"), other.header("Cookie")) == ([None], [b"sid=1"], [None])
    assert page(got[2]).request == second.seen[0].replace(b"sid=1", b"(withheld)")
    assert page(got[1]).request == other.seen[0]


def test_without_the_option_there_are_no_cookies(web: TinyWeb) -> None:
    heads = Heads(setting("sid=1; Path=/"))
    web.add_handler("http://a.test/", heads)
    rules = (HostRule("a.test", cookies=False),)
    for settings in ({}, {"cookies": True, "hosts": rules}):
        fetch("http://a.test/", "http://a.test/", connect=(web.connect,), allow_private=True, **settings)  # type: ignore[arg-type]
    assert heads.header("Cookie") == [None] * 4


def test_a_login_form_kept_by_a_cookie_opens_the_site_to_a_crawl(tmp_path: Path, web: TinyWeb) -> None:
    def members(request: Request) -> bytes:
        return OK if request.header("Cookie") == "sid=1" else OK.replace(b"200 OK", b"403 No")

    web.add_handler("http://a.test/", lambda _: setting("sid=1", '<a href="/members">in</a>'))
    web.add_handler("http://a.test/members", members)
    for name, cookies, ok in (("with", True, 2), ("without", False, 1)):
        home = tmp_path / name
        assert crawl(home, ["http://a.test/"], connect=[web.connect], allow_private=True, cookies=cookies).ok == ok
        assert b"sid=1" not in stored_requests(home)
