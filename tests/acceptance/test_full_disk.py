"""A disk that fills up ends the crawl with a sentence, and loses nothing."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from test_command_line import captures, crawl_of, fetched, gossamer, truth

from gossamer.errors import CrawlDirError, DiskFullError
from gossamer.frontier.database import Database
from gossamer.index import Entry, IndexWriter, Search
from gossamer.testing import SimServer, World


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"NOT TESTED: a disk that fills up, because no small file system can be mounted: {made.stderr}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_stops_the_crawl_and_more_room_lets_it_go_on(small_disk: Path) -> None:
    world = World(7, 20, 100, "plain")
    home = small_disk / "c"
    with SimServer.running(world) as server:
        _, err = gossamer(*crawl_of(server, home), status=1)
        assert "is full" in err
        assert "Free " in err
        subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
        gossamer(*crawl_of(server, home))
        requests = server.log.requests_per_url()
    expected = truth(world)
    assert set(fetched(home)) == expected
    assert captures(home) == Counter(expected)
    assert max(count for url, count in requests.items() if not url.endswith("/robots.txt")) <= 2


def test_a_start_on_a_disk_that_is_still_full_says_so_and_changes_nothing(small_disk: Path) -> None:
    world = World(7, 3, 20, "plain")
    home = small_disk / "c"
    with SimServer.running(world) as server:
        gossamer(*crawl_of(server, home), "--max-pages", "5")
        with suppress(OSError), open(small_disk / "junk", "wb", buffering=0) as junk:
            while True:
                junk.write(bytes(1 << 16))
        with suppress(OSError), open(small_disk / "crumbs", "wb", buffering=0) as junk:
            while True:
                junk.write(b"x")
        before = {file: file.read_bytes() for file in (home / "warc").iterdir()}
        for command in (crawl_of(server, home), ("crawl", "--dir", str(home)), crawl_of(server, small_disk / "other")):
            _, err = gossamer(*command, status=1)
            assert "is full" in err
            assert "Traceback" not in err, err
        assert {file: file.read_bytes() for file in (home / "warc").iterdir()} == before
        (small_disk / "junk").unlink()
        subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
        gossamer(*crawl_of(server, home), "--max-pages", "1000")
    assert set(fetched(home)) == truth(world)


def test_a_full_disk_is_named_however_often_one_asks(small_disk: Path) -> None:
    database = Database(small_disk / "frontier", 1 << 20)
    committed = 0
    while _commits(database, committed):
        committed += 1
    for _ in range(3):
        with pytest.raises(DiskFullError, match="is full"):
            database.commit()
    database.close()
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    again = Database(small_disk / "frontier", 1 << 20)
    assert all(again.visit(b"%d" % number) for number in range(committed))
    again.close()


def _commits(database: Database, number: int) -> bool:
    database.visits[b"%d" % number] = os.urandom(100_000)
    try:
        database.commit()
    except DiskFullError:
        return False
    return True


def test_a_full_disk_stops_the_index_with_a_sentence_and_more_room_lets_it_go_on(small_disk: Path) -> None:
    path = small_disk / "index"
    writer = IndexWriter(path, 15_000_000)
    committed = 0
    with suppress(DiskFullError):
        while True:
            writer.upsert([_searched(number) for number in range(committed, committed + 100)])
            writer.commit(str(committed + 100).encode())
            committed += 100
    with pytest.raises(DiskFullError, match=r"is full.*nothing committed is lost"):
        writer.commit(b"never")
    writer.close(merges=False)
    assert Search([path]).answer("harbour").total == committed
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    again = IndexWriter(path, 15_000_000)
    assert again.position == str(committed).encode()
    again.upsert([_searched(number) for number in range(committed, 3000)])
    again.commit(b"")
    again.close()
    assert Search([path]).answer("harbour").total == 3000


def _searched(number: int) -> Entry:
    return Entry(f"https://a.test/{number}", 1.0, body="harbour " + os.urandom(2000).hex(" ", 3))


def test_an_index_that_cannot_be_written_is_not_called_damaged(small_disk: Path) -> None:
    writer = IndexWriter(small_disk / "index", 15_000_000)
    writer.commit(b"")
    writer.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for use in (lambda: IndexWriter(small_disk / "index", 15_000_000), lambda: Search([small_disk / "index"]).size()):
        with pytest.raises(CrawlDirError, match="needs the right to write"):
            use()
