"""A Table: what every form of the report is made of."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal[
    "text", "url", "count", "size", "share", "seconds", "rate", "moment", "number", "times", "score", "figure"
]
Chart = Literal["", "bars", "histogram", "series", "matrix", "crosstab"]  # a crosstab is a matrix with sums at its end


class Field(msgspec.Struct, frozen=True):
    """A column of a table. `kind` says how its values are written for people; in JSON they are plain."""

    name: str
    title: str
    kind: Kind = "count"


class Table(msgspec.Struct):
    """Invariant: each row has a value for each field. Fields of kind text and url may hold anything the web says."""

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]
    rows: list[tuple[Any, ...]]
    chart: Chart = ""
    measure: str = ""  # the field that bars and charts show
    total: int = 0  # what shares are of

    def column(self, name: str) -> list[Any]:
        index = [field.name for field in self.fields].index(name)
        return [row[index] for row in self.rows]

    def objects(self) -> list[dict[str, Any]]:
        names = [field.name for field in self.fields]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class Group(msgspec.Struct):
    """Tables that are read together."""

    title: str
    tables: list[Table]
