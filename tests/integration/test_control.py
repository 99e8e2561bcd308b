"""Commands to a crawl, judged by what the servers saw, what is on disk and what the audit log says."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import WHO, running
from crawling import crawl, urls

from gossamer.agent import Control, read_progress, read_visits
from gossamer.agent.audit import read_changes
from gossamer.agent.spool import Command, Spool
from gossamer.config import load
from gossamer.errors import ConfigError, ControlError, CrawlDirError
from gossamer.frontier.reader import FrontierReader
from gossamer.model import State
from gossamer.testing import SimServer, TinyWeb, World
from gossamer.testing.web import End, MemoryLog, Reply, Request

_HANGS = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n<p>",)


class Web:
    """A simulated web that takes minutes at the rates used here."""

    def __init__(self, server: SimServer) -> None:
        assert isinstance(server.log, MemoryLog)
        self.log = server.log
        self.connect = server.connect
        self.seeds = [server.world.url(0)]


@pytest.fixture
def web() -> Iterator[Web]:
    with SimServer.running(World(3, 20, 500, "plain")) as server:
        yield Web(server)


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """The directory of a crawl of one page that has ended."""
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    return tmp_path / "c"


def said(home: Path) -> list[tuple[str, str]]:
    return [(change.who, change.what) for change in read_changes(home)]


# -- pause, resume, stop, checkpoint -----------------------------------------------------------------------------------


def test_paused_it_visits_nobody_until_it_is_resumed(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="100") as crawl:
        assert web.log.wait_for(20, 30)
        crawl.control.pause()
        while crawl.control.checkpoint() and read_progress(tmp_path / "c").in_flight:
            pass
        crawl.control.add_seeds(["http://new.test/"], 0)
        before = len(web.log.arrivals)
        for _ in range(3):
            crawl.control.checkpoint()
        assert len(web.log.arrivals) == before
        assert read_progress(tmp_path / "c").paused
        assert "paused" in read_progress(tmp_path / "c").limit
        crawl.control.resume()
        assert web.log.wait_for(before + 20, 30)
        crawl.control.stop()
        assert crawl.end().reason == "stopped"
    assert any(arrival.host == "new.test" for arrival in web.log.arrivals[before:])
    changes = [what for _, what in said(tmp_path / "c") if what != "checkpoint"]
    assert changes == ["pause", "seeds", "resume", "stop"]
    assert {who for who, _ in said(tmp_path / "c")} == {WHO}


def test_links_of_stored_pages_come_first(tmp_path: Path) -> None:
    """They wait behind others already; those outside the scope stay outside, and a URL that is new becomes a seed."""
    others = [f"/f{number}" for number in range(80)]
    near = [f"/n{number}" for number in range(6)]
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/key", *others])
        web.add_page("http://a.test/key", [*near, "/", "http://elsewhere.test/", "/private/x"])
        for path in (*others, *near):
            web.add_page(f"http://a.test{path}")
        options = {"rate": "20", "scope": "host", "exclude": ["/private/"]}
        with running(tmp_path / "c", ["http://a.test/"], web.connect, **options) as crawl:
            assert web.log.wait_for(6, 30)
            crawl.control.pause()
            while crawl.control.checkpoint() and read_progress(tmp_path / "c").in_flight:
                pass
            before = len(web.log.arrivals)
            assert not {arrival.path for arrival in web.log.arrivals} & set(near)
            given = ["http://a.test/key", "http://a.test/f79", "http://new.test/"]
            answer = crawl.control.add_seeds(given, 1, links=True)
            assert (answer.facts["new"], answer.facts["known"]) == (1, 2)
            assert (answer.facts["pages"], answer.facts["links"]) == (1, len(near))
            again = crawl.control.add_seeds(given, 1, links=True)
            assert (again.facts["new"], again.facts["links"]) == (0, len(near)), "it may be said twice"
            crawl.control.resume()
            assert web.log.wait_for(before + 12, 30)
            crawl.control.set_limits({"rate": "0"})
            assert crawl.end().reason == "complete"
        came = [arrival.path for arrival in web.log.arrivals[before:] if arrival.host == "a.test"]
    assert set(near) <= set(came[: len(near) + 1]), came
    asked = Counter(arrival.host + arrival.path for arrival in web.log.arrivals)
    pages = {path: count for path, count in asked.items() if not path.endswith("robots.txt")}
    assert pages == {f"a.test{path}": 1 for path in ("/", "/key", *others, *near)} | {"new.test/": 1}
    assert urls(tmp_path / "c", State.QUEUED) == set()


def test_a_paused_crawl_stays_paused_when_it_is_started_again_and_says_so(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="100") as crawl:
        assert web.log.wait_for(5, 30)
        crawl.control.pause()
        crawl.control.stop()
        crawl.end()
    before = len(web.log.arrivals)
    with running(tmp_path / "c", [], web.connect) as crawl:
        for _ in range(3):
            crawl.control.checkpoint()
        assert len(web.log.arrivals) == before
        assert any("is paused" in notice for notice in crawl.notices)
        crawl.control.resume()
        assert web.log.wait_for(before + 1, 30)
    assert not load(tmp_path / "c" / "gossamer.toml").agent.paused


def test_a_checkpoint_is_answered_when_all_is_durable(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="100", commit_interval="1h") as crawl:
        assert web.log.wait_for(30, 30)
        answer = crawl.control.checkpoint()
        assert answer.facts["pages"] >= 10
        assert read_progress(tmp_path / "c").pages == answer.facts["pages"]
        assert len(urls(tmp_path / "c", State.FETCHED)) == answer.facts["pages"]


def test_stop_returns_when_the_directory_is_free(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="100") as crawl:
        crawl.control.stop()
        assert not crawl.control.running
        with pytest.raises(ControlError, match="no crawl runs"):
            crawl.control.stop()


def test_commands_to_a_run_that_has_ended_are_not_for_the_next(ended: Path) -> None:
    spool = Spool(ended)
    for kind in ("stop", "checkpoint", "settings"):
        spool.send(Command(kind, WHO, 1.0))
    with TinyWeb() as web:
        web.add_page("http://b.test/")
        with running(ended, ["http://b.test/"], web.connect) as crawl:
            assert crawl.end().reason == "complete"
    assert spool.waiting() == []
    assert said(ended) == []


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_rate_set_from_outside_holds_at_the_servers_log(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="20") as crawl:
        assert web.log.wait_for(10, 30)
        crawl.control.set_limits({"rate": 200})
        began = len(web.log.arrivals)
        assert web.log.wait_for(began + 840, 60)
    after = web.log.arrivals[began + 40 : began + 840]  # past what was saved up
    rate = (len(after) - 1) / (after[-1].time - after[0].time)
    assert 160 <= rate <= 210  # a machine that is busy may be slower, none may be faster
    change = read_changes(tmp_path / "c")[0]
    assert (change.who, change.what) == (WHO, "limits")
    assert (change.before, change.after) == ({"fetch.rate": "20"}, {"fetch.rate": "200"})
    assert load(tmp_path / "c" / "gossamer.toml").fetch.rate == 200


def test_limits_are_read_and_set_in_the_words_of_programs(ended: Path) -> None:
    control = Control(ended, WHO)
    day = {"from": "08:00", "to": "18:30", "rate": 5, "bandwidth": 1_000_000, "days": "Mon-Fri"}
    answer = control.set_limits(
        {"bandwidth": 5_000_000, "delay": 2.5, "connections": 7, "schedule": [day, "Sun pause"]}
    )
    assert "started again" in answer.text
    config = load(ended / "gossamer.toml")
    assert config.fetch.schedule == ("Mon-Fri 08:00-18:30 rate=5 bandwidth=1000000", "Sun pause")
    limits = control.limits()
    assert (limits.bandwidth, limits.delay, limits.connections) == (5_000_000, 2.5, 7)
    assert (limits.schedule[0].start, limits.schedule[0].end, limits.schedule[0].rate) == ("08:00", "18:30", 5.0)
    assert limits.schedule[0].days == "Mon,Tue,Wed,Thu,Fri"
    assert (limits.schedule[1].pause, limits.schedule[1].days) == (True, "Sun")
    control.set_limits({"schedule": []})
    assert control.limits().schedule == []
    assert control.limits().delay == 2.5


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"rate": -1}, "--rate"),
        ({"rate": "fast"}, "--rate"),
        ({"bandwidth": 1.5}, "--bandwidth"),
        ({"speed": 5}, "'speed' is not a limit"),
        ({"schedule": [{"from": "25:00", "rate": 1}]}, "fetch.schedule"),
        ({"schedule": [{"form": "08:00"}]}, "form"),
        ({"schedule": [7]}, "schedule"),
    ],
)
def test_limits_that_are_not_understood_change_nothing(ended: Path, given: dict[str, object], named: str) -> None:
    before = (ended / "gossamer.toml").read_bytes()
    with pytest.raises(ConfigError, match=named):
        Control(ended, WHO).set_limits(given)
    assert (ended / "gossamer.toml").read_bytes() == before
    assert said(ended) == []


def test_two_who_change_at_the_same_time_both_do(ended: Path) -> None:
    threads = [
        threading.Thread(target=Control(ended, f"key {number}").block, args=[[f"h{number}.test"]])
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Control(ended, WHO).blocklist()) == sorted(f"h{number}.test" for number in range(12))
    assert len(said(ended)) == 12


def test_an_edit_by_hand_is_in_the_audit_log_too(tmp_path: Path, web: Web) -> None:
    home = tmp_path / "c"
    with running(home, web.seeds, web.connect, rate="20") as crawl:
        text = (home / "gossamer.toml").read_text()
        (home / "gossamer.toml").write_text(text.replace("rate = 20.0", "rate = 300.0"))
        assert web.log.wait_for(150, 30)
        assert crawl.control.limits().rate == 300
    (change,) = read_changes(home)
    assert (change.who, change.before, change.after) == ("an editor", {"fetch.rate": "20"}, {"fetch.rate": "300"})


# -- the blocklist -----------------------------------------------------------------------------------------------------


def test_a_blocked_host_gets_no_further_request_and_what_is_in_flight_is_dropped(tmp_path: Path) -> None:
    home = tmp_path / "c"
    asked = threading.Event()

    def hang(request: Request) -> Reply:
        asked.set()
        return Reply(_HANGS, End.HANG)

    with TinyWeb() as web:
        web.add_handler("http://a.test/", hang)
        web.add_page("http://a.test/other")
        web.add_page("http://b.test/")
        seeds = ["http://a.test/", "http://a.test/other", "http://b.test/"]
        with running(home, seeds, web.connect, timeout="10m") as crawl:
            assert asked.wait(30)
            crawl.control.block(["a.test"])
            assert crawl.end().reason == "complete"
        assert not any(arrival.path == "/other" for arrival in web.log.arrivals)
        control = Control(home, WHO)
        assert control.blocklist() == ("a.test",)
        control.unblock(["a.test"])
        web.add_page("http://a.test/")
        with running(home, [], web.connect) as crawl:
            crawl.end()
    assert urls(home, State.FETCHED) == set(seeds)
    assert [what for _, what in said(home)] == ["block", "unblock"]


def test_what_is_not_blocked_cannot_be_unblocked(ended: Path) -> None:
    control = Control(ended, WHO)
    with pytest.raises(ControlError, match=r"b\.test"):
        control.unblock(["b.test"])
    with pytest.raises(ConfigError, match="a b"):
        control.block(["a b"])
    control.block(["b.test/x,y"])  # taken as it stands
    control.block(["b.test"])
    assert "already" in control.block(["b.test"]).text


# -- seeds, priorities, retry ------------------------------------------------------------------------------------------


def test_seeds_are_added_to_a_crawl_that_runs(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="50") as crawl:
        answer = crawl.control.add_seeds(["http://new.test/", "http://y.test/", "ftp://x.test/", *web.seeds], 0)
        assert web.log.wait_for(len(web.log.arrivals) + 30, 30)
    assert any(arrival.host == "new.test" for arrival in web.log.arrivals)
    assert (answer.facts["new"], answer.facts["known"], answer.facts["left_out"]) == (2, 1, 1)
    assert [each["seed"] for each in answer.facts["refused"]] == ["ftp://x.test/"]
    (change, *_) = read_changes(tmp_path / "c")
    assert (change.what, change.after["new"]) == ("seeds", 2)


def test_seeds_given_while_no_crawl_runs_wait_for_the_next(ended: Path) -> None:
    assert "started again" in Control(ended, WHO).add_seeds(["http://b.test/"], 2).text
    with TinyWeb() as web:
        web.add_page("http://b.test/", ["/more"])
        web.add_page("http://b.test/more")
        with running(ended, [], web.connect) as crawl:
            assert crawl.end().reason == "complete"
    assert urls(ended, State.FETCHED) == {"http://a.test/", "http://b.test/", "http://b.test/more"}


def test_a_raised_host_comes_first_though_its_urls_were_queued_before(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        seeds = []
        for host in range(30):
            web.add_page(f"http://h{host:02d}.test/")
            seeds.append(f"http://h{host:02d}.test/")
        with running(home, seeds, web.connect, paused=True) as crawl:
            crawl.control.set_priority("h29.test", 0)
            crawl.control.set_priority("h00.test", 9)
            assert crawl.control.priority("h29.test") == 0
            crawl.control.set_limits({"connections": 1})
            crawl.control.resume()
            crawl.end()
        order = [arrival.host for arrival in web.log.arrivals if arrival.path == "/robots.txt"]
    assert order[0] == "h29.test"
    assert order.index("h00.test") > 4  # now and then one that comes last is let before
    changes = [change for change in read_changes(home) if change.what == "priority"]
    assert [change.after for change in changes] == [{"h29.test": 0}, {"h00.test": 9}]


def test_what_is_dead_or_down_is_tried_again_when_told(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        broken = [True]

        def closes(request: Request) -> Reply | bytes:
            return Reply((), End.CLOSE) if broken[0] else b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        web.add_page("http://a.test/", ["/x", "/y"])
        web.add_handler("http://a.test/x", closes)
        web.add_handler("http://a.test/y", closes)
        with running(home, ["http://a.test/"], web.connect, max_tries="2", types=["*/*"]) as crawl:
            first = crawl.end()
        assert (first.faults, urls(home, State.DEAD)) == (2, {"http://a.test/x", "http://a.test/y"})
        broken[0] = False
        assert "started again" in Control(home, WHO).retry().text
        with running(home, [], web.connect) as crawl:
            second = crawl.end()
    assert (second.faults, second.pages) == (0, 3)
    assert urls(home, State.DEAD) == set()
    assert read_changes(home)[-1].after == {"host": "", "urls": 2, "hosts": 0}


def test_a_host_that_is_down_gets_another_chance(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://b.test/")
        options = {"max_tries": "1", "retry_wait": "1h"}
        web.add_page("http://c.test/", [f"/{number}" for number in range(5000)])
        seeds = ["http://a.test/", "http://b.test/", "http://c.test/"]
        with running(home, seeds, "a.test=127.0.0.1:9", web.connect, rate="20", **options) as crawl:
            assert web.log.wait_for(8, 30)
            crawl.control.checkpoint()
            assert read_progress(home).hosts_down == 1
            answer = crawl.control.retry("a.test")
            assert answer.facts == {"host": "a.test", "urls": 0, "hosts": 1}


# -- purge -------------------------------------------------------------------------------------------------------------


def test_a_purged_host_is_not_even_asked_for_robots(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["http://b.test/1", "https://b.test/2", "http://sub.b.test:8080/"])
        with running(home, ["http://a.test/"], web.connect, max_pages="1") as crawl:
            crawl.end()
        Control(home, WHO).purge("b.test")
        with running(home, [], web.connect) as crawl:
            assert crawl.end().reason == "complete"
        assert {arrival.host for arrival in web.log.arrivals} == {"a.test"}
    excluded = {visit.url: visit.reason for visit in read_visits(home, State.EXCLUDED)}
    assert excluded == dict.fromkeys(["http://b.test/1", "https://b.test/2", "http://sub.b.test:8080/"], "blocklist")


def test_a_purged_host_leaves_with_its_pages(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["http://www.b.test/", "http://b.test/1", "http://b.test/2", "http://ab.test/"])
        for url in ("http://www.b.test/", "http://b.test/1", "http://b.test/2", "http://ab.test/"):
            web.add_page(url)
        with running(home, ["http://a.test/"], web.connect, max_pages="3") as crawl:
            crawl.end()
        before = len(web.log.arrivals)
        assert "started again" in Control(home, WHO).purge("b.test").text
        with running(home, [], web.connect) as crawl:
            assert crawl.end().reason == "complete"
        asked = {arrival.host for arrival in web.log.arrivals[before:]}
    assert asked <= {"ab.test", "a.test"}
    assert urls(home, State.FETCHED) == {"http://a.test/", "http://ab.test/"}
    excluded = {visit.url: visit.reason for visit in read_visits(home, State.EXCLUDED)}
    assert excluded.keys() == {"http://www.b.test/", "http://b.test/1", "http://b.test/2"}
    assert set(excluded.values()) <= {"purged", "blocklist"}
    assert "purged" in excluded.values()
    assert load(home / "gossamer.toml").policy.blocklist == ("b.test/*",)
    assert said(home) == [(WHO, "purge"), (WHO, "purge")]
    counts = FrontierReader(home / "frontier", tmp_path / "scratch").counts()
    assert (counts.fetched, counts.excluded, counts.queued, counts.dead) == (2, 3, 0, 0)


@pytest.mark.parametrize("host", ["", "a b", "http://a.test/page", "ftp://a.test"])
def test_only_hosts_are_purged(ended: Path, host: str) -> None:
    with pytest.raises(ConfigError, match="host"):
        Control(ended, WHO).purge(host)
    assert said(ended) == []


# -- the way there -----------------------------------------------------------------------------------------------------


def test_a_crawl_that_does_not_answer_is_said_to(ended: Path) -> None:
    """The directory is taken, but nobody looks at the spool."""
    from gossamer.agent.crawl_dir import CrawlDir

    other = CrawlDir(ended)
    other.take()
    try:
        control = Control(ended, WHO, patience=0.05)
        with pytest.raises(ControlError, match="does not answer"):
            control.checkpoint()
        assert Spool(ended).waiting() == []
        assert "has not answered" in control.pause().text
    finally:
        other.release()


def test_commands_that_nobody_understands_are_answered_and_removed(tmp_path: Path, web: Web) -> None:
    with running(tmp_path / "c", web.seeds, web.connect, rate="20") as crawl:
        spool = Spool(tmp_path / "c")
        strange = spool.send(Command("dance", WHO, 0.0))
        wrong = spool.send(Command("seeds", WHO, 0.0, {"urls": 7}))
        (spool.path / "00-garbage.json").write_bytes(b"{\xff")
        answers = [spool.wait(id, 20, lambda: crawl.control.running) for id in (strange, wrong, "00-garbage")]
        assert [answer is not None and answer.ok for answer in answers] == [False] * 3
        crawl.control.checkpoint()
    assert [what for _, what in said(tmp_path / "c")] == ["checkpoint"]
    assert not [name for name in os.listdir(spool.path) if name.endswith((".json", ".answer"))]


def test_only_its_owner_commands_a_crawl(ended: Path) -> None:
    Control(ended, WHO).retry()
    assert (ended / "control").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (ended / "control").glob("*.json"))


def test_a_directory_without_a_crawl_is_named(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match=r"gossamer\.toml"):
        Control(tmp_path, WHO)


def test_the_audit_log_is_lines_of_json(ended: Path) -> None:
    Control(ended, "key ops").pause()
    (line,) = (ended / "logs" / "audit.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found.pop("at").endswith("Z")
    assert found == {
        "who": "key ops", "what": "pause", "before": {"agent.paused": "false"}, "after": {"agent.paused": "true"},
    }  # fmt: skip
    with open(ended / "logs" / "audit.jsonl", "a") as log:
        log.write('{"at": "cut o')
    assert len(read_changes(ended)) == 1


# -- the log of the crawl ----------------------------------------------------------------------------------------------


def test_the_log_has_an_event_a_commit_and_none_a_url(tmp_path: Path) -> None:
    world = World(3, 4, 20, "plain")
    with (
        SimServer.running(world) as server,
        running(tmp_path / "c", [world.url(0)], server.connect, log_format="json") as crawl,
    ):
        summary = crawl.end()
    found = [json.loads(line) for line in (tmp_path / "c" / "logs" / "crawl.log").read_text().splitlines()]
    events = [each["event"] for each in found]
    assert (events[0], events[-1]) == ("start", "end")
    assert 1 <= events.count("commit") < summary.pages / 4
    assert (found[-1]["pages"], found[-1]["reason"]) == (summary.pages, "complete")
    assert [each["pages"] for each in found if each["event"] == "commit"][-1] == summary.pages
