"""`async for page in gossamer.crawl(...)`, and the functions that go with it."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer.errors import ConfigError, SeedError
from gossamer.testing import TinyWeb


def pages(web: TinyWeb, seeds: list[str], most: int | None = None, **options: Any) -> list[gossamer.CrawledPage]:
    async def run() -> list[gossamer.CrawledPage]:
        found = []
        crawl = gossamer.crawl(seeds, allow_private=True, connect=[web.connect], delay=0, **options)
        async for page in crawl:
            found.append(page)
            if most is not None and len(found) == most:
                break
        await crawl.aclose()
        return found

    return asyncio.run(run())


def small_web(web: TinyWeb, size: int) -> None:
    for number in range(size):
        web.add_page(
            f"http://a.test/{number}", [f"/{number + 1}", f"/{number * 2}"], body=f"<title>Page {number}</title>"
        )


def test_pages_come_with_their_documents() -> None:
    with TinyWeb() as web:
        small_web(web, 5)
        found = pages(web, ["http://a.test/0"])
    assert [(page.status, page.url) for page in found][:2] == [(200, "http://a.test/0"), (200, "http://a.test/1")]
    assert found[0].document.title == "Page 0"
    assert {link.url for link in found[1].document.links} == {"http://a.test/2"}
    assert ("Content-Type", "text/html; charset=utf-8") in found[0].headers
    assert found[0].body.startswith(b"<title>Page 0</title>")
    assert [page.status for page in found].count(404) == 3


def test_pages_come_as_text_in_their_encoding() -> None:
    with TinyWeb() as web:
        source = "<title>ผ้าไหม</title>"
        web.add_page(
            "http://a.test/", body=source.encode("cp874"), headers={"Content-Type": "text/html; charset=tis-620"}
        )
        (found,) = pages(web, ["http://a.test/"])
    assert found.source == source


def test_what_became_of_urls_can_be_read(tmp_path: Path) -> None:
    with TinyWeb() as web:
        small_web(web, 3)
        web.add_robots("a.test", "User-agent: *\nDisallow: /4")
        pages(web, ["http://a.test/0"], directory=tmp_path / "c")
    found = {known.url: (known.state.name, known.status, known.reason) for known in gossamer.urls(tmp_path / "c")}
    assert found["http://a.test/2"] == ("FETCHED", 200, "")
    assert found["http://a.test/4"] == ("EXCLUDED", 0, "robots")
    assert [known.url for known in gossamer.urls(tmp_path / "c", "excluded")] == ["http://a.test/4"]
    with pytest.raises(ConfigError, match="state 'lost' is not one of queued, fetched, dead, excluded"):
        gossamer.urls(tmp_path / "c", "lost")


def test_limits_hold() -> None:
    with TinyWeb() as web:
        small_web(web, 50)
        assert len(pages(web, ["http://a.test/0"], max_pages=7)) == 7


def test_leaving_early_ends_the_crawl(tmp_path: Path) -> None:
    with TinyWeb() as web:
        small_web(web, 400)
        found = pages(web, ["http://a.test/0"], most=3, directory=tmp_path / "c")
        assert len(found) == 3
        asked = len(web.log.arrivals)
        assert asked < 300, "the crawl does not run far ahead of its reader"
        rest = pages(web, [], directory=tmp_path / "c", max_pages=100)
        assert rest
        assert max(web.log.requests_per_url().values()) == 1


def test_mistakes_are_named(tmp_path: Path) -> None:
    with TinyWeb() as web:
        with pytest.raises(ConfigError, match=r"max_page is not an option .* max_pages"):
            pages(web, ["http://a.test/"], max_page=3)
        with pytest.raises(SeedError):
            pages(web, ["mailto:me@example.org"])


def test_the_functions_of_the_library() -> None:
    assert gossamer.normalize("HTTP://Example.ORG:80/a/../b#c") == "http://example.org/b"
    assert gossamer.normalize("../x", "http://example.org/a/b/c") == "http://example.org/a/x"
    assert gossamer.normalize("javascript:alert(1)") is None
    assert not gossamer.robots_allows(b"User-agent: *\nDisallow: /x", "gossamer", "http://a.test/x/y")
    document = gossamer.parse(b"<title>T</title><a href='/b' rel=nofollow>B</a>", "http://a.test/a", "text/html")
    assert (document.title, document.links[0].url, document.links[0].nofollow) == ("T", "http://a.test/b", True)
    importlib.import_module("gossamer.parse.html")  # the package of the same name does not hide the function

    assert gossamer.parse(b"<title>U</title>", "http://a.test/").title == "U"
