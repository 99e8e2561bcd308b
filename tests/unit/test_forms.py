from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.forms import Field, Form, forms_of

URL = "http://a.test/dir/page?x=1"
HTML = "text/html; charset=utf-8"


def only(body: str) -> Form:
    (form,) = forms_of(body.encode(), URL, HTML)
    return form


def test_what_a_browser_would_send() -> None:
    form = only(
        '<form action="../find?gone=1" method=GET><input name=q type=search><input name=lang type=hidden value=en>'
        "<select name=sort><option value=new>Newest<option selected>Title</select>"
        "<input type=checkbox name=all checked><input type=checkbox name=none><input type=radio name=r value=2 checked>"
        "<textarea name=note>hello</textarea><input type=submit name=go value=Go><input name=off disabled>"
        "<input type=file name=up><input></form>"
    )
    assert form.action == "http://a.test/find"
    assert form.method == "get"
    assert form.fields[0] == Field("q", "text")
    assert form.fields[2] == Field("sort", "choice", "Title", ("new", "Title"))
    assert form.url({"q": "zwei Wörter"}) == (
        "http://a.test/find?q=zwei+W%C3%B6rter&lang=en&sort=Title&all=on&r=2&note=hello"
    )


def test_forms_that_are_not_there_and_choices_of_nothing() -> None:
    assert forms_of(b"<!-- <form> --><p>text", URL, HTML) == []
    assert only("<form><select name=q></select></form>").fields == (Field("q", "choice"),)


def test_an_action_that_is_not_there_is_the_page_itself() -> None:
    assert only("<form><input name=q></form>").action == "http://a.test/dir/page"
    assert only("<base href='http://b.test/'><form action=s><input name=q></form>").action == "http://b.test/s"


def test_post_keeps_its_query_and_other_methods_are_get() -> None:
    assert only("<form method=post action='/s?a=1'></form>") == Form("http://a.test/s?a=1", "post", ())
    assert only("<form method=dialog action='/s?a=1'></form>").method == "get"


@pytest.mark.parametrize("body", ["<form action='javascript:go()'></form>", "<p>no form</p>", ""])
def test_what_leads_nowhere_is_no_form(body: str) -> None:
    assert forms_of(body.encode(), URL, HTML) == []


def test_a_form_of_too_many_fields_is_left_and_forms_are_counted() -> None:
    assert forms_of(b"<form>" + b"<input name=q>" * 101 + b"</form>", URL, HTML) == []
    assert len(forms_of(b"<form><input name=q></form>" * 80, URL, HTML)) == 50


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    forms_of(b"<form action=" + body + b"><input name=" + body, URL, None)
