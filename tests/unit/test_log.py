"""The log of a crawl: its lines, and that it does not grow without end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.agent.log import CrawlLog
from gossamer.agent.progress import Progress, Summary
from gossamer.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_700_000_000.25)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_text_is_for_people_json_for_programs(tmp_path: Path, clock: FakeClock) -> None:
    for form in ("text", "json"):
        log = CrawlLog(tmp_path / form, form, clock)
        log.open()
        log.event("start", pid=7)
        log.notice('a "note"\nof two lines')
        log.end(Summary(pages=3, seconds=1.23456, reason="complete"))
        log.close()
    start, notice, end = lines(tmp_path / "text")
    assert start == "2023-11-14T22:13:20.250Z start pid=7"
    assert notice == r'2023-11-14T22:13:20.250Z notice text="a \"note\"\nof two lines"'
    assert " pages=3 " in end
    assert " seconds=1.235 " in end
    first, second, last = [json.loads(line) for line in lines(tmp_path / "json")]
    assert first == {"at": "2023-11-14T22:13:20.250Z", "event": "start", "pid": 7}
    assert second["text"] == 'a "note"\nof two lines'
    assert (last["event"], last["reason"], last["pages"]) == ("end", "complete", 3)


def test_what_was_said_before_the_folder_is_there_is_kept(tmp_path: Path, clock: FakeClock) -> None:
    log = CrawlLog(tmp_path / "logs" / "crawl.log", "text", clock)
    log.notice("early")
    (tmp_path / "logs").mkdir()
    log.open()
    log.notice("late")
    log.close()
    assert [line.rpartition(" ")[2] for line in lines(tmp_path / "logs" / "crawl.log")] == ["text=early", "text=late"]


def test_a_commit_is_one_event_and_none_where_nothing_happened(tmp_path: Path, clock: FakeClock) -> None:
    log = CrawlLog(tmp_path / "crawl.log", "json", clock)
    log.open()
    log.commit(Progress(pages=1, pages_per_s=3.14159, limit="politeness: 3 wait"), 0.0123)
    log.commit(Progress(pages=1), 0.01)
    log.commit(Progress(pages=2), 0.01)
    clock.advance(61)
    log.commit(Progress(pages=2), 0.01)
    found = [json.loads(line) for line in lines(tmp_path / "crawl.log")]
    assert [(each["event"], each["pages"]) for each in found] == [("commit", 1), ("commit", 2), ("commit", 2)]
    assert (found[0]["pages_per_s"], found[0]["commit_ms"], found[0]["limit"]) == (3.1, 12.3, "politeness: 3 wait")


def test_three_files_at_most_and_each_of_bounded_size(tmp_path: Path, clock: FakeClock) -> None:
    log = CrawlLog(tmp_path / "crawl.log", "text", clock, most=1000)
    log.open()
    for number in range(200):
        log.event("event", number=number)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["crawl.log", "crawl.log.1", "crawl.log.2"]
    assert all(file.stat().st_size <= 1000 for file in files)
    kept = [int(line.rpartition("=")[2]) for file in reversed(files) for line in lines(file)]
    assert kept == list(range(kept[0], 200))
    again = CrawlLog(tmp_path / "crawl.log", "text", clock, most=1000)
    again.open()
    again.event("event", number=200)
    again.close()
    assert lines(files[0])[-1].endswith("number=200")


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path, clock: FakeClock) -> None:
    log = CrawlLog(tmp_path / "missing" / "crawl.log", "text", clock)
    log.open()
    log.event("start")
    log.close()
    full = CrawlLog(Path("/dev/full"), "text", clock)
    full.open()
    full.event("start")
    full.close()
