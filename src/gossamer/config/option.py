"""An option's declaration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, dataclass_transform

import msgspec

from gossamer.config.kinds import Kind

T = TypeVar("T")
S = TypeVar("S", bound="Settings")


class Option(msgspec.Struct, frozen=True):
    """The documentation of an option. `once` options hold for one run and are not taken over by the next; `live` ones
    may be changed while the crawl runs; `local` ones may differ between agents of a crawl.
    """

    kind: Kind[Any]
    help: str
    cost: str
    flag: str = ""
    metavar: str = ""
    once: bool = False
    live: bool = False
    local: bool = False
    default: Any = None
    section: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"


def declare(default: T, kind: Kind[Any], help: str, *, cost: str, secret: bool = False, **more: Any) -> T:
    """`secret` values are left out where settings are printed."""
    option = Option(kind, help, cost, **more)
    return dataclasses.field(default=default, repr=not secret, metadata={"option": option})


class Settings:
    """What `settings` makes of a class: immutable, with keywords only, equal where all values are.

    A dataclass has these methods written and compiled for each class, which takes a millisecond for each: with a dozen
    sections, a tenth of the time that a command needs to start.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init__(self, **given: Any) -> None:
        for name, field in self.__dataclass_fields__.items():
            object.__setattr__(self, name, given.pop(name) if name in given else field.default)
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = [f"{field.name}={vars(self)[field.name]!r}" for field in dataclasses.fields(self) if field.repr]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[S]) -> type[S]:
    """For a class of `Settings`: its fields are those of a dataclass."""
    return dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
