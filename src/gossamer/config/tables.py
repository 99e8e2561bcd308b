"""Tables named by a pattern, `[hosts."*.example.org"]` and `[urls."/forum/"]`: how they are read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from gossamer.config.checks import nearest
from gossamer.config.kinds import Kind, to_toml

Checked = Callable[[Any, object, str], Any]  # how a value is read, the value, and where it stands
Options = Mapping[str, tuple[Kind[Any], str]]  # key: how it is read, and what it means


class Rule(Protocol):
    @property
    def pattern(self) -> str: ...


def read_tables(section: str, tables: Any, options: Options, checked: Checked) -> Iterator[tuple[str, dict[str, Any]]]:
    """Pattern and values of each table, in the order of the file. `ValueError` names the table and the mistake."""
    if not isinstance(tables, dict):
        raise ValueError(f'{section} is a section: write [{section}."PATTERN"] and its options below it')
    for pattern, table in tables.items():
        where = named(section, pattern)
        if not isinstance(table, dict):
            raise ValueError(f"{where} is a table: write {where} and its options below it")
        for key in table:
            if key not in options:
                known = nearest(key, options) or f"; known are {', '.join(options)}"
                raise ValueError(f"{where} unknown option {key!r}{known}")
        yield pattern, {key: checked(options[key][0].read, value, f"{where} {key}") for key, value in table.items()}


def write_tables(section: str, rules: Iterable[Rule], options: Options, with_zero: Collection[str]) -> list[str]:
    """`with_zero`: keys of which zero, or nothing, says something."""
    lines = []
    for rule in rules:
        lines += ["", f"[{section}.{to_toml(rule.pattern)}]"]
        for key, (kind, _) in options.items():
            value = getattr(rule, key)
            if value is not None and (value or key in with_zero):
                lines.append(f"{key} = {kind.write(value)}")
    return lines


def named(section: str, pattern: str) -> str:
    """A table as it is called in messages."""
    return f'[{section}."{pattern}"]'


def check_intervals(where: str, least: float, most: float) -> None:
    """0: not given."""
    if least and most and least > most:
        raise ValueError(f"{where} min_interval is longer than max_interval: lower the first or raise the second")
