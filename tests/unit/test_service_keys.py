"""Keys: 256 random bits shown once, kept as hashes in a file that is whole at every moment."""

from __future__ import annotations

import hmac
import json
import stat
import threading
from pathlib import Path

import pytest

from gossamer.errors import ConfigError, CrawlDirError, DamagedError
from gossamer.service.keys import KeyFile, KeyRing


def test_a_key_is_kept_as_its_hash_only(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    assert key.startswith("gsm_")
    assert len(key) == 4 + 43  # 256 bits in base64
    text = (tmp_path / "keys.json").read_text()
    assert key not in text
    assert key[4:] not in text
    assert json.loads(text)["keys"][0]["name"] == "anna"
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


def test_a_key_is_found_until_it_is_revoked(tmp_path: Path) -> None:
    file, ring = KeyFile(tmp_path), KeyRing(tmp_path)
    assert ring.all() == []
    key, other = file.add("anna", "search"), file.add("bert", "admin")
    found = ring.find(key)
    assert found is not None
    assert (found.name, found.allows("search"), found.allows("admin")) == ("anna", True, False)
    admin = ring.find(other)
    assert admin is not None
    assert admin.allows("search")
    assert ring.find(key + "x") is None
    assert ring.find("") is None
    assert ring.find("\udcff" * 50) is None
    assert ring.find(key * 100) is None
    file.revoke("anna")
    assert ring.find(key) is None
    assert ring.find(other) is not None


def test_every_key_is_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = KeyFile(tmp_path)
    keys = [file.add(f"k{number}", "search") for number in range(5)]
    ring = KeyRing(tmp_path)
    compared: list[str] = []
    real = hmac.compare_digest

    def counted(one: str, other: str) -> bool:
        compared.append(one)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    for presented in (keys[0], keys[4], "gsm_wrong"):
        compared.clear()
        ring.find(presented)
        assert len(compared) == 5  # the first that fits does not end it


def test_names_are_plain_and_given_once(tmp_path: Path) -> None:
    file = KeyFile(tmp_path)
    file.add("anna", "search")
    with pytest.raises(ConfigError, match="already"):
        file.add("anna", "admin")
    for name in ("", "a b", "-x", "x" * 65, "ä", "a\n", "../x"):
        with pytest.raises(ConfigError, match="not a name"):
            file.add(name, "search")
    with pytest.raises(ConfigError, match="no key named"):
        file.revoke("bert")
    assert [key.name for key in file.read()] == ["anna"]


def test_of_many_writers_none_undoes_what_another_did(tmp_path: Path) -> None:
    begin = threading.Barrier(8)

    def add(number: int) -> None:
        begin.wait()
        for each in range(5):
            KeyFile(tmp_path).add(f"k{number}.{each}", "search")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(KeyFile(tmp_path).read()) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]


def test_a_change_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = KeyFile(tmp_path)
    file.add("anna", "search")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gossamer.service.keys.os.fsync", fail)
    with pytest.raises(CrawlDirError, match="No space left"):
        file.add("bert", "search")
    assert [key.name for key in file.read()] == ["anna"]


@pytest.mark.parametrize("text", ["", "{", '{"keys": [{"name": 1}]}', '{"format": 1, "keys": 3}', "\xff\xfe"])
def test_a_file_that_cannot_be_read_lets_nobody_in(tmp_path: Path, text: str) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    ring = KeyRing(tmp_path)
    assert ring.find(key) is not None
    (tmp_path / "keys.json").write_text(text, encoding="latin-1")
    for _ in range(2):
        with pytest.raises(DamagedError, match="nobody is let in"):
            ring.find(key)
    with pytest.raises(DamagedError):
        KeyFile(tmp_path).add("bert", "search")
    assert (tmp_path / "keys.json").read_text(encoding="latin-1") == text


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CrawlDirError, match="cannot be used"):
        KeyFile(tmp_path / "file").add("anna", "search")
