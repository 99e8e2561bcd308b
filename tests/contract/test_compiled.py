"""Each compiled module and its twin in Python are held to one contract: the same inputs, the same results."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from array import array
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.agent.doctor import COMPILED
from gossamer.frontier.recent import fresh, fresh_here
from gossamer.model import Page
from gossamer.parse import LinkScanner
from gossamer.parse.fingerprint import majority, majority_here, names, names_here, words, words_here
from gossamer.parse.scan import compiled, may_scan_here
from gossamer.store.cdxj import Entry, line_here, lines, lines_here, mime_of
from gossamer.store.warc import records, records_here, spelled, spelled_here

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from fuzz_inputs import PIECES, Inputs, tag

URLS = [
    "http://h.example/",
    "http://h.example:8080/dir/page.html",
    "http://h.example/a/b/c/d/",
    "https://h.example/dir/page?x=/y/z",
    "http://h.example/~user/%E6%97%A5/page",
    "http://h.example/a;b/c(d)/e",
    "http://h.example/" + "/".join(["d"] * 30) + "/",
    "http://h.example/" + "long/" * 400,
    "http://[::1]:81/x/y",
]
BLOCKS = b"b" * 20, b""
TYPES = ["text/html", "text/html; charset=utf-8", "text/html; charset=windows-1252"]
built = pytest.mark.skipif(compiled is None, reason="THE COMPILED MODULES ARE NOT BUILT: their twins alone are tested")


@pytest.mark.parametrize("name", COMPILED)
def test_they_are_built_where_there_is_a_compiler(name: str) -> None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if shutil.which(compiler) and headers.exists():
        assert import_module(f"gossamer.{name}").__file__.endswith(".so")  # type: ignore[union-attr]


def the_same(body: bytes, url: str, content_type: str, obey: bool = True) -> None:
    ours = LinkScanner(obey_nofollow=obey).scan(body, url, content_type)
    theirs = LinkScanner(obey_nofollow=obey, compiles=False).scan(body, url, content_type)
    assert ours == theirs, (body, url, content_type, obey)


@built
@pytest.mark.parametrize("url", URLS)
def test_links_of_anything(url: str) -> None:
    inputs = Inputs([], seed=URLS.index(url), longest=20_000)
    for number in range(700):
        _, body = inputs.input(number)
        the_same(body, url, TYPES[number % 3], obey=number % 4 > 0)


@built
@given(
    st.lists(st.sampled_from(PIECES) | st.randoms(use_true_random=False).map(tag), max_size=8).map("".join),
    st.sampled_from(URLS),
)
@settings(max_examples=400)
def test_links_of_pieces(page: str, url: str) -> None:
    the_same(page.encode("utf-8", "replace"), url, "text/html")


_REFERENCE = st.text("./?#:&=%;~ab-_@!,+\t\n é'\\|()[]$*", max_size=30)


@built
@given(st.lists(_REFERENCE, max_size=6), st.sampled_from(URLS), st.sampled_from(['"', "'", ""]))
@settings(max_examples=600)
def test_references_of_any_form(references: list[str], url: str, quote: str) -> None:
    page = "".join(f"<a href={quote}{each.replace(quote or ' ', '')}{quote}>x</a>" for each in references)
    the_same(page.encode(), url, "text/html; charset=utf-8")


_HOST = st.text("aAz09-.", max_size=12) | st.lists(st.integers(0, 300), min_size=2, max_size=5).map(
    lambda parts: ".".join(map(str, parts))
)
_ABSOLUTE = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https", "HTTP", "Https"]),
    _HOST
    | st.sampled_from(
        ["xn--a", "a.xn--b.c", "a" * 63, "a" * 64, "a." * 9 + "b", "a." * 10 + "b", "1.2.3.4", "01.2.3.4"]
    ),
    st.sampled_from(["", ":", ":80", ":443", ":8080", ":0", ":01", ":59999", ":60000", ":65536", ":1a"]),
    st.text("ab/.~%?;", max_size=8),
)


@built
@given(st.lists(_ABSOLUTE, max_size=5))
@settings(max_examples=800)
def test_absolute_references(references: list[str]) -> None:
    the_same("".join(f'<a href="{each}">' for each in references).encode(), URLS[1], "text/html")


@built
@pytest.mark.parametrize("length", [62, 63, 64, 65, 1500, 2000, 2083, 9000])
def test_long_references(length: int) -> None:
    for form in ("/%s", "/%s/x", "%s", "../%s", "http://o.example/%s", "/a/%s?q", "/%s#f"):
        the_same(b'<a href="%b">' % (form % ("x" * length)).encode(), URLS[1], "text/html")
        the_same(b'<a href="%b">' % (form % ("x/" * (length // 2))).encode(), URLS[1], "text/html")


@built
@pytest.mark.parametrize("segments", range(20, 28))
def test_deep_paths(segments: int) -> None:
    the_same(b'<a href="%b"><a href="%b">' % (b"/d" * segments, b"d/" * segments), URLS[1], "text/html")


@built
@pytest.mark.parametrize("count", [31, 32, 33, 255, 256, 257, 300])
def test_many_attributes(count: int) -> None:
    before, after = b" x%d=1", b' y="2"'
    many = b"".join(before % number for number in range(count))
    the_same(b"<a%b href='/1'>" % many + b'<a href="/2"%b>' % (after * count) + b'<a href="/3">', URLS[1], "text/html")


@built
@given(
    st.binary(max_size=300) | st.text("charseticsohzgbrplmn2-20=\"' ", max_size=80).map(str.encode), st.integers(0, 90)
)
@settings(max_examples=500)
def test_encodings(body: bytes, head: int) -> None:
    for each in (body, b"xx charset=" + body, b"CharSet='cs" + body):
        assert compiled.may_scan(each, head) is may_scan_here(each, head)


@pytest.mark.parametrize("name", ["iso-2022-kr", "ISO2022", "csiso2022kr", "hz-gb-2312", "replacement", "cshz-gb"])
def test_names_of_encodings_that_are_not_like_ascii(name: str) -> None:
    page = f"<meta charset = '{name}'>".encode()
    assert not may_scan_here(page, 1024)
    assert compiled is None or not compiled.may_scan(page, 1024)


@built
def test_wrong_arguments_are_said() -> None:
    with pytest.raises(TypeError, match="links"):
        compiled.links("text")  # type: ignore[call-arg, arg-type]
    with pytest.raises(TypeError, match="may_scan"):
        compiled.may_scan("text", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fresh"):
        fresh(array("q", [0]), ("a",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="power of two"):
        fresh(array("q", [0, 0, 0]), ["a"])
    with pytest.raises(ValueError, match="20 bytes"):
        spelled(b"short")
    with pytest.raises(TypeError, match="records"):
        records(None, b"short", BLOCKS, "", 0)  # type: ignore[arg-type]
    for blocks in ((b"short", b""), (b"d" * 20, b"short"), (b"d" * 20,), b"d" * 20):
        with pytest.raises(TypeError, match="two digests"):
            records(None, b"d" * 20, blocks, "", 0)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        records(None, b"d" * 20, BLOCKS, "", 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lines"):
        lines((), "x", {}, mime_of, line_here)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="of eight"):
        lines([("http://a.test/",)], "x", {}, mime_of, line_here)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="two blocks"):
        words(b"a b", 1, 2)
    page = Page("http://a.test/", 200, b"", b"", b"", 0.0, 0.0, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bytes and str"):
        records(page, b"d" * 20, BLOCKS, "", 0)


@built
def test_what_a_callback_raises_comes_through() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("from the callback")

    arguments = {}, fail, fail, fail, None, 0, 256, 50_000  # type: ignore[var-annotated]
    for page in (b'<a href="http://O.example/">', b"<iframe src=x></iframe>", b'<a href="a b">'):
        with pytest.raises(RuntimeError, match="from the callback"):
            compiled.links(page, URLS[0], *arguments)  # type: ignore[arg-type]


# -- records and fingerprints ----------------------------------------------------------------------------------------


@given(st.binary(min_size=20, max_size=20))
def test_digests(digest: bytes) -> None:
    assert spelled(digest) == spelled_here(digest)


_DIGESTS = st.binary(min_size=20, max_size=20)
_MOMENTS = st.floats(0, 4e9) | st.integers(0, 4_000_000_000_000).map(lambda number: number / 1000)


def outcome(work: Callable[..., object], *arguments: object) -> object:
    try:
        return work(*arguments)
    except (UnicodeEncodeError, ValueError) as error:
        return type(error)


_SENT = st.sampled_from(["http://a.test/f#", "http://a.test/f#__wb_method=POST&q=1", "#"])


@given(
    st.text() | _SENT,
    st.binary(),
    st.binary(),
    st.binary(),
    st.text(max_size=9),
    st.binary(max_size=3),
    _DIGESTS,
    _MOMENTS,
)
def test_records(
    url: str, head: bytes, raw: bytes, request: bytes, word: str, protocol: bytes, digest: bytes, moment: float
) -> None:
    page = Page(url, 200, head, raw, b"", moment, 0.0, word, request, word[:3], None, protocol)
    for asked in ((digest, (digest, BLOCKS[0]), "<urn:uuid:1-", 0), (digest, BLOCKS, "", 0xFFF_FFFF_FFFE)):
        assert outcome(records, page, *asked) == outcome(records_here, page, *asked)


_HOSTS = st.lists(st.sampled_from(["www", "www2", "w", "a", "b-c", "127", "0", "", "test"]), max_size=5).map(".".join)
_ORDINARY = st.builds(
    lambda scheme, host, port, path: f"{scheme}://{host}{port}/{path}",
    st.sampled_from(["http", "https"]),
    _HOSTS | st.sampled_from(["[::1]", "[2001:DB8::]", "www.", "www", "WWW.A.test"]),
    st.sampled_from(["", ":8080", ":"]),
    st.text("aZ/?&%.~'()[]#", max_size=20) | st.text(max_size=9) | st.just("f?b=1#__wb_method=POST&q=W%C3%B6"),
)
_TYPES = st.sampled_from([None, "", "text/html", "Text/HTML; charset=x", 'a"b', "warc/revisit", " ;"])
_NUMBERS = st.integers(0, 2**62)
_ENTRIES = st.tuples(
    _ORDINARY | st.text(max_size=30), _MOMENTS, _TYPES, st.integers(0, 999), _DIGESTS, _NUMBERS, _NUMBERS,
    st.sampled_from(["", "same", "changed"]),
)  # fmt: skip


@given(st.lists(_ENTRIES, max_size=8), st.text("gz-.0", max_size=20))
@settings(max_examples=500)
def test_lines_of_captures(entries: list[Entry], file: str) -> None:
    asked = entries, file, {}, mime_of, line_here
    assert outcome(lines, *asked) == outcome(lines_here, *asked)


@given(st.lists(st.lists(st.text("ab", max_size=4), max_size=12), max_size=12), st.integers(0, 6))
def test_urls_met_lately(pages: list[list[str]], doublings: int) -> None:
    ours, theirs = array("q", bytes(8 << doublings)), array("q", bytes(8 << doublings))
    for urls in pages:
        assert fresh(ours, urls) == fresh_here(theirs, urls)
        assert ours == theirs


_MARKED = st.text("<>!-/ scripty STYLE\n\x0b\x1c.\u00e9", max_size=120).map(str.encode)


@given(_MARKED | st.binary(max_size=200))
@settings(max_examples=500)
def test_words(page: bytes) -> None:
    for each in (page, b"<script>" + page, b"a<!--" + page, b"x<STYLE y>" + page + b"</style>z"):
        assert words(each, 2, 3) == words_here(each, 2, 3)


def test_words_of_anything() -> None:
    inputs = Inputs([], seed=5, longest=20_000)
    for number in range(500):
        _, body = inputs.input(number)
        for blocks, block in ((8, 64), (3, 1), (2, 5)):
            assert words(body, blocks, block) == words_here(body, blocks, block)


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 12, 19, 20, 21, 500, 511, 512, 513, 514, 575, 600, 1025, 5000])
def test_words_from_all_over_a_page(count: int) -> None:
    page = b" ".join(b"w%d" % number for number in range(count))
    for blocks, block in ((8, 64), (2, 5), (5, 2), (10, 1)):
        assert words(page, blocks, block) == words_here(page, blocks, block)


@given(st.text("ab.", max_size=8).map(str.encode), st.text("ab.c", max_size=60).map(str.encode))
@settings(max_examples=500)
def test_names_of_hosts(host: bytes, page: bytes) -> None:
    for each in (page, page + host, host + page, host[:-1], host):
        assert names(each, host) is names_here(each, host)


@given(st.lists(st.binary(min_size=8, max_size=8), max_size=70).map(b"".join))
def test_majorities(votes: bytes) -> None:
    assert majority(votes) == majority_here(votes)
