"""`gossamer export`: a crawl for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.cli.bar import Bar

_NAMES = {
    "parquet": "{name}-pages.parquet",
    "links": "{name}-links.parquet",
    "graph": "{name}-graph.parquet",
    "urls": "{name}-urls.parquet",
}
_WHAT = {"parquet": "pages", "links": "links", "graph": "links", "urls": "URLs", "wacz": "pages listed"}


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--parquet", "what", flag_value="parquet", help="Every page: status, type, size, links, language …")
@click.option("--links", "what", flag_value="links", help="Every link: source, target, kind.")
@click.option("--graph", "what", flag_value="graph", help="The same from the link graph: those that ranks are made of.")
@click.option("--urls", "what", flag_value="urls", help="Every known URL: state, status, depth, reason …")
@click.option("--wacz", "what", flag_value="wacz", help="One file with all WARC files and an index, for replay.")
@click.option(
    "--out",
    type=Path,
    metavar="PATH",
    help="Where to; .parquet, .csv, .csv.gz, .jsonl, .jsonl.gz or .wacz. Without it a name made of DIR's, here.",
)
def export(directory: Path, what: str | None, out: Path | None) -> int:
    """Write pages, links, URLs or a web archive to a file.

    Works while the crawl runs. The file is there when it is whole. docs/report.md describes the columns.
    """
    if what is None:
        raise ConfigError("export: say what is to be written: --parquet, --links, --graph, --urls or --wacz")
    out = out or Path(_NAMES.get(what, "{name}.wacz").format(name=directory.absolute().name))
    from gossamer.cli.bar import Bar

    with Bar("exporting") as bar:
        try:
            rows = _export(directory, what, out, bar)
        except OSError as error:
            raise ConfigError(f"--out: {out} cannot be written: {error.strerror}") from error
    print(f"{rows:,} {_WHAT[what]} in {out}", file=sys.stderr)
    return 0


def _export(directory: Path, what: str, out: Path, bar: Bar) -> int:
    from gossamer.report import export as exports

    if what == "parquet":
        return exports.export_pages(directory, out, bar.made)
    if what == "links":
        return exports.export_links(directory, out, bar.made)
    if what == "graph":
        return exports.export_graph(directory, out, bar.made)
    if what == "urls":
        return exports.export_urls(directory, out, bar.made)
    from gossamer.report.wacz import export_wacz

    return export_wacz(directory, out, bar.made)
