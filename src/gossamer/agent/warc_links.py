"""DIR/warc of a crawl with several agents: links to the files of all of them, so that they are found in one place."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_KINDS: Final = (".warc.gz", ".cdxj")


def link_files(home: Path) -> int:
    """Make DIR/warc what it is to be: `a1-NAME` leads to NAME in the store of a1. How many links are there."""
    folder = home / "warc"
    folder.mkdir(exist_ok=True)
    wanted = {
        f"{agent.name}-{file}": f"../agents/{agent.name}/warc/{file}"
        for agent in agent_homes(home)
        for file in _files(agent / "warc")
    }
    there = {entry.name: os.readlink(entry) for entry in os.scandir(folder) if entry.is_symlink()}
    for name, target in there.items():
        if wanted.get(name) != target:
            with suppress(FileNotFoundError):
                (folder / name).unlink()
    for name, target in wanted.items():
        if there.get(name) != target:
            with suppress(FileExistsError):  # a file of that name: nobody's links take its place
                (folder / name).symlink_to(target)
    return len(wanted)


def agent_homes(home: Path) -> list[Path]:
    """The directories of all agents that ever took part, by name."""
    try:
        return sorted((Path(entry.path) for entry in os.scandir(home / "agents") if entry.is_dir()), key=_by_number)
    except FileNotFoundError:
        return []


def _by_number(home: Path) -> tuple[int, str]:
    return len(home.name), home.name


def _files(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.name.endswith(_KINDS) and entry.is_file()]
    except FileNotFoundError:
        return []
