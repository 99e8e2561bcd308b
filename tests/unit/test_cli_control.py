"""The commands that tell a crawl what to do, as a user types them. What they do to a crawl is tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.agent.audit import read_changes, this_user
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.spool import Spool
from gossamer.cli import run
from gossamer.config import Config, load


@pytest.fixture
def home(tmp_path: Path) -> str:
    """A crawl that does not run."""
    directory = CrawlDir(tmp_path / "c")
    directory.take()
    directory.save(Config())
    directory.frontier.mkdir()
    directory.release()
    return str(tmp_path / "c")


def settings(home: str) -> Config:
    return load(Path(home) / "gossamer.toml")


def test_pause_and_resume(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["control", "pause", "--dir", home]) == 0
    assert settings(home).agent.paused
    assert "no crawl runs" in capsys.readouterr().out
    assert run(["control", "resume", "--dir", home]) == 0
    assert not settings(home).agent.paused
    assert [(change.who, change.what) for change in read_changes(Path(home))] == [
        (this_user(), "pause"),
        (this_user(), "resume"),
    ]


def test_limits_are_shown_and_changed(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", "--dir", home, "--rate", "20", "--delay", "2s", "--schedule", "Sun pause"]) == 0
    assert run(["limits", "--dir", home, "--bandwidth", "1MB", "--connections", "9"]) == 0
    config = settings(home)
    assert (config.fetch.rate, config.policy.delay, config.fetch.schedule) == (20, 2, ("Sun pause",))
    assert (config.fetch.bandwidth, config.fetch.connections) == (1_000_000, 9)
    capsys.readouterr()
    assert run(["limits", "--dir", home]) == 0
    shown = "rate 20 bandwidth 1MB delay 2s connections 9 schedule Sun pause"
    assert capsys.readouterr().out.split() == shown.split()
    assert run(["limits", "--dir", home, "--json"]) == 0
    (span,) = json.loads(capsys.readouterr().out)["schedule"]
    assert span == {"from": "00:00", "to": "24:00", "rate": None, "bandwidth": None, "days": "Sun", "pause": True}
    assert run(["limits", "--dir", home, "--schedule", "none"]) == 0
    assert settings(home).fetch.schedule == ()


def test_the_blocklist(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["block", "example.org", "*.example.net", "--dir", home]) == 0
    assert run(["block", "example.org", "--remove", "--dir", home]) == 0
    capsys.readouterr()
    assert run(["block", "--dir", home]) == 0
    assert capsys.readouterr().out == "*.example.net\n"
    assert run(["block", "--dir", home, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"patterns": ["*.example.net"]}


def test_seeds_retry_purge_and_rejudge_wait_for_the_next_run(home: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("http://b.test/\n# not this\nhttp://c.test/\n")
    assert run(["seeds", "http://a.test/", f"@{tmp_path}/list.txt", "--priority", "1", "--dir", home]) == 0
    assert run(["control", "retry", "--host", "a.test", "--dir", home]) == 0
    assert run(["purge", "Bad.test", "--dir", home]) == 0
    assert run(["control", "rejudge", "--dir", home]) == 0
    seeds, retry, purge, rejudge = Spool(Path(home)).waiting()
    assert (seeds.kind, seeds.about["priority"]) == ("seeds", 1)
    assert seeds.about["urls"] == ["http://a.test/", "http://b.test/", "http://c.test/"]
    assert (retry.kind, retry.about) == ("retry", {"host": "a.test"})
    assert (purge.kind, purge.about, purge.who) == ("purge", {"host": "bad.test"}, this_user())
    assert (rejudge.kind, rejudge.about) == ("rejudge", {})
    assert settings(home).policy.blocklist == ("bad.test/*",)


def test_priorities(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(home, "gossamer.toml").read_text()
    Path(home, "gossamer.toml").write_text(text + '\n[hosts."*.test"]\ndelay = 9\n')
    assert run(["priority", "a.test", "0", "--dir", home]) == 0
    capsys.readouterr()
    assert run(["priority", "a.test", "--dir", home]) == 0
    assert capsys.readouterr().out == "0\n"
    rules = settings(home).hosts
    assert [(rule.pattern, rule.delay, rule.priority) for rule in rules] == [("a.test", 9, 0), ("*.test", 9, None)]
    assert run(["priority", "a.test", "usual", "--dir", home]) == 0
    capsys.readouterr()
    assert run(["priority", "a.test", "--dir", home]) == 0
    assert capsys.readouterr().out == "usual\n"


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["control", "stop"], 1, "no crawl runs"),
        (["control", "dance"], 2, "dance"),
        (["control", "pause", "--host", "a.test"], 2, "--host"),
        (["limits", "--rate", "fast"], 2, "--rate"),
        (["limits", "--schedule", "at noon"], 2, "fetch.schedule"),
        (["block", "a b"], 2, "a b"),
        (["block", "x.test", "--remove"], 1, "x.test"),
        (["seeds", "ftp://a.test/"], 2, "ftp://a.test/"),
        (["seeds", "@missing.txt"], 2, "missing.txt"),
        (["seeds", "http://a.test/", "--priority", "11"], 2, "--priority"),
        (["priority", "a.test", "soon"], 2, "soon"),
        (["priority", "a.test", "10"], 2, "10"),
        (["purge", "http://a.test/page"], 2, "http://a.test/page"),
    ],
)
def test_what_is_wrong_is_named(
    home: str, arguments: list[str], status: int, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--dir", home]) == status
    error = capsys.readouterr().err
    assert error.startswith("gossamer: ")
    assert named in error
    assert read_changes(Path(home)) == []


def test_a_checkpoint_of_a_crawl_that_does_not_run_is_there_already(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["control", "checkpoint", "--dir", home, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"]


def test_a_directory_that_is_no_crawl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["control", "pause", "--dir", str(tmp_path)]) == 2
    assert "is not a crawl" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
