"""Entries into the index: one a URL, durable with their position, and whole after any crash."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.errors import CrawlDirError, DamagedError, IndexInUseError, IndexVersionError
from gossamer.index import Entry, IndexWriter, Search

MEMORY = 15_000_000


def entry(number: int, text: str = "harbour", **more: object) -> Entry:
    return Entry(f"https://a.test/p{number}", 1000.0 + number, f"Page {number}", body=f"{text} n{number}", **more)  # type: ignore[arg-type]


def count(path: Path, query: str = "harbour") -> int:
    search = Search([path])
    try:
        return search.answer(query).total
    finally:
        search.close()


def test_entries_are_found_after_the_commit_and_not_before(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    search = Search([tmp_path])
    writer.upsert([entry(1), entry(2)])
    assert search.answer("harbour").total == 0
    writer.commit(b"one")
    assert search.answer("harbour").total == 2
    writer.upsert([entry(3)])
    writer.commit(b"two")
    assert search.answer("harbour").total == 3
    writer.close()


def test_a_url_is_there_once(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    writer.upsert([entry(1, "old"), entry(1, "older"), entry(2)])
    writer.commit(b"")
    writer.upsert([entry(1, "new")])
    writer.commit(b"")
    writer.close()
    assert count(tmp_path, "old OR older") == 0
    assert count(tmp_path, "new") == 1
    assert Search([tmp_path]).size().pages == 2


def test_deleted_urls_and_hosts_are_gone_and_no_others(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    hosts = ["a.test", "b.a.test", "a.test:8080", "xa.test"]
    writer.upsert([Entry(f"http://{host}/p{n}", 1.0, body="harbour") for host in hosts for n in range(3)])
    writer.commit(b"")
    writer.delete(["http://xa.test/p0", "http://nowhere.test/"])
    writer.delete_hosts(["a.test", "nowhere.test"])
    assert writer.entry("http://a.test/p1") is None
    assert writer.entry("http://xa.test/p0") is None
    assert writer.entry("http://a.test:8080/p1") is not None
    writer.upsert([Entry("http://a.test/p1", 2.0, body="harbour again")])
    assert writer.entry("http://a.test/p1") is not None
    writer.commit(b"")
    writer.close()
    sites = dict(Search([tmp_path]).answer("harbour").facets["site"])
    assert sites == {"a.test": 1, "b.a.test": 3, "a.test:8080": 3, "xa.test": 2}


def test_an_entry_comes_back_as_it_was_written(tmp_path: Path) -> None:
    whole = Entry(
        "https://a.test/ä?q=1", 1.5, "Títle", "about", "all\ntext", "main", ["here", "there"], 7, "pt-BR", "text/html",
        b"\x00\xff",
    )  # fmt: skip
    writer = IndexWriter(tmp_path, MEMORY)
    writer.upsert([whole])
    assert writer.entry(whole.url) == whole
    writer.commit(b"")
    assert writer.entry(whole.url) == whole
    writer.delete([whole.url])
    assert writer.entry(whole.url) is None
    writer.close()


def test_the_position_comes_back(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    assert writer.position == b""
    writer.upsert([entry(1)])
    writer.commit(b"\x00first")
    writer.commit(b"second")
    writer.upsert([entry(2)])
    writer.close()
    writer = IndexWriter(tmp_path, MEMORY)
    assert writer.position == b"second"
    writer.close()
    assert count(tmp_path) == 1  # what was not committed is forgotten


def test_much_between_two_commits_is_written_out_with_the_old_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.index.writer._MOST_PENDING", 1000)
    writer = IndexWriter(tmp_path, MEMORY)
    writer.commit(b"before")
    writer.upsert([entry(number) for number in range(100)])
    writer.close()
    assert IndexWriter(tmp_path, MEMORY).position == b"before"
    assert 80 < count(tmp_path) <= 100


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    entries=st.lists(
        st.builds(
            Entry,
            url=st.one_of(st.text(max_size=40), st.from_regex(r"https?://[a-z.:0-9]{0,20}/[ -~]{0,20}")),
            fetched_at=st.floats(-1e12, 1e12),
            title=st.text(max_size=40),
            description=st.text(max_size=40),
            body=st.text(max_size=200),
            anchors=st.lists(st.text(max_size=20), max_size=4),
            inlinks=st.integers(-5, 1 << 40),
            language=st.one_of(st.sampled_from(["en", "ja", "de-AT"]), st.text(max_size=12)),
            type=st.text(max_size=12),
            digest=st.binary(max_size=24),
        ),
        max_size=6,
    )
)
def test_nothing_in_an_entry_raises(tmp_path: Path, entries: list[Entry]) -> None:
    shutil.rmtree(tmp_path / "index", ignore_errors=True)
    writer = IndexWriter(tmp_path / "index", MEMORY)
    writer.upsert(entries)
    writer.commit(b"")
    writer.close()
    search = Search([tmp_path / "index"])
    urls = {one.url.encode("utf-8", "replace") for one in entries}
    assert search.size().pages == len(urls)
    search.domains()
    search.terms(5)
    for one in entries:
        hit = search.page(one.url)
        assert hit is not None
        hit.snippet.encode()


def test_huge_and_broken_texts_are_cut(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    writer.upsert([
        entry(1, "x" * 1_000_000 + " harbour"),
        entry(2, "harbour " + "漢字" * 500_000, anchors=["anchor " * 100_000]),
        entry(3, "harbour \ud800 \x00 \uffff"),
        Entry("https://" + "h" * 300 + ".test/" + "p" * 5000, 1.0, body="harbour"),
    ])  # fmt: skip
    writer.commit(b"")
    writer.close()
    assert count(tmp_path) == 3  # the first has its harbour behind what is searched


def test_a_second_writer_is_told(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    with pytest.raises(IndexInUseError, match="another process"):
        IndexWriter(tmp_path, MEMORY)
    writer.close()
    IndexWriter(tmp_path, MEMORY).close()


def test_an_index_of_another_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    IndexWriter(tmp_path, MEMORY).close()
    (tmp_path / "format").write_text("99")
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for use in (lambda: IndexWriter(tmp_path, MEMORY), lambda: Search([tmp_path]).answer("a")):
        with pytest.raises(IndexVersionError, match=r"index format 99.*--rebuild"):
            use()
    assert before == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


@pytest.mark.parametrize("suffix", [".store", ".idx", ".term", ".fast", ".pos", "meta.json"])
@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_index_is_named(tmp_path: Path, suffix: str, cut: bool) -> None:
    writer = IndexWriter(tmp_path, MEMORY)
    writer.upsert([entry(number) for number in range(50)])
    writer.commit(b"")
    writer.close()
    victim = next(path for path in tmp_path.iterdir() if path.name.endswith(suffix))
    if cut:
        os.truncate(victim, victim.stat().st_size // 2)
    elif suffix == "meta.json":
        victim.write_text("{}")
    else:
        victim.unlink()
    with pytest.raises(DamagedError, match=r"cannot be read.*--rebuild"):
        IndexWriter(tmp_path, MEMORY)
    with pytest.raises(DamagedError, match=r"cannot be read.*--rebuild"):
        Search([tmp_path]).answer("harbour")


def test_a_place_that_is_no_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CrawlDirError, match="cannot be written"):
        IndexWriter(tmp_path / "file" / "index", MEMORY)


ROUNDS = """
import sys
from pathlib import Path
from gossamer.index import Entry, IndexWriter
writer = IndexWriter(Path(sys.argv[1]), 15_000_000)
for number in range(int(writer.position or b"0") + 1, 1000):
    writer.upsert([Entry(f"https://a.test/p{p}", 1.0, f"round{number}", body="harbour") for p in range(40)])
    print("written", flush=True)
    writer.upsert([Entry(f"https://b.test/r{number}", 1.0, "kept", body="harbour")])
    writer.delete([f"https://b.test/r{number - 2}"])
    print("more", flush=True)
    writer.commit(str(number).encode())
    print("committed", flush=True)
"""


def test_killed_at_any_moment_entries_and_position_agree(tmp_path: Path) -> None:
    path = tmp_path / "index"
    reached = 0
    for lines in (1, 2, 3, 4, 5, 8, 11, 12, 30):
        with subprocess.Popen([sys.executable, "-c", ROUNDS, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said = [process.stdout.readline().strip() for _ in range(lines)]
            process.send_signal(signal.SIGKILL)
        writer = IndexWriter(path, MEMORY)
        position = int(writer.position or b"0")
        writer.close()
        assert position >= reached + said.count("committed")
        reached = position
        search = Search([path])
        if position:
            found = search.answer("harbour site:a.test", limit=100)
            assert found.total == 40
            assert {hit.title for hit in found.results} == {f"round{position}"}
            kept = {hit.url for hit in search.answer("site:b.test").results}
            assert kept == {f"https://b.test/r{number}" for number in (position - 1, position) if number}
        else:
            assert search.size().pages == 0
        search.close()
    assert reached > 10


def test_readers_in_other_processes_see_commits(tmp_path: Path) -> None:
    code = (
        "import sys, json\nfrom pathlib import Path\nfrom gossamer.index import Search\n"
        "search = Search([Path(sys.argv[1])])\n"
        "for line in sys.stdin: print(json.dumps(search.answer('harbour').total), flush=True)\n"
    )
    writer = IndexWriter(tmp_path / "index", MEMORY)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "index")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seen = []
        for number in range(12):  # enough for segments to be merged
            writer.upsert([entry(number)])
            writer.commit(b"")
            process.stdin.write("?\n")
            process.stdin.flush()
            seen.append(json.loads(process.stdout.readline()))
        process.stdin.close()
    writer.close()
    assert seen == list(range(1, 13))
