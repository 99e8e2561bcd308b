"""The link graph: frames on disk, exact after any crash, and of each page what was seen last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import DamagedError
from gossamer.graph import log as graph_log
from gossamer.graph.frame import HEAD, MOST_LINKS, Rows, moment_of
from gossamer.graph.log import GraphLog, frames_of, position_of
from gossamer.graph.reading import links_in

A, B, C, D = (f"http://{name}.test/" for name in "abcd")


def write(home: Path, *pages: tuple[str, int, Sequence[str] | str], position: bytes = b"here") -> None:
    """One frame; a text in place of targets is where a redirect leads."""
    log = GraphLog(home)
    assert log.take()
    rows = Rows()
    for url, at, targets in pages:
        if isinstance(targets, str):
            rows.add_redirect(url, moment_of(at, 0), targets)
        else:
            rows.add(url, moment_of(at, 0), targets)
    try:
        log.append(rows, position)
    finally:
        log.close()


def links(home: Path) -> list[tuple[str, str, str]]:
    with TemporaryDirectory() as scratch:
        return sorted(tuple(link) for some in links_in(frames_of(home), Path(scratch)) for link in some)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path, (A, 1, [C, B, B, A]), (B, 2, []), (C, 3, D))
    assert links(tmp_path) == [(A, B, "link"), (A, C, "link"), (C, D, "redirect")]
    assert position_of(tmp_path) == b"here"


def test_nothing_at_all(tmp_path: Path) -> None:
    assert links(tmp_path / "not there") == []
    assert position_of(tmp_path / "not there") == b""
    write(tmp_path)
    assert links(tmp_path) == []
    assert position_of(tmp_path) == b"here", "that nothing was there is known, too"


def test_the_last_capture_counts_in_whatever_order(tmp_path: Path) -> None:
    write(tmp_path, (A, 5, [C]), (A, 3, [B]), (B, 1, [A, C]))
    write(tmp_path, (A, 4, [D]), (B, 2, []), (C, 1, [A]), (C, 2, D))
    assert links(tmp_path) == [(A, C, "link"), (C, D, "redirect")]


def test_captures_of_one_second_are_in_the_order_of_their_places() -> None:
    assert moment_of(7.9, 5) < moment_of(7.2, 6) < moment_of(8.0, 0)
    assert moment_of(-1.0, -1) == 0


def test_a_page_has_so_many_links_and_no_more(tmp_path: Path) -> None:
    write(tmp_path, (A, 1, [f"{B}{number}" for number in range(3 * MOST_LINKS)]))
    assert len(links(tmp_path)) == MOST_LINKS


pages = st.lists(
    st.tuples(st.sampled_from((A, B, C, D)), st.integers(0, 5), st.sets(st.sampled_from((A, B, C, D))).map(sorted)),
    max_size=12,
    unique_by=lambda page: page[:2],
)


@given(pages, st.randoms(use_true_random=False), st.integers(1, 5))
def test_order_repetition_and_frames_do_not_matter(
    found: list[tuple[str, int, list[str]]], draw: object, size: int
) -> None:
    again = [*found, *found]
    draw.shuffle(again)  # type: ignore[attr-defined]
    with TemporaryDirectory() as folder:
        write(Path(folder) / "one", *found)
        for at in range(0, len(again), size):
            write(Path(folder) / "many", *again[at : at + size])
        newest = {url: (at, targets) for url, at, targets in sorted(found)}
        expected = sorted((url, other, "link") for url, (_, all_) in newest.items() for other in all_ if other != url)
        assert links(Path(folder) / "one") == links(Path(folder) / "many") == expected


def test_a_frame_that_a_crash_left_is_not_there_and_is_cut_off(tmp_path: Path) -> None:
    write(tmp_path, (A, 1, [B]), position=b"first")
    path = next(tmp_path.glob("links-*"))
    whole = path.stat().st_size
    write(tmp_path, (A, 2, [C]), position=b"second")
    data = path.read_bytes()
    for size in range(whole, len(data)):
        path.write_bytes(data[:size])
        assert position_of(tmp_path) == b"first"
        assert links(tmp_path) == [(A, B, "link")]
    path.write_bytes(data[:-1] + bytes((data[-1] ^ 1,)))
    assert position_of(tmp_path) == b"first", "it has its length, but not its bytes"
    write(tmp_path, (A, 3, [D]), position=b"third")
    assert path.stat().st_size < len(data) + whole
    assert (links(tmp_path), position_of(tmp_path)) == ([(A, D, "link")], b"third")


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    write(tmp_path, (A, 1, [B]), position=b"")
    write(tmp_path, (A, 2, [C]), position=b"")
    path = next(tmp_path.glob("links-*"))
    data = bytearray(path.read_bytes())
    data[HEAD.size + 3] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(DamagedError, match=r"the frame at 0 .* gossamer rank makes it again"):
        links(tmp_path)


def test_one_writes_at_a_time_and_files_are_rolled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_log, "_ROLL", 1)
    first, second = GraphLog(tmp_path), GraphLog(tmp_path)
    assert first.take()
    assert not second.take()
    for number in range(3):
        rows = Rows()
        rows.add(A, number, [B])
        first.append(rows, b"%d" % number)
    first.close()
    assert second.take()
    assert second.position == b"2"
    second.close()
    assert len(list(tmp_path.glob("links-*"))) == 3
    early = min(tmp_path.glob("links-*"))
    early.write_bytes(early.read_bytes()[:-1])
    with pytest.raises(DamagedError, match="in the middle of a frame"):
        links(tmp_path)


def test_many_small_frames_become_a_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_log, "_MOST_FRAMES", 5)
    for home, at_once in ((tmp_path / "merged", 1), (tmp_path / "whole", 100)):
        seen = [(f"{A}{number % 9}", number, [B, f"{A}{number}"]) for number in range(23)]
        seen += [(C, 30, D), (D, 31, [A]), (A, 32, [B])]
        for at in range(0, len(seen), at_once):
            write(home, *seen[at : at + at_once], position=b"%d" % at)
        log = GraphLog(home)
        assert log.take()
        rows = Rows()
        rows.add_gone(A, moment_of(40, 0))
        log.append(rows, b"end")
        log.close()
    assert links(tmp_path / "merged") == links(tmp_path / "whole")
    frames = frames_of(tmp_path / "merged")
    assert len(frames) < 13
    assert frames[0].position == b"4", "up to where it goes is known as before"
    assert position_of(tmp_path / "merged") == b"end"


def test_killed_while_frames_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_log, "_MOST_FRAMES", 3)
    for number in range(3):
        write(tmp_path, (A, number, [f"{B}{number}"]), position=b"%d" % number)
    before = links(tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, (A, 3, [C]))
    assert (links(tmp_path), position_of(tmp_path)) == (before, b"2")
    write(tmp_path, (A, 3, [C]))
    assert links(tmp_path) == [(A, C, "link")]
    assert not list(tmp_path.glob("*.new"))


def test_what_claims_to_be_huge_is_not_unpacked(tmp_path: Path) -> None:
    write(tmp_path, (A, 1, [B]))
    held = frames_of(tmp_path)[0]
    with pytest.raises(DamagedError):
        type(held)(held.path, held.at, held.length, 1 << 31, held.check, held.pages, held.position).read()
