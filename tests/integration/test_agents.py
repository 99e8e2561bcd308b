"""Several agents on one machine: their supervisor, its broker, its killer, and what is shown of them as one crawl."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from brokers import brokers, linked

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.fleet import Fleet, write_seeds
from gossamer.agent.mirrored import MirroredSettings, save_settings
from gossamer.agent.one_machine import OneMachine
from gossamer.agent.progress import Progress
from gossamer.agent.supervisor import read_beside
from gossamer.agent.together import read_written, write_progress
from gossamer.agent.warc_links import link_files
from gossamer.cli import run
from gossamer.cli.agents import Heard, index_status
from gossamer.cluster.broker import open_keys
from gossamer.cluster.shared import read_settings, write_settings
from gossamer.config import ClusterConfig, Config, IndexConfig, PolicyConfig, load
from gossamer.errors import ConfigError, CrawlDirError, SeedError, SupervisorError

STAND_IN = (sys.executable, str(Path(__file__).parent / "stand_in_agent.py"))
SEEDS = ["http://a.test/", "http://b.test/\n"]


class Crawled:
    """One run of a crawl with stand-ins, and what was said of it."""

    def __init__(self, home: Path, agents: int, *behave: str, seeds: list[str] | None = None, **more: Any) -> None:
        self.home = home
        self.said: list[str] = []
        self.heard: list[tuple[str, str]] = []
        self.watched: list[Progress] = []
        config = replace(more.pop("config", Config()), cluster=ClusterConfig(agents=agents))
        (home / "logs").mkdir(parents=True, exist_ok=True)
        (home / "logs" / "behave").write_text("\n".join(behave))
        self.crawl = OneMachine(
            config,
            home,
            SEEDS if seeds is None else seeds,
            self.said.append,
            lambda name, line: self.heard.append((name, line)),
            command=STAND_IN,
            watch=self.watch,
            every=0.01,
            **more,
        )
        self.status, self.whole = asyncio.run(self.crawl.run())

    def watch(self, whole: Progress) -> None:
        self.watched.append(whole)

    def seen(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / "agents" / name / "seen.json").read_text())
        return found


# -- a crawl -----------------------------------------------------------------------------------------------------------


def test_agents_are_one_crawl(tmp_path: Path) -> None:
    home = tmp_path / "c"
    done = Crawled(home, 3, "a1 end", "a2 -", "a3 -")
    assert (done.status, done.whole.reason, done.whole.running) == (0, "complete", False), (done.said, done.heard)
    assert (done.whole.pages, done.whole.run_pages, done.whole.statuses) == (30, 30, {"2xx": 27, "4xx": 3})
    assert done.whole.cpu_seconds >= 1.5
    assert read_written(home) == done.whole
    # Connections are shared out; seeds go to the first; what is secret is on no command line.
    words = done.seen("a1")["words"]
    assert words[words.index("--connections") + 1] == "85"
    assert words[-1] == f"@{home}/agents/a1/logs/seeds.txt"
    assert (home / "agents/a1/logs/seeds.txt").read_text() == "http://a.test/\nhttp://b.test/\n"
    assert not any(word.startswith("@") for word in done.seen("a2")["words"])
    secret = json.loads((home / "cluster.json").read_text())
    assert secret["password"] not in " ".join(words)
    for folder, name in ((home, ""), (home / "agents" / "a2", "a2")):
        assert json.loads((folder / "cluster.json").read_text())["name"] == name
        assert (folder / "cluster.json").stat().st_mode & 0o777 == 0o600
    links = {path.name: path.read_text() for path in (home / "warc").iterdir() if path.is_symlink()}
    assert len(links) == 6
    assert links["a3-gossamer-00001.warc.gz"] == "a3"
    assert os.readlink(home / "warc" / "a1-gossamer-00001.cdxj") == "../agents/a1/warc/gossamer-00001.cdxj"
    assert load(home / "gossamer.toml").cluster.agents == 3
    assert not CrawlDir(home).in_use()
    assert read_beside(CrawlDir(home)) == {}


def test_the_same_again_with_fewer_agents(tmp_path: Path) -> None:
    home = tmp_path / "c"
    Crawled(home, 2, "a1 end", "a2 -")
    (home / "agents/a1/behaved").unlink()
    done = Crawled(home, 1, "a1 end", seeds=[])
    assert (done.status, done.whole.reason) == (0, "complete")
    # What a2 has done stays done; the URLs it had are others' now.
    assert (done.whole.pages, done.whole.run_pages, done.whole.urls) == (20, 0, 20)
    assert not any(word.startswith("@") for word in done.seen("a1")["words"])
    assert done.seen("a1")["version"] == 2  # it has other settings: one agent
    assert (home / "warc" / "a2-gossamer-00001.warc.gz").exists()


def test_a_signal_stops_all(tmp_path: Path) -> None:
    done = Crawled(tmp_path / "c", 2, "a2 interrupt")
    assert (done.status, done.whole.reason, done.whole.pages) == (130, "stopped", 20)
    assert done.said == []


def test_who_dies_is_back(tmp_path: Path) -> None:
    class Until(Crawled):
        def watch(self, whole: Progress) -> None:
            if whole.beside["a2"] == "running, died once":
                (self.home / "logs" / "told").touch()

    done = Until(tmp_path / "c", 2, "a1 end-when-told", "a2 die")
    assert (done.status, done.whole.reason) == (0, "complete")
    assert done.said == [
        "supervisor: the agent a2 died of signal 9 (SIGKILL) and is started again in 0.25 s; nothing is lost"
    ]


def test_a_broker_that_dies_is_back(tmp_path: Path) -> None:
    class Attacked(Crawled):
        def watch(self, whole: Progress) -> None:
            if self.said:
                (self.home / "logs" / "told").touch()
            elif whole.pages:
                self.crawl._server.kill()

    done = Attacked(tmp_path / "c", 1, "a1 end-when-told")
    assert (done.status, done.whole.reason) == (0, "complete")
    assert done.said == ["supervisor: the broker died and is started again; agents wait for it, nothing is lost"]


def test_who_uses_something_wrongly_ends_all(tmp_path: Path) -> None:
    done = Crawled(tmp_path / "c", 2, "a2 refuse")
    assert done.status == 2
    assert ("a2", "gossamer: this is wrong") in done.heard


@pytest.mark.parametrize("seeds", [[], ["ftp://a.test/"]])
def test_without_a_usable_seed_nothing_is_made(tmp_path: Path, seeds: list[str]) -> None:
    crawl = OneMachine(Config(), tmp_path / "c", seeds, print, print)
    with pytest.raises(SeedError, match="No seed can be crawled"):
        asyncio.run(crawl.run())
    assert not (tmp_path / "c").exists()


def test_what_is_fixed_stays(tmp_path: Path) -> None:
    Crawled(tmp_path / "c", 1, "a1 end")
    config = Config()
    with pytest.raises(ConfigError, match="the crawl was made with 256"):
        Crawled(tmp_path / "c", 1, config=replace(config, frontier=replace(config.frontier, partitions=8)))


def test_a_crawl_of_one_agent_is_not_shared_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "frontier").mkdir()
    CrawlDir(tmp_path).save(Config())
    assert run(["crawl", "--dir", str(tmp_path), "--agents", "2"]) == 2
    assert "go on with --agents 1" in capsys.readouterr().err
    with pytest.raises(CrawlDirError, match="is a crawl of one agent"):
        Crawled(tmp_path, 2)


# -- agents alone ------------------------------------------------------------------------------------------------------


_FIRST = """
import os, signal, sys, time
from pathlib import Path
home = Path(sys.argv[1]); name = home.name
first = not (home / "ran").exists(); (home / "ran").touch()
"""


def fleet(homes: list[Path], script: str, **more: Any) -> tuple[Fleet, int | None, list[str]]:
    notices: list[str] = []

    async def run() -> tuple[Fleet, int | None]:
        kept = Fleet(
            {home.name: home for home in homes},
            lambda name, after: [sys.executable, "-c", _FIRST + script, str(homes[0].parent / name)],
            notices.append,
            lambda name, line: notices.append(f"{name} said {line}"),
            rest=0.001,
            **more,
        )
        async with asyncio.timeout(60):
            return kept, await kept.run()

    found, status = asyncio.run(run())
    return found, status, notices


def test_a_stopped_agent_is_killed_at_its_deadline(tmp_path: Path) -> None:
    script = """
from gossamer.agent.deadline import Deadline, deadline_file
if first:
    Deadline(deadline_file(home)).write(time.clock_gettime(time.CLOCK_BOOTTIME) + 0.3)
    os.kill(os.getpid(), signal.SIGSTOP)
    print("it went on", file=sys.stderr)
"""
    _, status, notices = fleet([tmp_path / "a"], script)
    assert status == 0
    assert notices == [
        "supervisor: the agent died of signal 9 (SIGKILL) and is started again in 0.001 s; nothing is lost"
    ]


def test_an_agent_that_fetches_nothing_has_no_deadline(tmp_path: Path) -> None:
    """Nor has the next one what the last one left."""
    script = """
from gossamer.agent.deadline import Deadline, deadline_file
kept = Deadline(deadline_file(home))
assert kept.read() == 0.0
if first:
    kept.write(1.0); os.kill(os.getpid(), 9)
for other in "ab":
    while not (home.parent / other / "ran").exists(): time.sleep(0.001)
"""
    _, status, notices = fleet([tmp_path / "a", tmp_path / "b"], script)
    assert status == 0
    assert len(notices) == 2


def test_one_that_is_given_up_leaves_the_others(tmp_path: Path) -> None:
    _, status, notices = fleet([tmp_path / "a", tmp_path / "b"], "sys.exit(name == 'a')")
    assert status == 0
    assert "the agent a died 10 times in a row" in notices[-1]


def test_all_given_up_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SupervisorError, match="10 times in a row"):
        fleet([tmp_path / "a", tmp_path / "b"], "sys.exit(1)")


def test_a_signal_is_handed_on_by_who_is_told(tmp_path: Path) -> None:
    async def go() -> int:
        script = "signal.signal(15, lambda *_: sys.exit(130)); (home / 'ready').touch(); signal.pause()"
        homes = {name: tmp_path / name for name in "ab"}
        kept = Fleet(
            homes, lambda name, _: [sys.executable, "-c", _FIRST + script, str(homes[name])], print, print, rest=0.001
        )
        running = asyncio.create_task(kept.run())
        while not all((home / "ready").exists() for home in homes.values()):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.001)
        kept.tell(signal.SIGTERM)
        return await running

    assert asyncio.run(go()) == 130


def test_what_an_agent_says_last_that_is_no_progress(tmp_path: Path) -> None:
    found, status, notices = fleet([tmp_path / "a"], "print('hello'); print('x' * 100_000, file=sys.stderr)")
    assert status == 0
    assert notices[-1] == "supervisor: what the agent said at its end is not understood"
    write_progress(tmp_path / "a", Progress(pages=3, pages_per_s=5.0, in_flight=2))
    assert [(each.pages, each.pages_per_s, each.in_flight) for each in found.progress().values()] == [(3, 0.0, 0)]


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_what_several_say_at_once_is_said_once() -> None:
    said: list[str] = []
    now = 0.0
    heard = Heard(said.append, lambda: now)
    heard("a1", "the broker is away")
    heard("a2", "the broker is away")
    heard("a2", "something else")
    now = 6.0
    heard("a2", "the broker is away")
    assert said == ["a1: the broker is away", "a2: something else", "a2: the broker is away"]


def test_links_follow_the_files(tmp_path: Path) -> None:
    store = tmp_path / "agents" / "a1" / "warc"
    store.mkdir(parents=True)
    (store / "x.warc.gz").touch()
    (store / "x.warc.gz.new").touch()
    assert link_files(tmp_path) == 1
    (store / "x.warc.gz").unlink()
    (store / "y.cdxj").touch()
    (tmp_path / "warc" / "a1-y.cdxj").write_text("somebody's own")
    assert link_files(tmp_path) == 1
    assert {path.name: path.is_symlink() for path in (tmp_path / "warc").iterdir()} == {"a1-y.cdxj": False}


def test_seeds_are_kept_for_each_start(tmp_path: Path) -> None:
    assert write_seeds(iter(["http://a.test/\r\n", "\udce9x"]), tmp_path) == [f"@{tmp_path}/logs/seeds.txt"]
    assert (tmp_path / "logs" / "seeds.txt").read_bytes() == b"http://a.test/\n\xe9x\n"
    assert write_seeds([], tmp_path) == []
    assert not (tmp_path / "logs" / "seeds.txt").exists()


def test_the_index_of_all(tmp_path: Path) -> None:
    for name in ("a1", "a2"):
        (tmp_path / name / "index").mkdir(parents=True)
        (tmp_path / name / "index" / "indexer.json").write_text('{"pages": 3, "done": 5, "total": 10}')
    found = index_status([tmp_path / "a1", tmp_path / "a2", tmp_path / "a3"])
    assert (found.pages, found.done, found.total, found.caught_up) == (6, 10, 20, False)


def test_settings_go_both_ways(tmp_path: Path) -> None:
    async def mirrored(link: Any) -> None:
        keys = await open_keys(link)
        directory = CrawlDir(tmp_path / "c")
        directory.take()
        config = save_settings(directory, Config(), None)
        settings = await write_settings(keys, config.to_toml(), "test")
        assert settings is not None
        mirror = MirroredSettings(directory, config, settings, keys, print)
        directory.save(replace(config, policy=PolicyConfig(delay=3.0)))
        for _ in range(2):  # a file that somebody edits is taken when it has been the same for two looks
            await mirror.look()
        there = await read_settings(keys)
        assert there is not None
        assert (there.version, 'delay = "3s"' in there.toml) == (2, True)
        other = replace(config, policy=PolicyConfig(delay=7.0), index=IndexConfig(on=False))
        await write_settings(keys, other.to_toml(), "another")
        for _ in range(3):
            await mirror.look()
        assert load(directory.settings) == other
        there = await read_settings(keys)
        assert there is not None
        assert there.version == 3  # what came from the key does not go back to it
        directory.release()

    with brokers(tmp_path / "nats", 1) as servers:

        async def go() -> None:
            async with linked(servers) as link:
                await mirrored(link)

        asyncio.run(go())
