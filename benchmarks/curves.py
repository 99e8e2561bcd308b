"""What a page costs one agent as something grows: one curve for each thing that can.

Each point is a `gossamer crawl` in a process of its own, on one core, with nginx on another. A crawl of one page takes
the seeds; what is measured goes on from a copy of its directory. CPU is user and system time of the process, without
its start: a crawl of one page more, from the same copy, is measured in each turn, and the best of them is taken off.
Points take turns, and the best run counts: what else the machine does can only make one slower. Of the peaks of memory
the largest counts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import fetch_server
import nginx
from crawlers import Failed, memory_folder
from curve_points import USUAL, Bench, Case, Point, Value, case
from machine import cores, description, load
from named_web import Shape
from processes import tidy_when_terminated
from tables import figure, table

_PACKAGES = ("pycurl", "uvloop", "rocksdict", "isal", "msgspec")
_ROOMY = Shape(pages=600, size=32_000, shared=True)  # room for 500 links, and pages for them to lead to


class Curve(NamedTuple):
    """`at` makes the case of a point, of the pages to fetch and of all points."""

    name: str
    heading: str
    points: Sequence[Value]
    at: Callable[[Any, int, Sequence[Any]], Case]


CURVES = {
    curve.name: curve
    for curve in (
        Curve("known", "URLs known", (10**5, 10**6, 10**7), lambda urls, pages, _: case(pages, known=urls)),
        Curve("hosts", "hosts", (10**2, 10**3, 10**4, 10**5, 10**6),
              lambda hosts, pages, _: case(pages, USUAL._replace(hosts=hosts, shared=True))),
        Curve("connections", "connections", (64, 256, 1024, 4096),
              lambda number, pages, every: case(pages, USUAL._replace(hosts=max(every)), connections=number)),
        Curve("size", "KB a page", (2, 14, 50, 150, 500),
              lambda size, pages, _: case(pages, USUAL._replace(size=size * 1000))),
        Curve("links", "links a page", (0, 16, 50, 150, 500),
              lambda links, pages, _: case(pages, _ROOMY._replace(links=links), every_page=True)),
        Curve("scheme", "scheme", ("http", "https"),
              lambda scheme, pages, _: case(pages, USUAL._replace(scheme=scheme))),
        Curve("encoding", "encoding", ("identity", "gzip"),
              lambda encoding, pages, _: case(pages, USUAL._replace(packed=encoding == "gzip"))),
        Curve("index", "index", ("off", "on"), lambda index, pages, _: case(pages, indexed=index == "on")),
    )
}  # fmt: skip


def points_of(curve: Curve, text: str) -> list[Value]:
    """`1e5,1e6`, or words that the curve has; each once."""
    parts = list(dict.fromkeys(part.strip() for part in text.split(",")))
    if isinstance(curve.points[0], str):
        if unknown := [part for part in parts if part not in curve.points]:
            raise ValueError(f"{curve.name} has no {', '.join(unknown)}; it has {', '.join(map(str, curve.points))}")
        return list(parts)
    try:
        numbers = [int(float(part)) for part in parts]
    except (ValueError, OverflowError):
        raise ValueError(f"--points: {text} are not numbers, as 1e5,1e6 are") from None
    if min(numbers) < (least := 0 if 0 in curve.points else 1):
        raise ValueError(f"--points: {curve.name} begins at {least}")
    return list(dict.fromkeys(numbers))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which curves: {', '.join(CURVES)} (all)")
    parser.add_argument("--points", metavar="N,N", help="of one curve, instead of its own: 1e5,1e6")
    parser.add_argument("--pages", type=int, default=20_000, help="pages of a crawl, fewer of large ones (20000)")
    parser.add_argument("--runs", type=int, default=3, help="crawls of each point; they take turns (3)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every point to this file")
    options = parser.parse_args(given)
    if unknown := [name for name in options.names if name not in CURVES]:
        parser.error(f"{', '.join(unknown)} is not known; there are {', '.join(CURVES)}")
    if options.pages < 2 or options.runs < 1:
        parser.error("at least 2 --pages and 1 of --runs")
    options.curves = [CURVES[name] for name in options.names or CURVES]
    if options.points:
        if len(options.curves) != 1:
            parser.error("--points are of one curve: name it")
        try:
            options.curves = [curve._replace(points=points_of(curve, options.points)) for curve in options.curves]
        except ValueError as error:
            parser.error(str(error))
    return options


def measured(curve: Curve, pages: int, runs: int, work: Path) -> list[Point]:
    cases = [curve.at(value, pages, curve.points) for value in curve.points]
    with memory_folder() as memory, tempfile.TemporaryDirectory(prefix="curves-", dir=work) as disk:
        memory.chmod(0o755)  # nginx started by root reads as another user
        bench = Bench(cases, memory, Path(disk))
        points = [Point(value, case, bench.prepare(case)) for value, case in zip(curve.points, cases, strict=True)]
        for number in range(1, runs + 1):
            for place, point in enumerate(points):
                busy = load()
                point = points[place] = point.and_also(bench.run(point.case, 1), bench.run(point.case))
                speed, cpu = point.runs[-1].pages_per_s, point.cpu_us(point.runs[-1])
                print(
                    f"run {number}: {words(point.value):>10} {curve.heading}: {point.case.pages:,} pages, "
                    f"{speed:,.0f} pages/s, {cpu:,.0f} µs CPU a page (load average before {busy:.2f})",
                    flush=True,
                )
    return points


def words(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def table_of(curve: Curve, points: Sequence[Point]) -> str:
    """One row a point; the last column only where something is indexed."""
    indexed = any(point.case.indexed for point in points)
    headings = [curve.heading, "pages", "pages/s", "CPU µs/page", "worst", "peak RSS", "start"]
    rows = []
    for point in points:
        found = point.figures()
        row = [words(point.value), f"{found['pages']:,}"]
        row += [figure(found[name]) for name in ("pages_per_s", "cpu_us", "worst_cpu_us")]
        row += [f"{found['peak_rss'] / 1e6:,.0f} MB", f"{found['start_cpu_s']:.2f} s"]
        rows.append(row + [figure(found["index_cpu_us"] if point.case.indexed else None)] * indexed)
    return table(headings + ["indexing µs/page"] * indexed, rows)


def as_data(curve: Curve, points: Sequence[Point]) -> dict[str, Any]:
    return {
        "heading": curve.heading,
        "points": [
            {
                "value": point.value,
                **point.figures(),
                "prepared": point.prepared._asdict(),
                "starts": [start._asdict() for start in point.starts],
                "runs": [run._asdict() for run in point.runs],
            }
            for point in points
        ],
    }


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    if shutil.which("openssl") is None and any("https" in curve.points for curve in options.curves):
        print(fetch_server.INSTALL, file=sys.stderr)
        return 2
    machine = description(_PACKAGES)
    print(machine, flush=True)
    if len(cores()) == 1:
        print("one core only: nothing is pinned, and the server's work is in the crawl's way")
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {"machine": machine, "runs": options.runs, "curves": {}}
    for curve in options.curves:
        try:
            points = measured(curve, options.pages, options.runs, work)
        except Failed as failure:
            print(f"{curve.name}: {failure}", file=sys.stderr)
            return 1
        print("\n" + table_of(curve, points) + "\n", flush=True)
        data["curves"][curve.name] = as_data(curve, points)
        if options.json:  # after each, so that a run that is stopped leaves what it has
            options.json.write_text(json.dumps(data, indent=1) + "\n")
    print(f"best of {options.runs}; the start is not in CPU µs/page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
