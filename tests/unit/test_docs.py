"""Documents that cannot rot: what they link to and name exists, and what exists is named where it belongs."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from functools import cache, partial
from pathlib import Path

import click
import pytest

import gossamer
from gossamer import errors
from gossamer.agent.left_out import EXCLUSIONS, FAULTS, NO_END
from gossamer.cli import COMMANDS, load_command
from gossamer.model import Exclusion, Reason, State
from gossamer.testing import TinyWeb

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gossamer"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# The words of the project; a new concept gets its word here and in the glossary first.
TERMS = (
    "Visit HostQueue Frontier Seen Fetcher Page Fault Document Link Store Locator Index Agent Partition Exchange "
    "Strategy Scope Policy Commit"
).split()

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def shell_lines(text: str) -> list[str]:
    return [line for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()]


@cache
def anchors(document: Path) -> frozenset[str]:
    """Headings as web pages name them."""
    headings = re.findall(r"^#+ (.*)$", without_code(document.read_text(encoding="utf-8")), re.M)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@cache
def source() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py")))


@cache
def flags() -> dict[str, frozenset[str]]:
    """The flags of each command."""
    found = {}
    for name in COMMANDS:
        command = load_command(name)
        parts = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
        parameters = [parameter for part in parts for parameter in part.params]
        known = [flag for parameter in parameters for flag in (*parameter.opts, *parameter.secondary_opts)]
        found[name] = frozenset((*known, "--help"))
    return found


# -- what documents name exists ----------------------------------------------------------------------------------------


@every_document
def test_links_lead_somewhere(document: Path) -> None:
    text = without_code(document.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), f"{target} leads nowhere"
        assert file.is_relative_to(ROOT), f"{target} leads out of the project"
        assert not anchor or anchor in anchors(file), f"{target}: there is no such heading"


@every_document
def test_files_and_functions_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text):
        assert any((home / name).is_file() for home in (SOURCE, ROOT, ROOT / "benchmarks")), name
    for name in re.findall(r"`(?:[A-Za-z_]+\.)*([A-Za-z_]+)\(\)`", text):
        assert re.search(rf"\b(?:def|class) {name}\b", source()), f"{name}() does not exist"


@every_document
def test_methods_belong_to_their_classes(document: Path) -> None:
    """`Frontier.lease()` and `Frontier.lease` name a class of ours and something in its body."""
    for name, member in re.findall(r"`([A-Z][A-Za-z]+)\.([a-z_]+)(?:\(\))?`", document.read_text(encoding="utf-8")):
        bodies = re.findall(rf"^class {name}\b.*?(?=^\S|\Z)", source(), re.M | re.S)
        assert bodies, f"there is no class {name}"
        assert any(re.search(rf"\b{member}\b", body) for body in bodies), f"{name} has no {member}"


@every_document
def test_commands_and_flags_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for line in shell_lines(text):
        words = line.split("|")[0].split("#")[0].split()
        if words[:1] == ["gossamer"]:
            assert words[1] in COMMANDS, line
            unknown = {word for word in words if word.startswith("--")} - flags()[words[1]]
            assert not unknown, line
    for command in re.findall(r"`gossamer ([a-z]+)", text):
        assert command in COMMANDS, f"gossamer {command}"
    known = frozenset().union(*flags().values())
    # One is made from the options; the other speaks of the benchmarks, which have their own.
    if document.name not in ("configuration.md", "performance.md"):
        for flag in re.findall(r"`(--[a-z-]+)", text):
            assert flag in known, flag


# -- what exists is in the documents -----------------------------------------------------------------------------------


def test_architecture_is_short_and_maps_every_folder() -> None:
    text = read("ARCHITECTURE.md")
    assert len(text.splitlines()) <= 200
    folders = {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert {"agent", "frontier"} <= folders
    mapped = set(re.findall(r"^\| `([a-z]+)/` \|", text, re.M))
    assert mapped == folders


def test_every_dependency_has_its_reason() -> None:
    dependencies = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    names = [re.split(r"[<>=!~ \[;]", dependency)[0] for dependency in dependencies]
    assert "rocksdict" in names
    notes = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "decisions").glob("*.md")))
    for name in names:
        assert re.search(rf"\b{re.escape(name)}\b", notes), f"no note in docs/decisions names {name}"


def test_decisions_are_numbered_and_linked() -> None:
    paths = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [path.name[:4] for path in paths] == [f"{number:04d}" for number in range(1, len(paths) + 1)]
    for path in paths:
        assert f"docs/decisions/{path.name}" in read("ARCHITECTURE.md"), path.name


@pytest.mark.parametrize("term", TERMS)
def test_every_word_is_in_the_glossary(term: str) -> None:
    assert f"| **{term}** |" in read("docs/glossary.md")


def test_every_reason_and_state_is_explained() -> None:
    text = read("docs/glossary.md") + read("docs/politeness.md")
    for name in [*Reason, *(state.name.lower() for state in State), *Exclusion]:
        assert f"| `{name}` |" in text, name


def test_every_reason_of_exclusion_is_in_the_glossary() -> None:
    table = read("docs/glossary.md").partition("## Reasons of exclusion")[2]
    assert set(re.findall(r"^\| `([a-z_-]+)` \|", table, re.M)) == set(Exclusion)


def test_every_reason_has_its_words() -> None:
    """A new one without words of its own fails here; what brings each about is in test_explain.py."""
    assert set(Exclusion) | set(Reason) == EXCLUSIONS.keys() | FAULTS.keys() | NO_END
    assert not NO_END & (EXCLUSIONS.keys() | FAULTS.keys())


def test_every_command_and_error_is_in_the_operators_guide() -> None:
    text = read("docs/operating.md")
    for command in COMMANDS:
        assert f"gossamer {command}" in text, command
    kinds = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert "DiskFullError" in kinds
    for kind in kinds:
        assert f"| `{kind}` | {getattr(errors, kind).exit_status} |" in text, kind


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert version == gossamer.__version__
    assert re.search(r"^## (\S+)$", read("CHANGELOG.md"), re.M)[1] == version  # type: ignore[index]


# -- examples run ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "line"),
    [
        ("titles.py", "200 http://a.test/ The first"),
        ("broken_links.py", "404 http://a.test/gone linked from http://a.test/"),
        ("kept_crawl.py", "4 pages in this run"),
    ],
)
def test_example(
    example: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands, but for where its hosts are."""
    kept = tmp_path / "crawl"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/next", "/gone", "/moved"], body="<title>The first</title>")
        web.add_page("http://a.test/next")
        web.add_redirect("http://a.test/moved", "/next")
        here = partial(gossamer.crawl, connect=[web.connect], allow_private=True, delay="0")
        monkeypatch.setattr(gossamer, "crawl", here)
        monkeypatch.setattr(
            sys, "argv", [example, *([str(kept)] if example == "kept_crawl.py" else []), "http://a.test/"]
        )
        runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    assert line in capsys.readouterr().out
    assert kept.exists() == (example == "kept_crawl.py")


def test_broken_links_of_no_page_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with TinyWeb() as web:
        web.add_robots("a.test", "User-agent: *\nDisallow: /")
        monkeypatch.setattr(gossamer, "crawl", partial(gossamer.crawl, connect=[web.connect], allow_private=True))
        monkeypatch.setattr(sys, "argv", ["broken_links.py", "http://a.test/"])
        with pytest.raises(SystemExit, match="Nothing was checked"):
            runpy.run_path(str(ROOT / "examples" / "broken_links.py"), run_name="__main__")


def test_every_example_is_run() -> None:
    tested = {"titles.py", "broken_links.py", "kept_crawl.py", "demo.py"}
    others = {path.name for path in (ROOT / "examples").glob("*.py")} - tested
    shown = read("examples/README.md")  # whose commands tests/integration/test_examples.py runs
    assert others
    for name in others:
        assert f"]({name})" in shown, name
        assert f"python {name}" in shown or f"{name[:-3]}:" in shown, name
