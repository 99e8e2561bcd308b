"""The wheel as its users install it: in an empty environment, without what is pinned for the tests of this project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pytest
from packaging.requirements import Requirement

from gossamer.testing import TinyWeb

PROJECT = Path(__file__).parents[2]
DECLARED = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
EXTRAS = DECLARED["project"]["optional-dependencies"]
COMPILED = [module["name"] for module in DECLARED["tool"]["setuptools"]["ext-modules"]]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
PAGE = "<!DOCTYPE html><html lang=en><title>{0}</title><p>{0}: spiders spin silk. <!-- said twice --><a href=/b>on</a>"


def lowest(requirements: list[str]) -> list[str]:
    """The same requirements, each at the lowest version that it allows."""
    parsed = [Requirement(each) for each in requirements]
    return [f"{each.name}=={bound.version}" for each in parsed for bound in each.specifier if bound.operator == ">="]


def run(command: list[str | Path], *, statuses: tuple[int, ...] = (0,), **options: object) -> str:
    """What a command prints; it fails loudly, and knows nothing of the sources."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, env=environment | dict(options.pop("env", {})), capture_output=True, text=True, timeout=600, **options
    )
    assert done.returncode in statuses, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("probe")
    command = [*PIP, "--retries", "1", "download", "--no-deps", "--no-cache-dir", "--dest", place, "iniconfig"]
    if subprocess.run(command, capture_output=True, timeout=600).returncode:
        pytest.skip("NOT TESTED: the wheel in an empty environment. pip reaches no package index from here.")


def build(place: Path, requirements: list[str]) -> Path:
    """The wheel, built of the sdist, which is built of a copy of the sources."""
    shutil.copytree(
        PROJECT / "src", place / "sources" / "src", ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, place / "sources" / name)
    run([*PIP, "install", "--target", place / "tools", *requirements])
    tools = {"PYTHONPATH": str(place / "tools")}
    call = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
    run([sys.executable, "-c", call, "build_sdist", place], cwd=place / "sources", env=tools)
    (sdist,) = place.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        packed.extractall(place / "unpacked", filter="data")
    (unpacked,) = (place / "unpacked").iterdir()
    run([sys.executable, "-c", call, "build_wheel", place], cwd=unpacked, env=tools)
    (wheel,) = place.glob("*.whl")
    return wheel


def assert_whole(wheel: Path) -> None:
    """Every file of the sources is in it, and every compiled module where there is a compiler."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    for path in (PROJECT / "src" / "gossamer").rglob("*"):
        if path.is_file() and path.suffix not in (".so", ".pyc"):
            assert path.relative_to(PROJECT / "src").as_posix() in packed
    if shutil.which("cc") is None:
        return
    for module in COMPILED:
        start = module.replace(".", "/") + "."
        assert any(name.startswith(start) and name.endswith(".so") for name in packed), module


@contextmanager
def serving(gossamer: Path, home: Path) -> Iterator[str]:
    with subprocess.Popen(
        [gossamer, "serve", "--dir", home, "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("Serving at http://"), said
            yield said.split()[2].rstrip("./")
        finally:
            process.terminate()


def try_everything(gossamer: Path, place: Path) -> None:
    """Crawl with an index, search, look at a stored copy, export."""
    home = place / "crawl"
    assert "crawl" in run([gossamer, "--help"], cwd=place)
    # Its exit status says how this machine is connected.
    assert "not installed" not in run([gossamer, "doctor"], cwd=place, statuses=(0, 1))
    with TinyWeb() as web:
        for path in "/", "/b", "/c":
            web.add_page(f"http://www.site.test{path}", ["/b", "/c"], PAGE.format(f"Page {path}"))
        options = ["--dir", home, "--connect", web.connect, "--allow-private", "--delay", "0", "--json"]
        said = run([gossamer, "crawl", "http://www.site.test/", *options], cwd=place)
    summary = json.loads(said.splitlines()[-1])
    assert (summary["ok"], summary["searchable"], summary["faults"]) == (3, 3, 0)
    found = json.loads(run([gossamer, "search", "silk", "--dir", home, "--json"], cwd=place))
    assert found["total"] == 3
    with serving(gossamer, home) as address:
        copy = f"{address}/copy/content?url={quote('http://www.site.test/b', safe='')}"
        with urllib.request.urlopen(copy, timeout=120) as answer:
            assert "spiders spin silk" in answer.read().decode()
    for kind, file in ("--parquet", "pages.csv"), ("--links", "links.parquet"), ("--wacz", "all.wacz"):
        run([gossamer, "export", "--dir", home, kind, "--out", place / file], cwd=place)
    assert (place / "pages.csv").read_text().count("http://www.site.test/") >= 3


@pytest.mark.parametrize("versions", ["newest", pytest.param("lowest", marks=pytest.mark.slow)])
def test_an_installed_wheel_works(versions: str, tmp_path: Path, package_index: None) -> None:
    tools = DECLARED["build-system"]["requires"]
    wheel = build(tmp_path, lowest(tools) if versions == "lowest" else tools)
    assert_whole(wheel)
    environment = tmp_path / "venv"
    venv.create(environment)
    install: list[str | Path] = [*PIP, "--python", environment / "bin" / "python", "install"]
    everything = f"{wheel}[{','.join(EXTRAS)}]"
    if versions == "lowest":
        constraints = tmp_path / "lowest.txt"
        asked = [*DECLARED["project"]["dependencies"], *chain.from_iterable(EXTRAS.values())]
        constraints.write_text("\n".join(lowest(asked)))
        run([*install, "--constraint", constraints, everything])
    else:
        run([*install, wheel])
        run([*install, "--dry-run", everything])
    try_everything(environment / "bin" / "gossamer", tmp_path)
