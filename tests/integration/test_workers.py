"""Several processes read pages for one index: whatever becomes of them, it is the one that a single one makes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from select import POLLIN, poll

import pytest
from crawling import crawl
from indexing import append, caught_up, entries, reader

from gossamer.agent import batches, workers
from gossamer.agent.page_work import Read, Task, WriteAgain
from gossamer.agent.workers import COMMAND, Workers
from gossamer.errors import GossamerError
from gossamer.index import Entry
from gossamer.index.backlinks import Linked
from gossamer.index.entry import pack
from gossamer.model import Locator
from gossamer.testing.tinyweb import TinyWeb

HOME = "http://a.test/"
PAGES = 30


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crawl of PAGES and one, which lead to each other; of each batch that is read one page."""
    with TinyWeb() as web:
        web.add_page(HOME, [f"/p{number}" for number in range(PAGES)])
        for number in range(PAGES):
            links = [(number * 7 + step) % PAGES for step in range(3)]
            body = "".join(f'<a href="/p{other}">{number} on {other}</a>' for other in links)
            web.add_page(f"{HOME}p{number}", body=f"<title>Page {number}</title>{body}")
        crawl(tmp_path / "c", [HOME], web.connect)
    monkeypatch.setattr(batches, "_PAGES", 1)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    return tmp_path / "c"


def links_of(home: Path) -> list[object]:
    base = sqlite3.connect(home / "index" / "backlinks.db")
    found = base.execute("SELECT key, sources, anchors, url, standing, kept, shown FROM pages ORDER BY key").fetchall()
    base.close()
    return found


def test_the_index_is_that_of_one_process(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caught_up(home) == PAGES + 1
    found = entries(home), links_of(home)
    (home / "index").rename(home / "index.two")
    monkeypatch.setattr(workers, "cores", lambda: 1)
    monkeypatch.setattr(batches, "_PAGES", 1000)
    assert caught_up(home) == PAGES + 1
    assert (entries(home), links_of(home)) == found
    assert all(entry.anchors for url, entry in found[0].items() if url != HOME)


def test_a_page_that_kills_its_reader_is_left_out_alone(home: Path) -> None:
    notices: list[str] = []
    deadly = reader("if url.endswith('p7'): os.kill(os.getpid(), signal.SIGKILL)")
    assert caught_up(home, notices, command=deadly) == PAGES
    assert notices == [f"index: {HOME}p7 is left out: its reader died of it twice"]
    assert HOME + "p7" not in entries(home)


def test_a_page_that_takes_too_long_is_left_out_alone(home: Path) -> None:
    notices: list[str] = []
    endless = reader("while url.endswith('p7'): pass", cpu=0.3)
    assert caught_up(home, notices, command=endless) == PAGES
    assert notices == [f"index: {HOME}p7 is left out: its reader died of it twice"]


def test_a_reader_that_is_killed_costs_nothing(home: Path, tmp_path: Path) -> None:
    code = (
        f"mark = {str(tmp_path)!r} + '/' + url.rpartition('/')[2]\n"
        "    if url.endswith(('p3', 'p15')) and not os.path.exists(mark):\n"
        "        open(mark, 'x').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)"
    )
    notices: list[str] = []
    assert caught_up(home, notices, command=reader(code)) == PAGES + 1
    assert notices == []
    assert len(list(tmp_path.glob("p*"))) == 2


def test_the_last_capture_of_a_url_wins_even_if_it_is_read_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_GIVEN", 1)  # so that the second one goes to another process
    append(home, HOME + "p1", 200, "<title>slow</title>")
    append(home, HOME + "p1", 200, "<title>quick</title>")
    append(home, HOME + "p2", 200, "<title>slow</title>")
    append(home, HOME + "p2", 410, "")
    code = (
        f"mark = {str(tmp_path / 'read')!r}\n"
        "    if b'quick' in body: open(mark, 'x').close()\n"
        "    while b'slow' in body and not os.path.exists(mark): time.sleep(0.01)"
    )
    assert caught_up(home, command=reader(code)) == PAGES
    assert (tmp_path / "read").exists()
    known = entries(home)
    assert known[HOME + "p1"].title == "quick"
    assert HOME + "p2" not in known


def again(number: int) -> Task:
    return WriteAgain(pack(Entry(f"{HOME}{number}", 1.0, title="x" * (number % 7))), Linked(number, ("words",)))


def titles(pool: Workers) -> list[str]:
    results = pool.done(60.0)
    assert results is not None
    return [result.entry["url"][0] if result.entry else result.why for result in results]


def test_results_come_in_the_order_of_the_work(tmp_path: Path) -> None:
    with closing(Workers(1 << 20, "gossamer", number=2)) as pool:
        _work_through(pool, tmp_path)


def _work_through(pool: Workers, empty: Path) -> None:
    expected = []
    for at in range(20):
        while not pool.has_room:
            assert titles(pool) == expected.pop(0)
        pool.give([], [again(10 * at + step) for step in range(at % 4)])
        expected.append([f"{HOME}{10 * at + step}" for step in range(at % 4)])
    while pool.waiting:
        assert titles(pool) == expected.pop(0)
    assert not expected
    missing = Read(HOME, Locator(0, 0, 10), Locator(0, 0, 10), Linked())
    pool.give([str(empty)], [missing, WriteAgain(b"no entry", Linked())])
    unread, unpacked = titles(pool)
    assert unread == "its record in WARC file 0 at 0 cannot be read"
    assert unpacked.startswith("ZstdError: ")


def test_a_reader_that_says_nothing_is_ended() -> None:
    silent = "page_worker.PageWorker.result = lambda *_: time.sleep(600)"
    program = ("import time", "from gossamer.agent import page_worker", silent, "page_worker.main()")
    with closing(Workers(1 << 20, "gossamer", (COMMAND[0], "-c", "\n".join(program)), 1, patience=0.2)) as pool:
        pool.give([], [again(1)])
        assert titles(pool) == ["its reader died of it twice"]


def test_readers_that_cannot_begin_are_no_reason_to_leave_pages_out() -> None:
    with closing(Workers(1 << 20, "gossamer", (COMMAND[0], "-c", "raise SystemExit(3)"), 1)) as pool:
        pool.give([], [again(1)])
        with pytest.raises(GossamerError, match="end before they begin"):
            pool.done(60.0)
    pool = Workers(1 << 20, "gossamer", ("/no/such/program",), 1)
    with pytest.raises(GossamerError, match=r"cannot be started: .*No such file"):
        pool.give([], [again(1)])


def test_readers_end_with_the_indexer_even_if_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from gossamer.agent.workers import Workers\nfrom gossamer.agent.page_work import WriteAgain\n"
        "from gossamer.index.backlinks import Linked\npool = Workers(1, '', number=2)\n"
        "for _ in range(4): pool.give([], [WriteAgain(b'', Linked())])\n"
        "while pool.waiting: pool.done(60)\n"
        "print(*(worker._process.pid for worker in pool._workers), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([COMMAND[0], "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    readers = list(map(int, done.stdout.split()))
    assert len(readers) == 2
    for number in readers:
        with suppress(ProcessLookupError):  # gone already
            process = os.pidfd_open(number)
            ended = poll()
            ended.register(process, POLLIN)
            assert ended.poll(60_000), "it lives on"
            os.close(process)
