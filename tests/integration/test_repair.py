"""`gossamer repair`: whatever of a directory is lost or damaged, the crawl ends with the pages that it would have."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crawling import crawl
from simulated_time import DAY, LongCrawl
from test_keep_fresh import Page, versioned

from gossamer.agent import read_visits
from gossamer.agent.repair import Part, Repair
from gossamer.errors import CrawlDirError, DamagedError
from gossamer.model import VisitRecord
from gossamer.testing import FakeClock
from gossamer.testing.tinyweb import TinyWeb

SEED = "http://a.test/"


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    """Pages with links, copies, a redirect to another host, pages that are missing, a sitemap, and what is left out."""
    with TinyWeb() as found:
        found.add_robots("a.test", "Sitemap: http://a.test/map.xml\nUser-agent: *\nDisallow: /private\n")
        listed = "".join(f"<url><loc>http://a.test/listed/{number}</loc></url>" for number in range(3))
        xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
        found.add_page("http://a.test/map.xml", body=xml, headers={"Content-Type": "application/xml"})
        found.add_page(SEED, ["/0", "/missing", "/private", "/moved", "http://elsewhere.test/", "/file.bin"])
        found.add_redirect("http://a.test/moved", "http://b.a.test/")
        found.add_page("http://b.a.test/", ["/copy", "http://a.test/20"])
        found.add_page("http://a.test/file.bin", body=b"\0" * 99, headers={"Content-Type": "application/octet-stream"})
        for number in range(30):
            found.add_page(f"http://a.test/{number}", [f"/{number + 1}", f"/{number // 2}"])
        for path in ("http://b.a.test/copy", *(f"http://a.test/listed/{number}" for number in range(3))):
            found.add_page(path, body=f'<p>{path[-1]}: the same for all <a href="deep/{path[-1]}">x</a>')
        yield found


def gossamer(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gossamer", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def visited(home: Path) -> dict[str, tuple[object, ...]]:
    """What the frontier knows of each URL, its times and tries apart."""

    def told(visit: VisitRecord) -> tuple[object, ...]:
        return visit.state, visit.status, visit.reason, visit.digest, visit.changes

    return {visit.url: told(visit) for visit in read_visits(home)}


def run(home: Path, web: TinyWeb, **options: object) -> None:
    crawl(home, [SEED], web.connect, scope="domain", **options)


def repaired(home: Path, only_look: bool = False) -> dict[str, Part]:
    notices: list[str] = []
    work = Repair(home, notices.append, lambda *_: None)
    return {part.name: part for part in (work.check() if only_look else work.repair())}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def lose_frontier(home: Path) -> None:
    shutil.rmtree(home / "frontier")


def empty_frontier(home: Path) -> None:
    for file in (home / "frontier").iterdir():
        file.write_bytes(b"")


def cut_frontier(home: Path) -> None:
    for file in (home / "frontier").glob("MANIFEST*"):
        file.write_bytes(file.read_bytes()[:20])


def lose_lines(home: Path) -> None:
    for file in (home / "warc").glob("*.cdxj"):
        file.unlink()


def cut_lines(home: Path) -> None:
    (file,) = (home / "warc").glob("*.cdxj")
    file.write_bytes(file.read_bytes()[:-100])


def spoil_lines(home: Path) -> None:
    (file,) = (home / "warc").glob("*.cdxj")
    lines = file.read_bytes().split(b"\n")
    lines[3] = b"\0" * len(lines[3])
    lines[5] = lines[6]
    file.write_bytes(b"\n".join(lines))


def lose_all_but_pages(home: Path) -> None:
    lose_frontier(home)
    lose_lines(home)
    (home / "warc" / "committed").unlink()
    (home / "seed-hosts").unlink()


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        (lose_frontier, {"frontier"}),
        (empty_frontier, {"frontier"}),
        (cut_frontier, {"frontier"}),
        (lose_lines, {"cdxj"}),
        (cut_lines, {"cdxj"}),
        (spoil_lines, {"cdxj"}),
        (lose_all_but_pages, {"frontier", "cdxj"}),
    ],
)
@pytest.mark.parametrize("pages", [9, 1000])
def test_the_crawl_ends_with_the_pages_that_it_would_have(
    tmp_path: Path, web: TinyWeb, damage: Callable[[Path], None], parts: set[str], pages: int
) -> None:
    whole, home = tmp_path / "whole", tmp_path / "c"
    run(whole, web)
    run(home, web, max_pages=pages)
    warc = {name: data for name, data in contents(home / "warc").items() if name.endswith(".warc.gz")}
    damage(home)
    before = contents(home)
    found = repaired(home, only_look=True)
    assert {name for name, part in found.items() if not part.fine} >= parts
    ours = {name for name in contents(home) if name not in ("lock", "frontier/rocksdict-config.json")}
    assert all(contents(home)[name] == before[name] for name in ours)
    assert all(part.fine for part in repaired(home).values())
    assert {name: data for name, data in contents(home / "warc").items() if name.endswith(".warc.gz")} == warc
    assert all(part.fine for part in repaired(home, only_look=True).values())
    run(home, web, max_pages=0)
    assert visited(home) == visited(whole)
    stored = [line.split(b'"url": ')[1] for line in next((home / "warc").glob("*.cdxj")).read_bytes().splitlines()]
    pages_stored = [line for line in stored if b"robots.txt" not in line]
    assert len({line.split(b",")[0] for line in pages_stored}) == len(pages_stored), "none was fetched twice"


def test_a_damaged_page_is_named_and_fetched_again(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web)
    before = visited(tmp_path)
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)
    parts = repaired(tmp_path)
    assert not parts["warc"].fine
    assert f"{file} at byte " in parts["warc"].text
    run(tmp_path, web)
    assert visited(tmp_path) == before


def test_a_damaged_seed_is_fetched_again(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web)
    before = visited(tmp_path)
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    (lines,) = (tmp_path / "warc").glob("*.cdxj")
    (place,) = [line for line in lines.read_bytes().splitlines() if f'"url": "{SEED}"'.encode() in line]
    offset = int(re.findall(rb'"offset": "(\d+)"', place)[0])
    data = bytearray(file.read_bytes())
    data[offset + 60] ^= 4
    file.write_bytes(data)
    assert not repaired(tmp_path)["warc"].fine
    assert gossamer("crawl", "--dir", tmp_path).returncode == 0
    assert visited(tmp_path) == before
    assert repaired(tmp_path, only_look=True)["frontier"].fine


def test_a_damaged_list_of_seed_hosts_stops_no_crawl(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web, max_pages=5)
    (tmp_path / "seed-hosts").write_bytes(b"\xff\xfe\0")
    run(tmp_path, web)
    lose_frontier(tmp_path)
    assert all(part.fine for part in repaired(tmp_path).values())


def test_what_is_cut_off_is_named_and_fetched_again(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web)
    before = visited(tmp_path)
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    size = file.stat().st_size
    with open(file, "r+b") as cut:
        cut.truncate(size * 2 // 3)
    with pytest.raises(DamagedError, match="run gossamer repair on the crawl"):
        run(tmp_path, web)
    parts = repaired(tmp_path)
    assert f"of {size:,}" in parts["warc"].text
    assert "URLs in it are damaged or not there" in parts["frontier"].text
    run(tmp_path, web)
    assert visited(tmp_path) == before


def test_what_a_killed_crawl_left_is_no_damage(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web, max_pages=9)
    for name in ("*.warc.gz", "*.cdxj"):
        (file,) = (tmp_path / "warc").glob(name)
        with open(file, "ab") as torn:
            torn.write(file.read_bytes()[:50])
    (tmp_path / "warc" / "gossamer-00001.warc.gz").write_bytes(b"\x1f\x8b")
    assert all(part.fine for part in repaired(tmp_path, only_look=True).values())
    lose_frontier(tmp_path)
    assert all(part.fine for part in repaired(tmp_path).values())
    whole = tmp_path / "whole"
    run(whole, web)
    run(tmp_path, web)
    assert visited(tmp_path) == visited(whole)


def test_a_note_that_is_older_than_the_frontier_takes_no_page_away(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web, max_pages=5)
    note = (tmp_path / "warc" / "committed").read_bytes()
    run(tmp_path, web)
    before = visited(tmp_path)
    (tmp_path / "warc" / "committed").write_bytes(note)
    assert all(part.fine for part in repaired(tmp_path).values())
    assert visited(tmp_path) == before


def test_repair_that_was_broken_off_goes_on(tmp_path: Path, web: TinyWeb) -> None:
    whole = tmp_path / "whole"
    run(whole, web)
    home = tmp_path / "c"
    shutil.copytree(whole, home)
    lose_frontier(home)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 10

    parts = list(Repair(home, lambda _: None, lambda *_: None).repair(stop))
    assert not parts[-1].fine
    assert not (home / "frontier").exists()
    taken = repaired(home)["frontier"].text
    assert 0 < int(taken.rpartition("from ")[2].split()[0]) < 40, "not all of them again"
    run(home, web)
    assert visited(home) == visited(whole)


def test_lines_that_have_lost_what_only_they_said_fit_the_frontier(tmp_path: Path) -> None:
    clock = FakeClock(1_790_000_000.0)
    home = tmp_path / "c"
    with TinyWeb() as web:
        page = Page(web, "http://a.test/page")
        long = LongCrawl(home, web.connect, clock, fresh__min_interval="1d", fresh__max_interval="1d")
        for day in range(4):
            versioned(page, day)
            long.run("http://a.test/page", seconds=DAY)
        lose_lines(home)
        assert all(part.fine for part in repaired(home).values())
        assert b'"change"' not in next((home / "warc").glob("*.cdxj")).read_bytes()
        visits = page.visits
        long.run(seconds=3 * DAY)
        assert page.visits > visits
        assert all(part.fine for part in repaired(home, only_look=True).values())


def test_repair_that_was_killed_goes_on(tmp_path: Path, web: TinyWeb) -> None:
    whole, home = tmp_path / "whole", tmp_path / "c"
    run(whole, web)
    run(home, web, commit_pages=5)
    lose_frontier(home)

    class Killed(Exception):
        pass

    taken = 0

    def stop() -> bool:
        nonlocal taken
        taken += 1
        if taken > 17:
            raise Killed  # nothing is committed that was not by then
        return False

    with pytest.raises(Killed):
        list(Repair(home, lambda _: None, lambda *_: None).repair(stop))
    assert not (home / "frontier").exists()
    text = repaired(home)["frontier"].text
    assert 0 < int(text.rpartition("from ")[2].split()[0]) < 40, "not all of them again"
    run(home, web)
    assert visited(home) == visited(whole)


def test_a_page_keeps_what_was_seen_of_it(tmp_path: Path) -> None:
    clock = FakeClock(1_790_000_000.0)
    home = tmp_path / "c"
    with TinyWeb() as web:
        page, gone, quiet = (Page(web, f"http://a.test/{name}") for name in ("page", "gone", "quiet"))
        settings = {"fresh__min_interval": "1d", "fresh__max_interval": "1d"}
        long = LongCrawl(home, web.connect, clock, **settings)
        seeds = [f"http://a.test/{name}" for name in ("page", "gone", "quiet")]
        long.run(*seeds, seconds=DAY / 2)
        for day in range(6):
            versioned(page, day)
            gone.status = 404 if day >= 3 else 200
            long.run(seconds=DAY)
        before = {visit.url: visit for visit in read_visits(home)}
        lose_frontier(home)
        assert all(part.fine for part in repaired(home).values())
        after = {visit.url: visit for visit in read_visits(home)}
        for url, visit in before.items():
            assert after[url].changes == visit.changes, url
            assert (after[url].status, after[url].digest) == (visit.status, visit.digest)
        visits = quiet.visits
        long.run(seconds=3 * DAY)
        assert visits + 2 <= quiet.visits <= visits + 4, "and it is visited as before"


def test_a_purged_host_stays_purged(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web)
    assert gossamer("purge", "b.a.test", "--dir", tmp_path).returncode == 0
    assert gossamer("crawl", "--dir", tmp_path).returncode == 0
    before = visited(tmp_path)
    assert before["http://b.a.test/"][2] == "purged"
    lose_frontier(tmp_path)
    repaired(tmp_path)
    after = visited(tmp_path)
    assert {url: after[url] for url in before if "b.a.test" in url} == {
        url: told for url, told in before.items() if "b.a.test" in url
    }


def spoil_index(home: Path) -> None:
    (home / "index" / "meta.json").write_bytes(b"{")


def lose_segments(home: Path) -> None:
    for file in (home / "index").glob("*.store"):
        file.unlink()


@pytest.mark.parametrize("damage", [spoil_index, lose_segments])
def test_an_index_that_cannot_be_read_is_made_again(
    tmp_path: Path, web: TinyWeb, damage: Callable[[Path], None]
) -> None:
    run(tmp_path, web)
    assert gossamer("index", "--dir", tmp_path).returncode == 0
    before = repaired(tmp_path, only_look=True)["index"].text
    damage(tmp_path)
    assert not repaired(tmp_path, only_look=True)["index"].fine
    assert repaired(tmp_path)["index"].fine
    assert repaired(tmp_path, only_look=True)["index"].text == before


def test_the_command(tmp_path: Path, web: TinyWeb) -> None:
    run(tmp_path, web)
    fine = gossamer("repair", "--dir", tmp_path, "--check")
    assert fine.returncode == 0, fine.stderr
    assert [line.split()[0] for line in fine.stdout.splitlines()] == ["warc", "cdxj", "frontier", "index"]
    lose_frontier(tmp_path)
    lost = gossamer("repair", "--dir", tmp_path, "--check")
    assert lost.returncode == 1
    assert "frontier  DAMAGED: " in lost.stdout
    assert f"To make it whole: gossamer repair --dir {tmp_path}" in lost.stderr
    assert gossamer("repair", "--dir", tmp_path).returncode == 0
    assert gossamer("repair", "--dir", tmp_path, "--check").returncode == 0


def test_what_is_no_crawl_of_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match=r"has no gossamer\.toml"):
        Repair(tmp_path, lambda _: None, lambda *_: None)
    (tmp_path / "agents").mkdir()
    with pytest.raises(CrawlDirError, match="several agents"):
        Repair(tmp_path, lambda _: None, lambda *_: None)
