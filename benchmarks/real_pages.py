"""Gossamer and its peers on pages that people wrote: Debian's documentation, on many hosts, served by nginx.

Measured as in side_by_side.py: one crawler after the other, each on the same core. The pages of packages that are not
installed are downloaded (apt-get download) and unpacked in the work folder, the first time. At the end the pages that
gossamer has are compared with those that can be reached. Exit status 1 if that is not as promised.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nginx
from crawlers import Gossamer, memory_folder
from documentation import Unobtainable, pages_of
from judge import Verdict
from machine import description
from processes import tidy_when_terminated
from real_web import RealWeb
from side_by_side import PACKAGES, add_arguments, cores_apart, crawlers_of, take_turns, tell
from simulated_web import GOSSAMER
from tables import table

DOCUMENTATION = (
    "openjdk-17-doc libstdc++-12-doc libboost1.81-doc debian-handbook wx3.2-doc linux-doc-6.1 "
    "installation-guide-amd64 postgresql-doc-15 python3.11-doc git-doc"
)
_NAMED = 5  # of the pages that are missing


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, 100_000)
    parser.add_argument("--packages", default=DOCUMENTATION, help="of documentation, with spaces between (ten)")
    parser.add_argument("--root", type=Path, default=Path("/"), help="where packages are installed (/)")
    return parser.parse_args(given)


def judged(web: RealWeb, known: Mapping[str, int | None], stopped: bool) -> tuple[list[Verdict], set[str]]:
    """The rules, of a crawl that knows these URLs with their status, and the pages that it should have and has not.

    A crawl that was stopped by its limit need not have all.
    """
    truth = web.reachable()
    found = {path for url, status in known.items() if status == 200 and (path := web.page_at(url)) is not None}
    missing = truth - found
    origins = {web.origin(host) for host in range(web.hosts)}
    outside = sum("/".join(url.split("/", 3)[:3]) not in origins for url in known)
    verdicts = [
        Verdict("no URL is of another web", f"{outside:,}", "0", not outside),
        Verdict("pages fetched are reachable", f"{len(found - truth):,} are not", "0", not found - truth),
        Verdict(
            "reachable pages are fetched",
            f"{len(found & truth):,}, {len(missing):,} missing",
            f"the {len(truth):,}" + " or up to the limit" * stopped,
            stopped or not missing,
        ),
    ]
    return verdicts, set() if stopped else missing


def known_to(directory: Path) -> dict[str, int | None]:
    """The URLs that a crawl knows, and the status with which it has them, if it has."""
    listed = subprocess.run([*GOSSAMER, "urls", "--dir", str(directory)], capture_output=True, text=True, check=True)
    return {record["url"]: record["status"] for record in map(json.loads, listed.stdout.splitlines())}


def web_of(packages: Iterable[str], work: Path, root: Path, port: int) -> RealWeb | None:
    """The pages of those packages that are to be had; of the others it is said why they are not."""
    found = {}
    for package in packages:
        try:
            pages = pages_of(package, work, root)
        except Unobtainable as why:
            print(f"{package} is left out: {why}", flush=True)
            continue
        if pages:
            found[package] = pages
        else:
            print(f"{package} is left out: it has no HTML", flush=True)
    return RealWeb(found, port) if found else None


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    print(description(PACKAGES))
    server_core, crawler_core = cores_apart()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    web = web_of(options.packages.split(), work, options.root, nginx.free_port())
    if web is None:
        print("there are no pages: name packages with --packages", file=sys.stderr)
        return 2
    with memory_folder() as folder:
        folder.chmod(0o755)  # nginx started by root reads as another user
        kinds = web.write(folder / "web")
        print(f"web: {web.hosts} hosts, {kinds}; nginx {nginx.version()}", flush=True)
        crawlers = crawlers_of(options, web, work, crawler_core)
        with nginx.serving(web, folder / "web", folder, server_core):
            results = take_turns(crawlers, options.runs)
    tell(options, crawlers, results)
    ours = crawlers[0]
    assert isinstance(ours, Gossamer)
    stopped = results["gossamer"][-1].pages >= options.max_pages
    verdicts, missing = judged(web, known_to(ours.directory), stopped)
    print("\n" + table(["rule", "found", "allowed", ""], [verdict.row() for verdict in verdicts]))
    for page in sorted(missing)[:_NAMED]:
        print(f"missing: {page}")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
