"""An index that is damaged is made again by the crawl that finds it so, and by `gossamer repair`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_command_line import gossamer

from gossamer.agent import read_visits
from gossamer.index import Search
from gossamer.model import State
from gossamer.testing import SimServer, World


@pytest.fixture(scope="module")
def server() -> Iterator[SimServer]:
    with SimServer.running(World(7, 5, 40, "plain")) as found:
        yield found


@pytest.fixture(scope="module")
def crawled(server: SimServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp("indexed") / "c"
    gossamer(
        "crawl", server.world.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--connect",
        server.connect, "--delay", "0", "--max-pages", "150",
    )  # fmt: skip
    return home


def spoil(file: Path) -> None:
    file.write_bytes(b"\0garbage" * 20)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("meta.json", spoil),
        (".managed.json", spoil),
        ("*.store", Path.unlink),
        ("*.idx", cut),
        ("*.term", spoil),
        ("backlinks.db", spoil),
        ("backlinks.db", Path.unlink),
    ],
)
def test_the_next_run_makes_it_again(
    tmp_path: Path, crawled: Path, server: SimServer, name: str, damage: Callable[[Path], None]
) -> None:
    home = Path(shutil.copytree(crawled, tmp_path / "c"))
    for file in (home / "index").glob(name):
        damage(file)
    gossamer("crawl", "--dir", str(home), "--connect", server.connect, "--max-pages", "170")
    pages = sum(visit.status == 200 for visit in read_visits(home, State.FETCHED))
    search = Search([home / "index"])
    try:
        assert search.size().pages == pages == 170
    finally:
        search.close()


def test_an_index_that_was_whole_is_not_made_again(tmp_path: Path, crawled: Path, server: SimServer) -> None:
    home = Path(shutil.copytree(crawled, tmp_path / "c"))
    gossamer("crawl", "--dir", str(home), "--connect", server.connect, "--max-pages", "170")
    log = home / "logs" / "indexer.log"
    assert "That is done now" not in (log.read_text() if log.exists() else "")
