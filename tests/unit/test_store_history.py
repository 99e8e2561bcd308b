"""All captures of one URL, however many files and blocks they are spread over."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.store import StorePosition, captures_of
from gossamer.store.cdxj import line_here
from gossamer.store.warc import spelled
from gossamer.store.writer import Position

URL = "http://a.test/page"
DIGEST, OTHER = b"a" * 20, b"b" * 20


def line(url: str, at: int, digest: bytes = DIGEST, file: int = 0) -> str:
    return line_here((url, at, "text/html", 200, digest, at * 10, 9, ""), f"gossamer-{file:05d}.warc.gz")


def write(home: Path, *files: str) -> StorePosition:
    for number, lines in enumerate(files):
        (home / f"gossamer-{number:05d}.cdxj").write_text(lines)
        (home / f"gossamer-{number:05d}.warc.gz").write_bytes(b"")
    last = len(files) - 1
    return StorePosition(last, {"": Position(last, 0, len(files[-1]))})


@pytest.mark.parametrize("block", [300, 1 << 20])
def test_the_newest_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("gossamer.store.history._BLOCK", block)
    others = "".join(line(f"{URL}{number}", 50 + number) for number in range(9))
    position = write(
        tmp_path, others + line(URL, 100) + others + line(URL, 200, OTHER), line(URL, 300, file=1) + others
    )
    found, complete = captures_of(URL, tmp_path, position)
    assert [(each.fetched_at, each.digest, each.stored.file, each.stored.offset) for each in found] == [
        (300, spelled(DIGEST), 1, 3000),
        (200, spelled(OTHER), 0, 2000),
        (100, spelled(DIGEST), 0, 1000),
    ]
    assert complete
    assert captures_of("http://a.test/pag", tmp_path, position) == ([], True)
    assert captures_of('http://a.test/"%5C', tmp_path, position) == ([], True)


def test_nothing_beyond_the_commit_and_no_more_than_allowed(tmp_path: Path) -> None:
    position = write(tmp_path, line(URL, 100), line(URL, 200, file=1))
    with (tmp_path / "gossamer-00001.cdxj").open("a") as file:
        file.write(line(URL, 300, file=1) + "not a line with " + f'"url": "{URL}", \n')
    assert [each.fetched_at for each in captures_of(URL, tmp_path, position)[0]] == [200, 100]
    found, complete = captures_of(URL, tmp_path, position, most_read=1)
    assert [each.fetched_at for each in found] == [200]
    assert not complete


def test_lines_across_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.store.history._BLOCK", 400)
    position = write(tmp_path, "".join(line(URL, 100 + number) for number in range(50)))
    found, _ = captures_of(URL, tmp_path, position)
    assert [each.fetched_at for each in found] == list(range(149, 99, -1))


def test_damaged_lines_and_missing_files(tmp_path: Path) -> None:
    position = write(tmp_path, f'x "url": "{URL}", \n' + line(URL, 100) + f'"url": "{URL}", ')
    assert [each.fetched_at for each in captures_of(URL, tmp_path, position)[0]] == [100]
    (tmp_path / "gossamer-00000.cdxj").unlink()
    assert captures_of(URL, tmp_path, position)[0] == []
