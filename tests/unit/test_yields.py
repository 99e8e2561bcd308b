"""Places that bring nothing new."""

from __future__ import annotations

import pytest

from gossamer.rules.places import branch_of, leads_elsewhere, place_of
from gossamer.rules.yields import ASIDE_AFTER, CLOSED_AFTER, LAST_AFTER, MOST_BRANCHES, Standing, Yields

SIZE = 5000


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", "/"),
        ("/about.html", "/"),
        ("/a/", "/a/"),
        ("/a/b.html", "/a/"),
        ("/a/b/c/d.html", "/a/b/"),
        ("/calendar/2031/5/", "/calendar/#/"),
        ("/calendar/2031/12/24", "/calendar/#/"),
        ("/cart?item=5", "/cart?"),
        ("/shop/list2?page=5", "/shop/list#?"),
        ("/a/b/c/d?x=/e/f", "/a/b/d?"),
        ("/?p=1", "/?"),
    ],
)
def test_places(path: str, place: str) -> None:
    assert place_of(path) == place


@pytest.mark.parametrize(
    ("url", "earlier", "expected"),
    [
        ("http://a.test/de/", "http://a.test/en/", True),
        ("http://a.test/de/x/a.html", "http://a.test/en/b.html?q=/1/2", False),
        ("http://a.test/b.html?q=/1/2/3", "http://a.test/a.html", True),
        ("http://a.test/b.html", "http://a.test/en/b.html", True),
        ("http://a.test/x/y/", "http://a.test/x/", False),
        ("https://a.test/de/", "http://a.test/de/", False),
        ("http://b.test/de/", "http://a.test/de/", True),
        ("http://b.test/de/x/", "http://a.test/de/", False),
    ],
)
def test_copies_whose_links_lead_elsewhere(url: str, earlier: str, expected: bool) -> None:
    assert leads_elsewhere(url, earlier) is expected


@pytest.mark.parametrize(
    ("path", "other", "branch"),
    [
        ("/de/a.html", "/en/a.html", "de"),
        ("/manual/pt-br/ssl/", "/manual/en/ssl/", "pt-br"),
        ("/docs/2.4/a.html", "/docs/2.2/a.html", "2.4"),
        ("/docs/v2/a.html", "/docs/latest/a.html", "v2"),
        ("/de/", "/en/", ""),
        ("/de/b.html", "/en/a.html", ""),
        ("/de/new/a.html", "/en/old/a.html", ""),
        ("/de/x/a.html", "/en/a.html", ""),
        ("/a.html", "/a.html", ""),
        ("/calendar/2031/a.html", "/calendar/2030/a.html", ""),
        ("/day/17/a.html", "/day/18/a.html", ""),
        ("/s/04fe2a77bc/a.html", "/s/98e1aa0b11/a.html", ""),
        ("/de/a.html?x=1", "/en/a.html?x=2", ""),
    ],
)
def test_branches(path: str, other: str, branch: str) -> None:
    assert branch_of(path, other) == branch


def test_a_host_has_only_so_many_branches() -> None:
    yields = Yields()
    names = [f"language-{number}" for number in range(MOST_BRANCHES + 1)]
    assert [yields.is_branch(name) for name in names] == [True] * MOST_BRANCHES + [False]
    assert yields.is_branch(names[0])
    assert not yields.is_branch("")


def seen(yields: Yields, path: str, mark: int, size: int = SIZE) -> bool:
    """Whether the page was barren, if it was looked at."""
    return yields.looks(place_of(path), size, suspect=True) and yields.saw(place_of(path), path, size, mark) is not None


@pytest.mark.parametrize(("suspect", "expected"), [(True, [1, 2, 8, 9, 32, 33, 128, 129]), (False, [32, 33, 128, 129])])
def test_pages_that_differ_are_looked_at_less_and_less(suspect: bool, expected: list[int]) -> None:
    yields = Yields()
    looked_at = []
    for number in range(1, 200):
        if yields.looks("/d/", SIZE, suspect):
            looked_at.append(number)
            assert yields.saw("/d/", f"/d/{number}", SIZE, number * 0x9E3779B97F4A7C15 % 2**64) is None
    assert looked_at == expected
    assert yields.barren == {}


def test_a_row_of_barren_pages_costs_the_place_its_standing() -> None:
    yields = Yields()
    standings = []
    for number in range(1, CLOSED_AFTER + 4):
        seen(yields, f"/d/{number}", 7)
        standings.append((yields.standing("/d/", suspect=True), yields.standing("/d/", suspect=False)))
    good, last, aside = Standing.GOOD, Standing.LAST, Standing.ASIDE
    first = 1  # the page that the second is compared with
    assert standings[first + LAST_AFTER - 2] == (good, good)
    assert standings[first + LAST_AFTER - 1] == (last, last)
    assert standings[first + ASIDE_AFTER - 1] == (aside, last)
    assert standings[first + CLOSED_AFTER - 2] == (aside, last)
    assert standings[first + CLOSED_AFTER - 1] == (aside, aside)
    assert yields.standing("/other/", suspect=True) is good


def test_pages_with_something_new_restore_it() -> None:
    yields = Yields()
    for number in range(1, ASIDE_AFTER + 3):
        seen(yields, f"/d/{number}", 7)
    assert yields.standing("/d/", suspect=True) is Standing.ASIDE
    for number in range(ASIDE_AFTER):
        assert not seen(yields, f"/d/new{number}", 0xFFFF << 8 * number & 2**64 - 1)
    assert yields.barren == {}
    assert yields.standing("/d/", suspect=True) is Standing.GOOD


def test_pages_of_other_sizes_are_not_compared_until_there_is_reason_to() -> None:
    yields = Yields()
    assert not seen(yields, "/d/1", 7)
    assert not yields.looks("/d/", 2 * SIZE, suspect=True)
    yields.repeats("/d/", "/d/x", SIZE, "/original")
    assert seen(yields, "/d/y", 7, 2 * SIZE)


def test_pages_without_words_are_never_barren() -> None:
    yields = Yields()
    assert [seen(yields, f"/d/{number}", 0) for number in range(20)] == [False] * 20


def test_short_pages_of_one_outline_count_while_only_such_pages_lead_to_them() -> None:
    def saw(page: int, suspect: bool) -> bool:
        return yields.saw("/d/", f"/d/{page}", SIZE, 0, outline=7, suspect=suspect) is not None

    yields = Yields()
    assert [saw(page, suspect=True) for page in range(ASIDE_AFTER + 1)] == [False] + [True] * ASIDE_AFTER
    assert yields.standing("/d/", suspect=True) is Standing.ASIDE
    assert not any(saw(page, suspect=False) for page in range(ASIDE_AFTER // 2))
    assert yields.barren == {}
    assert saw(99, suspect=False), "a place that is not suspected yet begins to be"
    assert yields.saw("/d/", "/d/100", SIZE, 0, outline=8, suspect=True) is None


def test_the_same_page_again_counts_at_once() -> None:
    yields = Yields()
    for number in range(ASIDE_AFTER):
        barren = yields.repeats("/d/", f"/d/{number}", SIZE, "/original")
        assert barren.row == number + 1
    assert yields.standing("/d/", suspect=True) is Standing.ASIDE
    assert yields.barren["/d/"].like == "/original"


def test_what_was_kept_holds() -> None:
    yields = Yields()
    for number in range(ASIDE_AFTER):
        yields.repeats("/d/", f"/d/{number}", SIZE, "/original")
    assert Yields(yields.barren).standing("/d/", suspect=True) is Standing.ASIDE


def test_endless_directories_are_one_place_in_the_end() -> None:
    yields = Yields()
    for number in range(200):
        name = "".join(chr(97 + int(digit)) for digit in str(number))
        yields.repeats(f"/{name}/", f"/{name}/x", SIZE, "/original")
    assert len(yields.barren) <= 33
    assert yields.standing("/new/", suspect=True) is Standing.ASIDE


def test_small_differences_of_the_fingerprint_are_none() -> None:
    yields = Yields()
    for number in range(1, 6):
        seen(yields, f"/d/{number}", 7 ^ (1 << number))
    assert yields.barren["/d/"].row == 4
    far = Yields()
    for number in range(1, 6):
        seen(far, f"/d/{number}", 7 ^ (0b11111 << 6 * number))
    assert far.barren == {}
