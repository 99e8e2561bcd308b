"""A web of a few pages, written down in the test that uses it.

with TinyWeb() as web:
    web.add_page("http://a.test/", links=["/next", "http://b.test/"])
    web.add_redirect("http://a.test/next", "http://b.test/")
    ...  # crawl with --connect, web.connect
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from urllib.parse import urlsplit

from gossamer.testing.clock import Clock
from gossamer.testing.web.conditional import not_modified
from gossamer.testing.web.hub import is_stranger
from gossamer.testing.web.message import Reply, Request, response, simple_page
from gossamer.testing.web.small import SmallWeb

Handler = Callable[[Request], bytes | Reply]

_HERE = ""  # the host of pages added by path alone: the server's own address


class TinyWeb(SmallWeb):
    """Pages served over real sockets from the moment the `with` block is entered.

    Invariant: what was added last under a URL is what it answers; everything else is 404. Pages may be added while it
    is being crawled. A page that was added with an ETag or Last-Modified answers 304 to who has it as it is.
    """

    def __init__(self, *, latency: float = 0.0, time_scale: float = 1.0, clock: Clock | None = None) -> None:
        super().__init__(latency=latency, time_scale=time_scale, clock=clock)
        self._pages: dict[tuple[str, str], bytes | Handler] = {}

    def url(self, path: str = "/") -> str:
        """The URL, by number, of a page that was added by path alone."""
        return f"http://{self._server.host}:{self.port}{path}"

    def add_page(
        self,
        url: str,
        links: Iterable[str] = (),
        body: str | bytes | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """An HTML page with links in the order given, after `body` if there is one.

        Added again under the same URL it has changed; whether its validators say so is up to `headers`.
        """
        if body is None:
            body = f"<!DOCTYPE html>\n<title>{escape(url)}</title>\n<h1>{escape(url)}</h1>\n"
        text = body.encode() if isinstance(body, str) else body
        for link in links:
            text += f'<a href="{escape(link)}">{escape(link)}</a>\n'.encode()
        more = dict(headers or {})
        kind = next((more.pop(name) for name in list(more) if name.lower() == "content-type"), None)
        self._pages[_key(url)] = response(status, kind or "text/html; charset=utf-8", text, more.items())

    def remove_page(self, url: str) -> None:
        """404 from now on."""
        self._pages.pop(_key(url), None)

    def add_redirect(self, url: str, target: str, status: int = 302) -> None:
        self._pages[_key(url)] = response(status, "text/html", b"", [("Location", target)])

    def add_robots(self, host: str, text: str | bytes, status: int = 200) -> None:
        data = text.encode() if isinstance(text, str) else text
        self._pages[host.lower(), "/robots.txt"] = response(status, "text/plain", data)

    def add_handler(self, url: str, handler: Handler) -> None:
        """Asked at each request. Bytes go out as they are, also to HEAD; a `Reply` can wait, close, hang, reset."""
        self._pages[_key(url)] = handler

    def answer(self, request: Request) -> bytes | Reply:
        host = request.host.decode("latin-1").lower().removesuffix(":80")
        path = request.target.decode("latin-1")
        found = self._pages.get((host, path))
        if found is None and is_stranger(host):
            found = self._pages.get((_HERE, path))
        if found is None:
            return simple_page(404, "Not found", "This tiny web has no such page.")
        if isinstance(found, bytes):
            return not_modified(request, found) or found
        answer = found(request)
        if isinstance(answer, Reply):
            return answer
        status = answer[9:12]
        return Reply((answer,), status=int(status) if answer.startswith(b"HTTP/") and status.isdigit() else 0)


def _key(url: str) -> tuple[str, str]:
    if url.startswith("/"):
        return _HERE, url
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.netloc:
        raise ValueError(f"a tiny web has http URLs and paths only: {url!r}")
    query = f"?{parts.query}" if parts.query else ""
    return parts.netloc.lower().removesuffix(":80"), (parts.path or "/") + query
