"""The examples of a systemd unit and a container file use what exists."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path

import pytest

from gossamer.cli import COMMANDS, load_command

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands(text: str) -> list[list[str]]:
    """The words after each `gossamer` that is called, over continued lines."""
    joined = re.sub(r"\\\n#? *", "", text)
    called = re.findall(r"(?:^|[/ ])gossamer ((?:crawl|doctor|control) .*)$", joined, re.M)
    return [line.split("  #")[0].split() for line in called]


@pytest.mark.parametrize("name", ["gossamer.service", "Containerfile"])
def test_commands_and_flags_exist(name: str) -> None:
    found = commands((EXAMPLES / name).read_text(encoding="utf-8"))
    assert len(found) >= 2
    for command, *words in found:
        assert command in COMMANDS
        known = {flag for parameter in load_command(command).params for flag in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_the_unit_treats_exit_statuses_as_they_are_meant() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(EXAMPLES / "gossamer.service", encoding="utf-8")
    service = unit["Service"]
    assert service["SuccessExitStatus"] == "130"
    assert service["RestartPreventExitStatus"] == "2"
    assert float(service["TimeoutStopSec"]) > 5
    assert "--serve" in service["ExecStart"]  # so that it supervises itself
