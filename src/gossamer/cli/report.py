"""`gossamer report`: what a crawl has found."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.report.report import Report
    from gossamer.report.site import Site


_LOWEST_PRIORITY = 19  # nice: everything else comes first


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--out", type=Path, metavar="FILE.html", help="Write a page that stands alone.")
@click.option("--host", metavar="NAME", help="The summary of one site: terms, languages, links in and out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every table.")
@click.option("--facts", "only_facts", is_flag=True, help="Only read what was stored since the last report.")
@click.option("--follow", is_flag=True, help="With --facts: go on as the crawl does, until Ctrl-C.")
@click.option("--leash", is_flag=True, hidden=True, help="With --follow: end when standard input does.")
def report(
    directory: Path, out: Path | None, host: str | None, as_json: bool, only_facts: bool, follow: bool, leash: bool
) -> int:
    """Say what a crawl has found.

    Works while it runs. Reads the pages stored since the last report, on all cores, and keeps what it learns of them in
    DIR/facts; the rest takes seconds.
    """
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"--out: {str(out)!r} is not the name of a page; let it end with .html")
    if follow:
        if not only_facts:
            raise ConfigError("--follow: only facts are made as a crawl goes on; give --facts, too")
        return _follow(directory, leash)
    from gossamer.cli.bar import Bar

    with Bar("reading pages") as bar:
        if only_facts:
            from gossamer.report.report import make_facts

            made = make_facts(directory, bar.made)
        else:
            found: Report | Site
            from gossamer.report.others import others_of
            from gossamer.report.report import make_report

            if host is None:
                others, missing = others_of(directory, lambda text: print(text, file=sys.stderr))
                found = make_report(directory, bar.made, others=others, missing=missing)
            else:
                from gossamer.report.site import make_site

                found = make_site(directory, host, bar.made)
    if only_facts:
        print(f"{made:,} pages, robots.txt files and sitemaps read", file=sys.stderr)
        return 0
    if out is not None:
        _write(found, out)
    if as_json:
        import msgspec

        sys.stdout.buffer.write(msgspec.json.encode(found.as_json()) + b"\n")
        sys.stdout.flush()
    elif out is None:
        print(_text(found))
    return 0


def _follow(directory: Path, leash: bool) -> int:
    from gossamer.cli.leash import Stopped, wait_for_input, waiting
    from gossamer.report.following import FactFollower

    os.nice(_LOWEST_PRIORITY)
    stopped = Stopped()
    made = FactFollower(directory).follow(wait_for_input if leash else waiting(stopped), stopped)
    if not leash:
        print(f"{made:,} pages, robots.txt files and sitemaps read", file=sys.stderr)
    return 0


def _write(found: Report | Site, out: Path) -> None:
    """Whole or not at all."""
    from gossamer.report.html import report_page, site_page
    from gossamer.report.report import Report

    page = report_page(found) if isinstance(found, Report) else site_page(found)
    fresh = out.with_name(f".{out.name}.new")
    try:
        with open(fresh, "w", encoding="utf-8", errors="replace") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(out)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ConfigError(f"--out: {out} cannot be written: {error.strerror}") from error
    print(f"wrote {out}", file=sys.stderr)


def _text(found: Report | Site) -> str:
    from gossamer.report.report import Report
    from gossamer.report.text import report_text, site_text

    return report_text(found) if isinstance(found, Report) else site_text(found)
