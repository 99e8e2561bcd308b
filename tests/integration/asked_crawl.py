"""A small crawl with an index, to be asked."""

from __future__ import annotations

from pathlib import Path

from crawling import crawl

from gossamer.index import Entry, IndexWriter
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply

SCRIPT = b"<!DOCTYPE html><title>Trap</title><script>document.cookie='owned'</script><p>words of a trap"


def make(home: Path) -> None:
    """Hosts a.test and b.test, a redirect, a missing page, one that is dead, one of each that is left out."""
    with TinyWeb() as web:
        web.add_page(
            "http://a.test/", ["/script", "/same", "/moved", "/gone", "/broken", "/closed", "http://b.test/", "/odd"]
        )
        web.add_robots("a.test", "User-agent: *\nDisallow: /closed\n")
        evil = {"Content-Type": "text/html; charset=UTF-8", "Link": "</evil.js>; rel=preload", "Refresh": "0; url=/"}
        web.add_page("http://a.test/script", body=SCRIPT, headers={**evil, "Set-Cookie": "evil=1"})
        web.add_page("http://a.test/same", body=SCRIPT)
        web.add_page("http://a.test/odd", body=b"odd", headers={"Content-Type": 'text/html; charset="x\xe9y"'})
        web.add_redirect("http://a.test/moved", "/script")
        web.add_handler("http://a.test/broken", lambda request: Reply((), End.RESET))
        web.add_page("http://b.test/", ["http://b.test/2", "http://b.test/3"])
        web.add_page("http://b.test/2")
        crawl(home, ["http://a.test/"], web.connect, max_tries=1)
    writer = IndexWriter(home / "index", 64 << 20)
    for number in range(30):
        writer.upsert([Entry(f"http://b.test/{number}", 1.7e9 + number, f"Page {number}", body="spider silk", main="")])
    writer.upsert([Entry("http://a.test/script", 1.8e9, "Trap", body="words of a trap <b>&", language="en")])
    writer.commit(b"position")
    writer.close()
