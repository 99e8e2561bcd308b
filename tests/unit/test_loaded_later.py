"""What is loaded or compiled when it is first asked for: names of packages, and regular expressions."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

from gossamer.regex import compiled_later

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


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    wrong = compiled_later("(")
    with pytest.raises(re.error):
        wrong.match("")


def test_a_pattern_that_is_compiled_later_is_a_pattern() -> None:
    pattern = compiled_later(rb"[a-z]+", re.I)
    assert pattern.findall(b"Ab 1 c") == [b"Ab", b"c"]
    assert pattern.fullmatch(b"aB")
    assert not pattern.fullmatch(b"a1")
    assert vars(pattern)["fullmatch"](b"c")  # looked up once
    assert (pattern.pattern, pattern.flags) == (b"[a-z]+", re.I)


def test_all_patterns_of_a_crawl_wait_and_can_be_compiled() -> None:
    code = """
import sys
import gossamer.agent.crawl, gossamer.cli.crawl
from gossamer.regex import compiled_later
kind = type(compiled_later(""))
modules = [module for name, module in sys.modules.items() if name.startswith("gossamer")]
patterns = [(name, value) for module in modules for name, value in vars(module).items() if type(value) is kind]
compiled = [name for name, pattern in patterns if vars(pattern).keys() - vars(compiled_later("")).keys()]
assert len(patterns) > 50 and not compiled, (len(patterns), compiled)
for _, pattern in patterns:
    pattern.pattern
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plain_crawl_does_not_wait_for_what_few_crawls_need() -> None:
    code = """
import sys
import gossamer.agent.crawl, gossamer.cli.crawl, gossamer.cli.plain
ours = "agent.app_note agent.index_status cluster rules.strategy store.reader".split()
others = "ada_url calendar html.entities json secrets shlex".split()
loaded = {*others, *(f"gossamer.{name}" for name in ours)} & sys.modules.keys()
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_garbage_is_looked_for_again_when_a_command_is_loaded() -> None:
    code = """
import gc, sys
from gossamer.__main__ import main
sys.argv = ["gossamer", "crawl", "--help"]
try:
    main()
finally:
    assert gc.isenabled() and gc.get_freeze_count() > 1000
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
