"""Applications on a crawl, in processes of their own, judged by the servers' logs and by what is on disk."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crawling import NAMES, crawl
from sample_apps import Asker, Failing, Walker

import gossamer
from gossamer import Host
from gossamer.agent import Summary, read_progress, run
from gossamer.agent.app_note import folder_of, read_note
from gossamer.agent.app_process import AppProcess
from gossamer.agent.app_reading import read_apps
from gossamer.agent.app_runner import AppRunner
from gossamer.agent.application import Wants
from gossamer.agent.control import Control
from gossamer.agent.spool import Spool
from gossamer.config import AppRule, HostRule, load
from gossamer.errors import AppError, ConfigError
from gossamer.testing import TinyWeb
from gossamer.testing.web.message import Reply, response

SEED = "http://a.test/0"


@pytest.fixture(autouse=True)
def _found_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as found:
        for page in range(60):
            found.add_page(f"http://a.test/{page}")
        yield found


def app(name: str, of: str, share: float = 1.0, timeout: float = 60.0, memory: int = 10**9, **options: Any) -> AppRule:
    return AppRule(name, f"sample_apps:{of}", share, "jsonl", timeout, memory, json.dumps(options))


def crawled(
    home: Path, seeds: list[str], web: TinyWeb, *rules: AppRule, notices: list[str] | None = None, **options: Any
) -> Summary:
    """As the command does it: with each application in its process."""
    given = {"delay": "0", "scope": "any", "allow_private": True, "connect": [web.connect], **options}
    config = replace(load(None, {NAMES[key]: value for key, value in given.items()}), apps=rules)
    told = [] if notices is None else notices
    running = [AppProcess(home, rule, told.append, rest=0.01) for rule in rules if rule.run]
    summary = run(config, home, seeds, notice=told.append, apps=running)
    for each in running:
        each.finish()
    return summary


def records(home: Path, name: str) -> list[dict[str, Any]]:
    files = sorted(folder_of(home, name).glob("records-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def pages_of(web: TinyWeb) -> Counter[str]:
    found = web.log.requests_per_url()
    return Counter({url: count for url, count in found.items() if not url.endswith("/robots.txt")})


# -- what it sees, asks for and records --------------------------------------------------------------------------------


def test_a_crawl_goes_on_as_long_as_an_application_asks_for_more(tmp_path: Path, web: TinyWeb) -> None:
    """No page links to another: only what the application asks for leads on, each because of the one before."""
    summary = crawled(tmp_path / "c", [SEED], web, app("walker", "Walker", most=8))
    assert summary.reason == "complete"
    assert pages_of(web) == {f"http://a.test/{page}": 1 for page in range(9)}
    assert records(tmp_path / "c", "walker") == [
        {"url": f"http://a.test/{page}", "seen": page + 1} for page in range(9)
    ]
    figures = read_apps(tmp_path / "c")["walker"]
    assert (figures.requests, figures.new, figures.started, figures.fetched, figures.pages, figures.records) == (
        8, 8, 8, 8, 9, 9,
    )  # fmt: skip
    assert read_apps(tmp_path / "c")["links"].started == 1
    told = read_progress(tmp_path / "c").apps["walker"]  # what the last commit of the crawl has is not the last word
    assert (told.pages, told.records, told.state) == (9, 9, "")


def test_one_that_goes_on_is_asked_what_it_wants_before_it_sees_anything(tmp_path: Path, web: TinyWeb) -> None:
    """In another run, though nothing new is stored; what it asks for again is known."""
    home = tmp_path / "c"
    for pages in (["/0"], ["/5"], []):
        before = len(web.log.arrivals)
        crawled(home, [SEED], web, app("resumes", "Resumes"))
        assert [arrival.path for arrival in web.log.arrivals[before:] if arrival.path != "/robots.txt"] == pages
    seen = [record["url"] for record in records(home, "resumes")]
    assert seen == ["http://a.test/0", "resumed", "http://a.test/5", "resumed"]


def test_records_are_read_back_up_to_the_last_commit(tmp_path: Path, web: TinyWeb) -> None:
    home = tmp_path / "c"
    crawled(home, [SEED], web, app("walker", "Walker", most=3))
    with open(folder_of(home, "walker") / "records-00000.jsonl", "a", encoding="ascii") as file:
        file.write('{"url": "http://a.test/9", "seen": 10}\n{"half')  # as one that is killed leaves it
    expected = [{"url": f"http://a.test/{page}", "seen": page + 1} for page in range(4)]
    assert list(gossamer.records(home, "walker")) == expected
    with pytest.raises(ConfigError, match=r"no application 'walkers' has run on .*; there are: walker"):
        gossamer.records(home, "walkers")


def test_records_are_read_back_from_parquet(tmp_path: Path, web: TinyWeb) -> None:
    home = tmp_path / "c"
    crawled(home, [SEED], web, msgspec.structs.replace(app("walker", "Walker", most=3), format="parquet"))
    assert not list(folder_of(home, "walker").glob("*.jsonl"))
    assert list(gossamer.records(home, "walker")) == [
        {"url": f"http://a.test/{page}", "seen": page + 1} for page in range(4)
    ]


def test_what_does_not_belong_to_the_crawl_is_left_out_and_counted(tmp_path: Path, web: TinyWeb) -> None:
    rule = app("asker", "Asker", letter="a", pages=3)  # of h0.test
    summary = crawled(tmp_path / "c", [SEED], web, rule, scope="host")
    assert summary.pages == 1
    assert read_apps(tmp_path / "c")["asker"].left_out == 3


def test_an_application_sees_only_what_it_wants(tmp_path: Path) -> None:
    seen: list[str] = []

    class Picky(gossamer.Application):
        wants = Wants(hosts=("*.test",), urls=r"/(b|png|lost)$", statuses=(200, 404), types=("text/",))

        def pages(self, pages: Any) -> Any:
            seen.extend(page.url for page in pages)
            return ()

    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/b", "/c", "/png", "/lost", "http://b.example/b"])
        web.add_page("http://a.test/b")
        web.add_page("http://a.test/c")
        web.add_page("http://b.example/b")
        web.add_page("http://a.test/png", headers={"Content-Type": "image/png"})
        options = {
            "allow_private": True,
            "connect": [web.connect],
            "delay": 0,
            "scope": "any",
            "types": "text/html,image/png",
        }

        async def all_pages() -> None:
            async for _ in gossamer.crawl(["http://a.test/"], directory=tmp_path / "c", apps=[Picky()], **options):
                pass

        asyncio.run(all_pages())
    assert sorted(seen) == ["http://a.test/b", "http://a.test/lost"]


# -- crashes -----------------------------------------------------------------------------------------------------------


def test_killed_in_the_middle_it_loses_and_repeats_nothing(tmp_path: Path, web: TinyWeb) -> None:
    notices: list[str] = []
    rule = app("killed", "Killed", where=str(tmp_path / "killed"), at=5, most=12)
    crawled(tmp_path / "c", [SEED], web, rule, notices=notices)
    assert (tmp_path / "killed").exists()
    assert any("started again" in text for text in notices)
    assert records(tmp_path / "c", "killed") == [
        {"url": f"http://a.test/{page}", "seen": page + 1} for page in range(13)
    ]
    assert max(pages_of(web).values()) == 1
    figures = read_apps(tmp_path / "c")["killed"]
    assert (figures.requests, figures.new) == (12, 12)


@pytest.mark.parametrize("point", ["records", "note", "sent"])
def test_a_crash_within_the_commit_loses_and_repeats_nothing(
    tmp_path: Path, web: TinyWeb, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """After the records are written, after the note is, and after the command is in the spool."""
    home = tmp_path / "c"
    crawl(home, [f"http://a.test/{page}" for page in range(6)], web.connect)

    class Crash(BaseException):
        pass

    def crashes(*_: Any, **__: Any) -> Any:
        raise Crash

    with monkeypatch.context() as patched:
        runner = AppRunner(home, "walker", Walker(), print)
        if point == "records":
            patched.setattr("gossamer.agent.app_runner.write_note", crashes)
        elif point == "note":
            patched.setattr(runner, "_resend", crashes)
        else:
            send = runner._spool.send
            patched.setattr(runner._spool, "send", lambda command: (send(command), crashes())[0])
        with pytest.raises(Crash):
            _finished(runner)
        runner.close()
    again = AppRunner(home, "walker", Walker(), print)
    again._resend()
    _finished(again)
    again.close()
    assert [each["url"] for each in records(home, "walker")] == [f"http://a.test/{page}" for page in range(6)]
    assert [each["seen"] for each in records(home, "walker")] == [1, 2, 3, 4, 5, 6]
    sent = [command for command in Spool(home).waiting() if command.kind == "requests"]
    assert len({command.about["batch"] for command in sent}) == 1
    # The crawl takes up what is there twice once.
    crawled(home, [], web, app("walker", "Walker", most=0))
    figures = read_apps(home)["walker"]
    assert (figures.requests, figures.new) == (6, 1)


def test_what_was_asked_for_when_the_crawl_had_ended_the_next_run_does(tmp_path: Path, web: TinyWeb) -> None:
    home = tmp_path / "c"
    crawled(home, [SEED], web, app("walker", "Walker", most=50), max_pages=3)
    assert read_note(folder_of(home, "walker")).pages == 3
    crawled(home, [], web, app("walker", "Walker", most=50), max_pages=6)
    assert pages_of(web) == {f"http://a.test/{page}": 1 for page in range(6)}
    assert [each["seen"] for each in records(home, "walker")] == [1, 2, 3, 4, 5, 6]


# -- those that fail ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (app("bad", "Failing", letter="", pages=0), "ValueError: this page is more than I can bear (sample_apps.py:"),
        (app("bad", "Hanging", timeout=1.0), "took longer than 1 s"),
        (app("bad", "Greedy", memory=600_000_000), "MemoryError"),
    ],
    ids=["raises", "hangs", "takes too much memory"],
)
def test_one_that_fails_is_stopped_and_shown_and_the_others_go_on(
    tmp_path: Path, web: TinyWeb, rule: AppRule, why: str
) -> None:
    if rule.options == json.dumps({"letter": "", "pages": 0}):
        rule = msgspec.structs.replace(rule, options=json.dumps({"letter": "0|/", "pages": 0}))
    notices: list[str] = []
    summary = crawled(tmp_path / "c", [SEED], web, rule, app("walker", "Walker", most=5), notices=notices)
    assert summary.reason == "complete"
    assert len(records(tmp_path / "c", "walker")) == 6
    assert why in read_note(folder_of(tmp_path / "c", "bad")).why
    assert read_apps(tmp_path / "c")["bad"].state.startswith("stopped: ")
    assert any("application bad" in text and "is stopped" in text for text in notices), notices


def test_in_a_thread_one_that_fails_harms_nobody_either(tmp_path: Path, web: TinyWeb) -> None:
    async def urls() -> list[str]:
        apps = {"bad": Failing("0"), "good": Asker("0")}
        options = {"allow_private": True, "connect": [web.connect], "delay": 0, "scope": "host"}
        pages = gossamer.crawl(["http://a.test/0"], directory=tmp_path / "c", apps=apps, **options)
        return [page.url async for page in pages]

    assert asyncio.run(urls()) == [SEED]
    assert "more than I can bear" in read_note(folder_of(tmp_path / "c", "bad")).why or not records(
        tmp_path / "c", "bad"
    )


def test_what_is_no_application_is_told_at_once(tmp_path: Path) -> None:
    async def start(apps: Any) -> None:
        async for _ in gossamer.crawl(["http://a.test/"], directory=tmp_path / "c", apps=apps):
            pass

    with pytest.raises(ConfigError, match="is no application"):
        asyncio.run(start([object()]))
    with pytest.raises(ConfigError, match="two applications are called walker"):
        asyncio.run(start([Walker(), Walker()]))
    assert not (tmp_path / "c").exists()


def test_records_that_are_none_stop_an_application(tmp_path: Path, web: TinyWeb) -> None:
    class Wrong(gossamer.Application):
        def pages(self, pages: Any) -> Any:
            yield {"what": object()}

    home = tmp_path / "c"
    crawl(home, [SEED], web.connect)
    runner = AppRunner(home, "wrong", Wrong(), print)
    with pytest.raises(AppError, match="TypeError"):
        runner.step()
    runner.close()


# -- how hosts are treated ---------------------------------------------------------------------------------------------


def test_an_application_says_how_long_a_host_rests_and_is_waited_for(tmp_path: Path, web: TinyWeb) -> None:
    """Its wish holds before what it asks for is visited."""
    home = tmp_path / "c"
    late = Reply((1.0, response(200, "text/html", b"late")))
    for url in ("http://a.test/3", "http://b.test/"):
        web.add_handler(url, lambda request: late)
    summary = crawled(
        home, [SEED, "http://b.test/"], web, app("patient", "Patient", most=4), timeout="500ms", max_tries=1
    )
    assert (summary.pages, summary.given_up) == (5, {"timeout": 1})
    begun = [arrival.time for arrival in web.log.arrivals if arrival.host == "a.test" and arrival.path != "/robots.txt"]
    assert len(begun) == 5
    assert min(after - before for before, after in pairwise(begun[1:])) > 0.29
    held = HostRule("a.test", delay=0.3, timeout=30.0, by="patient")
    assert load(home / "gossamer.toml").hosts == (held,)
    # What is said of other options of the host is kept, and the next run has it.
    Control(home, "owner").set_priority("a.test", 2)
    crawled(home, [], web, app("patient", "Patient", most=5))
    assert load(home / "gossamer.toml").hosts[0].delay == 0.3


@pytest.mark.parametrize(
    ("tables", "least", "wish", "holds"),
    [
        ((), None, 0.1, 2.0),  # a shorter one is not for an application to allow
        ((), None, 5, 5.0),
        ((), 0.5, 0.1, 0.5),
        ((), 0.5, 0.7, 0.7),
        ((), 3.0, 0.1, 2.0),
        ((HostRule("*.test", delay=9.0, headers=("X-A: b",)),), None, 3, 9.0),
        ((HostRule("*.test", delay=9.0, headers=("X-A: b",)),), 1.0, 3, 3.0),
        ((HostRule("a.test", delay=9.0),), 0.0, 3, None),
        ((HostRule("a.test", delay=9.0, by="other"),), 0.0, 3, None),
    ],
)
def test_a_wish_holds_as_far_as_the_owner_allows(
    tmp_path: Path, tables: tuple[HostRule, ...], least: float | None, wish: float, holds: float | None
) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        crawl(home, ["http://a.test/"], web.connect)
    settings = home / "gossamer.toml"
    config = load(settings)
    config = replace(
        config, policy=replace(config.policy, delay=2.0), hosts=tables, apps=(AppRule("x", min_delay=least),)
    )
    settings.write_text(config.to_toml())
    left = Control(home, "application x").treat([Host("A.test", delay=wish)], "x").facts["left"]
    if holds is None:
        assert (left, load(settings).hosts) == (["a.test"], tables)
        return
    headers = tables[0].headers if tables else ()
    assert load(settings).hosts == (HostRule("a.test", delay=holds, headers=headers, by="x"), *tables)
    assert "application x" in (home / "logs" / "audit.jsonl").read_text()


def test_a_wish_is_kept_when_others_change_the_settings(tmp_path: Path, web: TinyWeb) -> None:
    class Wishes(gossamer.Application):
        def pages(self, pages: Any) -> Any:
            yield Host("b.test", delay=9)

    home, settings = tmp_path / "c", tmp_path / "c" / "gossamer.toml"
    crawl(home, [SEED], web.connect)
    before = settings.read_text()
    runner = AppRunner(home, "wishes", Wishes(), print)
    _finished(runner)
    wished = load(settings).hosts
    assert wished == (HostRule("b.test", delay=9.0, by="wishes"),)
    settings.write_text(before)  # as another agent may, which has not heard of it
    runner.step()
    assert load(settings).hosts == wished
    runner.close()
    settings.write_text(before)
    again = AppRunner(home, "wishes", Wishes(), print)
    again.step()
    assert load(settings).hosts == wished
    settings.write_text(before + '\n[hosts."b.test"]\ndelay = "1s"\n')
    again.step()
    assert load(settings).hosts == (HostRule("b.test", delay=1.0),), "the owner's word"
    again.close()


def test_wishes_for_very_many_hosts_stop_an_application(tmp_path: Path, web: TinyWeb) -> None:
    class Many(gossamer.Application):
        def pages(self, pages: Any) -> Any:
            for number in range(1001):
                yield Host(f"h{number}.test", delay=9)

    home = tmp_path / "c"
    crawl(home, [SEED], web.connect)
    runner = AppRunner(home, "many", Many(), print)
    with pytest.raises(AppError, match="it wishes something for more than 1,000 hosts"):
        runner.step()
    runner.close()
    assert load(home / "gossamer.toml").hosts == ()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "a b"}, "'a b' is not the name of a host"),
        ({"name": "http://a.test/b/c"}, "is not the name of a host"),
        ({"name": "a.test", "delay": -1}, "delay -1 is not a number of seconds from 0 to 86,400"),
        ({"name": "a.test", "delay": float("nan")}, "delay nan is not"),
        ({"name": "a.test", "timeout": 0}, "timeout 0 is not a number of seconds from 1"),
        ({"name": "a.test", "timeout": True}, "timeout True is not"),
    ],
)
def test_a_wish_that_is_none(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Host(**wrong)


# -- shares ------------------------------------------------------------------------------------------------------------


def test_two_applications_and_a_recrawl_share_the_speed_and_one_fails(tmp_path: Path) -> None:
    """Shares 2 : 1 : 1 : 1, judged by the arrivals at the servers while all have work."""
    hosts, home, notices = 12, tmp_path / "c", list[str]()
    with TinyWeb() as web:
        for kind in "ablr":
            for page in range(700):
                web.add_page(f"http://h{page % hosts}.test/{kind}/{page}")
        web.add_page("http://s.test/r", [f"http://h{page % hosts}.test/r/{page}" for page in range(300)])
        web.add_page("http://s.test/l", [f"http://h{page % hosts}.test/l/{page}" for page in range(700)])
        fresh = {"min_interval": "1s", "max_interval": "1s", "commit_interval": "200ms"}
        crawl(home, ["http://s.test/r"], web.connect, **fresh)
        rules = [
            app("one", "Asker", 2.0, letter="a", hosts=hosts, pages=700),
            app("two", "Asker", 1.0, letter="b", hosts=hosts, pages=700),
            app("bad", "Failing", 1.0, letter="l", pages=0),
        ]
        summary = crawled(
            home,
            ["http://s.test/l"],
            web,
            *rules,
            notices=notices,
            keep_fresh=True,
            rate="150",
            max_pages=1500,
            **fresh,
        )
        urls = [f"http://{arrival.host}{arrival.path}" for arrival in web.log.arrivals if "/robots" not in arrival.path]
    assert summary.reason == "max_pages"
    seen: set[str] = set()
    kinds = []
    for url in urls:
        kinds.append("again" if url in seen else url.split("/")[3])
        seen.add(url)
    kinds = kinds[kinds.index("b") + 100 :]  # both run, and what they may be behind for at their start is made up for
    window = kinds[: min(_last(kinds, kind) for kind in "abl") + 1]
    found = Counter(window)
    assert len(window) >= 400, found
    for kind, share in (("a", 0.4), ("b", 0.2), ("l", 0.2), ("again", 0.2)):
        assert found[kind] / len(window) == pytest.approx(share, rel=0.1), found
    assert any("application bad" in text and "is stopped" in text for text in notices)
    figures = read_apps(home)
    assert figures["bad"].state.startswith("stopped: ValueError: this page is more than I can bear")
    assert figures["one"].pages == figures["one"].fetched > 100
    assert figures["two"].pages == figures["two"].fetched > 50


def _finished(runner: AppRunner) -> None:
    while runner.step():
        pass
    runner.finish()


def _last(kinds: list[str], kind: str) -> int:
    return max(place for place, each in enumerate(kinds) if each == kind)
