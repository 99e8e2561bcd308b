"""Is the page that somebody looks for among the first three? Documentation is crawled, indexed and asked.

The pages are Debian's: the manuals of Python and PostgreSQL, and three Japanese books, of which one is served in EUC-JP
and one in Shift_JIS. What is not installed is downloaded (apt-get download) and unpacked in the work directory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from documentation import unpacked
from machine import description
from relevance_queries import DEVELOPERS, ENGLISH, GUIDE, JAPANESE, POSTGRES, PYTHON, REFERENCE
from tables import table

from gossamer.index import Search

GOOD = 3  # places that count as found
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".png": "image/png"}


class Manual(NamedTuple):
    """Where the pages of a package lie below /usr, on which host they are served, and in which encoding."""

    package: str
    pages: str
    first: str
    charset: str = ""


ENGLISH_MANUALS = {
    PYTHON: Manual("python3.11-doc", "share/doc/python3.11/html", "index.html"),
    POSTGRES: Manual("postgresql-doc-15", "share/doc/postgresql-doc-15/html", "index.html"),
}
JAPANESE_MANUALS = {
    REFERENCE: Manual("debian-reference-ja", "share/debian-reference", "index.ja.html"),
    GUIDE: Manual("maint-guide-ja", "share/doc/maint-guide-ja/html", "index.ja.html", "euc_jp"),
    DEVELOPERS: Manual("developers-reference-ja", "share/developers-reference/ja", "index.html", "shift_jis"),
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", type=Path, default=Path("bench-work/relevance"))
    options.add_argument("--again", action="store_true", help="ask the indexes of the last run")
    given = options.parse_args()
    print(description(("tantivy", "resiliparse")))
    good = True
    for name, manuals, queries, enough in (
        ("English", ENGLISH_MANUALS, ENGLISH, 27),
        ("Japanese", JAPANESE_MANUALS, JAPANESE, 13),
    ):
        home = given.work / name.lower()
        if not given.again:
            crawl(manuals, home, given.work)
        for ranks in (False, True):
            count_links(home, ranks)
            found, rows = ask(home, queries)
            first = sum(row[1] == "1" for row in rows)
            by = "PageRank" if ranks else "the number of links"
            print(f"\n{name}, by {by}: {found} of {len(queries)} pages are among the first {GOOD}, {first} first\n")
            print(table(["query", "place", "first instead"], rows))
            good = good and found >= enough
    return 0 if good else 1


def count_links(home: Path, ranks: bool) -> None:
    """By PageRank, or by how many pages link."""
    if ranks:
        subprocess.run([sys.executable, "-m", "gossamer", "rank", "--dir", str(home)], check=True, capture_output=True)
    else:
        subprocess.run(["rm", "-rf", str(home / "rank")], check=True)
    subprocess.run([sys.executable, "-m", "gossamer", "index", "--dir", str(home)], check=True, capture_output=True)


def ask(home: Path, queries: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[int, list[list[str]]]:
    """How many are found, and a row for each."""
    search = Search([home / "index"])
    found, rows = 0, []
    for query, right in queries:
        urls = [hit.url for hit in search.answer(query, limit=50).results]
        place = next((at for at, url in enumerate(urls, 1) if url in right), 0)
        found += 0 < place <= GOOD
        first = "" if place == 1 or not urls else urls[0]
        rows.append([query, str(place) if place else "-", first])
    search.close()
    return found, rows


def crawl(manuals: dict[str, Manual], home: Path, work: Path) -> None:
    folders = {origin: folder(manual, work) for origin, manual in manuals.items()}
    subprocess.run(["rm", "-rf", str(home)], check=True)
    began = time.monotonic()
    with served(manuals, folders) as port:
        seeds = [origin + manual.first for origin, manual in manuals.items()]
        done = subprocess.run(
            [
                sys.executable, "-m", "gossamer", "crawl", *seeds, "--dir", str(home), "--connect",
                f"*=127.0.0.1:{port}", "--allow-private", "--scope", "host", "--delay", "0", "--json",
            ],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    summary = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{summary['pages']:,} pages crawled, {summary['searchable']:,} indexed in {time.monotonic() - began:.0f} s;"
        f" indexing took {summary['index_cpu_seconds']:.1f} s of CPU"
    )


def folder(manual: Manual, work: Path) -> Path:
    """Where the package's pages are; downloaded where it is not installed."""
    if any((Path("/usr") / manual.pages).glob("*.html")):
        return Path("/usr") / manual.pages
    return unpacked(manual.package, work) / "usr" / manual.pages


@contextmanager
def served(manuals: dict[str, Manual], folders: dict[str, Path]) -> Iterator[int]:
    """Each manual on its host; the port of the server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            origin = f"http://{(self.headers['Host'] or '').partition(':')[0]}/"
            path = self.path.partition("?")[0].lstrip("/")
            base = folders.get(origin)
            file = None if base is None or ".." in path else base / (path or manuals[origin].first)
            if file is None or not file.is_file():
                self._send(404, "text/html", b"not found")
                return
            kind, body = _TYPES.get(file.suffix, "application/octet-stream"), file.read_bytes()
            if manuals[origin].charset and kind == "text/html":
                kind, body = f"text/html; charset={manuals[origin].charset}", encoded(body, manuals[origin].charset)
            self._send(200, kind, body)

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def encoded(body: bytes, charset: str) -> bytes:
    """The same page as its authors would have written it years ago."""
    return body.decode("utf-8").replace("utf-8", charset).encode(charset, "xmlcharrefreplace")


if __name__ == "__main__":
    sys.exit(main())
