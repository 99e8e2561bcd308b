"""What a page says about itself: title, description, author and dates."""

from __future__ import annotations

import json
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model import Document
from gossamer.parse import parse
from gossamer.parse.dates import iso_date
from gossamer.parse.meta import MAX_AUTHOR, MAX_DESCRIPTION, MAX_TITLE


def read(html: str) -> Document:
    return parse(html.encode(), "http://h.example/", "text/html; charset=utf-8")


def ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>One</title><meta property=og:title content=Two><h1>Three</h1>", "One"),
        ("<title> </title><meta property=og:title content=' Two '><h1>Three</h1>", "Two"),
        ("<meta property=OG:Title content=''><h1> <b>Thr</b>ee\n <i>words</i></h1><h1>Four</h1>", "Three words"),
        ("<p>none", ""),
        ("<title>a\x01b\u202ec\x7f  d\n\te\u2028f</title>", "a b c d e f"),
        ("<title>" + "ab " * 1000 + "</title>", ("ab " * 1000)[:MAX_TITLE].rstrip()),
        ("<title>" + " " * 3000 + "late</title>", "late"),
    ],
)
def test_title(html: str, title: str) -> None:
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<meta name=description content=One><meta property=og:description content=Two>", "One"),
        ("<meta property=og:description content=Two><meta name=Description content=One>", "One"),
        ("<meta name=description content=' '><meta property=og:description content='T\nwo'>", "T wo"),
        ("<meta name=description content=first><meta name=description content=second>", "first"),
        ("<meta name=description>", ""),
        (f"<meta name=description content='{'x' * 9000}'>", "x" * MAX_DESCRIPTION),
    ],
)
def test_description(html: str, description: str) -> None:
    assert read(html).description == description


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='A. Writer'>", "A. Writer"),
        ("<meta property=article:author content='https://h.example/me'><meta name=dc.creator content=Me>", "Me"),
        (ld({"author": {"@type": "Person", "name": "Linked"}}), "Linked"),
        (ld({"author": [{"name": "First"}, {"name": "Second"}]}), "First"),
        (ld({"author": "https://h.example/me"}), ""),
        (ld({"author": [[]]}), ""),
        (f"<meta name=author content='{'x' * 9000}'>", "x" * MAX_AUTHOR),
    ],
)
def test_author(html: str, author: str) -> None:
    assert read(html).author == author


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ("<meta property=article:published_time content=2024-03-05T10:00:00+01:00>", "2024-03-05T10:00:00+01:00"),
        ("<meta name=DC.Date content=2024-03-05>", "2024-03-05"),
        ("<meta name=dcterms.issued content=2024-03>", "2024-03"),
        ("<meta name=citation_date content=2024/03/05>", "2024-03-05"),
        ("<meta name=citation_publication_date content=2024>", "2024"),
        ("<meta itemprop=datePublished content=2024-03-05>", "2024-03-05"),
        ("<meta name=date content='Tue, 05 Mar 2024 10:00:00 GMT'>", "2024-03-05T10:00:00+00:00"),
        ("<meta name=date content=yesterday><meta name=pubdate content=20240305>", "2024-03-05"),
        ("<meta name=date content=2020-01-01><meta property=article:published_time content=2024-03-05>", "2024-03-05"),
        ("<p><time pubdate datetime='2024-03-05 10:00'>March</time>", "2024-03-05T10:00:00"),
        ("<p><span itemprop='author datePublished' content=2024-03-05>March</span>", "2024-03-05"),
        ("<p><time itemprop=datePublished>2024-03-05</time>", "2024-03-05"),
        ("<p><time datetime=2024-03-05>the day of a fair</time>", ""),
        (ld({"@graph": [{"@type": "WebSite"}, {"datePublished": "2024-03-05T10:00Z"}]}), "2024-03-05T10:00:00Z"),
        (ld([{"review": {"datePublished": "2020-01-01"}}, {"datePublished": "2024-03-05"}]), "2024-03-05"),
        (ld([{"datePublished": "2024-03-05"}, {"review": {"datePublished": "2020-01-01"}}]), "2024-03-05"),
        (ld({"datePublished": 5}) + ld({"datePublished": "2024-03-05"}), "2024-03-05"),
        ("<script type='application/ld+json'>{\"datePublished\": </script>", ""),
        ("<meta http-equiv=last-modified content='Tue, 05 Mar 2024 10:00:00 GMT'>", ""),
        ("<meta name=date content=0001-01-01>", ""),
        ("<meta name=date content=1970-01-01><meta name=pubdate content=9999-12-31>", ""),
    ],
)
def test_published(html: str, published: str) -> None:
    assert read(html).published == published


@pytest.mark.parametrize(
    ("html", "modified"),
    [
        ("<meta property=article:modified_time content=2024-03-05T10:00:00Z>", "2024-03-05T10:00:00Z"),
        ("<meta property=og:updated_time content=2024-03-05>", "2024-03-05"),
        (ld({"dateModified": "2024-03-05"}), "2024-03-05"),
        ("<p><time itemprop=dateModified datetime=2024-03-05>", "2024-03-05"),
    ],
)
def test_modified(html: str, modified: str) -> None:
    document = read(html)
    assert document.modified == modified
    assert document.published == ""


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ("2024-02-29", "2024-02-29"),
        ("2023-02-29", ""),
        ("2024-13-01", ""),
        ("2024-13", ""),
        ("2024-3-5", ""),
        ("05/03/2024", ""),
        ("202403", ""),
        ("2024.03.05", "2024-03-05"),
        ("2024-03/05", ""),
        ("2024-03-05T24:00", ""),
        ("2024-03-05T10", ""),
        ("2024-03T10:00", ""),
        (" 2024-03-05t10:00:00.123z ", "2024-03-05T10:00:00.123Z"),
        ("20240305T100000+0530", "2024-03-05T10:00:00+05:30"),
        ("2024-03-05 10:00:00 +02", "2024-03-05T10:00:00+02:00"),
        ("2024-12-31T23:59:60Z", "2024-12-31T23:59:59Z"),
        ("٢٠٢٤-٠٣-٠٥", ""),
        ("", ""),
        ("2" * 100_000, ""),
    ],
)
def test_dates(given: str, spelled: str) -> None:
    assert iso_date(given) == spelled


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2099, 12, 31)))
def test_dates_in_iso_8601_stay_as_they_are(moment: datetime) -> None:
    assert iso_date(moment.isoformat()) == moment.isoformat()
    assert iso_date(moment.date().isoformat()) == moment.date().isoformat()


@given(st.one_of(st.text(), st.from_regex(r"[12]\d{3}[-/. ]?\d{0,2}[-/. T]?\d{0,2}[T ]?[\d:.]{0,12}[Z+-]?\d{0,4}")))
def test_no_date_raises(value: str) -> None:
    found = iso_date(value)
    if len(found) >= 10:
        assert 1990 <= date.fromisoformat(found[:10]).year <= 2099


@pytest.mark.parametrize(
    "script",
    [
        '{"author":' * 20_000,
        "[" * 100_000 + '"author"',
        '{"datePublished": "2024-03-05"' + ', "x": [{}, {}]' * 30_000 + "}",
        json.dumps({"date": [{"date": number} for number in range(20_000)]}),
        '{"datePublished": "\ud800"}',
        '"datePublished"',
        "\0",
    ],
    ids=range(7),
)
def test_hostile_linked_data(script: str) -> None:
    html = f'<script type="application/ld+json">{script}</script><title>x</title>'
    document = parse(html.encode("utf-8", "surrogatepass"), "http://h.example/", "text/html; charset=utf-8")
    assert document.title == "x"


_NAMES = st.sampled_from(["date", "author", "description", "og:title", "article:published_time", "og:updated_time"])


@given(st.lists(st.tuples(_NAMES, st.text(max_size=40))), st.text(max_size=200), st.text(max_size=100))
def test_no_words_raise(metas: list[tuple[str, str]], script: str, title: str) -> None:
    html = "".join(f'<meta name="{name}" content="{content}">' for name, content in metas)
    html += f'<title>{title}</title><script type="application/ld+json">{{"author": {script}}}</script>'
    document = read(html.encode("utf-8", "replace").decode())
    for value in (document.title, document.description, document.author, document.published, document.modified):
        assert value == value.strip()
        assert not any(ord(char) < 32 for char in value)
