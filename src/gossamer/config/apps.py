"""Applications that run on a crawl: tables named by the application, `[apps.prices]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from gossamer.config.checks import check_regex, nearest
from gossamer.config.kinds import LONGEST_PAUSE, Choice, Decimal, Duration, Kind, Size, to_toml
from gossamer.config.tables import Checked, named
from gossamer.regex import compiled_later

MOST_APPS: Final = 14  # at a time and in the life of a crawl: the frontier has room for no more owners
LINKS: Final = "links"  # what the pages of the crawl lead to
RECRAWL: Final = "recrawl"  # visits that are made again (`fresh.keep_fresh`)
OWN_PARTIES: Final = (LINKS, RECRAWL)  # have a share, too, and are no applications
_LONGEST_OPTIONS: Final = 100_000  # letters of JSON
_LONGEST_PATTERN: Final = 1000
_NAME = compiled_later(r"[a-z][a-z0-9_-]{0,39}")
_CLASS = compiled_later(r"[A-Za-z_][\w.]{0,199}:[A-Za-z_]\w{0,99}")
_ENTRY_POINT = compiled_later(r"[a-z][a-z0-9_-]{0,39}")


class AppName(Kind[str]):
    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError("the name of an application")
        check_app_name(value, "")
        return value


class _Code(Kind[str]):
    """Where the class of an application is found."""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not (_CLASS.fullmatch(value) or _ENTRY_POINT.fullmatch(value)):
            raise ValueError("package.module:Class, or the name of an installed application")
        return value


class _Pattern(Kind[str]):
    """A regular expression for whole URLs."""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_PATTERN:
            raise ValueError(f"a regular expression of at most {_LONGEST_PATTERN:,} letters")
        check_regex(value)
        return value


class _Table(Kind[str]):
    """Values of any names, handed to the application as they are; kept as JSON, so that settings stay unchangeable."""

    def read(self, value: object) -> str:
        import json  # few crawls have applications

        if isinstance(value, str):  # as it is kept
            value = json.loads(value)
        if not isinstance(value, dict):
            raise ValueError("a table: {words = 10}")
        try:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("made of texts, numbers, true and false, lists and tables") from None
        if len(text) > _LONGEST_OPTIONS:
            raise ValueError(f"short enough: {_LONGEST_OPTIONS:,} letters are the most")
        return text

    def write(self, value: str) -> str:
        import json

        return _inline(json.loads(value))


def _inline(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{to_toml(key)} = {_inline(each)}" for key, each in value.items() if each is not None)
        return "{" + inside + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return to_toml(value)


class AppRule(msgspec.Struct, frozen=True):
    """One application; or, without `run`, another program that asks for pages over HTTP under this name; or what the
    crawl does by itself (`links`, `recrawl`), of which only the share is said.
    """

    name: str
    run: str = ""
    share: float = 1.0
    format: str = "jsonl"
    timeout: float = 60.0
    memory: int = 1_000_000_000
    options: str = "{}"
    post: str = ""
    min_delay: float | None = None

    @property
    def is_party(self) -> bool:
        """The crawl itself, and no application."""
        return self.name in OWN_PARTIES


# Key, how it is read, and what it means; docs/configuration.md is made from this.
APP_OPTIONS: dict[str, tuple[Kind[Any], str]] = {
    "run": (
        _Code(),
        "The class, `package.module:Class`, or the name under which it is installed (entry point `gossamer.apps`). "
        "Without it another program asks under this name, over HTTP.",
    ),
    "share": (Decimal(0.001, 1000), "Its share of the requests that are started, compared with those of the others."),
    "format": (Choice("jsonl", "parquet"), "How its records are kept, below `apps/NAME` in the crawl's directory."),
    "timeout": (Duration(1), "The longest that one batch of pages may take; it is stopped then."),
    "memory": (Size(100_000_000), "The most memory that its process may take."),
    "post": (
        _Pattern(),
        "Where it may send forms with POST: a regular expression for the whole URL that a form is sent to, such as "
        "`https://example\\.org/search`. Nowhere unless it says so: nobody but you can know what a form does there.",
    ),
    "min_delay": (
        Duration(0, LONGEST_PAUSE),
        "The shortest pause that it may give to a host. Unless it is given, an application can make the pauses of"
        " hosts longer, but not shorter than they are for the crawl.",
    ),
    "options": (_Table(), "Handed to the class as keyword arguments: `{words = 10}`."),
}


def read_app_rules(tables: Any, checked: Checked) -> tuple[AppRule, ...]:
    if not isinstance(tables, dict):
        raise ValueError("apps is a section: write [apps.NAME] and its options below it")
    rules = []
    for name, table in tables.items():
        where = named("apps", name)
        check_app_name(name, f"{where} ")
        if not isinstance(table, dict):
            raise ValueError(f"{where} is a table: write {where} and its options below it")
        known = ("share",) if name in OWN_PARTIES else tuple(APP_OPTIONS)
        for key in table:
            if key not in known:
                near = nearest(key, known) or f"; known are {', '.join(known)}"
                raise ValueError(f"{where} unknown option {key!r}{near}")
        rules.append(
            AppRule(
                name,
                **{key: checked(APP_OPTIONS[key][0].read, value, f"{where} {key}") for key, value in table.items()},
            )
        )
    check_app_rules(rules)
    return tuple(rules)


def check_app_name(name: str, where: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{where}{name!r} is no name: up to 40 of a-z, 0-9, - and _, a letter first")


def check_app_rules(rules: Iterable[AppRule]) -> None:
    if sum(not rule.is_party for rule in rules) > MOST_APPS:
        raise ValueError(f"[apps] has more than {MOST_APPS} applications, which is the most of one crawl")


def write_app_rules(rules: tuple[AppRule, ...]) -> list[str]:
    lines = []
    usual = AppRule("")
    for rule in rules:
        lines += ["", f"[apps.{to_toml(rule.name)}]"]
        for key, (kind, _) in APP_OPTIONS.items():
            value = getattr(rule, key)
            if value != getattr(usual, key) or key == "share":
                lines.append(f"{key} = {kind.write(value)}")
    return lines


def app_of(text: str) -> AppRule:
    """Of a flag: `package.module:Class`, or `name=package.module:Class,share=2,words=10`. What is no option of all
    applications is one of its own.
    """
    first, *others = text.split(",")
    name, equals, run = first.partition("=")
    if not equals:
        name, run = "", first
    values: dict[str, Any] = {"run": _read("run", run.strip())}
    own: dict[str, Any] = {}
    for each in others:
        key, equals, value = each.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ValueError(f"NAME=package.module:Class,share=2: {each!r} has no value")
        if key in APP_OPTIONS and key not in ("run", "options"):
            values[key] = _read(key, value.strip())
        else:
            own[key] = _plain(value.strip())
    name = name.strip() or run.rpartition(":")[2].strip().lower()
    check_app_name(name, "")
    if name in OWN_PARTIES:
        raise ValueError(f"{name!r} is what the crawl does by itself; give it another name: NAME={run.strip()}")
    return AppRule(name, **values, **({"options": APP_OPTIONS["options"][0].read(own)} if own else {}))


def with_apps(rules: tuple[AppRule, ...], given: Iterable[AppRule]) -> tuple[AppRule, ...]:
    """Those of the same name are replaced."""
    found = {rule.name: rule for rule in rules}
    for rule in given:
        found[rule.name] = rule
    check_app_rules(found.values())
    return tuple(found.values())


def _read(key: str, text: str) -> Any:
    try:
        return APP_OPTIONS[key][0].parse(text)
    except ValueError as error:
        raise ValueError(f"{key} {text[:100]!r} is not {error}") from None


def _plain(text: str) -> object:
    """A number, true or false, or else a text."""
    import json

    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text
