"""Documents that cannot rot: what they link to and name exists, and what exists is named where it belongs."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from itertools import takewhile
from pathlib import Path

import click
import pytest
from starlette.routing import Route

import gossamer
from gossamer import errors
from gossamer.agent.left_out import EXCLUSIONS, FAULTS, NO_END
from gossamer.cli import COMMANDS, load_command
from gossamer.config import OPTIONS, load_text
from gossamer.config.apps import APP_OPTIONS
from gossamer.config.hosts import HOST_OPTIONS
from gossamer.config.urls import URL_OPTIONS
from gossamer.model import Exclusion, Reason, State
from gossamer.service.app import create_app
from gossamer.testing import TinyWeb

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gossamer"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(path for folder in ("docs", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.md")),
]
# Where a path in a document may begin.
HOMES = (ROOT, SOURCE, ROOT / "examples", ROOT / "benchmarks")
SECTIONS = frozenset(key.partition(".")[0] for key in OPTIONS)
TABLES = {"hosts", "urls", "apps", "partitions"}
KEYS = {key.partition(".")[2] for key in OPTIONS} | HOST_OPTIONS.keys() | URL_OPTIONS.keys() | APP_OPTIONS.keys()
FILES = {"html", "json", "log", "py"}  # endings, where a name looks like a setting
# The words of the project; a new concept gets its word here and in the glossary first.
TERMS = (
    "Visit HostQueue Frontier Seen Fetcher Page Fault Document Link Store Locator Index Agent Partition Exchange "
    "Strategy Scope Policy Commit"
).split()

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^ *```{kind}\n(.*?)^ *```$", text, re.M | re.S)


def quoted(text: str) -> list[str]:
    """Return what stands in backticks."""
    return re.findall(r"`([^`\n]+)`", without_code(text).replace(r"\|", "|"))


def calls(text: str, program: str) -> Iterator[list[str]]:
    """Give the words behind the name of a program, wherever a document calls it."""
    for line in [*"".join(blocks(text, "sh")).replace("\\\n", " ").splitlines(), *quoted(text)]:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # a part of a command
            words = line.split()
        if words[:1] == [program]:
            yield list(takewhile(lambda word: word not in ("|", ">", "&&"), words[1:]))


@cache
def anchors(document: Path) -> frozenset[str]:
    """Headings as web pages name them."""
    headings = re.findall(r"^#+ (.*)$", without_code(document.read_text(encoding="utf-8")), re.M)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@cache
def source(*folders: str) -> str:
    paths = [path for folder in folders or ("src", "examples") for path in sorted((ROOT / folder).rglob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def flags() -> dict[str, frozenset[str]]:
    """Return the flags of each command, and of each command of a group under both names."""
    found: dict[str, frozenset[str]] = {}
    for name in COMMANDS:
        command = load_command(name)
        parts = dict(command.commands) if isinstance(command, click.Group) else {}
        for path, part in [(name, command), *((f"{name} {inner}", part) for inner, part in parts.items())]:
            known = (flag for each in part.params for flag in (*each.opts, *each.secondary_opts))
            found[path] = frozenset((*known, "--help"))
        found[name] = found[name].union(*(found[f"{name} {inner}"] for inner in parts))
    return found


@cache
def routes() -> tuple[Route, ...]:
    """Return the routes of the service."""
    found, pending = [], list(create_app(ROOT / "none").routes)
    while pending:
        route = pending.pop()
        if isinstance(route, Route):
            found.append(route)
        pending += getattr(getattr(route, "original_router", route), "routes", [])
    return tuple(found)


def is_served(path: str, method: str) -> bool:
    return any(method in (route.methods or ()) and route.path_regex.match(path) for route in routes())


@cache
def make_targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))


@cache
def in_a_crawl() -> frozenset[str]:
    """Return what a crawl's directory may have, by the table in the operator's guide."""
    section = read("docs/operating.md").partition("\n## What is in DIR\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*)", section, re.M)
    return frozenset(re.match(r"[\w.-]+", name)[0] for row in rows for name in quoted(row))  # type: ignore[index]


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
    ours = {path.name for home in HOMES for path in home.iterdir() if path.is_dir()}
    for name in [*quoted(text), *(word for words in calls(text, "python") for word in words[:1])]:
        if not re.fullmatch(r"[a-z_][\w.*/-]+", name):
            continue
        folder, slash, _ = name.partition("/")
        is_source = name.endswith((".py", ".c", ".mjs", ".service", ".conf", ".yaml"))
        is_setting = name.endswith((".md", ".toml")) and folder in ours
        if is_source or is_setting or (slash and (ROOT / folder).is_dir()):
            assert any(any(home.glob(name.rstrip("/"))) for home in HOMES), name
    for name in re.findall(r"`(?:[A-Za-z_]+\.)*([A-Za-z_]+)\(\)`", text):
        assert re.search(rf"\b(?:def|class) {name}\b", source()), f"{name}() does not exist"


@every_document
def test_folders_of_a_crawl_are_in_the_operators_guide(document: Path) -> None:
    for name in re.findall(r"\bDIR/([\w-]+(?:\.\w+)?)", document.read_text(encoding="utf-8")):
        assert name in in_a_crawl(), name


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
    for words in calls(text, "gossamer"):
        names = [word for word in words[:1] if not word.startswith("-")]
        inner = {path.split()[1] for path in flags() if path.startswith(f"{words[0]} ")} if names else set()
        if inner and words[1:] and re.fullmatch(r"[a-z|]+", words[1]):
            names = [f"{words[0]} {each}" for each in words[1].split("|")]
        for name in names:
            assert name in flags(), f"gossamer {name}"
            unknown = {word.partition("=")[0] for word in words if word.startswith("--")} - flags()[name]
            assert not unknown, words
    known = frozenset().union(*flags().values())
    for flag in re.findall(r"(?<=`)--[a-z-]+", text):
        assert flag in known or f'"{flag}"' in source("benchmarks", "examples"), flag


@every_document
def test_flags_of_benchmarks_and_examples_exist(document: Path) -> None:
    for words in calls(document.read_text(encoding="utf-8"), "python"):
        for word in words:
            assert not word.startswith("--") or f'"{word}"' in source("benchmarks", "examples"), words


@every_document
def test_settings_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for block in blocks(text, "toml"):
        if tomllib.loads(block).keys() <= SECTIONS | TABLES:
            load_text(block, str(document))
    for name in quoted(text):
        section, _, key = name.partition(" = ")[0].partition(".")
        if section in SECTIONS and re.fullmatch(r"[a-z_0-9]+", key) and key not in FILES:
            assert f"{section}.{key}" in OPTIONS, name
        if table := re.match(r"\[([a-z]+)\b", name):
            assert table[1] in SECTIONS | TABLES, name
        if given := re.match(r"([a-z_]+) = ", name):
            assert given[1] in KEYS, name


@every_document
def test_variables_of_the_environment_exist(document: Path) -> None:
    for name in re.findall(r"\bGOSSAMER_[A-Z_]+", document.read_text(encoding="utf-8")):
        assert f'"{name}"' in source("src", "tests", "benchmarks"), name


@every_document
def test_targets_of_make_exist(document: Path) -> None:
    for words in calls(document.read_text(encoding="utf-8"), "make"):
        for word in words:
            assert "=" in word or word in make_targets(), words


@every_document
def test_metrics_exist(document: Path) -> None:
    """docs/metrics.md has exactly those of the service: test_service_control.py."""
    known = re.findall(r"^\| `(gossamer_\w+)` \|", read("docs/metrics.md"), re.M)
    for name in re.findall(r"\bgossamer_[a-z_]+", document.read_text(encoding="utf-8")):
        assert name in known, name


@every_document
def test_routes_of_the_service_exist(document: Path) -> None:
    """`GET /healthz` and the like, and each path of the API wherever it stands."""
    text = document.read_text(encoding="utf-8")
    for methods, path in re.findall(r"((?:`?(?:GET|POST|PUT|DELETE)`?(?:, )?)+) (/[\w/.{}|,-]*)", text):
        for method in re.findall("[A-Z]+", methods):
            for each in alternatives(path):
                assert is_served(each, method), f"{method} {each}"
    for path in re.findall(r"/api/v1/[\w/{}|,-]+", text):
        for each in alternatives(path):
            assert any(route.path_regex.match(each) for route in routes()), each
    if document.name == "pages.md":
        for path in re.findall(r"^## .*?`(/[\w/-]*)", text, re.M):
            assert is_served(path, "GET"), path


def alternatives(path: str) -> list[str]:
    """Return the paths that `/control/{pause|resume}` stands for."""
    before, _, rest = path.rstrip(".,").partition("{")
    inner, _, after = rest.partition("}")
    return [before + each + after for each in re.split("[|,]", inner)]


# -- what exists is in the documents -----------------------------------------------------------------------------------


def test_architecture_is_short_and_maps_every_folder() -> None:
    text = read("ARCHITECTURE.md")
    assert len(text.splitlines()) <= 200
    folders = {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert {"agent", "frontier"} <= folders
    mapped = set(re.findall(r"^\| `([a-z]+)/` \|", text, re.M))
    assert mapped == folders


def test_every_target_of_make_is_documented() -> None:
    text = read("CONTRIBUTING.md") + read("benchmarks/README.md")
    for target in make_targets():
        assert f"`make {target}`" in text or f"`make {target} " in text, target


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


def test_everything_in_a_crawl_is_in_the_operators_guide() -> None:
    found = set(re.findall(r'(?<![\w.])home / "([\w.-]+)"', source("src")))
    assert {"index", "keys.json"} <= found
    assert found <= in_a_crawl()


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
