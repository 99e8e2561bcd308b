"""The response that another record refers to: found by a look at a few lines, however many there are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gossamer.model import Locator
from gossamer.store import Place, by_moment, places_at
from gossamer.store.cdxj import REVISIT, line_here
from gossamer.store.writer import cdxj_name

DIGEST, OTHER = b"a" * 20, b"b" * 20


def line(url: str, at: float, digest: bytes = DIGEST, mime: str = "text/html") -> str:
    return line_here((url, at, mime, 200, digest, int(at), 9, ""), "x.warc.gz")


def url(number: int) -> str:
    return f"http://a.test/{number}/" + "x" * (number * 7919 % 700)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """3,000 pages, three a second, in four files; the fifth is empty."""
    monkeypatch.setattr(by_moment, "_STEP", 1000)
    for number in range(4):
        pages = range(number * 750, number * 750 + 750)
        (tmp_path / cdxj_name(number)).write_text("".join(line(url(each), 1e9 + each / 3) for each in pages))
    (tmp_path / cdxj_name(4)).touch()
    return tmp_path


def found(home: Path, page: str, at: float, digest: bytes = DIGEST, last: int = 4) -> list[Locator]:
    return list(places_at(home, {"": Place(last)}, (page, at), digest))


def test_every_page_is_found(home: Path) -> None:
    for number in (*range(0, 3000, 37), 749, 750, 1499, 1500, 2999):
        at = 1e9 + number / 3
        assert found(home, url(number), at) == [Locator(number // 750, int(at), 9)]


def test_what_is_not_there_is_not_found(home: Path) -> None:
    at = 1e9 + 500
    assert found(home, url(1), at) == [], "another moment"
    assert found(home, url(1500), at, OTHER) == [], "another payload"
    assert found(home, url(1500), at, last=1) == [], "behind the places"
    assert found(home, "http://a.test/15", at) == []
    assert found(home, url(0), 0.0) == found(home, url(0), 1e12) == found(home, url(0), -1e12) == []
    assert list(places_at(home / "none", {"": Place(4)}, (url(0), 1e9), DIGEST)) == []
    (home / cdxj_name(2)).unlink()
    assert found(home, url(1500), at) == []
    assert len(found(home, url(2999), 1e9 + 999)) == 1


def test_few_lines_are_looked_at(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(path.stat().st_size for path in home.iterdir())
    read = 0
    pread = os.pread

    def counted(file: int, most: int, at: int) -> bytes:
        nonlocal read
        data = pread(file, most, at)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counted)
    monkeypatch.setattr("gossamer.store.captures._BLOCK", 4096)
    assert len(found(home, url(1700), 1e9 + 1700 / 3)) == 1
    assert read < size / 10


def test_lines_a_moment_out_of_order_and_odd_ones(tmp_path: Path) -> None:
    lines = [
        line("http://a.test/late", 1005.2),
        line("http://a.test/early", 1004.1),
        line("http://a.test/early", 1004.1, mime=REVISIT),
        line("http://a.test/early", 1004.1, OTHER),
        "\n",
        "no line\n",
        'x 99999999999999 {"url": "http://a.test/early", \n',
    ]
    (tmp_path / cdxj_name(0)).write_text("".join(lines[:4]))
    assert found(tmp_path, "http://a.test/early", 1004.1) == [Locator(0, 1004, 9)]
    assert found(tmp_path, "http://a.test/late", 1005.2) == [Locator(0, 1005, 9)]
    (tmp_path / cdxj_name(0)).write_text("".join([lines[0], *lines[4:6], *lines[1:4], lines[6]]))
    assert found(tmp_path, "http://a.test/early", 1004.1) == [Locator(0, 1004, 9)]
    (tmp_path / cdxj_name(0)).write_bytes(os.urandom(300_000) + b"\n")
    assert found(tmp_path, "http://a.test/early", 1004.1) == []
