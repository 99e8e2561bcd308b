"""The strategies that are there, and how one is found by its name."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gossamer.config import StrategyConfig, strategy_option
from gossamer.config.checks import nearest
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.rules.strategy import Strategy

USUAL: Final = "breadth-first"
ENTRY_POINTS: Final = "gossamer.strategies"
_LARGEST: Final = 4 << 20  # bytes of a file that is given to a strategy
_HERE: Final = "gossamer.rules.strategies."
BUILT_IN: Final[Mapping[str, str]] = {
    "focused": _HERE + "focused:Focused",
    "importance": _HERE + "importance:Importance",
    "random-walk": _HERE + "random_walk:RandomWalk",
    "site-by-site": _HERE + "site_by_site:SiteBySite",
    "sitemap-first": _HERE + "sitemap_first:SitemapFirst",
}


def strategy_of(config: StrategyConfig) -> Strategy | None:
    """The strategy that is asked for; None is breadth-first, which needs none."""
    given = dict(map(strategy_option, config.strategy_option))
    name = config.strategy
    if name == USUAL:
        if given:
            raise ConfigError(f"--strategy-option {next(iter(given))}: breadth-first has no options; give --strategy")
        return None
    from gossamer.rules.strategy import Strategy

    found = _found(name)
    options = _read(name, found, given)
    try:
        made = found(**options)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"--strategy {name}: cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(made, Strategy):
        raise ConfigError(f"--strategy {name}: is no gossamer.Strategy; docs/strategies.md shows one in twenty lines")
    return made


def _found(name: str) -> Any:
    path = BUILT_IN.get(name)
    if path is not None:
        return _imported(name, path)
    if ":" in name:
        return _imported(name, name)
    from importlib.metadata import entry_points  # takes 30 ms

    installed = {each.name: each for each in entry_points(group=ENTRY_POINTS)}
    if name in installed:
        try:
            return installed[name].load()
        except Exception as error:
            raise ConfigError(f"--strategy {name}: cannot be loaded: {type(error).__name__}: {error}") from error
    known = sorted({USUAL, *BUILT_IN, *installed})
    raise ConfigError(
        f"--strategy: {name!r} is not known{nearest(name, known)}; there are {', '.join(known)}, and your own as"
        " package.module:Class"
    )


def _imported(name: str, path: str) -> Any:
    module, _, attribute = path.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last: what is installed wins over a file that has its name by chance
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(
            f"--strategy {name}: cannot be loaded: {type(error).__name__}: {error}. Install it where gossamer is, or"
            " start gossamer where its module is"
        ) from error
    return found


def _read(name: str, found: Any, given: Mapping[str, str]) -> dict[str, Any]:
    """The options as the strategy declares them; one that declares none gets them as they are."""
    declared = getattr(found, "options", None)
    if not declared:
        return dict(given)
    values = {key: option.default for key, option in declared.items()}
    for key, text in given.items():
        option = declared.get(key)
        if option is None:
            raise ConfigError(
                f"--strategy-option {key}: {name} has no such option{nearest(key, declared)}; it has"
                f" {', '.join(declared)}"
            )
        try:
            values[key] = option.kind.parse(text)
            if option.files:
                values[key] = tuple(map(_file, values[key]))
        except ValueError as error:
            expected, *culprit = error.args
            raise ConfigError(
                f"--strategy-option {key}: {culprit[0] if culprit else text!r} is not {expected}"
            ) from None
    return values


def _file(name: str) -> str:
    """What is in a file; a URL stays as it is."""
    if name.startswith(("http://", "https://")):
        return name
    try:
        with open(Path(name).expanduser(), "rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise ValueError(f"a file that can be read ({error.strerror}), nor a URL", name) from None
