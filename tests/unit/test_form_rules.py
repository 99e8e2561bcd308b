"""URLs of forms that are sent, and which forms may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.app_classes import application_of
from gossamer.agent.application import Request
from gossamer.apps.form_rules import is_token, refusal
from gossamer.config import AppRule, FetchConfig, HostRule, app_of, load_text
from gossamer.errors import ConfigError
from gossamer.fetch.access import Access
from gossamer.frontier import keys
from gossamer.model import Method, State, Visit
from gossamer.model.post import LONGEST_BODY, body_of, known_as, plain, posted
from gossamer.model.url import normalize, seed_url
from gossamer.parse import LinkScanner
from gossamer.parse.forms import Field, forms_of
from gossamer.store.captures import read_capture
from gossamer.store.cdxj import line_here

SENT = "http://a.test/find?x=1#__wb_method=POST&q=zwei+W%C3%B6rter"


def test_a_request_with_a_body_has_a_url_that_is_taken_apart_again() -> None:
    assert posted("http://a.test/find?x=1", "q=zwei+W%C3%B6rter") == SENT
    assert (plain(SENT), body_of(SENT)) == ("http://a.test/find?x=1", "q=zwei+W%C3%B6rter")
    assert posted("http://a.test/", "") == "http://a.test/#__wb_method=POST"
    assert body_of("http://a.test/#__wb_method=POST") == body_of("http://a.test/") == ""


@pytest.mark.parametrize(
    "body", ["a b", "a\r\nX: 1", "a#b", "a=%zz", "a=%", "ä", "a=/", "a" * (LONGEST_BODY + 1)], ids=lambda body: body[:9]
)
def test_what_is_no_body(body: str) -> None:
    assert posted("http://a.test/", body) is None
    with pytest.raises(ValueError, match="body"):
        Request("http://a.test/", body=body)


def test_the_url_of_a_form_stays_what_it_is_for_who_looks_it_up() -> None:
    assert known_as(SENT) == SENT
    assert known_as("A.test/find?x=1#__wb_method=POST&q=1", seed_url) == "https://a.test/find?x=1#__wb_method=POST&q=1"
    assert known_as("http://a.test/#__wb_method=POSTER") == "http://a.test/"
    assert known_as("http://a.test/#__wb_method=POST&a b") == "http://a.test/"
    assert known_as("mailto:x#__wb_method=POST&q=1") is None


@given(st.text() | st.text("ht:/p.a#?&=POST_wb%23"), st.sampled_from(["", SENT, "&q=1", "#__wb_method=POST"]))
def test_no_url_that_is_normalised_is_a_forms(start: str, end: str) -> None:
    for text in (start + end, "http://a.test/" + start + end):
        for url in (normalize(text), normalize(text, "http://b.test/"), normalize(text, SENT), seed_url(text)):
            assert url is None or "#" not in url


@pytest.mark.parametrize("whole", [False, True])
def test_no_link_is_a_forms(whole: bool) -> None:
    links = [
        SENT,
        "#__wb_method=POST&q=1",
        "/find#__wb_method=POST&q=1",
        "/find?__wb_method=POST&q=1",
        "&#35;x",
        "%23x",
    ]
    odd = "<p><base href='http://a.test/#__wb_method=POST'>" if whole else ""
    body = odd + "".join(f'<a href="{link}">x</a>' for link in links)
    for base in ("http://a.test/", SENT):
        found = LinkScanner(frozenset(("a", "base")), obey_nofollow=False).scan(body.encode(), base, "text/html").urls
        assert found
        assert not [url for url in found if "#" in url]
        assert "http://a.test/find?__wb_method=POST&q=1" in found


def test_the_mark_of_a_form_is_kept_in_its_entry() -> None:
    packed = keys.pack_entry(0, 2, keys.POST, "p", "/find#__wb_method=POST&q=1")
    depth, tries, hops, scheme, path = keys.read_entry(keys.read_chunk(keys.pack_chunk([packed]))[0])
    assert (depth, tries, hops, scheme, path) == (0, 2, keys.POST, "p", "/find#__wb_method=POST&q=1")
    assert not hops & keys.REVISIT
    visit = Visit("http://a.test" + path, "a.test", depth, 2, 1)
    keys.read_marks(visit, hops)
    assert (visit.method, visit.hops, visit.suspect, visit.source) == (Method.POST, 0, False, False)
    assert (keys.marks_of(path), keys.marks_of("/find?__wb_method=POST")) == (keys.POST, 0)


def test_a_form_that_was_sent_is_queued_and_known_to_be() -> None:
    value = keys.sent_visit(0, 1, 1000.0)
    assert keys.is_queued(value)
    assert keys.is_sent(value)
    assert not keys.is_sent(keys.queued_visit(0))
    record = keys.read_visit(b"\0\0vtest.a\0p/find#__wb_method=POST", value)
    assert (record.state, record.tries, record.reason) == (State.QUEUED, 2, "unanswered")


def test_the_line_of_a_capture_as_web_archives_write_it() -> None:
    line = line_here((SENT, 0.0, "text/html", 200, bytes(20), 3, 4, ""), "x.warc.gz")
    assert line.startswith(
        'test,a)/find?__wb_method=post&q=zwei%20w%c3%b6rter&x=1 19700101000000 {"url": "http://a.test/find?x=1", '
    )
    assert line.endswith(', "filename": "x.warc.gz", "method": "POST", "requestBody": "q=zwei+W%C3%B6rter"}\n')
    capture = read_capture(line.encode().rstrip(), "", 0, 0)
    assert capture is not None
    assert capture.url == SENT


@pytest.mark.parametrize(("proxy", "target"), [("", b"/find?x=1"), ("http://p.test:1", b"http://a.test/find?x=1")])
def test_the_request_as_it_is_kept(proxy: str, target: bytes) -> None:
    lines = b"Content-Length: 18\r\n"
    request = Access(proxy, HostRule(""), FetchConfig(), "me").request(SENT, "", lines)
    assert request.startswith(b"POST " + target + b" HTTP/1.1\r\nHost: a.test\r\n")
    assert request.endswith(lines + b"\r\nq=zwei+W%C3%B6rter")
    asked = Access(proxy, HostRule(""), FetchConfig(), "me").request("http://a.test/", "", b"If-None-Match: x\r\n")
    assert asked.startswith(b"GET ")
    assert asked.endswith(b"If-None-Match: x\r\n\r\n")


# -- which forms -------------------------------------------------------------------------------------------------------

PAGE = "http://a.test/"
ANY = r"http://a\.test/find"


def why(fields: str, page: str = PAGE, allowed: str = ANY, tokens: bool = False, more: str = "") -> str:
    body = f"<form method=post action=http://a.test/find {more}>{fields}</form>"
    (form,) = forms_of(body.encode(), page, "text/html")
    return refusal(form, page, allowed, tokens)


def test_a_form_that_is_a_search_may_be_sent_where_that_is_allowed() -> None:
    search = "<input name=q><input type=hidden name=lang value=en><select name=s><option>1</select>"
    assert why(search) == ""
    assert "post=http://a\\.test/find" in why(search, allowed="")
    assert "must be allowed" in why(search, allowed=r"http://a\.test/")  # a part of it is not enough
    assert "must be allowed" in why(search, allowed=r"http://b\.test/find")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("<input name=user><input name=pass type=password>", "password"),
        ("<input name=q><input name=up type=file>", "file"),
        ("<input name=first><input name=last>", "one field"),
        ("<textarea name=comment></textarea>", "several lines"),
        ("<input name=q><input type=email name=mail>", "mail besides"),
        ("<input name=q><input type=hidden name=csrfmiddlewaretoken value=x>", "csrfmiddlewaretoken looks like"),
        ("<input name=q><input type=hidden name=__VIEWSTATE value=x>", "__VIEWSTATE"),
        ("<input name=q><input type=hidden name=p value=a94a8fe5ccb19ba61c4c0873d391e987>", "p looks like"),
    ],
)
def test_forms_that_are_left_though_they_would_be_allowed(fields: str, said: str) -> None:
    assert said in why(fields)
    assert bool(why(fields, tokens=True)) is ("looks like" not in said and "VIEW" not in said)


def test_a_form_is_believed_only_on_a_page_of_its_own_host() -> None:
    assert "another host" in why("<input name=q>", page="http://b.test/")


@pytest.mark.parametrize("kind", ["multipart/form-data", "text/plain", "TEXT/plain "])
def test_other_encodings_are_not_sent(kind: str) -> None:
    assert kind.strip().lower() in why("<input name=q>", more=f"enctype='{kind}'")
    assert why("<input name=q>", more="enctype=application/x-www-form-urlencoded") == ""


@pytest.mark.parametrize(
    ("name", "value"), [("lang", "en"), ("page_size", "20"), ("category", "a-very-long-name-of-words")]
)
def test_what_is_no_token(name: str, value: str) -> None:
    assert not is_token(Field(name, "hidden", value))


# -- settings ----------------------------------------------------------------------------------------------------------


def test_where_forms_may_be_sent_stands_beside_the_class() -> None:
    rule = app_of(r"hidden-web,post=http://a\.test/find,queries=3")
    assert (rule.post, rule.options) == (r"http://a\.test/find", '{"queries": 3}')
    assert application_of(rule).post == r"http://a\.test/find"
    assert load_text('[apps.h]\nrun = "hidden-web"\npost = "http://a/"\n', "x").apps[0].post == "http://a/"
    assert application_of(AppRule("h", "hidden-web")).post == ""


def test_where_forms_may_be_sent_said_wrongly() -> None:
    with pytest.raises(ConfigError, match="beside run"):
        application_of(AppRule("h", "hidden-web", options='{"post": "x"}'))
    with pytest.raises(ValueError, match="regular expression"):
        app_of("hidden-web,post=(")
    with pytest.raises(ConfigError, match="post"):
        load_text('[apps.h]\nrun = "hidden-web"\npost = "("\n', "x")
