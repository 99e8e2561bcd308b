"""Requests to responses for a `World`: a pure function of the request and the world's time."""

from __future__ import annotations

from email.utils import formatdate
from itertools import chain, repeat

from isal import igzip

from gossamer.testing.web import media
from gossamer.testing.web.changing import ChangingPages
from gossamer.testing.web.conditional import unchanged
from gossamer.testing.web.dice import mix
from gossamer.testing.web.faults import FAULTS, slow_seconds
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.hub import hub_page, is_stranger
from gossamer.testing.web.message import End, Reply, Request, response, simple_page
from gossamer.testing.web.paths import Resource, Section, page_number
from gossamer.testing.web.render import Renderer
from gossamer.testing.web.robots import HUGE_PARTS, LOOP_PATH, MOVED_PATH, PADDING, SHARED_PATH, robots_of
from gossamer.testing.web.sitemap import sitemap_body
from gossamer.testing.web.world import World, gone_status

_CACHED_NAMES = 65_536
_PLAIN_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
_REDIRECTS = (Section.GO, Section.LOOP, Section.OUT)


class WorldSite:
    """Answers for all hosts of a world, and for visitors who came by number instead of name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._renderer = Renderer(world)
        self._hosts: dict[bytes, Host] = {}
        self._changing = ChangingPages(world) if world.life else None
        self._plain = not world.profile.varied and not world.faults and self._changing is None

    def answer(self, request: Request) -> bytes | Reply:
        host = self._hosts.get(request.host) or self._find(request.host)
        if host is None:
            return self._stranger(request)
        path = request.target
        if self._plain:
            number = page_number(path)
            if number is not None and number < host.size and request.method == b"GET":
                body = self._renderer.page(host, number)
                return _PLAIN_HEAD % len(body) + body
        if request.method not in (b"GET", b"HEAD"):
            return response(405, "text/plain", b"Only GET and HEAD.\n", [("Allow", "GET, HEAD")])
        return self._for_robots(host, path) or self._ordinary(host, request)

    def _find(self, name: bytes) -> Host | None:
        host = self._world.find(name.decode("latin-1").lower().removesuffix(":80"))
        if host is not None:
            if len(self._hosts) >= _CACHED_NAMES:
                self._hosts.clear()
            self._hosts[name] = host
        return host

    def _stranger(self, request: Request) -> bytes:
        name = request.host.decode("latin-1")
        if not is_stranger(name):
            return simple_page(404, "No such host", "The simulated web has no host of this name.")
        if request.target == b"/":
            return hub_page(self._world, name)
        return simple_page(404, "Nothing here", "The start page of the simulated web is at /.")

    # ---- robots.txt and sitemaps

    def _for_robots(self, host: Host, path: bytes) -> bytes | Reply | None:
        if path == b"/robots.txt":
            return self._robots(host)
        if self._world.profile.varied:
            if path == MOVED_PATH and host.robots.kind == "redirect":
                return response(200, "text/plain", host.robots.text())
            if path == LOOP_PATH and host.robots.kind == "loop":
                return response(302, "text/plain", b"", [("Location", "/robots.txt")])
            if path == SHARED_PATH:
                return response(200, "text/plain", robots_of("private", 0, 0, ()).text())
        if host.sitemap and path.startswith(b"/sitemap"):
            body = sitemap_body(self._world, host, path)
            kind = "application/gzip" if path.endswith(b".gz") else "application/xml"
            return None if body is None else response(200, kind, body)
        return None

    def _robots(self, host: Host) -> bytes | Reply:
        kind = host.robots.kind
        if kind == "missing":
            return simple_page(404, "Not found", "This host has no robots.txt.")
        if kind == "error":
            return simple_page(503, "Out of order", "This host cannot say what robots may do.")
        if kind == "dropped":
            return Reply((), End.CLOSE, 0)
        if kind == "hang":
            return Reply((), End.HANG, 0)
        if kind in ("huge", "endless"):
            return _long_robots(host.robots.text(), kind == "endless")
        if kind == "html":
            return simple_page(200, "Welcome", "This host answers every question with its front page.")
        if kind == "loop":
            return response(301, "text/plain", b"", [("Location", LOOP_PATH.decode())])
        if kind == "redirect":
            return response(301, "text/plain", b"", [("Location", MOVED_PATH.decode())])
        if kind == "redirect-away":
            other = self._world.url((host.index + 1) % self._world.hosts, SHARED_PATH)
            return response(302, "text/plain", b"", [("Location", other)])
        return response(200, "text/plain", host.robots.text())

    # ---- everything else

    def _ordinary(self, host: Host, request: Request) -> bytes | Reply:
        world, path = self._world, request.target
        fault = world.fault(host, path)
        if fault and fault != "slow":
            x = mix(world.seed, host.index, int.from_bytes(path[-8:]))
            return FAULTS[fault](self._renderer.dead_end(host, path), x)
        resource = world.resource(host, path)
        answer = self._missing(host, 1) if resource is None else self._resource(host, resource, request)
        if request.method == b"HEAD" and (fault or host.body_after_head):
            shown = answer if host.body_after_head else answer[: answer.find(b"\r\n\r\n") + 4]
            return Reply((slow_seconds(len(path)) if fault else 0.0, shown), End.CLOSE, int(answer[9:12]))
        if fault:
            return Reply((slow_seconds(len(path)), answer), status=int(answer[9:12]))
        return answer

    def _resource(self, host: Host, resource: Resource, request: Request) -> bytes:
        world, section, number = self._world, resource.section, resource.number
        if section is Section.PAGE or section is Section.PRINT:
            return self._page(host, number, request)
        if section is Section.FEED and self._changing is not None:
            return self._changing.feed(host, request)
        if section in _REDIRECTS:
            status, other, path = world.redirect(host, resource)
            location = path.decode() if other in (None, host.index) else world.url(other or 0, path)
            return response(status, "text/html", b"<p>Elsewhere.</p>\n", [("Location", location)])
        if section is Section.GONE:
            return self._missing(host, number)
        if section is Section.FILE:
            return response(200, "application/pdf", media.pdf(world.seed, host.index, number))
        if section is Section.IMAGE:
            return response(200, "image/png", media.png(world.seed, host.index, number))
        if section is Section.STYLE:
            return response(200, "text/css", media.STYLE)
        return self._html(host, request, self._renderer.leaf(host, resource), [])

    def _missing(self, host: Host, number: int) -> bytes:
        return simple_page(gone_status(number), "Not found", f"There is no such page on {host.name}.")

    def _page(self, host: Host, number: int, request: Request) -> bytes:
        world = self._world
        if self._changing is not None:
            return self._changing.page(host, number, request)
        if not world.profile.varied:
            return self._html(host, request, self._renderer.page(host, number), [])
        changed = world.changed_at(host, number)
        version = int(changed * 1000)
        etag = f'"{host.index:x}-{number:x}-{version:x}"' if host.etag else ""
        modified = int(changed) if host.last_modified else 0
        headers = [("Date", formatdate(world.clock.now(), usegmt=True))]
        headers += [("ETag", etag)] if etag else []
        headers += [("Last-Modified", formatdate(modified, usegmt=True))] if modified else []
        if unchanged(request, etag, modified):
            return response(304, "", b"", headers)
        nofollow, noindex = world.directives(host, number)
        words = [word for word, where in (("nofollow", nofollow), ("noindex", noindex)) if where == "header"]
        headers += [("X-Robots-Tag", ", ".join(words))] if words else []
        return self._html(host, request, self._renderer.page(host, number, version), headers)

    def _html(self, host: Host, request: Request, body: bytes, headers: list[tuple[str, str]]) -> bytes:
        kind = f"text/html; charset={host.charset}" if host.declared in ("header", "both") else "text/html"
        if host.gzip and "gzip" in (request.header("Accept-Encoding") or ""):
            body = igzip.compress(body, 1, mtime=0)
            headers = [*headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
        whole = response(200, kind, body, headers)
        if not host.chunked or request.is_http_1_0:
            return whole
        middle = len(body) // 2
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:middle], body[middle:]) if part)
        head = whole[: whole.find(b"Content-Length: ")]
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def _long_robots(text: bytes, endless: bool) -> Reply:
    """Rules first, then padding: who reads the beginning knows them all."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    if endless:
        return Reply(chain((head + b"Connection: close\r\n\r\n", text), repeat(PADDING)), End.CLOSE)
    size = len(text) + HUGE_PARTS * len(PADDING)
    return Reply((head + b"Content-Length: %d\r\n\r\n" % size, text, *repeat(PADDING, HUGE_PARTS)))
