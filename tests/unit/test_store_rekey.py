"""Directories of earlier versions: their CDXJ lines get the keys of today, and every place in them stays right."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gossamer.config import StoreConfig
from gossamer.model import Page
from gossamer.store import Captures, Place, Store, StorePosition, captures_of, payload_digest
from gossamer.store import rekey as rekey_module
from gossamer.store.cdxj import key_of
from gossamer.store.rekey import with_key
from gossamer.store.writer import KEYS, Position

URLS = [
    "http://www.example.org/en-US/",
    "http://192.0.2.7/x",
    "http://example.org/a//b?b=2&a=1",
    "http://example.org/find#__wb_method=POST&q=a+b",
    "http://example.org/plain",
    "http://example.org/p?PHPSESSID=0123456789abcdef0123456789abcdef",
]
STRAY = "http://example.org/50%"  # its key has `%25`, and is longer than the old one


def old_key(url: str) -> str:
    """As it was written before: the host reversed unless it is an address, the rest in lower case."""
    target = url.partition("#")[0]
    host, _, rest = target.partition("//")[2].partition("/")
    host = host.removeprefix("www.")
    if not host.replace(".", "").isdigit():
        host = ",".join(reversed(host.split(".")))
    sent = "?__wb_method=post&q=a%20b" if "#" in url else ""
    return f"{host})/{rest.lower()}{sent}"


def with_old_keys(path: Path, urls: list[str]) -> None:
    lines = path.read_text().splitlines()
    aged = [f"{old_key(url)} {line.partition(' ')[2]}\n" for url, line in zip(urls, lines, strict=True)]
    path.write_text("".join(aged))


class Old:
    """A directory of two files as an earlier version left it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.urls = [*URLS, STRAY]
        store = Store(home, StoreConfig(), StorePosition(), "test")
        writer = store._writers[""]
        usual = writer._size
        for number, url in enumerate([*self.urls, *URLS]):
            writer._size = 1 if number == len(self.urls) else usual  # the next file begins here
            page = Page(url, 200, b"HTTP/1.1 200 OK\r\n\r\n", b"x", b"x", 1.8e9, 0.0, "", content_type="text/html")
            store.append(page)
        position = store.sync()
        store.close()
        self.paths = sorted(home.glob("*.cdxj"))
        with_old_keys(self.paths[0], self.urls)
        with_old_keys(self.paths[1], URLS)
        end = position.writers[""]
        size = self.paths[-1].stat().st_size
        self.position = StorePosition(position.last, {"": Position(end.file, end.warc, size)})

    def open(self, position: StorePosition | None = None) -> tuple[Store, list[str]]:
        said: list[str] = []
        return Store(self.home, StoreConfig(), position or self.position, "test", said.append), said

    def keys(self) -> list[str]:
        return [line.partition(" ")[0] for path in self.paths for line in path.read_text().splitlines()]


@pytest.fixture
def old(tmp_path: Path) -> Old:
    return Old(tmp_path)


def test_the_next_start_gives_old_lines_the_keys_of_today(old: Old) -> None:
    before = list(Captures(old.home).after({}, old.position))
    sizes = [path.stat().st_size for path in old.paths]
    store, said = old.open()
    assert len(said) == 2
    assert "2 of 2 files" in said[1]
    expected = [key_of(url) for url in URLS]
    assert old.keys() == [*expected, old_key(STRAY), *expected]
    assert [path.stat().st_size for path in old.paths] == sizes
    assert list(Captures(old.home).after({}, old.position)) == before, "the same captures, at the same places"
    for line in old.paths[0].read_text().splitlines():
        assert json.loads(line.split(" ", 2)[2])["url"] in line
    assert sorted(path.name for path in old.home.iterdir() if "cdxj" in path.name) == [p.name for p in old.paths]

    position = store.sync()
    store.close()
    assert position.writers[""].keys == KEYS
    again, said = old.open(position)
    again.close()
    assert said == [], "it is done once"


def test_whoever_has_noted_a_place_goes_on_from_there(old: Old) -> None:
    captures = Captures(old.home)
    noted = [capture.after for capture in captures.after({}, old.position)]
    store, _ = old.open()
    store.close()
    for count, place in enumerate(noted, 1):
        assert captures.checked({"": place}, old.position) == {"": place}
        assert len(list(captures.after({"": place}, old.position))) == len(noted) - count


def test_readers_work_before_and_after(old: Old) -> None:
    for _ in range(2):
        for url in URLS:
            found, whole = captures_of(url, old.home, old.position)
            assert whole
            assert [each.url for each in found] == [url, url]
        place = {"": Place(1, old.paths[1].stat().st_size)}
        assert len(list(Captures(old.home).places_of(URLS[0], place, payload_digest(b"x")))) == 2
        old.open()[0].close()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_killed_in_the_middle_it_is_done_again(old: Old, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is not finished is in a file of another name, which the next start replaces."""
    before = [path.read_bytes() for path in old.paths]

    class KilledError(BaseException):
        pass

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(os if step == "fsync" else Path, step, killed)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # who is killed does not tidy up
        with pytest.raises(KilledError):
            rekey_module.rewrite_keys(old.home, 1, lambda _: None)
    assert [path.read_bytes() for path in old.paths] == before
    assert (old.home / "gossamer-00000.cdxj.new").exists()
    rekey_module.rewrite_keys(old.home, 0, lambda _: None)  # one of two files, and again
    assert old.paths[1].read_bytes() == before[1]
    old.open()[0].close()
    assert old.keys()[0] == old.keys()[7] == "org,example)/en-us"
    assert not list(old.home.glob("*.new"))


def test_a_directory_that_is_no_longer_given_is_done_too(tmp_path: Path) -> None:
    old = Old(tmp_path / "other")
    name = str(old.home.absolute())
    position = StorePosition(old.position.last, {name: old.position.writers[""]})
    store = Store(tmp_path / "home", StoreConfig(), position, "test")
    assert old.keys()[0] == "org,example)/en-us"
    assert store.sync().writers[name].keys == KEYS
    store.close()
    absent = StorePosition(3, {str(tmp_path / "gone"): Position(3, 1, 1)})
    store = Store(tmp_path / "home2", StoreConfig(), absent, "test")
    assert store.sync().writers[str(tmp_path / "gone")].keys == 0, "it may come back"
    store.close()


def test_an_export_has_every_key_exactly(old: Old) -> None:
    line = old.paths[0].read_bytes().splitlines()[6]
    assert with_key(line).startswith(b"org,example)/50%25 2027")
    assert with_key(line, same_length=True) == line
    for torn in (b"", b"\n", b"x y", b"x 20270115080000 {", os.urandom(50)):
        assert with_key(torn) == torn
