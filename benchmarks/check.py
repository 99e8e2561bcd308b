"""Does a page still cost what it did? Counted, not timed: instructions under valgrind, and calls of functions.

A small static web is crawled twice, with few pages and with more; what the second crawl took beyond the first, for each
page that it had more, is what a page costs. The start of the program drops out of that and is given by itself. Times
differ by a tenth and more from run to run; these counts by less than a hundredth, whatever else the machine does, so
one run sees a change of a few per cent. They are compared with those in kept.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import callgrind
import nginx
from crawlers import Failed, last_json, memory_folder
from machine import program_version, versions
from processes import Finished, finish, tidy_when_terminated
from static_web import StaticWeb
from tables import figure, table

HERE = Path(__file__).resolve().parent
INSTRUCTIONS, CALLS = "instructions", "calls"
_PACKAGES = ("pycurl", "uvloop", "rocksdict", "isal", "msgspec", "xxhash", "ada-url")
# So large that about one link in sixteen is new, as in the side-by-side runs.
_HOSTS, _HOST_PAGES = 30, 300
_SEEDS = 10
_PART_ALLOWED = 10.0  # per cent that a part may cost more
_PART_COUNTS = 0.05  # share of all from which a part is held to that
# Commits come after so many pages, not after so much time: under valgrind a second is short.
_SETTINGS = '[agent]\ncommit_interval = "1h"\ncommit_pages = 500\n'
_OPTIONS = "--scope any --allow-private --delay 0 --connections 64 --no-index --json".split()

Parts = Mapping[str, float]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs=2, default=[1_000, 2_500], help="of the two crawls (1000 2500)")
    parser.add_argument("--allow", type=float, default=3.0, metavar="%", help="how much more a page may cost (3)")
    parser.add_argument("--no-valgrind", action="store_true", help="count calls only; 5 s instead of 2 minutes")
    parser.add_argument("--kept", type=Path, default=HERE / "kept.json", help="the figures to compare with (kept.json)")
    parser.add_argument("--keep", action="store_true", help="write the figures to that file instead")
    options = parser.parse_args(given)
    if not 0 < options.pages[0] < options.pages[1]:
        parser.error("--pages: the second crawl must have more pages than the first")
    if options.keep and options.no_valgrind:
        parser.error("--keep: both counts are kept, so valgrind is needed")
    return options


# -- comparing ---------------------------------------------------------------------------------------------------------


def each(few: Parts, many: Parts, pages: int) -> dict[str, float]:
    """What one page costs: the difference of two crawls over the pages that the second had more."""
    return {part: round((many[part] - few[part]) / pages, 1) for part in many}


def more(found: float, kept: float) -> float:
    """By how many per cent."""
    if not kept:
        return float("inf") if found > 0 else 0.0
    return (found / kept - 1) * 100


def complaints(what: str, found: Parts, kept: Parts, allow: float) -> list[str]:
    """What costs more than is allowed, and by how much."""
    total = sum(found.values())
    large = [part for part, cost in found.items() if cost >= _PART_COUNTS * total]
    held = [("a page", total, sum(kept.values()), allow)]
    held += [(part, found[part], kept.get(part, 0.0), _PART_ALLOWED) for part in large]
    return [
        f"{what}: {name} costs {cost:,.0f}, {more(cost, before):.1f} % more than the {before:,.0f} kept; "
        f"{allowed:g} % is allowed"
        for name, cost, before, allowed in held
        if more(cost, before) > allowed
    ]


def differences(found: Mapping[str, str], kept: Mapping[str, str]) -> list[str]:
    """What the kept figures were counted with, where that is not what these were counted with."""
    return [
        f"{name} {kept.get(name, 'unknown')} kept, {found[name]} here"
        for name in found
        if found[name] != kept.get(name)
    ]


def rows_of(found: Parts, kept: Parts) -> list[list[str]]:
    total = sum(found.values())
    rows = []
    for part, cost in [*sorted(found.items(), key=lambda item: -item[1]), ("in all", total)]:
        before = sum(kept.values()) if part == "in all" else kept.get(part, 0.0)
        change = f"{more(cost, before):+.1f} %" if before else "-"
        rows.append([part, figure(cost), f"{cost / total:.0%}", figure(before) if kept else "-", change])
    return rows


def judged(figures: Mapping[str, Any], kept: Mapping[str, Any], allow: float) -> tuple[int, list[str]]:
    """The exit status, and what is to be said. Figures of another interpreter or library are no measure."""
    if not kept:
        return 0, ["nothing is kept to compare with: --keep"]
    said = [
        complaint
        for what in (INSTRUCTIONS, CALLS)
        if what in figures
        for complaint in complaints(what, figures[what], kept[what], allow)
    ]
    if other := differences(figures["counted with"], kept["counted with"]):
        warning = "WARNING: THIS PROVES NOTHING, the kept figures were counted with something else: " + "; ".join(other)
        return 0, [warning, "To compare, count the version before with --keep, then this one.", *said]
    return (1, said) if said else (0, ["a page costs what it did"])


# -- counting ----------------------------------------------------------------------------------------------------------


class Crawls:
    """Crawls of one web. Invariant: each begins from nothing."""

    def __init__(self, web: StaticWeb, folder: Path) -> None:
        self._web = web
        self._folder = folder
        self._settings = folder / "settings.toml"
        self._settings.write_text(_SETTINGS)

    def instructions(self, pages: int) -> dict[str, float]:
        def count(crawl: Sequence[str]) -> tuple[Finished, dict[str, float]]:
            return callgrind.counted([sys.executable, "-m", "gossamer", *crawl], self._folder)

        return self._crawl(pages, count)

    def calls(self, pages: int) -> dict[str, float]:
        def count(crawl: Sequence[str]) -> tuple[Finished, dict[str, float]]:
            done = finish([sys.executable, str(HERE / "call_count.py"), *crawl], self._folder)
            return done, last_json(done.errors)

        return self._crawl(pages, count)

    def _crawl(
        self, pages: int, count: Callable[[Sequence[str]], tuple[Finished, dict[str, float]]]
    ) -> dict[str, float]:
        directory = self._folder / "crawl"
        shutil.rmtree(directory, ignore_errors=True)
        given = [*self._web.first_pages(_SEEDS), "--dir", str(directory), "--config", str(self._settings), *_OPTIONS]
        done, parts = count(["crawl", *given, "--max-pages", str(pages)])
        if done.status or not parts or last_json(done.output).get("pages") != pages:
            raise Failed(f"a crawl of {pages:,} pages did not end as it should: {done.errors[-2000:].strip()}")
        return parts


def counted(crawls: Crawls, pages: Sequence[int], with_valgrind: bool) -> dict[str, Any]:
    few, many = pages
    figures: dict[str, Any] = {"counted with": counted_with(pages)}
    figures[CALLS] = each(crawls.calls(few), crawls.calls(many), many - few)
    if with_valgrind:
        figures["counted with"]["valgrind"] = program_version("valgrind", "--version").removeprefix("valgrind-")
        figures["start"] = sum(crawls.instructions(1).values())
        figures[INSTRUCTIONS] = each(crawls.instructions(few), crawls.instructions(many), many - few)
    return figures


def counted_with(pages: Sequence[int]) -> dict[str, str]:
    """What changes the counts although a page costs the same."""
    return {
        **versions(_PACKAGES),
        "compiler": platform.python_compiler(),
        "libc": " ".join(platform.libc_ver()),
        "architecture": platform.machine(),
        "crawls": f"of {pages[0]} and {pages[1]} pages, {_HOSTS} hosts x {_HOST_PAGES} pages",
    }


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    with_valgrind = not options.no_valgrind and callgrind.program() is not None
    lacking = not options.no_valgrind and not with_valgrind
    if lacking:
        print(f"{callgrind.INSTALL} Calls of functions are counted without it.", file=sys.stderr)
        if options.keep:
            return 2
    os.environ["PYTHONHASHSEED"] = "0"  # of the crawls: sets of strings in the same order each time
    with memory_folder() as folder:
        folder.chmod(0o755)  # nginx started by root reads as another user
        web = StaticWeb(_HOSTS, _HOST_PAGES, nginx.free_port())
        web.write(folder / "web")
        with nginx.serving(web, folder / "web", folder, None):
            figures = counted(Crawls(web, folder), options.pages, with_valgrind)
    print("; ".join(f"{name} {value}" for name, value in figures["counted with"].items()))
    kept = {} if options.keep or not options.kept.exists() else json.loads(options.kept.read_text())
    for what in (INSTRUCTIONS, CALLS):
        if what in figures:
            headings = [f"{what} of a page", "count", "share", "kept", "change"]
            print("\n" + table(headings, rows_of(figures[what], kept.get(what, {}))))
    if with_valgrind:
        before = f", {kept['start']:,.0f} kept" if kept else ""
        print(f"\na crawl of one page, start included: {figures['start']:,.0f} instructions{before}")
    if options.keep:
        options.kept.write_text(json.dumps(figures, indent=1) + "\n")
        print(f"kept in {options.kept}")
        return 0
    status, said = judged(figures, kept, options.allow)
    print("\n" + "\n".join(said))
    return status or (2 if lacking else 0)


if __name__ == "__main__":
    sys.exit(main())
