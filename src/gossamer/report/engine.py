"""DuckDB, and nothing of it elsewhere: tables of any size, in bounded memory, on all cores."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

import duckdb

from gossamer.errors import DamagedError, DiskFullError
from gossamer.report.fact import COLUMNS, Column

MEMORY: Final = "1GB"  # beyond it DuckDB goes on on the disk
_PARQUET: Final = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
_FORMULA: Final = r"'^[=+\-@\t\r]'"  # how a text begins that spreadsheets take for one
_AS_TEXT: Final = "''" * 2  # an apostrophe, as SQL writes it
_FORMATS: Final = {
    ".parquet": _PARQUET,
    ".csv": "(FORMAT csv, HEADER)",
    ".csv.gz": "(FORMAT csv, HEADER, COMPRESSION gzip)",
    ".jsonl": "(FORMAT json)",
    ".jsonl.gz": "(FORMAT json, COMPRESSION gzip)",
}


class Engine:
    """A database in memory that reads and writes files.

    Invariant: it loads no extension and asks no network; values reach SQL as parameters, paths as quoted literals.
    """

    def __init__(self, scratch: Path | None = None, memory: str = MEMORY) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="gossamer-report-", dir=scratch))
        self._database = duckdb.connect(
            config={
                "memory_limit": memory,
                "temp_directory": str(self._scratch),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "python_enable_replacements": "false",
            }
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(sql, list(parameters) or None).fetchall()
        except duckdb.Error as error:
            raise _explained(error, sql) from error

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        return self.rows(sql, parameters)[0]

    def columns(self, sql: str) -> list[str]:
        return [row[0] for row in self.rows(f"DESCRIBE {sql}")]

    def copy_lines(self, lines: Path, columns: Sequence[Column], out: Path) -> None:
        """Lines of JSON into a file of the kind that its name says."""
        self.copy(f"SELECT * FROM {lines_of(lines, columns)}", out)

    def convert_lines(self, lines: Path, out: Path) -> None:
        """Lines of JSON of any columns into Parquet. All lines are looked at for the kinds of their values."""
        options = "format='newline_delimited', sample_size=-1, maximum_object_size=8388608"
        self.copy(f"SELECT * FROM read_json({literal(lines)}, {options})", out)

    def copy(self, query: str, out: Path, kind: str = ".parquet") -> None:
        """The answer into a file. It is on the disk, under another name, before it has its own."""
        fresh = out.with_name(f".{out.name}.new")
        if kind.startswith(".csv"):
            query = self._without_formulas(query)
        try:
            self.rows(f"COPY ({query}) TO {literal(fresh)} {_FORMATS[kind]}")
            with open(fresh, "rb") as file:
                os.fsync(file.fileno())
            fresh.replace(out)
        finally:
            fresh.unlink(missing_ok=True)

    def _without_formulas(self, query: str) -> str:
        """The same rows, in which no text of the web is one that spreadsheets calculate."""
        columns = []
        for name, kind, *_ in self.rows(f"DESCRIBE {query}"):
            quoted = '"' + name.replace('"', '""') + '"'
            safe = f"CASE WHEN regexp_matches({quoted}, {_FORMULA}) THEN {_AS_TEXT} || {quoted} ELSE {quoted} END"
            columns.append(f"{safe} AS {quoted}" if kind == "VARCHAR" else quoted)
        return f"SELECT {', '.join(columns)} FROM ({query})"


def kind_of(path: Path) -> str:
    """What the name of a file asks for; empty where it is none of those that can be written."""
    return next((kind for kind in sorted(_FORMATS, key=len, reverse=True) if path.name.lower().endswith(kind)), "")


KINDS: Final = tuple(_FORMATS)


def literal(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def lines_of(path: Path, columns: Sequence[Column] = COLUMNS) -> str:
    types = ", ".join(f"{literal(column.name)}: {literal(column.type)}" for column in columns)
    return f"read_json({literal(path)}, format='newline_delimited', columns={{{types}}}, maximum_object_size=8388608)"


def files_of(paths: Sequence[Path]) -> str:
    return f"read_parquet([{', '.join(map(literal, paths))}])"


def _explained(error: duckdb.Error, sql: str) -> Exception:
    words = " ".join(str(error).split())
    if "No space left" in words:
        return DiskFullError(f"A disk is full: {words[:300]}. Free some room, then run the same command again.")
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException):
        return DamagedError(
            f"The facts of the crawl cannot be read: {words[:300]}. "
            "Remove facts/ in the crawl's directory: it is made again from what is stored."
        )
    return RuntimeError(f"{words} in: {' '.join(sql.split())[:2000]}")
