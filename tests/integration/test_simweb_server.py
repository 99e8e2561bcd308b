"""The simulated web through real HTTP: the protocol, the faults, and whole crawls held against the truth."""

from __future__ import annotations

import gzip
import http.client
import math
import re
import socket
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from gossamer.errors import ConfigError
from gossamer.testing import FakeClock, SimServer, World, reachable
from gossamer.testing.web import Kind, MemoryLog, NoLog
from gossamer.testing.web.faults import FAULTS
from gossamer.testing.web.paths import page_path
from gossamer.testing.web.profile import PROFILES

AGENT = "gossamer/0.1 (+https://example.org/)"


class Response:
    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.status = reply.status
        self.headers = {name.lower(): value for name, value in reply.getheaders()}
        body = reply.read()
        self.body = gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body


def get(server: SimServer, url: str, method: str = "GET", **headers: str) -> Response:
    """One request on a connection of its own, by the standard library's client."""
    parts = urlsplit(url)
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    with closing(wire):
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        wire.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        sent = {"Host": parts.netloc, "User-Agent": AGENT, "Accept-Encoding": "gzip"}
        for name, value in {**sent, **{key.replace("_", "-"): value for key, value in headers.items()}}.items():
            wire.putheader(name, value)
        wire.endheaders()
        return Response(wire.getresponse())


@contextmanager
def wire_to(server: SimServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        yield wire


def until_closed(wire: socket.socket) -> bytes:
    data = b""
    while more := wire.recv(1 << 16):
        data += more
    return data


# ---- an obedient crawler, sharing no code with the truth


class LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.directives = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and values.get("href") and values.get("rel") != "nofollow":
            self.links.append(str(values["href"]))
        if tag == "meta" and values.get("name") == "robots":
            self.directives += str(values.get("content"))


class Crawler:
    """Breadth first, one request after the other; robots.txt read line by line."""

    def __init__(self, server: SimServer, world: World) -> None:
        self.server = server
        self.world = world
        self.rules: dict[str, list[tuple[bool, str]] | None] = {}

    def crawl(self, seeds: list[str]) -> dict[str, tuple[str, int, int]]:
        found: dict[str, tuple[str, int, int]] = {}
        known, queue = set(seeds), [(seed, 0) for seed in seeds]
        for url, depth in queue:
            kind, status, links = self.visit(url)
            found[url] = (kind, status, depth)
            for link in links:
                target = normal(urljoin(url, link))
                if target not in known:
                    known.add(target)
                    queue.append((target, depth + 1))
        return found

    def visit(self, url: str) -> tuple[str, int, list[str]]:
        rules = self.rules_of(urlsplit(url).netloc)
        if rules is None:
            return "robots-unreachable", 0, []
        if not allowed(rules, url):
            return "robots-excluded", 0, []
        try:
            reply = get(self.server, url)
        except http.client.IncompleteRead:
            return "cut", 200, []
        except (http.client.HTTPException, OSError):
            return "dropped", 0, []
        if not reply.headers.keys() & {"content-length", "transfer-encoding"}:
            return "dropped", 0, []  # the standard client takes a head that breaks off for a whole one
        if reply.status in (301, 302, 303, 307, 308):
            return "redirect", reply.status, [reply.headers["location"]]
        if reply.status in (404, 410):
            return "missing", reply.status, []
        if reply.status >= 500:
            return "error", reply.status, []
        if not reply.headers["content-type"].startswith("text/html"):
            return "non-html", reply.status, []
        return "ok", reply.status, self.links(url, reply)

    def links(self, url: str, reply: Response) -> list[str]:
        host = self.world.find(urlsplit(url).netloc)
        assert host is not None
        parser = LinkParser()
        parser.feed(host.pool.decode(reply.body, "replace"))  # a body that is too short may end inside a character
        nofollow = "nofollow" in parser.directives + reply.headers.get("x-robots-tag", "")
        return [] if nofollow else parser.links

    def rules_of(self, host: str) -> list[tuple[bool, str]] | None:
        if host not in self.rules:
            self.rules[host] = self.read_robots(f"http://{host}/robots.txt")
        return self.rules[host]

    def read_robots(self, url: str) -> list[tuple[bool, str]] | None:
        for _ in range(6):
            try:
                reply = get(self.server, url)
            except (http.client.HTTPException, OSError):
                return None
            if reply.status not in (301, 302):
                break
            url = urljoin(url, reply.headers["location"])
        if reply.status >= 500:
            return None
        return parse_robots(reply.body.decode()) if reply.status == 200 else []


def parse_robots(text: str) -> list[tuple[bool, str]]:
    groups: dict[str, list[tuple[bool, str]]] = {}
    agents: list[str] = []
    in_rules = True
    for line in text.splitlines():
        name, _, value = (piece.strip() for piece in line.partition("#")[0].partition(":"))
        if name.lower() == "user-agent":
            agents = [*([] if in_rules else agents), value.lower()]
            in_rules = False
            groups.setdefault(value.lower(), [])
        elif name.lower() in ("allow", "disallow"):
            in_rules = True
            for agent in agents:
                groups[agent].append((name.lower() == "allow", value))
    return groups.get("gossamer", groups.get("*", []))


def allowed(rules: list[tuple[bool, str]], url: str) -> bool:
    target = "/" + url.split("/", 3)[3]
    hits = [
        (len(pattern), allow)
        for allow, pattern in rules
        if pattern and re.match(re.escape(pattern).replace(r"\*", ".*").replace(r"\$", "$"), target)
    ]
    return max(hits)[1] if hits else True


def normal(url: str) -> str:
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port not in (None, 80) else ""
    return parts._replace(netloc=f"{parts.hostname}{port}", fragment="").geturl()


@pytest.mark.parametrize("faults", [0.0, 0.15])
def test_a_crawl_of_a_plain_web_finds_exactly_the_truth(faults: float) -> None:
    world = World(seed=5, hosts=12, pages=25, faults=faults)
    with SimServer.running(world, time_scale=0.0) as server:
        found = Crawler(server, world).crawl([world.url(0)])
        arrivals = server.log.arrivals
    truth = reachable(world, [world.url(0)])
    assert found == {url: expected[:3] for url, expected in truth.items()}
    assert Counter(kind for kind, _, _ in found.values())["robots-excluded"] > 12
    if not faults:
        assert sum(kind == "ok" for kind, _, _ in found.values()) == 12 * 25
    pages = [arrival for arrival in arrivals if arrival.path != "/robots.txt"]
    assert {arrival.url for arrival in pages} == {url for url, e in truth.items() if "robots" not in e.kind}
    assert all(truth[arrival.url].status == arrival.status for arrival in pages)
    assert not [arrival for arrival in arrivals if arrival.path.startswith("/private/")]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_crawl_of_a_realistic_web_finds_exactly_the_truth(seed: int) -> None:
    world = World(seed=seed, hosts=60, pages=12, profile="realistic", clock=FakeClock())
    seeds = [world.url(index) for index in range(60)]
    with SimServer.running(world, time_scale=0.0) as server:
        found = Crawler(server, world).crawl(seeds)
        asked = server.log.requests_per_url()
    truth = reachable(world, seeds, sitemaps=False)
    assert found == {url: expected[:3] for url, expected in truth.items()}
    assert {kind for kind, _, _ in found.values()} == set(Kind)
    assert not [url for url in asked if "/hidden/" in url]
    kinds = {world.host(index).robots.kind for index in range(60)}
    assert kinds >= {"open", "missing", "private", "agents", "patterns", "sitemap"}
    assert len({world.host(index).charset for index in range(60)}) >= 8


# ---- the protocol


@pytest.fixture(scope="module")
def world() -> World:
    return World(hosts=8, pages=20)


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[SimServer]:
    with SimServer.running(world) as running:
        yield running


def test_keep_alive_and_pipelining_answer_in_order(server: SimServer, world: World) -> None:
    paths = [page_path(page).decode() for page in range(20)]
    request = "".join(f"GET {path} HTTP/1.1\r\nHost: {world.names.name(1)}\r\n\r\n" for path in paths[:-1])
    request += f"GET {paths[-1]} HTTP/1.1\r\nhost: {world.names.name(1).upper()}\r\nConnection: close\r\n\r\n"
    with wire_to(server) as wire:
        for start in range(0, len(request), 7):  # requests arrive in pieces
            wire.sendall(request[start : start + 7].encode())
        data = until_closed(wire)
    assert re.findall(rb"<p>(h1p\d+)", data) == [b"h1p%d" % page for page in range(20)]
    assert data.count(b"HTTP/1.1 200 OK\r\n") == 20
    assert len({arrival.connection for arrival in server.log.arrivals[-20:]}) == 1


def test_http_1_0_closes_unless_asked_not_to(server: SimServer, world: World) -> None:
    head = f"Host: {world.names.name(0)}\r\n"
    with wire_to(server) as wire:
        wire.sendall(f"GET / HTTP/1.0\r\n{head}\r\n".encode())
        assert b"Connection: close\r\n" in until_closed(wire)
    with wire_to(server) as wire:
        wire.sendall(f"GET / HTTP/1.0\r\n{head}Connection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n{head}\r\n".encode())
        data = until_closed(wire)
    assert data.count(b"HTTP/1.1 200 OK") == 2
    assert b"Connection: keep-alive\r\n" in data


def test_head_is_get_without_the_body(server: SimServer, world: World) -> None:
    url = world.url(3, page_path(4))
    got, head = get(server, url), get(server, url, "HEAD")
    assert got.headers == head.headers
    assert (head.status, head.body) == (200, b"")
    assert int(got.headers["content-length"]) == len(got.body)


def test_other_methods_are_refused_and_their_bodies_skipped(server: SimServer, world: World) -> None:
    host = world.names.name(0)
    post = f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nGET /"
    with wire_to(server) as wire:
        wire.sendall(f"{post}GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        data = until_closed(wire)
    assert re.findall(rb"HTTP/1.1 (\d+)", data) == [b"405", b"200"]


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"GET /" + b"x" * 70_000, b"431"),
    ],
)
def test_what_is_no_request_is_refused(server: SimServer, request_bytes: bytes, status: bytes) -> None:
    with wire_to(server) as wire:
        wire.sendall(request_bytes)
        assert until_closed(wire).startswith(b"HTTP/1.1 " + status)


def test_it_is_also_a_proxy(server: SimServer, world: World) -> None:
    with wire_to(server) as wire:
        wire.sendall(f"GET {world.url(2)} HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n".encode())
        assert b"<p>h2p0" in until_closed(wire)


def test_the_log_knows_who_asked_and_when_it_was_over(world: World) -> None:
    with SimServer.running(world, latency=0.05) as server:
        wires = [
            socket.create_connection(("127.0.0.1", server.port), timeout=20, source_address=(source, 0))
            for source in ("127.0.0.7", "127.0.0.8")
        ]
        for wire in wires:
            wire.sendall(f"GET / HTTP/1.1\r\nHost: {world.names.name(0)}\r\n\r\n".encode())
        for wire in wires:
            assert wire.recv(15) == b"HTTP/1.1 200 OK"
            wire.close()
    assert isinstance(server.log, MemoryLog)
    done = server.log.arrivals
    assert {arrival.address for arrival in done} == {"127.0.0.7", "127.0.0.8"}
    assert all(arrival.time < arrival.ended < math.inf for arrival in done)
    assert server.log.since(1) == done[1:]


def test_people_find_a_page_that_explains_itself(server: SimServer, world: World) -> None:
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", "[::1]"):
        hub = get(server, f"http://{host}/")
        assert hub.status == 200
        assert all(f'href="{world.url(index)}"'.encode() in hub.body for index in range(8))
    assert (
        f"--connect '*=127.0.0.1:{server.port}' --allow-private"
        in get(server, f"http://127.0.0.1:{server.port}/").body.decode()
    )
    assert get(server, f"http://127.0.0.1:{server.port}/robots.txt").status == 404
    assert get(server, "http://www.no-such-1.test/").status == 404
    assert get(server, world.url(0, "/nothing")).status == 404
    assert b"<script>" not in get(server, "http://127.0.0.1/", Host="<script>").body


def test_latencies_are_spread_around_a_median_and_the_same_each_time(world: World) -> None:
    steady, spread, again = (SimServer(world, latency=0.2, spread=spread) for spread in (0.0, 0.7, 0.7))
    assert {steady.wait() for _ in range(9)} == {0.2}
    waits = sorted(spread.wait() for _ in range(999))
    assert waits == sorted(again.wait() for _ in range(999))
    assert waits[499] == pytest.approx(0.2, rel=0.1)
    assert waits[949] == pytest.approx(0.2 * 3.16, rel=0.2)  # e to the power of 1.645 * 0.7


def test_latency_delays_each_response_and_holds_up_nobody(world: World) -> None:
    with SimServer.running(world, latency=0.25) as server:
        wires = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(20)]
        for wire in wires:
            wire.sendall(f"GET / HTTP/1.1\r\nHost: {world.names.name(0)}\r\n\r\n".encode())
        assert wires[0].recv(15) == b"HTTP/1.1 200 OK"
        assert len(server.log.arrivals) == 20  # all had been taken in before the first was answered
        for wire in wires:
            assert wire.recv(1)
            wire.close()


def test_a_port_in_use_is_said_in_a_sentence(server: SimServer, world: World) -> None:
    with (
        pytest.raises(ConfigError, match=f"Port {server.port} on 127.0.0.1 is in use: choose another with --port"),
        SimServer(world, port=server.port, log=NoLog()).in_thread(),
    ):
        pass


# ---- what only varied webs have


def test_conditional_requests_are_answered_304_until_the_page_changes() -> None:
    clock = FakeClock()
    world = World(hosts=40, pages=60, profile="realistic", clock=clock, faults=0)
    host = next(h for h in map(world.host, range(1, 40)) if h.etag and h.last_modified and h.size > 20)
    page = next(p for p in range(host.size) if world.change_interval(host, p) == 600.0)
    url = world.url(host.index, page_path(page))
    with SimServer.running(world) as server:
        first = get(server, url)
        tag, date = first.headers["etag"], first.headers["last-modified"]
        assert get(server, url, If_None_Match=tag).status == 304
        assert get(server, url, If_None_Match=f'"x", W/{tag}').status == 304
        assert get(server, url, If_Modified_Since=date).status == 304
        assert get(server, url, If_None_Match='"x"', If_Modified_Since=date).status == 200
        assert get(server, url, If_Modified_Since="yesterday").status == 200
        assert get(server, url).body == first.body
        while not world.changes(host, page, clock.now() - 600, clock.now()):
            clock.advance(600)
        clock.advance(6_000)
        again = get(server, url, If_None_Match=tag)
        assert again.status == 200
        assert again.headers["etag"] != tag
        assert again.body != first.body
        assert re.findall(rb'href="[^"]*"', again.body) == re.findall(rb'href="[^"]*"', first.body)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_crawl_of_a_changing_web_finds_the_truth_of_its_moment(seed: int) -> None:
    clock = FakeClock()
    world = World(seed=seed, hosts=8, pages=60, profile="changing", clock=clock)
    with SimServer.running(world) as server:
        for _ in range(2):
            found = Crawler(server, world).crawl([world.url(0)])
            truth = reachable(world, [world.url(0)], sitemaps=False)
            assert found == {url: expected[:3] for url, expected in truth.items()}
            assert {kind for kind, _, _ in found.values()} == {"ok", "missing"}
            clock.advance(90 * 86_400)
        arrivals = server.log.arrivals
    assert {arrival.wall for arrival in arrivals} == {1_700_000_000.0, 1_700_000_000.0 + 90 * 86_400}
    assert sum(arrival.bytes for arrival in arrivals if arrival.status == 200) > 2 * 8 * 50 * 5_000


def test_sitemaps_of_every_kind_list_the_pages() -> None:
    world = World(hosts=300, pages=8, profile="realistic", faults=0)
    with SimServer.running(world) as server:
        for kind in ("xml", "gz", "index"):
            host = next(h for h in map(world.host, range(300)) if h.sitemap == kind)
            robots = get(server, world.url(host.index, "/robots.txt")).body.decode()
            body = get(server, re.findall(r"(?m)^Sitemap: (\S+)", robots)[0]).body
            if kind == "gz":
                body = gzip.decompress(body)
            if kind == "index":
                body = get(server, re.findall(r"<loc>(.*?)</loc>", body.decode())[0]).body
            urls = re.findall(r"<loc>(.*?)</loc>", body.decode())
            assert {world.url(host.index, page_path(page)) for page in range(host.size)} < set(urls)
            orphans = [url for url in urls if "/archive/" in url]
            assert [get(server, url).status for url in orphans] == [200] * min(3, host.size)


def test_bodies_come_compressed_and_chunked_and_in_their_charset() -> None:
    world = World(hosts=200, pages=4, profile="realistic", faults=0)
    seen = set()
    with SimServer.running(world) as server:
        for index in range(200):
            host = world.host(index)
            reply = get(server, world.url(index))
            text = host.pool.decode(reply.body)
            assert text.rstrip().endswith("</html>")
            assert f'<html lang="{host.language}">' in text
            declared = "charset=" in reply.headers["content-type"]
            assert declared == (host.declared in ("header", "both"))
            assert (f'<meta charset="{host.charset}">' in text) == (host.declared in ("meta", "both"))
            assert (reply.headers.get("content-encoding") == "gzip") == host.gzip
            assert (reply.headers.get("transfer-encoding") == "chunked") == host.chunked
            seen.add((host.charset, host.gzip, host.chunked))
    assert len(seen) > 20


def _faulty(world: World, kind: str) -> str:
    host = world.host(0)
    return next(
        world.url(0, page_path(page)) for page in range(1, host.size) if world.fault(host, page_path(page)) == kind
    )


def _request(url: str) -> bytes:
    parts = urlsplit(url)
    return f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()


def test_hostile_replies_do_what_they_say() -> None:
    world = World(hosts=1, pages=2_000, profile="hostile", faults=0.9)
    with SimServer.running(world, time_scale=0.0) as server:
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "reset")))
            with pytest.raises(ConnectionResetError):
                until_closed(wire)
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "drip")))
            head = b""
            while not head.endswith(b"\r\n\r\n....."):  # a byte at a time, for ever
                head += wire.recv(1)
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "endless")))
            taken = 0
            while taken < 20_000_000:
                taken += len(wire.recv(1 << 20))
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "header-flood")))
            flood = until_closed(wire)
            assert flood.index(b"\r\n\r\n") > 10_000_000
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "bomb")))
            assert b"\r\nContent-Encoding: gzip\r\n" in wire.recv(200)
        with pytest.raises((http.client.HTTPException, ValueError, OverflowError)):
            get(server, _faulty(world, "bad-chunks"))
        with pytest.raises(http.client.HTTPException):
            get(server, _faulty(world, "garbage"))
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "reset-body")))
            with pytest.raises(ConnectionResetError):
                until_closed(wire)
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "endless-head")))
            taken = 0
            while taken < 20_000_000:
                taken += len(wire.recv(1 << 20))
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "bare")))
            assert until_closed(wire).startswith(b"HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html>")
        busy = get(server, _faulty(world, "error-429"))
        assert (busy.status, busy.headers["retry-after"].isdigit()) == (429, True)
        assert get(server, _faulty(world, "bad-redirect")).status == 302
        assert len(get(server, _faulty(world, "huge")).body) > 24 << 20
        with wire_to(server) as wire:
            wire.sendall(_request(_faulty(world, "bad-encoding")))
            assert b"\r\nContent-Encoding: " in wire.recv(200)
        hanging, after = wire_to(server), wire_to(server)
        with hanging as wire, after as other:
            wire.sendall(_request(_faulty(world, "hang")))
            other.sendall(_request(world.url(0)))
            assert other.recv(15) == b"HTTP/1.1 200 OK"  # one that hangs holds up nobody
        kinds = {kind for kind, _ in PROFILES["hostile"].fault_kinds}
        assert kinds == FAULTS.keys() | {"slow"}


def test_hostile_robots_do_what_they_say() -> None:
    world = World(hosts=400, pages=2, profile="hostile")
    kinds = {world.host(index).robots.kind: index for index in range(world.hosts)}
    with SimServer.running(world) as server:
        rules = b"User-agent: *\nDisallow: /private/\n"
        huge = get(server, world.url(kinds["huge"], "/robots.txt")).body.replace(b"\r", b"")
        assert rules in huge[:200]
        assert len(huge) > 1_000_000
        assert get(server, world.url(kinds["html"], "/robots.txt")).headers["content-type"].startswith("text/html")
        path = "/robots.txt"
        for _ in range(4):
            path = get(server, world.url(kinds["loop"], path)).headers["location"]
        assert path == "/robots.txt"
        with wire_to(server) as wire:
            wire.sendall(_request(world.url(kinds["endless"], "/robots.txt")))
            taken = 0
            while taken < 20_000_000:
                taken += len(wire.recv(1 << 20))


def test_traps_lead_ever_deeper() -> None:
    world = World(hosts=1, pages=50, profile="hostile", faults=0)
    with SimServer.running(world) as server:
        wild = f"//u-1f.{world.names.name(0)}/wild/1"
        for start in ("/calendar/2024/12/", "/cart?sid=0&item=1", "/deep/docs/", "/lost/", "/shop?color=red", wild):
            seen, url = set(), urljoin(world.url(0), start)
            for _ in range(30):
                reply = get(server, url)
                assert reply.status == 200
                parser = LinkParser()
                parser.feed(reply.body.decode())
                seen.add(url)
                url = next(link for link in (urljoin(url, href) for href in parser.links) if link not in seen)
            assert len(seen) == 30
        out = get(server, world.url(0, "/out/1"))
        assert 301 <= out.status <= 308
        assert ".test" not in out.headers["location"]


def test_a_slow_reader_does_not_fill_the_memory() -> None:
    world = World(hosts=1, pages=2_000, profile="hostile", faults=0.9)
    with SimServer.running(world) as server, wire_to(server) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sendall(_request(_faulty(world, "endless")) * 50)
        assert wire.recv(4)
        with wire_to(server) as other:
            other.sendall(_request(world.url(0)))
            assert other.recv(15) == b"HTTP/1.1 200 OK"
        for connection in list(server.connections):
            assert connection.waiting_bytes < 2_000_000


def test_the_gzip_bomb_is_a_valid_file() -> None:
    from gossamer.testing.web.media import gzip_bomb

    data = gzip_bomb()
    assert len(data) < 300_000
    unpack = zlib.decompressobj(wbits=31)
    size = 0
    while data and not unpack.eof:
        size += len(unpack.decompress(data, 1 << 24))
        data = unpack.unconsumed_tail
    assert unpack.eof  # so the checksum was right
    assert size == 256 << 20
