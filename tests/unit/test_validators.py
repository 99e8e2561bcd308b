from __future__ import annotations

import pytest

from gossamer.rules.validators import Trust

A, B = (b'"a"', b"Mon, 16 Nov 2026 10:00:00 GMT"), (b'"b"', b"Tue, 17 Nov 2026 10:00:00 GMT")
NONE = (b"", b"")


def proven() -> Trust:
    trust = Trust()
    for _ in range(3):
        trust.came(NONE, A, B, changed=True)
    return trust


def test_nobody_is_believed_before_a_change_was_seen() -> None:
    trust = Trust()
    assert trust.ask_with(A, 0) == NONE
    trust.came(NONE, A, A, changed=False)  # which proves nothing
    assert trust.ask_with(A, 0) == NONE


def test_a_host_whose_validators_change_with_its_pages_is_asked_with_both() -> None:
    assert proven().ask_with(A, 0) == A


def test_a_page_with_one_validator_is_asked_with_that() -> None:
    assert proven().ask_with((b"", A[1]), 0) == (b"", A[1])
    assert proven().ask_with(NONE, 0) == NONE


@pytest.mark.parametrize("unchanged", [3, 9, 27, 81, 243])
def test_now_and_then_a_page_is_looked_at(unchanged: int) -> None:
    assert proven().ask_with(A, unchanged) == NONE
    assert proven().ask_with(A, unchanged + 1) == A


def test_a_constant_etag_is_not_asked_with_again_and_the_date_still_is() -> None:
    trust = proven()
    trust.came(NONE, A, (A[0], B[1]), changed=True)
    assert trust.lies
    assert trust.ask_with(A, 0) == (b"", A[1])


def test_a_constant_date_is_not_asked_with_again() -> None:
    trust = proven()
    trust.came(NONE, A, (B[0], A[1]), changed=True)
    assert trust.ask_with(A, 0) == (A[0], b"")


def test_who_lied_once_and_told_the_truth_twenty_times_since_is_believed() -> None:
    trust = proven()
    trust.came(NONE, A, (A[0], B[1]), changed=True)
    for _ in range(17):
        trust.came(NONE, A, B, changed=True)
    assert not trust.lies
    assert trust.ask_with(A, 0) == A


def test_validators_that_change_without_the_page_are_of_no_use() -> None:
    trust = proven()
    for _ in range(5):
        assert trust.ask_with(A, 0) == A
        trust.came(A, A, B, changed=False)
    assert trust.ask_with(A, 0) == NONE


def test_a_server_that_ignores_what_it_is_asked_with_is_asked_plainly_and_tried_again_later() -> None:
    trust = proven()
    asked = []
    for _ in range(200):
        sent = trust.ask_with(A, 0)
        asked.append(sent != NONE)
        trust.came(sent, A, A, changed=False)
    assert asked[:5] == [True] * 5
    assert not any(asked[5:60])
    assert 1 <= sum(asked[60:]) <= 5


def test_an_answer_without_a_body_shows_that_it_is_of_use() -> None:
    trust = proven()
    for _ in range(4):
        trust.came(A, A, A, changed=False)
    trust.not_modified(A)
    for _ in range(4):
        trust.came(A, A, A, changed=False)
    assert trust.ask_with(A, 0) == A


def test_a_page_that_lost_its_validators_says_nothing_of_the_others() -> None:
    trust = proven()
    trust.came(NONE, A, NONE, changed=True)
    assert not trust.lies
