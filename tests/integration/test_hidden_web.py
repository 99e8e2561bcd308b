"""Forms filled in, judged by the log of a simulated catalogue and by what it knows of itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from crawling import crawl

import gossamer
from gossamer.agent.app_trial import trial
from gossamer.apps.hidden_web import HiddenWeb
from gossamer.errors import ConfigError
from gossamer.testing import TinyWeb
from gossamer.testing.catalogue import Catalogue
from gossamer.testing.web.message import response

SMALL: dict[str, Any] = {"records": 300, "words": 200, "length": 10, "most": 40}


def crawled(site: Catalogue | TinyWeb, seed: str, home: Path, application: HiddenWeb, **options: Any) -> None:
    async def all_pages() -> None:
        given = {"allow_private": True, "connect": [site.connect], "delay": 0, "host_connections": 4, **options}
        async for _ in gossamer.crawl([seed], directory=home, apps={"hidden-web": application}, **given):
            pass

    asyncio.run(all_pages())


def queries(site: Catalogue) -> list[str]:
    """In the order in which they were first asked."""
    paths = [urlsplit(arrival.path) for arrival in site.log.arrivals if arrival.path.startswith("/search")]
    return list(dict.fromkeys(parse_qs(path.query)["q"][0] for path in paths))


def records(site: Catalogue) -> set[int]:
    paths = (arrival.path for arrival in site.log.arrivals)
    return {int(path.removeprefix("/record/")) for path in paths if path.startswith("/record/")}


def test_most_of_a_catalogue_is_found_within_the_budget(tmp_path: Path) -> None:
    application = HiddenWeb(queries=60)
    with Catalogue(**SMALL) as site:
        crawled(site, site.seed, tmp_path / "c", application)
        asked, found = queries(site), records(site)
    assert len(asked) == 60
    # All that these queries show is fetched, the further pages of results too; and that is most of what there is.
    assert found >= {number for query in asked for number in site.found(query)}
    assert len(found) > 0.9 * 300
    assert max(site.log.requests_per_url().values()) == 1
    again = HiddenWeb(queries=60)  # in another process
    again.restore(msgspec.json.decode(msgspec.json.encode(application.state())))
    assert (again._sites, again._asking) == (application._sites, application._asking)
    assert len(again._asking) == 1


def test_only_given_words_are_asked(tmp_path: Path) -> None:
    with Catalogue(**SMALL) as site:
        words = site.vocabulary[3:7]
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(words=words))
        assert sorted(queries(site)) == sorted(words)


def test_robots_rules_hold_for_queries(tmp_path: Path) -> None:
    with Catalogue(**SMALL, robots="User-agent: *\nDisallow: /search\n") as site:
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(queries=20))
        assert queries(site) == []
        assert len(records(site)) == 10  # those that the front page links to


def test_a_dry_run_says_what_it_would_ask_and_asks_nothing(tmp_path: Path) -> None:
    with Catalogue(**SMALL) as site:
        crawl(tmp_path / "c", [site.seed], site.connect)
        before = len(site.log.arrivals)
        found = list(trial(tmp_path / "c", HiddenWeb(queries=5, dry_run=True), 100))
        assert len(site.log.arrivals) == before
        assert queries(site) == []
    assert len(found) == 5
    assert all(each["record"]["url"].startswith("http://catalogue.test/search?q=") for each in found)
    assert all(each["record"]["query"] in [*site.vocabulary, "record", "catalogue"] for each in found)


@pytest.mark.parametrize(
    "form",
    [
        "<form method=post action=/find><input name=q></form>",
        "<form action=/find><input name=user><input name=pass type=password></form>",
        "<form action=/find><input name=q><input name=up type=file></form>",
        "<form action=/find><input name=first><input name=last></form>",
        "<form action=/find><input name=only type=hidden></form>",
        "<form action=/login><input name=q></form>",
    ],
    ids=["post", "password", "file", "two texts", "no text", "not wanted"],
)
def test_forms_that_are_left(tmp_path: Path, form: str) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", body=f"<p>some words to be asked with</p>{form}")
        crawled(web, "http://a.test/", tmp_path / "c", HiddenWeb(forms="/find"))
        assert [arrival.path for arrival in web.log.arrivals] == ["/robots.txt", "/"]


def test_a_form_that_brings_nothing_is_left(tmp_path: Path) -> None:
    with Catalogue(5, words=100, length=30, shown=5) as site:
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(queries=90, at_once=1))
        assert 20 <= len(queries(site)) <= 22  # twenty in a row, after those that were new


class Failing(Catalogue):
    """Nothing of the answers to the first queries is stored."""

    fails = 4

    def answer(self, request: Any) -> Any:
        if request.target.startswith(b"/search?") and self.fails > 0:
            self.fails -= 1
            return response(200, "application/zip", b"PK")
        return super().answer(request)


HTML: dict[str, Any] = {"types": ["text/html"]}


def test_queries_that_later_ones_have_overtaken_keep_none_from_being_asked(tmp_path: Path) -> None:
    application = HiddenWeb(queries=30, at_once=4)
    with Failing(**SMALL) as site:
        site.fails = 3
        crawled(site, site.seed, tmp_path / "c", application, **HTML)
        assert len(queries(site)) == 30
    asking = next(iter(application._asking.values()))
    assert sum(not each.answered for each in asking.asked.values()) == 3
    assert application._awaited(asking, 0.0) == 0


def test_another_run_does_not_wait_for_answers_that_never_came(tmp_path: Path) -> None:
    with Failing(**SMALL) as site:
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(queries=30), **HTML)
        assert len(queries(site)) == 4, "all that may be awaited at a time"
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(queries=30), **HTML)
        assert len(queries(site)) == 30


def test_options_that_are_none() -> None:
    with pytest.raises(ConfigError, match="forms"):
        HiddenWeb(forms="(")
    with pytest.raises(ConfigError, match="queries"):
        HiddenWeb(queries=0)
