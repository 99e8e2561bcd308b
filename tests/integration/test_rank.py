"""Links are kept as pages are indexed, or read from stored pages: the same graph; and what its ranks are good for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import pytest
from crawling import crawl
from indexing import append, caught_up, entries

from gossamer.agent.follower import rebuild
from gossamer.agent.graph_reader import Gathered, gather_links
from gossamer.cli import run
from gossamer.errors import CrawlDirError, DiskFullError
from gossamer.graph import RankReader
from gossamer.graph.log import GraphLog, frames_of
from gossamer.graph.merging import merged
from gossamer.graph.reading import links_in
from gossamer.index import Search
from gossamer.lock import taken
from gossamer.report import rank as ranking
from gossamer.report.engine import Engine
from gossamer.report.export import export_graph
from gossamer.report.rank import RankResult, make_ranks, read_result, top
from gossamer.report.report import make_report
from gossamer.testing import SimServer, TinyWeb, World

HOME = "http://a.test/"


def links(home: Path) -> set[tuple[str, str, str]]:
    with TemporaryDirectory() as scratch:
        found = [tuple(link) for some in links_in(frames_of(home / "graph"), Path(scratch)) for link in some]
    assert len(found) == len(set(found)), "each is there once"
    return set(found)


def read_anew(home: Path) -> set[tuple[str, str, str]]:
    """The links that the stored pages have, whatever is in the graph."""
    copy = home.with_name("anew")
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("graph", "index"))
    try:
        gather_links(copy)
        return links(copy)
    finally:
        shutil.rmtree(copy)


def scores(home: Path) -> dict[str, float]:
    with Engine() as engine:
        return {row[1]: row[4] for row in top(engine, home, "pages", 1_000_000)}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A page that others link to, a redirect to it, and links that do not count."""
    with TinyWeb() as web:
        web.add_page(HOME, ["/b", "/b", "/", "/moved", "http://c.test/", "http://c.test/unknown"])
        web.add_page(
            HOME + "b", body='<a href="/">x</a><a rel=nofollow href="http://c.test/">y</a><frame src="/moved">'
        )
        web.add_page("http://c.test/", ["http://a.test/b"])
        web.add_redirect(HOME + "moved", "/b")
        crawl(tmp_path / "c", [HOME], web.connect)
    return tmp_path / "c"


LINKS = {
    (HOME, HOME + "b", "link"),
    (HOME, HOME + "moved", "link"),
    (HOME, "http://c.test/", "link"),
    (HOME, "http://c.test/unknown", "link"),
    (HOME + "b", HOME, "link"),
    ("http://c.test/", HOME + "b", "link"),
    (HOME + "moved", HOME + "b", "redirect"),
}


def test_links_are_kept_while_pages_are_indexed(small: Path) -> None:
    caught_up(small)
    assert links(small) == LINKS
    assert gather_links(small) == Gathered(0, *[gather_links(small).total] * 2), "nothing is left to read"


def test_links_are_read_where_there_is_no_index(small: Path) -> None:
    told: list[int] = []
    assert gather_links(small, lambda gathered: told.append(gathered.done)).behind == 0
    assert links(small) == LINKS
    assert told == sorted(told)
    assert gather_links(small).captures == 0


@pytest.mark.parametrize("kind", ["plain", "realistic"])
def test_both_ways_give_the_same_graph(tmp_path: Path, kind: str) -> None:
    world = World(8, 8, 25, kind, faults=0.0)
    with SimServer.running(world) as server:
        crawl(tmp_path / "c", [world.url(0)], server.connect)
    caught_up(tmp_path / "c")
    kept = links(tmp_path / "c")
    assert len(kept) > 500
    assert kept == read_anew(tmp_path / "c")


def test_pages_visited_again_have_the_links_that_they_have_now(small: Path) -> None:
    caught_up(small)
    first = append(small, HOME + "b", 200, '<a href="/new">', "changed")
    append(small, HOME + "b", 304, "", "same", first)
    append(small, "http://c.test/", 404, "", "gone")
    caught_up(small)
    changed = {link for link in LINKS if link[0] not in (HOME + "b", "http://c.test/")} | {
        (HOME + "b", HOME + "new", "link")
    }
    assert links(small) == changed == read_anew(small)


def test_a_page_that_kills_its_reader_is_left_out(small: Path) -> None:
    code = "from gossamer.agent import page_worker; scan = page_worker.LinkScanner.scan\n"
    code += "import os\ndef odd(self, body, url, kind):\n    if url.endswith('/b'): os._exit(9)\n"
    code += "    return scan(self, body, url, kind)\npage_worker.LinkScanner.scan = odd\npage_worker.main()"
    gather_links(small, command=(sys.executable, "-c", code))
    assert links(small) == {link for link in LINKS if link[0] != HOME + "b"}


def test_an_old_crawl_gets_its_graph_and_is_followed_from_then_on(small: Path) -> None:
    caught_up(small)
    shutil.rmtree(small / "graph")
    append(small, HOME + "b", 200, '<a href="/new">', "changed")
    caught_up(small)
    assert links(small) == set(), "what is missing before is not skipped"
    gather_links(small)
    assert links(small) == read_anew(small)
    append(small, HOME + "b", 200, '<a href="/newer">', "changed")
    caught_up(small)
    assert links(small) == read_anew(small)
    assert (HOME + "b", HOME + "newer", "link") in links(small)
    assert gather_links(small).captures == 0, "the index process has kept it"


def test_what_comes_meanwhile_is_read_too(small: Path) -> None:
    came: list[int] = []

    def comes(gathered: Gathered) -> None:
        if gathered.behind == 0 and len(came) < 2:
            came.append(gathered.captures)
            append(small, HOME + "b", 200, f'<a href="/{len(came)}">', "changed")

    assert gather_links(small, comes).behind == 0
    assert len(came) == 2
    assert (HOME + "b", HOME + "2", "link") in links(small)
    assert links(small) == read_anew(small)


def test_an_index_that_is_made_again_adds_nothing(small: Path) -> None:
    caught_up(small)
    size = len(frames_of(small / "graph"))
    rebuild(small, print, lambda _: None)
    assert len(frames_of(small / "graph")) == size
    assert links(small) == LINKS


def test_who_cannot_write_waits_for_nobody(small: Path) -> None:
    log = GraphLog(small / "graph")
    assert log.take()
    assert gather_links(small).behind > 0
    caught_up(small)
    assert links(small) == set()
    log.close()
    assert gather_links(small).behind == 0
    assert links(small) == LINKS


def test_a_full_disk_is_named(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gossamer.graph.log.os.write", full)
    log = GraphLog(small / "graph")
    assert log.take()
    with pytest.raises(DiskFullError, match="Free some room"):
        log.append_frame(b"frame", b"")
    log.close()


# -- ranks -------------------------------------------------------------------------------------------------------------


def test_ranks_of_a_crawl(small: Path) -> None:
    result = make_ranks(small)
    graph = nx.DiGraph([
        (HOME, HOME + "b"), (HOME, "http://c.test/"), (HOME, "http://c.test/unknown"), (HOME + "b", HOME),
        ("http://c.test/", HOME + "b"),
    ])  # fmt: skip
    assert scores(small) == pytest.approx(nx.pagerank(graph, tol=1e-12), abs=1e-6)
    assert (result.stored, result.levels["pages"].nodes, result.levels["pages"].links) == (3, 4, 5)
    assert result.levels["hosts"].nodes == result.levels["domains"].nodes == 2
    assert read_result(small) == result
    ranks = RankReader(small)
    assert ranks.score(HOME + "moved") == ranks.score(HOME + "b") == pytest.approx(scores(small)[HOME + "b"], rel=1e-6)
    ranks.close()


def test_the_command(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", "--dir", str(small), "--json", "--max-iterations", "7", "-n", "2"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [row["url"] for row in found["top"]["pages"]] == [HOME, HOME + "b"]
    assert [row["position"] for row in found["top"]["hosts"]] == [1, 2]
    assert (found["levels"]["pages"]["rounds"], found["how"]["most_rounds"], found["behind"]) == (7, 7, 0)
    assert run(["rank", str(small), "--max-iterations", "2"]) == 0
    text = capsys.readouterr().out
    assert HOME + "b" in text
    assert "have not settled" in text
    for wrong in (["rank"], ["rank", str(small), "--dir", str(small)], ["rank", str(small), "--damping", "1"]):
        assert run(wrong) == 2
    assert run(["rank", "--dir", str(small / "warc")]) == 2
    assert "is not a crawl" in capsys.readouterr().err


def test_broken_off_it_leaves_the_last_result(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ranks(small)
    before = {path.name: path.read_bytes() for path in (small / "rank").iterdir()}
    append(small, "http://c.test/", 200, '<a href="/new">', "changed")

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ranking, "swap", broken)
        with pytest.raises(KeyboardInterrupt):
            make_ranks(small)
    assert {path.name: path.read_bytes() for path in (small / "rank").iterdir()} == before
    (small / "rank.new").mkdir()
    (small / "rank.new" / "left over").touch()
    make_ranks(small)
    assert "http://c.test/new" in scores(small)
    assert not list(small.glob("rank.*"))


def test_a_second_one_leaves_the_first_at_work(small: Path) -> None:
    make_ranks(small)
    lock = taken(small / "graph" / "ranking")
    assert lock is not None
    (small / "rank.new").mkdir()
    (small / "rank.new" / "half made").touch()
    with pytest.raises(CrawlDirError, match="Another gossamer rank is at work"):
        make_ranks(small)
    assert (small / "rank.new" / "half made").exists()
    os.close(lock)
    make_ranks(small)
    assert not list(small.glob("rank.*"))


def test_killed_while_it_ranks(small: Path) -> None:
    make_ranks(small)
    before = {path.name: path.read_bytes() for path in (small / "rank").iterdir()}
    code = "import os, signal, sys; from pathlib import Path; from gossamer.report import rank\n"
    code += "rank.swap = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nrank.make_ranks(Path(sys.argv[1]))"
    assert subprocess.run([sys.executable, "-c", code, str(small)], timeout=60).returncode == -signal.SIGKILL
    assert {path.name: path.read_bytes() for path in (small / "rank").iterdir()} == before
    make_ranks(small)
    assert not list(small.glob("rank.*"))


def test_frames_that_are_merged_meanwhile_are_read_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rank_frames, tried = ranking.rank_frames, []

    def merging(frames: list[Any], *more: Any) -> RankResult:
        tried.append(len(frames))
        if len(tried) == 1:
            path = frames[0].path
            path.write_bytes(b"".join(merged((held.read(), held.position) for held in frames)))
        return rank_frames(frames, *more)

    gather_links(small)
    append(small, HOME + "b", 200, '<a href="/new">', "changed")
    monkeypatch.setattr(ranking, "rank_frames", merging)
    make_ranks(small)
    assert tried == [2, 1]
    assert HOME + "new" in scores(small)


def test_one_at_a_time(small: Path) -> None:
    import fcntl

    make_ranks(small)
    with open(small / "graph" / "ranking") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CrawlDirError, match="Wait for it"):
            make_ranks(small)
    assert read_result(small) is not None


def test_several_agents_have_one_graph(tmp_path: Path) -> None:
    """Their directories are put together by hand: what each has stored is the same as of two crawls."""
    with TinyWeb() as web:
        web.add_page(HOME, ["http://b.test/", "/x"])
        web.add_page("http://b.test/", [HOME])
        for name, seed in (("one", HOME), ("two", "http://b.test/")):
            crawl(tmp_path / "c" / "agents" / name, [seed], web.connect, scope="host")
    shutil.copy(tmp_path / "c" / "agents" / "one" / "gossamer.toml", tmp_path / "c")
    result = make_ranks(tmp_path / "c")
    graph = nx.DiGraph([(HOME, "http://b.test/"), (HOME, HOME + "x"), ("http://b.test/", HOME)])
    assert scores(tmp_path / "c") == pytest.approx(nx.pagerank(graph, tol=1e-12), abs=1e-6)
    assert isinstance(result, RankResult)
    caught_up(tmp_path / "c" / "agents" / "two")
    assert entries(tmp_path / "c" / "agents" / "two")["http://b.test/"].inlinks == 1, "it knows the ranks of the whole"


def test_an_empty_crawl_has_no_ranks_to_speak_of(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_robots("a.test", "User-agent: *\nDisallow: /\n")
        crawl(tmp_path / "c", [HOME], web.connect)
    assert make_ranks(tmp_path / "c").levels["pages"].nodes == 0
    assert scores(tmp_path / "c") == {}


# -- what they are good for --------------------------------------------------------------------------------------------


def found(home: Path, query: str) -> list[str]:
    search = Search([home / "index"])
    try:
        return [hit.url for hit in search.answer(query).results]
    finally:
        search.close()


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """Two pages with the same words. To one link twenty pages that nobody links to; to the other the one page that all
    the others lead to.
    """
    with TinyWeb() as web:
        body = "<title>Silk</title><p>All about silk."
        nobody = [f"http://n{number}.test/" for number in range(20)]
        somebody = [f"http://s{number}.test/" for number in range(30)]
        for url in nobody:
            web.add_page(url, ["http://farmed.test/x/y"])
        for url in somebody:
            web.add_page(url, ["http://centre.test/"])
        web.add_page("http://centre.test/", ["http://chosen.test/x/y"])
        web.add_page("http://farmed.test/x/y", body=body)
        web.add_page("http://chosen.test/x/y", body=body + "!")
        crawl(tmp_path / "c", [*nobody, *somebody], web.connect)
    return tmp_path / "c"


def test_pagerank_counts_in_search_when_it_is_there(farm: Path) -> None:
    caught_up(farm)
    assert found(farm, "silk") == ["http://farmed.test/x/y", "http://chosen.test/x/y"], "more pages link to it"
    before = entries(farm)
    caught_up(farm)
    assert entries(farm) == before, "without ranks nothing changes"
    make_ranks(farm)
    caught_up(farm)
    assert found(farm, "silk") == ["http://chosen.test/x/y", "http://farmed.test/x/y"]
    now = entries(farm)
    caught_up(farm)
    assert entries(farm) == now
    rebuild(farm, print, lambda _: None)
    assert entries(farm) == now, "an index that is made again knows them from the beginning"
    shutil.rmtree(farm / "rank")
    caught_up(farm)
    assert entries(farm) == before


def test_ranks_that_are_no_ranks_are_left_alone(farm: Path) -> None:
    (farm / "rank").mkdir()
    (farm / "rank" / "scores.bin").write_bytes(b"?" * 100)
    caught_up(farm)
    assert found(farm, "silk")[0] == "http://farmed.test/x/y"


def test_the_report_has_them(farm: Path) -> None:
    without = make_report(farm).as_json()["tables"]
    assert without["ranked_pages"] == without["ranked_hosts"] == without["ranked_domains"] == []
    make_ranks(farm)
    report = make_report(farm)
    tables = report.as_json()["tables"]
    assert [row["url"] for row in tables["ranked_pages"]][:2] == ["http://centre.test/", "http://chosen.test/x/y"]
    assert tables["ranked_hosts"][0]["host"] == tables["ranked_domains"][0]["domain"] == "centre.test"
    first = tables["ranked_pages"][0]
    assert first["times"] == pytest.approx(first["score"] * len(tables["ranked_pages"]))
    from gossamer.report.html import report_page
    from gossamer.report.text import report_text

    assert "Highest ranked pages" in report_text(report)
    assert "Highest ranked domains" in report_page(report)


def test_the_graph_is_exported(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert export_graph(small, tmp_path / "l.jsonl", lambda made: None) == len(LINKS)
    rows = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert {(row["source"], row["target"], row["kind"]) for row in rows} == LINKS
    monkeypatch.chdir(tmp_path)
    assert run(["export", "--dir", str(small), "--graph"]) == 0
    with Engine() as engine:
        assert engine.row(f"SELECT count(*) FROM '{tmp_path / 'c-graph.parquet'}'") == (len(LINKS),)
    assert sorted(os.listdir(tmp_path)) == ["c", "c-graph.parquet", "l.jsonl"]


def test_hostile_pages_do_no_harm(tmp_path: Path) -> None:
    with TinyWeb() as web:
        many = "".join(f"<a href='/{number}'>x</a>" for number in range(5000))
        web.add_page(
            HOME, body=many + "<a href='http://[::1'>x<a href='http://b.test/%0a\n\x00'>y<a href='?q=%E2%80%AE'>"
        )
        crawl(tmp_path / "c", [HOME], web.connect, max_pages=1)
    caught_up(tmp_path / "c")
    kept = links(tmp_path / "c")
    assert 0 < len(kept) <= 2000
    assert make_ranks(tmp_path / "c").levels["pages"].nodes == len(kept) + 1
