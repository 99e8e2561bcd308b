"""Are these all the links? Gossamer's scanner and its whole parser against HTML parsers that are not ours.

pip install selectolax html5lib          # in any venv that also has gossamer
python benchmarks/links.py FOLDER...     # without a folder: the documentation of this machine
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from zlib import crc32

from link_peers import PARSERS, Links, links_of
from machine import description
from tables import table

import gossamer
from gossamer.model.url import normalize
from gossamer.parse import LinkScanner, decode
from gossamer.parse.limits import MAX_LINKS

TYPE = "text/html"
_MODULES = {"lexbor": "selectolax", "html5lib": "html5lib"}


class Compared(NamedTuple):
    """One page: how many links each parser and ours found by kind, and how many of them both."""

    path: str
    full: bool
    sizes: dict[str, tuple[Counter[str], Counter[str], Counter[str]]]  # by parser: theirs, ours, both
    differences: list[str]


def pages(folders: Sequence[Path], share: float = 1.0) -> Iterator[Path]:
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                path = Path(place) / name
                chosen = path.suffix in (".html", ".htm", ".xhtml") and crc32(b"page" + bytes(path)) < share * 2**32
                if chosen and path.is_file() and not path.is_symlink():
                    yield path


def compare(shares: dict[str, float], path: Path) -> Compared:
    """`shares` says which part of the pages each parser gets."""
    body = path.read_bytes()
    url = normalize(f"http://docs.example/{quote(str(path).lstrip('/'))}")
    assert url is not None
    found = LinkScanner().scan(body, url, TYPE)
    document = gossamer.parse(body, url, TYPE)
    ours: Links = Counter((link.kind, link.url) for link in document.links)
    text, charset = decode(body, TYPE)
    sizes, differences = {}, []
    for name, share in shares.items():
        if crc32(bytes(path)) >= share * 2**32:
            continue
        theirs, followed = links_of(PARSERS[name](text), url, charset)
        sizes[name] = (_kinds(theirs), _kinds(ours), _kinds(theirs & ours))
        if len(document.links) < MAX_LINKS:
            differences += [f"{name} alone: {kind} {target}" for kind, target in theirs - ours]
            differences += [f"not in {name}: {kind} {target}" for kind, target in ours - theirs]
            differences += [f"scanner and {name}: {target}" for target in followed ^ set(found.urls)]
    return Compared(str(path), found.full, sizes, differences)


def _kinds(links: Links) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for (kind, _), count in links.items():
        kinds[kind.partition(":")[0]] += count
    return kinds


def rows_of(compared: Sequence[Compared], name: str) -> list[list[str]]:
    theirs, ours, both = (
        sum((page.sizes[name][part] for page in compared if name in page.sizes), Counter[str]()) for part in range(3)
    )
    rows = []
    for kind in (*sorted(theirs | ours), "all"):
        them, we, same = (count.total() if kind == "all" else count[kind] for count in (theirs, ours, both))
        rows.append([f"{name} {kind}", f"{them:,}", f"{we:,}", _share(same, them), _share(same, we)])
    return rows


def _share(part: int, whole: int) -> str:
    # Never rounded up to all of them.
    return "-" if not whole else "100 %" if part == whole else f"{min(part / whole, 0.999_999):.4%}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folders", nargs="*", type=Path, default=[Path("/usr/share/doc")])
    options.add_argument("--share", type=float, default=1.0, help="of the pages, chosen by their names")
    options.add_argument("--html5lib", type=float, default=0.02, help="share of the pages that the slow parser gets")
    options.add_argument("--show", type=int, default=20, help="differing pages to show")
    options.add_argument("--processes", type=int, default=os.cpu_count())
    given = options.parse_args()
    shares = {"lexbor": 1.0, "html5lib": given.html5lib}
    for name, module in _MODULES.items():
        if find_spec(module) is None:
            print(f"{name} is left out: pip install {module}", file=sys.stderr)
            del shares[name]
    with ProcessPoolExecutor(given.processes) as pool:
        compared = list(pool.map(partial(compare, shares), pages(given.folders, given.share), chunksize=50))
    rows = [row for name in shares for row in rows_of(compared, name)]
    print(description((*_MODULES.values(), "resiliparse")) + "\n")
    print(table(["kind", "theirs", "ours", "recall", "precision"], rows))
    full = sum(page.full for page in compared)
    differing = [page for page in compared if page.differences]
    share = full / max(len(compared), 1)
    print(f"\n{len(compared):,} pages; {full:,} ({share:.1%}) left to the whole parser by the scanner")
    print(f"{len(differing):,} pages differ")
    for page in differing[: given.show]:
        print(page.path, *page.differences[:5], sep="\n    ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
