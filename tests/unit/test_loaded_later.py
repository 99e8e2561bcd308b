"""Names of packages that are loaded when they are first asked for."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

PACKAGES = ["gossamer", "gossamer.agent", "gossamer.frontier", "gossamer.parse", "gossamer.store"]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_is_there_whatever_was_loaded_before(package: str) -> None:
    """A module of the same name would take its place, once it is loaded; unless it can be called, as `gossamer.parse`
    can.
    """
    loaded = import_module(package)
    for module in iter_modules(loaded.__path__):
        if module.name in loaded.__all__:
            assert callable(import_module(f"{package}.{module.name}")), module.name
    for name in loaded.__all__:
        found = getattr(loaded, name)
        assert not isinstance(found, ModuleType) or callable(found), name


@pytest.mark.parametrize("package", PACKAGES)
def test_others_are_not(package: str) -> None:
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        import_module(package).nothing_of_this_name  # noqa: B018
