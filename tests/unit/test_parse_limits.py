"""How much of a page is read."""

from __future__ import annotations

import pytest

from gossamer.parse import LinkScanner, limits, parse
from gossamer.parse import links as links_module
from gossamer.parse import scan as scan_module
from gossamer.parse.html import parse_links
from gossamer.parse.limits import MAX_TAGS, cut

URL = "http://h.example/"
UTF_8 = "text/html; charset=utf-8"


@pytest.mark.parametrize("page", ["", "<p>x", "x" * (MAX_TAGS + 1), "<" * MAX_TAGS, "<p>" * MAX_TAGS + "text" * 9])
def test_honest_pages_are_read_to_their_end(page: str) -> None:
    assert cut(page) == page
    assert cut(page.encode()) == page.encode()


def test_a_page_ends_before_the_tag_that_is_one_too_many() -> None:
    page = "é<p>" * MAX_TAGS + "text<p>more"
    assert cut(page) == "é<p>" * MAX_TAGS + "text"
    assert cut(page.encode()) == cut(page).encode()


def test_scanner_and_parser_end_at_the_same_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TAGS", 50)
    body = "".join(f'<a href="/{number}">é' for number in range(100)).encode()
    found = LinkScanner().scan(body, URL, UTF_8)
    assert not found.full
    assert found.urls == [f"http://h.example/{number}" for number in range(50)]
    assert [link.url for link in parse_links(body, URL, UTF_8).links] == found.urls
    assert [link.url for link in parse(body, URL, UTF_8).links] == found.urls


def test_only_so_many_links_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_module, "MAX_LINKS", 7)
    monkeypatch.setattr(scan_module, "MAX_LINKS", 7)
    body = "".join(f'<a href="/{number}">x</a>' for number in range(20)).encode()
    assert len(LinkScanner().scan(body, URL, UTF_8).urls) == 7
    assert len(parse(body, URL, UTF_8).links) == 7
    images = "<img srcset='" + ", ".join(map(str, range(20))) + "'>"
    assert len(parse(images.encode(), URL, UTF_8).links) == 7
