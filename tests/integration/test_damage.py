"""A crawl's directory of which a part is lost or older than the rest: nothing is made worse, and it is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawling import crawl

from gossamer.errors import DamagedError
from gossamer.testing import TinyWeb


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as found:
        for page in range(20):
            found.add_page(f"http://a.test/{page}", [f"/{page + 1}"])
        yield found


def contents(home: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (home / "warc").iterdir()}


def test_pages_whose_frontier_is_lost_are_not_touched(tmp_path: Path, web: TinyWeb) -> None:
    crawl(tmp_path, ["http://a.test/0"], web.connect, max_pages=5)
    before = contents(tmp_path)
    shutil.rmtree(tmp_path / "frontier")
    with pytest.raises(DamagedError, match=r"frontier is lost, and .*warc has pages that only it knows of"):
        crawl(tmp_path, ["http://a.test/0"], web.connect)
    assert contents(tmp_path) == before
    assert not (tmp_path / "frontier").exists()


def test_pages_that_an_older_frontier_does_not_know_are_not_touched(tmp_path: Path, web: TinyWeb) -> None:
    home, copy = tmp_path / "c", tmp_path / "copy"
    crawl(home, ["http://a.test/0"], web.connect, max_pages=5)
    shutil.copytree(home / "frontier", copy)
    crawl(home, [], web.connect, max_pages=9)
    before = contents(home)
    shutil.rmtree(home / "frontier")
    shutil.copytree(copy, home / "frontier")
    with pytest.raises(DamagedError, match=r"frontier is older than .*warc: pages are stored that it knows nothing of"):
        crawl(home, [], web.connect)
    assert contents(home) == before
