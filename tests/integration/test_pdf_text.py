"""Text of PDF files, read by a process that may die of them."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawling import crawl
from indexing import caught_up, entries

from gossamer.agent.pdf_text import PdfReader
from gossamer.testing.tinyweb import TinyWeb


def pdf(*pages: str, title: str = "", packed: bool = False, filler: bytes = b"") -> bytes:
    """A file of a few pages, written by hand."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for text in pages:
        content = b"BT /F1 12 Tf 72 720 Td (%b) Tj ET" % text.encode("latin-1") + filler
        coding = b""
        if packed:
            content, coding = zlib.compress(content, 9), b" /Filter /FlateDecode"
        number = len(objects) + 1
        kids.append(b"%d 0 R" % number)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 << /Type"
            b" /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>" % (number + 1)
        )
        objects.append(b"<< /Length %d%b >>\nstream\n%b\nendstream" % (len(content), coding, content))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(pages), b" ".join(kids))
    objects.append(b"<< /Title (%b) >>" % title.encode("latin-1"))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, len(objects), start,
    )  # fmt: skip
    return bytes(out)


@pytest.fixture
def reader() -> Iterator[PdfReader]:
    reader = PdfReader()
    yield reader
    reader.close()


def test_text_and_title_of_all_pages(reader: PdfReader) -> None:
    found = reader.read(pdf("Silk is strong.", "So are webs.", title="On webs"))
    assert (found.title, found.text) == ("On webs", "Silk is strong.\nSo are webs.")
    assert reader.read(pdf("Packed", packed=True)).text == "Packed"


@pytest.mark.parametrize("body", [b"", b"%PDF-1.4", b"no PDF at all", pdf("x")[:200], b"%PDF-1.7\n" + bytes(5000)])
def test_what_is_no_pdf_is_said_to_be_none(reader: PdfReader, body: bytes) -> None:
    with pytest.raises(ValueError, match="the PDF file"):
        reader.read(body)
    assert reader.read(pdf("next")).text == "next"


def test_a_bomb_harms_only_the_process_that_reads_it(reader: PdfReader) -> None:
    """Megabytes of operators in a few kilobytes: cut short, by time or by memory, or read in part."""
    bomb = pdf("boom", packed=True, filler=b" BT (boom) Tj ET" * 2_000_000)
    assert len(bomb) < 200_000
    try:
        assert len(reader.read(bomb, seconds=5).text) < 1_000_000
    except ValueError as error:
        assert "the PDF file cannot be read" in str(error)
    assert reader.read(pdf("after")).text == "after"


def test_a_reader_that_hangs_or_lies_is_left(tmp_path: Path) -> None:
    hanging = PdfReader((sys.executable, "-c", "import time; time.sleep(60)"))
    with pytest.raises(ValueError, match="it takes too long"):
        hanging.read(b"x" * 1_000_000, seconds=0.2)
    lying = PdfReader((sys.executable, "-c", "import sys; sys.stdout.write('0' * 100000); sys.stdin.read()"))
    with pytest.raises(ValueError, match="the PDF file cannot be read"):
        lying.read(b"x", seconds=0.5)
    dying = PdfReader((sys.executable, "-c", "raise SystemExit(1)"))
    with pytest.raises(ValueError, match="the PDF file cannot be read"):
        dying.read(b"x" * 1_000_000, seconds=5)


def test_pdf_files_of_a_crawl_are_found(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/good.pdf", "/bad.pdf"])
        kind = {"Content-Type": "application/pdf"}
        web.add_page("http://a.test/good.pdf", body=pdf("The spider and the fly", title="A fable"), headers=kind)
        web.add_page("http://a.test/bad.pdf", body=b"%PDF-broken", headers=kind)
        crawl(home, ["http://a.test/"], web.connect, types=["text/html", "application/pdf"])
    notices: list[str] = []
    assert caught_up(home, notices) == 2
    entry = entries(home)["http://a.test/good.pdf"]
    assert (entry.title, entry.body, entry.type) == ("A fable", "The spider and the fly", "application/pdf")
    assert len(notices) == 1
    assert "bad.pdf is left out: ValueError: the PDF file is damaged" in notices[0]
