"""Settings from a TOML file and the command line, checked; and back to TOML."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gossamer.config.apps import read_app_rules, write_app_rules
from gossamer.config.checks import nearest
from gossamer.config.hosts import read_host_rules, write_host_rules
from gossamer.config.option import Option
from gossamer.config.options import APPS, FIXED, OPTIONS, SECTIONS, TABLES, Config
from gossamer.config.pins import read_pins, write_pins
from gossamer.config.tables import check_intervals
from gossamer.config.urls import read_url_rules, write_url_rules
from gossamer.errors import ConfigError


def load(file: Path | None = None, overrides: Mapping[str, object] | None = None, *, resumed: bool = False) -> Config:
    """Defaults, then the file, then the overrides (`{"policy.delay": "2s"}`; None means not given).

    `resumed` is for the gossamer.toml in a crawl's directory: limits that held for the run that wrote it are left out.
    """
    values, rules = _from_file(file) if file is not None else ({}, {})
    values = {name: value for name, value in values.items() if not (resumed and OPTIONS[name].once)}
    return _made(values, rules, overrides)


def load_text(text: str, where: str) -> Config:
    """The same of a TOML text that came from `where`."""
    return _made(*_from_text(text, where), None)


def _made(values: dict[str, Any], rules: dict[str, Any], overrides: Mapping[str, object] | None) -> Config:
    for name, given in (overrides or {}).items():
        if given is not None:
            option = _known(name)
            read = option.kind.parse if isinstance(given, str) else option.kind.read
            values[name] = _checked(read, given, option.flag or name)
    config = Config(
        **{
            section: cls(**{key: values[name] for key in _keys(cls) if (name := f"{section}.{key}") in values})
            for section, cls in SECTIONS.items()
        },
        **rules,
    )
    _check_together(config)
    return config


def changed(config: Config, values: Mapping[str, object]) -> Config:
    """`config` with other values of some options, given as for `load`, checked alone and together."""
    sections: dict[str, dict[str, Any]] = {}
    for name, given in values.items():
        option = _known(name)
        read = option.kind.parse if isinstance(given, str) else option.kind.read
        sections.setdefault(option.section, {})[option.key] = _checked(read, given, option.flag or name)
    found = dataclasses.replace(
        config, **{section: dataclasses.replace(getattr(config, section), **new) for section, new in sections.items()}
    )
    _check_together(found)
    return found


def reread(file: Path, config: Config) -> Config:
    """`config` with what the file says now; an option that is not in the file stays as it is."""
    values, rules = _from_file(file)
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        sections.setdefault(OPTIONS[name].section, {})[OPTIONS[name].key] = value
    changed = {section: dataclasses.replace(getattr(config, section), **new) for section, new in sections.items()}
    found = dataclasses.replace(config, **rules, **changed)
    _check_together(found)
    return found


def local_values(file: Path) -> dict[str, Any]:
    """What a file says of options that may differ between the agents of a crawl; others do not belong there."""
    values, rules = _from_file(file)
    for name in [*values, *(f"[{table}]" for table, found in rules.items() if found)]:
        if name not in OPTIONS or not OPTIONS[name].local:
            known = ", ".join(option.name for option in OPTIONS.values() if option.local)
            raise ConfigError(
                f"{file}: {name} is the same for all agents of a crawl: change it with `gossamer cluster config`; a"
                f" machine has its own {known}"
            )
    return values


def live_changes(old: Config, new: Config) -> tuple[Config, list[str], list[str]]:
    """`old` with those changes that a running crawl can take, their names, and the names of the others."""
    taken, others = [], []
    sections: dict[str, dict[str, Any]] = {}
    for name, option in OPTIONS.items():
        value = getattr(getattr(new, option.section), option.key)
        if value == getattr(getattr(old, option.section), option.key):
            continue
        if option.live:
            taken.append(name)
            sections.setdefault(option.section, {})[option.key] = value
        else:
            others.append(name)
    others += [name for name in (FIXED, APPS) if getattr(new, name) != getattr(old, name)]
    tables = {name: getattr(new, name) for name in TABLES}
    taken += [name for name, rules in tables.items() if rules != getattr(old, name)]
    changed = {section: dataclasses.replace(getattr(old, section), **values) for section, values in sections.items()}
    return dataclasses.replace(old, **tables, **changed), taken, others


def adopted(config: Config, other: Config, names: Iterable[str]) -> Config:
    """`config` with these options and tables of another."""
    sections: dict[str, dict[str, Any]] = {}
    for name in names:
        if name in OPTIONS:
            option = OPTIONS[name]
            sections.setdefault(option.section, {})[option.key] = getattr(getattr(other, option.section), option.key)
    values = {section: dataclasses.replace(getattr(config, section), **new) for section, new in sections.items()}
    tables = {name: getattr(other, name) for name in (*TABLES, FIXED, APPS) if name in names}
    found = dataclasses.replace(config, **tables, **values)
    _check_together(found)
    return found


def to_toml(config: Config) -> str:
    lines = [
        "# What this crawl runs with. The command line wins over this file when a crawl starts; options marked (live)",
        "# may be changed here while it runs.",
    ]
    for section, cls in SECTIONS.items():
        lines += ["", f"# {cls.__doc__}", f"[{section}]"]
        values = getattr(config, section)
        for key in _keys(cls):
            option = OPTIONS[f"{section}.{key}"]
            live = " (live)" if option.live else ""
            lines += [f"# {option.help}{live}", f"{key} = {option.kind.write(getattr(values, key))}"]
    lines += [*write_pins(config.partitions), *write_host_rules(config.hosts), *write_url_rules(config.urls)]
    lines += write_app_rules(config.apps)
    return "\n".join(lines) + "\n"


def _from_file(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        return _from_text(file.read_bytes().decode("utf-8"), str(file))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); --config needs a TOML file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not TOML: {error}") from None


def _from_text(text: str, file: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of options, and the rules of each kind of table. `file` is for messages."""
    import tomllib  # a new crawl has no file to read

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: is not TOML: {error}") from None
    values = {}
    rules: dict[str, Any] = {}
    try:
        for name, read_rules in (("hosts", read_host_rules), ("urls", read_url_rules), (APPS, read_app_rules)):
            rules[name] = read_rules(
                tables.pop(name, {}), lambda read, value, where: _checked(read, value, f"{file}: {where}")
            )
        rules[FIXED] = read_pins(tables.pop(FIXED, {}))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    for section, table in tables.items():
        if section not in SECTIONS:
            raise ConfigError(f"{file}: {_unknown('section', section, SECTIONS, _home_of(section))}")
        if not isinstance(table, dict):
            raise ConfigError(f"{file}: {section} is a section: write [{section}] and its options below it")
        for key, value in table.items():
            name = f"{section}.{key}"
            if name not in OPTIONS:
                raise ConfigError(
                    f"{file}: [{section}] {_unknown('option', key, _keys(SECTIONS[section]), _home_of(key))}"
                )
            values[name] = _checked(OPTIONS[name].kind.read, value, f"{file}: {name}")
    return values, rules


def _checked(read: Callable[[Any], Any], value: object, origin: str) -> Any:
    try:
        return read(value)
    except ValueError as error:
        expected, *culprit = error.args
        raise ConfigError(f"{origin}: {culprit[0] if culprit else value!r} is not {expected}") from None


def _known(name: str) -> Option:
    if name not in OPTIONS:
        raise ConfigError(_unknown("option", name, OPTIONS, ""))
    return OPTIONS[name]


def _keys(cls: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]


def _home_of(key: str) -> str:
    """The section of an option that was written in the wrong place."""
    return next((option.section for option in OPTIONS.values() if option.key == key), "")


def _unknown(what: str, name: str, known: Iterable[str], home: str) -> str:
    if home:
        return f"{name!r} belongs in section [{home}]"
    return f"unknown {what} {name!r}" + (nearest(name, names := list(known)) or f"; known are {', '.join(names)}")


def _check_together(config: Config) -> None:
    """What no option can see alone."""
    if config.policy.host_connections > config.fetch.connections:
        raise ConfigError(
            f"--host-connections ({config.policy.host_connections}) is more than --connections"
            f" ({config.fetch.connections}): raise the second or lower the first"
        )
    if config.fetch.target_rate and config.fetch.least_connections > config.fetch.connections:
        raise ConfigError(
            f"fetch.least_connections ({config.fetch.least_connections}) is more than --connections"
            f" ({config.fetch.connections}): raise the second or lower the first"
        )
    try:
        check_intervals("[fresh]", config.fresh.min_interval, config.fresh.max_interval)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    private = [text for text in config.scope.networks if not ipaddress.ip_network(text).is_global]
    if private and not config.fetch.allow_private:
        raise ConfigError(
            f"--networks {','.join(private)}: private, so nothing there may be visited without --allow-private"
        )
