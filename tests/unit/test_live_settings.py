"""Settings changed while a crawl runs: what is taken up, what is not, and that half a file never is."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from gossamer.agent.settings import LiveSettings
from gossamer.config import Config, FetchConfig, PolicyConfig


class Edited:
    """A settings file, edited by somebody; every edit has a time of its own."""

    def __init__(self, file: Path, config: Config) -> None:
        self.notices: list[str] = []
        self._file = file
        self._time = 1_000
        self.write(config.to_toml())
        self.live = LiveSettings(file, config, self.notices.append)

    def write(self, text: str) -> None:
        self._file.write_text(text)
        self._time += 1
        os.utime(self._file, (self._time, self._time))

    def change(self, old: str, new: str) -> None:
        text = self._file.read_text()
        assert text.count(old) == 1
        self.write(text.replace(old, new))

    def looked(self) -> Config | None:
        """The first look sees that something was changed, the second that the writer is done."""
        assert self.live.look() is None
        return self.live.look()


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path / "gossamer.toml", Config(fetch=FetchConfig(rate=5.0), policy=PolicyConfig(delay=3.0)))


def test_nothing_happens_while_nothing_is_changed(edited: Edited) -> None:
    assert [edited.live.look() for _ in range(4)] == [None] * 4
    assert edited.notices == []


def test_live_options_are_taken_up_and_said(edited: Edited) -> None:
    edited.change("rate = 5.0", "rate = 20")
    edited.change("blocklist = []", 'blocklist = ["example.org"]')
    config = edited.looked()
    assert config is not None
    assert (config.fetch.rate, config.policy.blocklist, config.policy.delay) == (20.0, ("example.org",), 3.0)
    assert edited.notices == [
        "settings: policy.blocklist = example.org from now on",
        "settings: fetch.rate = 20 from now on",
    ]
    assert edited.live.look() is None


def test_tables_of_hosts_are_taken_up(edited: Edited) -> None:
    edited.change("[agent]", '[hosts."*.example.org"]\ndelay = 9\n\n[agent]')
    config = edited.looked()
    assert config is not None
    assert [(rule.pattern, rule.delay) for rule in config.hosts] == [("*.example.org", 9.0)]


def test_other_options_wait_for_the_next_start(edited: Edited) -> None:
    edited.change('scope = "domain"', 'scope = "any"')
    assert edited.looked() is None
    (notice,) = edited.notices
    assert "scope.scope" in notice
    assert "started again" in notice


def test_a_mistake_changes_nothing_and_is_named(edited: Edited) -> None:
    edited.change("rate = 5.0", 'rate = "fast"')
    assert edited.looked() is None
    assert "fetch.rate" in edited.notices[0]
    edited.change('rate = "fast"', "rate = 7")
    config = edited.looked()
    assert config is not None
    assert config.fetch.rate == 7


def test_what_the_file_no_longer_says_stays_as_it_is(edited: Edited) -> None:
    edited.write("[fetch]\nrate = 8\n")
    config = edited.looked()
    assert config is not None
    assert config == dataclasses.replace(Config(policy=PolicyConfig(delay=3.0)), fetch=FetchConfig(rate=8.0))


def test_a_file_that_is_still_being_written_is_not_read(edited: Edited) -> None:
    for rate in range(10, 20):
        edited.write(f"[fetch]\nrate = {rate}\n")
        assert edited.live.look() is None
    config = edited.live.look()
    assert config is not None
    assert config.fetch.rate == 19


def test_a_file_taken_away_changes_nothing(edited: Edited, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").unlink()
    assert edited.live.look() is None
    assert edited.live.look() is None
    assert "cannot be read" in edited.notices[0]
