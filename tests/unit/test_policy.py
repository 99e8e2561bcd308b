"""How politely, as pure functions of what is known."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from gossamer.rules.policy import retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        ("99999999999999999999", 86_400.0),
        (formatdate(NOW + 10 * 86_400, usegmt=True), 86_400.0),
        (None, 0.0),
        ("", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("\u0663", 0.0),
        ("Fri, 99 Foo 2026 25:61:61 GMT", 0.0),
        ("9999-99-99", 0.0),
    ],
)
def test_retry_after_in_both_forms(value: str | None, seconds: float) -> None:
    assert retry_after(value, NOW) == seconds
