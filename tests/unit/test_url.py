"""The crawl's spelling of URLs. The WHATWG stage has its own suite in tests/contract."""

from __future__ import annotations

import pytest

from gossamer.model import url as urls
from gossamer.model.url import MAX_LENGTH, host_of, normalize, seed_url, split, why_not

BASE = "http://example.org/docs/guide/index.html?q=1#top"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://EXAMPLE.org/Path", "http://example.org/Path"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("http://example.org:65535/a", "http://example.org:65535/a"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://example.org.:8080/a", "http://example.org:8080/a"),
        ("http://192.168.0.1./", "http://192.168.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://user:secret@example.org/a", "http://example.org/a"),
        ("http://user@example.org/a?x=y@z", "http://example.org/a?x=y@z"),
        ("http://example.org/a#fragment", "http://example.org/a"),
        ("http://example.org/a?b#c?d#e", "http://example.org/a?b"),
        ("http://example.org/a?", "http://example.org/a"),
        ("http://example.org/a?#", "http://example.org/a"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/%2e/b/%2E%2e/c", "http://example.org/a/c"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org\\a\\b", "http://example.org/a/b"),
        ("  http://example.org/a\tb\n", "http://example.org/ab"),
        ("http://example.org/a b", "http://example.org/a%20b"),
        ("http://example.org/ü", "http://example.org/%C3%BC"),
        ("http://example.org/?ü=ü", "http://example.org/?%C3%BC=%C3%BC"),
        ("http://example.org/%c3%bc", "http://example.org/%C3%BC"),
        ("http://example.org/%7Euser/%61%2d%5F%2e", "http://example.org/~user/a-_."),
        ("http://example.org/?q=%7e%41%26%3d", "http://example.org/?q=~A%26%3D"),
        ("http://example.org/a%2fb%3fc", "http://example.org/a%2Fb%3Fc"),
        ("http://example.org/%252e", "http://example.org/%252e"),
        # A stray percent sign: decoding %32 would make the escape %2e of what the server reads as the text "%2e".
        ("http://example.org/%%32e", "http://example.org/%%32e"),
        ("http://example.org/100%/%c3%bc", "http://example.org/100%/%C3%BC"),
        ("http://example.org/?b=2&a=1&b=1", "http://example.org/?b=2&a=1&b=1"),
        ("http://example.org/?a=1&&b", "http://example.org/?a=1&&b"),
        ("http://example.org/\x00a\x00", "http://example.org/%00a"),
        ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
        ("http://example.org/\ud83d\ude00", "http://example.org/%F0%9F%98%80"),
    ],
)
def test_one_spelling(written: str, expected: str) -> None:
    assert normalize(written) == expected
    assert normalize(expected) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", "http://example.org/docs/guide/index.html?q=1"),
        ("#part", "http://example.org/docs/guide/index.html?q=1"),
        ("?x=2", "http://example.org/docs/guide/index.html?x=2"),
        ("page.html", "http://example.org/docs/guide/page.html"),
        ("page.html#part", "http://example.org/docs/guide/page.html"),
        ("page.html #part", "http://example.org/docs/guide/page.html%20"),
        ("sub/page", "http://example.org/docs/guide/sub/page"),
        ("./page", "http://example.org/docs/guide/page"),
        ("./", "http://example.org/docs/guide/"),
        (".", "http://example.org/docs/guide/"),
        ("../", "http://example.org/docs/"),
        ("..", "http://example.org/docs/"),
        ("../page", "http://example.org/docs/page"),
        ("../../page", "http://example.org/page"),
        ("../../../../page", "http://example.org/page"),
        ("../.hidden", "http://example.org/docs/.hidden"),
        (".../page", "http://example.org/docs/guide/.../page"),
        ("/", "http://example.org/"),
        ("/page", "http://example.org/page"),
        ("/wiki/Help:Contents", "http://example.org/wiki/Help:Contents"),
        ("//other.example/x", "http://other.example/x"),
        ("https://other.example/x", "https://other.example/x"),
        ("http:page", "http://example.org/docs/guide/page"),
        ("sub:page", None),
        ("./sub:page", "http://example.org/docs/guide/sub:page"),
        ("sub/a:b", "http://example.org/docs/guide/sub/a:b"),
        ("mailto:a@example.org", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("http://", None),
    ],
)
def test_joins_to_a_base(written: str, expected: str | None) -> None:
    assert normalize(written, BASE) == expected


def test_credentials_of_the_base_are_not_passed_on() -> None:
    assert normalize("/b", "http://user:secret@example.org/a") == "http://example.org/b"
    assert normalize("b", "http://user:secret@example.org/a/") == "http://example.org/a/b"
    assert normalize("b?c", "http://user:secret@example.org/a/") == "http://example.org/a/b?c"


def test_a_session_id_in_the_directory_of_the_base_is_dropped_after_joining() -> None:
    assert normalize("../b", "http://example.org/(S(abc))/a/") == "http://example.org/b"
    assert normalize("../../b", "http://example.org/(S(abc))/a/") == "http://example.org/b"
    assert normalize("b", "http://example.org/a;jsessionid=1/c") == "http://example.org/a/b"


def test_a_base_that_is_no_url_counts_as_none() -> None:
    assert normalize("http://example.org/a", "nonsense") == "http://example.org/a"
    assert normalize("page", "nonsense") is None
    assert normalize("page", "about:blank") is None
    assert normalize("http://example.org/a", "about:blank") == "http://example.org/a"
    assert normalize("page", "http://example.org/" + "x" * 100_000) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/a;jsessionid=0A1B?x=1", "/a?x=1"),
        ("/a;JSESSIONID=0A1B.node1/b", "/a/b"),
        ("/a;v=1;jsessionid=0A1B;w=2", "/a;v=1;w=2"),
        ("/a;v=1", "/a;v=1"),
        ("/a;PHPSESSID=abc", "/a"),
        ("/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "/page.aspx"),
        ("/app/(A(x)S(y)F(z))/page.aspx", "/app/page.aspx"),
        ("/wiki/Mercury_(planet)", "/wiki/Mercury_(planet)"),
        ("/Products(S(1))/x", "/Products(S(1))/x"),
        ("/?PHPSESSID=abc", "/"),
        ("/?a=1&phpsessid=abc&b=2", "/?a=1&b=2"),
        ("/?jsessionid=1&a=1", "/?a=1"),
        ("/?a=1&ASPSESSIONIDQQGGGNCA=XYZ", "/?a=1"),
        ("/?cfid=1&cftoken=2&a", "/?a"),
        ("/?sid=4f2a9c&a=1", "/?a=1"),
        ("/?a=1&sid=abcdefabcdefabcdef", "/?a=1"),
        ("/?sid=1234", "/?sid=1234"),
        ("/?sid=politics", "/?sid=politics"),
        ("/?inside=a1b2", "/?inside=a1b2"),
        ("/?osCsid=a&XTCsid=b&zenid=c&MSCSID=d&mscssid=e&wosid=f&___SID=U&gsessionid=h&a=1", "/?a=1"),
        ("/?session-id=1-2&session_id=3&PHPSESSIONID=x&AspxAutoDetectCookieSupport=1", "/"),
        ("/?s=0123456789abcdef0123456789ABCDEF&a=1", "/?a=1"),
        ("/?session=0123456789abcdef0123456789abcdef01234567", "/"),
        ("/a;s=0123456789abcdef0123456789abcdef/b", "/a/b"),
        ("/?s=hello&session=spring-2019&ses=2", "/?s=hello&session=spring-2019&ses=2"),
        ("/?s=0123456789abcdef0123456789abcde", "/?s=0123456789abcdef0123456789abcde"),
        ("/?s=0123456789abcdef0123456789abcdef0", "/?s=0123456789abcdef0123456789abcdef0"),
        ("/?utm_source=x&utm_medium=y&id=3&UTM_Campaign=z", "/?id=3"),
        ("/?%75tm_source=x", "/"),
        ("/?fbclid=abc", "/"),
        ("/?a=1&gclid=abc&msclkid=d", "/?a=1"),
        ("/?utm_source=x&", "/"),
        ("/?q=utm_source=x", "/?q=utm_source=x"),
        ("/?gad_source=1&gad_campaignid=2&_gac=3&_gl=4&_ga=5&wbraid=6&a=1", "/?a=1"),
        ("/?mtm_campaign=x&pk_kwd=y&piwik_campaign=z&matomo_source=v&hsa_acc=w&ga_place=u", "/"),
        ("/?at_medium=a&at_custom1=b&ns_mchannel=c&wt_mc=d&WT.mc_id=e&xtor=f", "/"),
        ("/?yclid=1&ysclid=2&igsh=3&igshid=4&mc_eid=5&mc_cid=6&epik=7&ttclid=8&rdt_cid=9&ScCid=a", "/"),
        ("/?__cft__%5B0%5D=a&__tn__=b&__xts__%5B0%5D=c&fb_source=d&ref_src=e&wprov=sfla1", "/"),
        ("/?_ke=a&_kx=b&bsft_clkid=c&elqTrackId=d&trk_msg=e&ml_subscriber_hash=f&s_kwcid=g&ef_id=h", "/"),
        (
            "/?pk=1&pk_id=2&at_home=3&ns=4&ga_id=5&hsa=6&at=7&wt=8",
            "/?pk=1&pk_id=2&at_home=3&ns=4&ga_id=5&hsa=6&at=7&wt=8",
        ),
        (
            "/?token=1&visit=2&ref=3&campaign=4&cid=5&click=6&trk=7",
            "/?token=1&visit=2&ref=3&campaign=4&cid=5&click=6&trk=7",
        ),
        ("/?gclidder=1&my_fbclid=2", "/?gclidder=1&my_fbclid=2"),
        ("/?ref=home&source=x&id=1", "/?ref=home&source=x&id=1"),
        # What is left when the id is gone is read again.
        ("/a/..;jsessionid=1/b", "/b"),
        ("/a/%2e%2e;jsessionid=1/%2e;jsessionid=2/b", "/b"),
        ("/a;jsess;jsessionid=1/;jsessionid=2", "/a;jsess/"),
    ],
)
def test_session_ids_and_tracking_are_dropped(written: str, expected: str) -> None:
    assert normalize("http://example.org" + written) == "http://example.org" + expected
    assert normalize("http://example.org" + expected) == "http://example.org" + expected


def test_the_longest_url() -> None:
    home = "http://example.org/"
    longest = home + "a" * (MAX_LENGTH - len(home))
    assert normalize(longest) == longest
    assert normalize(longest + "a") is None
    assert normalize(longest + "#fragment") == longest
    assert normalize("a" * (MAX_LENGTH - len(home)), home) == longest
    assert normalize("a" * (MAX_LENGTH - len(home) + 1), home) is None
    assert normalize(home + "?" + "a" * MAX_LENGTH) is None
    assert normalize(home + "ü" * 600) is None, "the length counts as sent, with escapes"
    assert normalize(home + "a" * 3_000_000) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.org", "https://example.org/"),
        (" example.org/a?b \n", "https://example.org/a?b"),
        ("example.org:8080/a", "https://example.org:8080/a"),
        ("//example.org/a", "https://example.org/a"),
        ("localhost:8000", "http://localhost:8000/"),
        ("localhost", "http://localhost/"),
        ("127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("http://example.org", "http://example.org/"),
        ("word", None),
        ("/a.html", None),
        ("ftp://example.org/", None),
        ("mailto:me@example.org", None),
        ("me@example.org", None),
        ("", None),
    ],
)
def test_seeds_as_people_type_them(text: str, expected: str | None) -> None:
    assert seed_url(text) == expected


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("http://example.org/", ""),
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("ftp://example.org/", "scheme ftp is not http or https"),
        ("mailto:me@example.org", "scheme mailto is not http or https"),
        ("word", "no scheme: write https:// in front"),
        ("http://", "no host"),
        ("https:///?x", "no host"),
        ("http://:80/", "no host"),
        ("http://user@/", "no host"),
        ("http://a b/", "host a b is not a host name or address"),
        ("http://[::1/", "host [::1 is not a host name or address"),
        ("http://256.256.256.256/", "host 256.256.256.256 is not a host name or address"),
        ("http://example.org:99999/", "port 99999 is not a number up to 65535"),
        ("http://example.org:x/", "port x is not a number up to 65535"),
        ("http://example.org:" + "9" * 5000, "port 99999999999999999999 is not a number up to 65535"),
        ("http://example.org/" + "a" * 3000, "too long: at most 2083 characters are crawled"),
        ("http://example.org/" + "a" * 9000, "too long: 9019 characters, at most 2083 are crawled"),
    ],
)
def test_why_not(written: str, sentence: str) -> None:
    assert why_not(written) == sentence
    assert (normalize(written) is None) == bool(sentence)


def test_split_and_host_of() -> None:
    assert split("http://h:8080/p?q") == ("http://h:8080", "/p?q")
    assert split("https://h/") == ("https://h", "/")
    assert split("http://[::1]/a//b") == ("http://[::1]", "/a//b")
    assert host_of("http://h:8080/p?q") == "h:8080"
    assert host_of("https://h/") == "h"
    assert host_of("http://[::1]:81/") == "[::1]:81"


def test_joins_are_remembered_in_bounds() -> None:
    for number in range(1000):
        normalize("/a", f"http://example.org/{number}")
    assert urls._joiner.cache_info().currsize <= 256
