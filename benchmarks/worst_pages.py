"""What is the longest that a page of 16 MB can hold the parser up?

python benchmarks/worst_pages.py --megabytes 4 16
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from machine import description
from tables import table

URL = "http://h.example/dir/page.html"
UTF_8 = "text/html; charset=utf-8"
LIMIT = 1.0  # seconds


def again(piece: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    """`piece` up to the size wanted."""
    return lambda size: (before + piece * (size // len(piece)) + after).encode()


def numbered(piece: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    """The same with a number that is different each time."""

    def page(size: int) -> bytes:
        parts, length = [before], 0
        for number in count():
            if length >= size:
                break
            parts.append(piece.replace("#", str(number)))
            length += len(parts[-1])
        return "".join([*parts, after]).encode()

    return page


PAGES: dict[str, Callable[[int], bytes]] = {
    "text": again("word "),
    "brackets": again("<"),
    "closing brackets": again("</"),
    "paragraphs": again("<p>x"),
    "nested blocks": again("<div>"),
    "nested spans": again("<span>"),
    "spans in blocks, closed wrongly": again("<span><div></span>"),
    "nested tables": again("<table><td>"),
    "nested lists": again("<ul><li>"),
    "nested objects": again("<object>"),
    "nested buttons": again("<button>"),
    "nested unknown elements": numbered("<x-#>"),
    "nested unknown elements, closed wrongly": numbered("<x-#></y-#>"),
    "nested headings": again("<h1><div>"),
    "nested forms": again("<form><div></form>"),
    "nested rubies": again("<ruby><rt><span>"),
    "end tags of nothing": again("</b>"),
    "end tags of paragraphs": again("</p>"),
    "end tags of line breaks": again("</br>"),
    "bold never closed": again("<b>"),
    "bold never closed, in paragraphs": numbered("<b id=#><p>x"),
    "fonts never closed": numbered("<font size=#>x<p>"),
    "fonts crossed": again("<font><b><i><u></font>x"),
    "fonts crossed with blocks": numbered("<b id=#><div></b>"),
    "adoption eight times over": again("<b><b><b><i><div><div></b></i>x"),
    "formatting around tables": again("<b><table><i></table>"),
    "text in tables": again("<table>x<td>y</table>"),
    "text at the wrong place in one table": again("x<tr>", "<table>"),
    "letters in one table": again("<a href=/x>x</a>", "<table>"),
    "letters in rows": again("<tr>y<td>", "<table>"),
    "nested links": again("<a href=/x>"),
    "links": numbered("<a href=/#>"),
    "links in full": numbered('<a href="http://h#.example/#?q=#">x</a>'),
    "links with references": numbered("<a href='/?#&amp;x=1'>x"),
    "links in links": numbered("<a href=/#><table><td>"),
    "links around blocks": numbered("<a href=/#><div>"),
    "links that are none": again("<a href='javascript:x()'>x</a>"),
    "empty links in links": numbered("<a href=/#><table><td><i></i>"),
    "attributes": numbered(" x#", "<a", " href=/x>"),
    "names of attributes": numbered("<p x#=1>"),
    "names of many attributes": numbered("<p " + " ".join(f"x{i}-#" for i in range(200)) + ">"),
    "balanced unknown elements": numbered("<x-#></x-#>"),
    "the same attribute": again(" x", "<a", " href=/x>"),
    "attributes that matter": numbered(" href=#", "<a", ">"),
    "attributes of many tags": again("<a " + " ".join(f"x{i}=1" for i in range(255)) + ">"),
    "attributes of html": numbered("<html a#=1>"),
    "attributes of body": numbered("<body a#=1>"),
    "a long attribute": again("x", "<a href='/", "'>"),
    "a long attribute of references": again("&amp;", "<a href='/", "'>"),
    "a long attribute of bad references": again("&amp", "<a href='/", "'>"),
    "long numbers": again("&#0000000000000000001", "<a href='/", "'>"),
    "a quote never closed": again("x<p>", "<a href='"),
    "a tag never closed": again("x=y ", "<a "),
    "tags never closed": again("<a x=y "),
    "quotes": again("<p x=\"'"),
    "equal signs": again("<p =", ""),
    "a comment": again("- ", "<!--", "-->"),
    "a comment never closed": again("<!-- -"),
    "comments": again("<!---->"),
    "declarations": again("<!x>"),
    "questions": again("<?x>"),
    "character references": again("&amp;"),
    "bad character references": again("&CounterClockwiseContourIntegra"),
    "numbers": again("&#x10ffff;"),
    "drawings": again("<svg><path/></svg>"),
    "nested drawings": again("<svg>"),
    "groups in a drawing": again("<g>", "<svg>"),
    "nested formulas": again("<math><mi>"),
    "HTML in drawings": again("<svg><foreignobject><div>"),
    "HTML that ends drawings": again("<svg><p>"),
    "drawings with styles": again("<svg><style>x</style>"),
    "character data": again("<![CDATA[x]]>", "<svg>"),
    "templates": again("<template>x</template>"),
    "nested templates": again("<template>"),
    "templates in tables": again("<table><template><tr>"),
    "options": again("<option>", "<select>"),
    "selects": again("<select>"),
    "options with markup": again("<option><b><p>", "<select>"),
    "framesets": again("<frameset>"),
    "frames": numbered("<frame src=/#>", "<frameset>"),
    "heads": again("<head><title>x</title>"),
    "bases": numbered("<base href=/#>"),
    "metas": again("<meta name=robots content=index>"),
    "refreshes": again("<meta http-equiv=refresh content='0;url=/x'>"),
    "a robots rule": again("x,", "<meta name=robots content='", "'>"),
    "scripts": again("<script></script>"),
    "a script never closed": again("<script><!--<script>"),
    "a style": again("</styl", "<style>"),
    "titles": again("<title>x</title>"),
    "plaintext": again("<a href=/x>", "<plaintext>"),
    "a set of images": numbered("/#,", "<img srcset='", "'>"),
    "a set of spaced images": numbered("/# 2x, ", "<img srcset='", "'>"),
    "brackets in a set of images": again("(", "<img srcset='a ", "'>"),
    "commas in a set of images": again(",", "<img srcset='a", "'>"),
    "archives": numbered("#,", "<applet archive='", "'>"),
    "images": numbered("<img src=/# alt='x y'>"),
    "blanks": again(" \n"),
    "zeros": again("\0<p>"),
    "a relation": again("x ", "<a href=/x rel='", "'>"),
    "letters beyond ASCII": again("é"),
    "links beyond ASCII": numbered("<a href=/é#>"),
}


def scan(body: bytes) -> int:
    from gossamer.parse import LinkScanner

    return len(LinkScanner().scan(body, URL, UTF_8).urls)


def links(body: bytes) -> int:
    from gossamer.parse.html import parse_links

    return len(parse_links(body, URL, UTF_8).links)


def document(body: bytes) -> int:
    import gossamer

    return len(gossamer.parse(body, URL, UTF_8).links)


READERS = {"scan": scan, "links": links, "parse": document}


def measure(pipe: Any, name: str, reader: str, size: int) -> None:
    body = PAGES[name](size)
    READERS[reader](b"<p>loaded")
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    started = time.process_time()
    READERS[reader](body)
    pipe.send((time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def seconds(name: str, reader: str, size: int, patience: float) -> tuple[float, float] | None:
    """CPU seconds and megabytes at the most; None when it took longer than `patience` or failed."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=measure, args=(theirs, name, reader, size))
    process.start()
    theirs.close()
    try:
        found: tuple[float, float] | None = ours.recv() if ours.poll(patience) else None
    except EOFError:
        found = None
    process.kill()
    process.join()
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--megabytes", type=int, nargs="+", default=[4, 16])
    options.add_argument("--only", default="", help="pages with this in their name")
    options.add_argument("--readers", nargs="+", default=list(READERS), choices=list(READERS))
    options.add_argument("--patience", type=float, default=20.0, help="seconds")
    options.add_argument("--over", type=float, default=0.0, help="show only what took longer than this")
    given = options.parse_args()
    rows, slow = [], 0
    for name in PAGES:
        if given.only not in name:
            continue
        row, worst = [name], 0.0
        for reader in given.readers:
            for size in given.megabytes:
                found = seconds(name, reader, size << 20, given.patience)
                taken = given.patience if found is None else found[0]
                worst = max(worst, taken)
                row.append("never" if found is None else f"{taken:.2f}" + " !" * (taken > LIMIT))
        row.append("-" if found is None else f"{found[1]:,.0f}")
        slow += worst > LIMIT
        if worst >= given.over:
            rows.append(row)
            print(*row, sep=" | ", file=sys.stderr, flush=True)
    columns = [f"{reader}, {size} MB" for reader in given.readers for size in given.megabytes]
    print(description(("resiliparse",)) + "\n")
    print(table(["page", *columns, "peak RSS"], rows))
    print(f"\n{slow} of {len(PAGES)} pages take longer than {LIMIT:g} s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
