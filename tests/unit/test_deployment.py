"""The examples of a systemd unit and a container file use what exists."""

from __future__ import annotations

import re
import subprocess
from configparser import ConfigParser
from pathlib import Path

import click
import pytest

from gossamer.cli import COMMANDS, load_command

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands(text: str) -> list[list[str]]:
    """The words after each `gossamer` that is called, over continued lines."""
    joined = re.sub(r"\\\n#? *", "", text)
    called = re.findall(r"(?:^|[/ ])gossamer ((?:agent|answer|cluster|crawl|doctor|control|seeds) .*)$", joined, re.M)
    return [line.split("  #")[0].split() for line in called]


@pytest.mark.parametrize(
    "name", ["gossamer.service", "systemd/gossamer-agent.service", "compose.yaml", "Containerfile"]
)
def test_commands_and_flags_exist(name: str) -> None:
    found = commands((EXAMPLES / name).read_text(encoding="utf-8"))
    assert len(found) >= 2
    for command, *words in found:
        assert command in COMMANDS
        found_command = load_command(command)
        if isinstance(found_command, click.Group):
            found_command = found_command.commands[words[0]]
        known = {flag for parameter in found_command.params for flag in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


def unit(name: str) -> ConfigParser:
    found = ConfigParser(strict=False, interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(EXAMPLES / name, encoding="utf-8")
    return found


@pytest.mark.parametrize("name", ["gossamer.service", "systemd/gossamer-agent.service"])
def test_the_unit_treats_exit_statuses_as_they_are_meant(name: str) -> None:
    service = unit(name)["Service"]
    assert service["SuccessExitStatus"] == "130"
    assert service["RestartPreventExitStatus"] == "2"
    assert float(service["TimeoutStopSec"]) > 5


def test_an_agent_that_has_ended_is_answered_for() -> None:
    """Its pages stay in search and status: the end of its unit starts the other one, and its start ends that."""
    agent, answer = unit("systemd/gossamer-agent.service"), unit("systemd/gossamer-answer.service")
    assert agent["Unit"]["OnSuccess"] == "gossamer-answer.service"
    assert answer["Unit"]["Conflicts"] == "gossamer-agent.service"
    ((command, option, directory),) = commands((EXAMPLES / "systemd/gossamer-answer.service").read_text("utf-8"))
    assert (command, option) == ("answer", "--dir")
    assert option in {flag for parameter in load_command(command).params for flag in parameter.opts}
    assert f"--dir {directory} " in agent["Service"]["ExecStart"]
    for name in ("User", "EnvironmentFile", "ProtectSystem", "ReadWritePaths", "StateDirectory"):
        assert answer["Service"][name] == agent["Service"][name]


def test_the_unit_of_a_crawl_supervises_it() -> None:
    assert "--serve" in unit("gossamer.service")["Service"]["ExecStart"]


def test_passwords_are_on_no_command_line() -> None:
    for name in ("systemd/gossamer-agent.service", "systemd/nats-server.service", "compose.yaml"):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert not re.search(r"(nats|tls)://[a-z]+:[^/@]+@", text), name


def test_the_settings_of_the_first_start_undo_no_change_at_the_next(tmp_path: Path) -> None:
    """The command of the unit, run by a shell as systemd runs it."""
    (line,) = re.findall(r"^ExecStart=/bin/sh -c '(.*)'$", (EXAMPLES / "gossamer.service").read_text("utf-8"), re.M)
    (tmp_path / "gossamer").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "gossamer").chmod(0o755)
    line = line.replace("$$", "$").replace("/usr/local/bin", str(tmp_path)).replace("/var/lib/gossamer", str(tmp_path))

    def started() -> list[str]:
        return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True).stdout.split()

    assert started()[-2:] == ["--config", "/etc/gossamer/crawl.toml"]
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "gossamer.toml").touch()
    assert started() == ["crawl", "@/etc/gossamer/seeds.txt", "--dir", f"{tmp_path}/crawl", "--serve", "8000"]
