"""Sessions: they stand for a key, for a while, in this process, as long as the key is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.responses import Response
from hypothesis import given
from hypothesis import strategies as st

from gossamer.service.keys import KeyFile, KeyRing
from gossamer.service.sessions import (
    LIFETIME,
    Sessions,
    cookie_name,
    drop_cookie,
    fresh_binding,
    read_cookie,
    set_cookie,
)


class World:
    def __init__(self, home: Path) -> None:
        self.file, self.ring = KeyFile(home), KeyRing(home)
        self.file.add("anna", "admin")
        self.now = 1000.0
        self.sessions = Sessions(self.ring, lambda: self.now)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_session_stands_for_its_key(world: World) -> None:
    value = world.sessions.make(world.ring.all()[0])
    found = world.sessions.key(value)
    assert found is not None
    assert (found.name, found.role) == ("anna", "admin")
    assert world.sessions.make(found) != value


def test_a_session_ends_with_its_time(world: World) -> None:
    value = world.sessions.make(world.ring.all()[0])
    world.now += LIFETIME - 1
    assert world.sessions.key(value) is not None
    world.now += 1
    assert world.sessions.key(value) is None


def test_a_session_ends_with_its_key(world: World) -> None:
    value = world.sessions.make(world.ring.all()[0])
    world.file.revoke("anna")
    assert world.sessions.key(value) is None
    world.file.add("anna", "admin")  # another key under the old name
    assert world.sessions.key(value) is None


def test_another_process_does_not_know_it(world: World) -> None:
    value = world.sessions.make(world.ring.all()[0])
    assert Sessions(world.ring, lambda: world.now).key(value) is None


def test_nothing_in_it_can_be_changed(world: World) -> None:
    value = world.sessions.make(world.ring.all()[0])
    for at in range(len(value)):
        changed = value[:at] + ("A" if value[at] != "A" else "B") + value[at + 1 :]
        # The last character of the signature has bits that mean nothing, so decoding it would let several pass.
        assert world.sessions.key(changed) is None, at
    assert world.sessions.key(value + "=") is None
    assert world.sessions.key(world.sessions.form_token("x")) is None


@given(text=st.text())
def test_no_text_raises_or_passes(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    sessions = Sessions(KeyRing(tmp_path_factory.getbasetemp() / "none"))
    assert sessions.key(text) is None
    assert not sessions.form_token_holds(text, "binding")
    assert isinstance(read_cookie(text, "gossamer_session"), str)


def test_a_form_belongs_to_its_session(world: World) -> None:
    binding = fresh_binding()
    token = world.sessions.form_token(binding)
    assert world.sessions.form_token_holds(token, binding)
    assert not world.sessions.form_token_holds(token, fresh_binding())
    assert not world.sessions.form_token_holds(world.sessions.form_token(""), "")


@pytest.mark.parametrize("https", [False, True])
def test_the_cookie_is_for_us_alone(https: bool) -> None:
    response = Response()
    set_cookie(response, "value", https=https)
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Path=/" in cookie
    assert "domain" not in cookie.lower()
    assert ("Secure" in cookie) == https
    assert cookie.startswith("__Host-") == https
    assert read_cookie(cookie, cookie_name(https)) == "value"
    drop_cookie(response, https=https)
    assert "Max-Age=0" in response.headers.getlist("set-cookie")[-1]
