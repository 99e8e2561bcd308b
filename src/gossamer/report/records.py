"""Records of an application, read back whichever way they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import msgspec

from gossamer.agent.app_note import folder_of, read_note
from gossamer.agent.parts import readable_parts
from gossamer.errors import ConfigError


def records(directory: str | Path, app: str) -> Iterator[dict[str, Any]]:
    """What the application called `app` has recorded, in its order, up to its last commit. Works while it runs.

    Of several agents one after the other, each in its order. Kept as Parquet, all records of a file have the same
    fields; those that one had not are None.
    """
    home = Path(directory)
    homes = [part.home for part in readable_parts(home)]
    known = sorted({each.name for part in homes for each in folder_of(part, app).parent.glob("*") if each.is_dir()})
    if app not in known:
        raise ConfigError(f"no application {app!r} has run on {home}; there are: {', '.join(known) or 'none'}")
    return chain.from_iterable(_records(folder_of(part, app)) for part in homes)


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    end = read_note(folder).records
    for number in range(end.file + 1):
        lines = folder / f"records-{number:05d}.jsonl"
        try:
            with open(lines, "rb") as file:
                yield from _in_lines(file, end.bytes if number == end.file else None)
        except FileNotFoundError:  # it is Parquet by now, or there is nothing in it yet
            parquet = lines.with_suffix(".parquet")
            if parquet.exists():
                yield from _in_parquet(parquet)


def _in_lines(file: IO[bytes], most: int | None) -> Iterator[dict[str, Any]]:
    for line in file:
        if most is not None:
            most -= len(line)
            if most < 0:
                return
        yield msgspec.json.decode(line)


def _in_parquet(parquet: Path) -> Iterator[dict[str, Any]]:
    from gossamer.report.engine import Engine, literal

    with TemporaryDirectory(prefix="gossamer-records-") as scratch, Engine(Path(scratch)) as engine:
        lines = Path(scratch) / "records.jsonl"
        engine.copy(f"SELECT * FROM read_parquet({literal(parquet)})", lines, ".jsonl")
        with open(lines, "rb") as file:
            yield from _in_lines(file, None)
