"""Fingerprints of URLs met lately."""

from __future__ import annotations

from gossamer.frontier.recent import Recent


def urls(start: int, end: int) -> list[str]:
    return [f"https://example.org/{number}" for number in range(start, end)]


def test_a_url_is_fresh_once() -> None:
    recent = Recent(1 << 16)
    assert recent.fresh(["a", "b", "a"]) == ["a", "b"]
    assert recent.fresh(["b", "c"]) == ["c"]


def test_it_still_knows_nearly_all_after_it_has_grown() -> None:
    recent = Recent(1 << 20)
    for start in range(0, 160_000, 16):
        recent.fresh(urls(start, start + 16))
    assert len(recent) > 1 << 17
    assert len(recent.fresh(urls(0, 160_000))) < 32_000


def test_what_does_not_outgrow_it_is_known_for_good() -> None:
    recent = Recent(1 << 16)
    for start in range(0, 20_000, 16):
        recent.fresh(urls(start, start + 16))
    assert len(recent.fresh(urls(0, 20_000))) < 200


def test_its_size_has_a_limit() -> None:
    recent = Recent(10_000)
    for start in range(0, 100_000, 100):
        recent.fresh(urls(start, start + 100))
    assert len(recent) == 8192


def test_none_at_all_is_allowed() -> None:
    recent = Recent(0)
    assert recent.fresh(["a", "b"]) == ["a", "b"]
    assert len(recent) == 1
