"""The count of what a page costs: how callgrind's file is read, and when a difference is one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import check
from callgrind import OTHER, PARTS, by_part, instructions, part_of
from check import complaints, differences, each, judged, more, rows_of

PYTHON, OURS, LIBC = "/usr/lib/libpython3.11.so.1.0", "/x/src/gossamer/parse/_links.so", "/usr/lib/libc.so.6"

# Three objects; calls between them, whose inclusive costs are those of others; names written once.
FILE = f"""# callgrind format
version: 1
positions: line
events: Ir
summary: 1166

ob=(1) {PYTHON}
fl=(1) ceval.c
fn=(1) eval
10 100
cob=(2) {OURS}
cfi=(2) _links.c
cfn=(2) links
calls=3 20
+1 1060
-2 5
* 1

ob=(2)
fl=(2)
fn=(2)
20 50
cob=(3) {LIBC}
cfn=(3) memcpy
calls=9 30
* 1010
fe=(4) _tags.h
+3 10

ob=(3)
fn=(3)
30 1000

totals: 1166
"""


def test_costs_are_counted_where_they_arise_and_once() -> None:
    assert instructions(FILE.splitlines(keepends=True)) == {PYTHON: 106, OURS: 60, LIBC: 1000}


def test_a_file_that_does_not_add_up_is_refused() -> None:
    with pytest.raises(ValueError, match="adds up to 1,166"):
        instructions(FILE.replace("totals: 1166", "totals: 1167").splitlines())


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/home/me/gossamer/.venv/lib/python3.11/site-packages/isal/isal_zlib.so", "deflate"),
        ("/home/me/gossamer/src/gossamer/store/_records.cpython-311-x86_64-linux-gnu.so", "gossamer, compiled"),
        ("/venv/lib/python3.12/site-packages/gossamer/parse/_links.so", "gossamer, compiled"),
        ("/venv/lib/python3.11/site-packages/pycurl.libs/libcurl-330bcbb6.so.4.8.0", "libcurl, pycurl"),
        ("/venv/lib/python3.11/site-packages/pycurl.libs/libcrypto-fa202293.so.3", "crypto"),
        ("/usr/lib/x86_64-linux-gnu/libcurl.so.4", "libcurl, pycurl"),
        ("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "crypto"),
        ("/usr/lib/python3.11/lib-dynload/_hashlib.cpython-311-x86_64-linux-gnu.so", "crypto"),
        ("/usr/lib/python3.11/lib-dynload/_struct.cpython-311-x86_64-linux-gnu.so", "python"),
        ("/usr/bin/python3.11", "python"),
        ("/usr/lib/libpython3.11.so.1.0", "python"),
        ("/venv/lib/python3.11/site-packages/rocksdict/rocksdict.so", "rocksdict"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc"),
        ("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "libc"),
        ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", OTHER),
        ("/venv/lib/python3.11/site-packages/msgspec/_core.so", OTHER),
        ("???", OTHER),
    ],
)
def test_a_shared_object_belongs_to_a_part(path: str, part: str) -> None:
    assert part_of(path) == part


def test_every_part_has_its_figure() -> None:
    parts = by_part({LIBC: 3, "/lib/libm.so.6": 4, "???": 1})
    assert parts.keys() == set(PARTS)
    assert (parts["libc"], parts[OTHER], parts["python"]) == (7, 1, 0)


def test_a_page_costs_what_more_pages_cost_more() -> None:
    assert each({"a": 1_000, "b": 50}, {"a": 4_000, "b": 50}, 1_500) == {"a": 2.0, "b": 0.0}


def test_per_cent_more() -> None:
    assert more(103, 100) == pytest.approx(3)
    assert more(0, 0) == 0
    assert more(1, 0) == float("inf")


KEPT = {"python": 600.0, "libc": 360.0, "other": 40.0}


def test_what_is_allowed_is_not_complained_of() -> None:
    assert not complaints("calls", KEPT, KEPT, 3)
    assert not complaints("calls", {"python": 629.0, "libc": 360.0, "other": 40.0}, KEPT, 3)
    assert not complaints("calls", {"python": 500.0, "libc": 300.0, "other": 30.0}, KEPT, 3)


def test_a_page_that_costs_more_is_told_with_the_difference() -> None:
    (said,) = complaints("calls", {"python": 640.0, "libc": 360.0, "other": 40.0}, KEPT, 3)
    assert said == "calls: a page costs 1,040, 4.0 % more than the 1,000 kept; 3 % is allowed"
    assert not complaints("calls", {"python": 640.0, "libc": 360.0, "other": 40.0}, KEPT, 5)


def test_a_part_that_costs_more_is_told_though_the_page_does_not() -> None:
    (said,) = complaints("calls", {"python": 540.0, "libc": 420.0, "other": 40.0}, KEPT, 3)
    assert said == "calls: libc costs 420, 16.7 % more than the 360 kept; 10 % is allowed"


def test_a_small_part_may_differ_and_a_new_one_of_weight_may_not() -> None:
    assert not complaints("calls", {"python": 600.0, "libc": 355.0, "other": 49.0}, KEPT, 3)
    (said,) = complaints("calls", {"python": 500.0, "libc": 360.0, "other": 40.0, "new": 60.0}, KEPT, 3)
    assert "new costs 60, inf % more than the 0 kept" in said


def test_only_what_was_counted_with_is_compared() -> None:
    kept = {"python": "3.11.7", "valgrind": "3.19.0"}
    assert differences({"python": "3.11.7"}, kept) == []
    assert differences({"python": "3.12.1"}, kept) == ["python 3.11.7 kept, 3.12.1 here"]
    assert differences({"isal": "1.8.0"}, kept) == ["isal unknown kept, 1.8.0 here"]


def figures(python: str, cost: float) -> dict[str, object]:
    return {"counted with": {"python": python}, "calls": {"all": cost}, "instructions": {"all": cost}}


def test_the_status_says_whether_a_page_costs_more() -> None:
    assert judged(figures("3.11.7", 101), figures("3.11.7", 100), 3) == (0, ["a page costs what it did"])
    status, said = judged(figures("3.11.7", 105), figures("3.11.7", 100), 3)
    assert status == 1
    assert [line.partition(":")[0] for line in said] == ["instructions", "calls"]
    assert judged(figures("3.11.7", 105), {}, 3)[0] == 0


def test_calls_are_judged_without_instructions() -> None:
    found = figures("3.11.7", 105)
    del found["instructions"]
    status, said = judged(found, figures("3.11.7", 100), 3)
    assert (status, len(said)) == (1, 1)


def test_another_interpreter_is_a_warning_not_a_failure() -> None:
    status, said = judged(figures("3.12.1", 150), figures("3.11.7", 100), 3)
    assert status == 0
    assert said[0].startswith("WARNING")
    assert "python 3.11.7 kept, 3.12.1 here" in said[0]
    assert any("50.0 % more" in line for line in said)


def test_rows_are_by_cost_and_end_with_the_sum() -> None:
    rows = rows_of({"libc": 100.0, "python": 300.0}, {"libc": 100.0, "python": 200.0})
    assert rows == [
        ["python", "300", "75%", "200", "+50.0 %"],
        ["libc", "100", "25%", "100", "+0.0 %"],
        ["in all", "400", "100%", "300", "+33.3 %"],
    ]
    assert rows_of({"libc": 100.0}, {})[0][3:] == ["-", "-"]


@pytest.mark.parametrize("given", [["--pages", "100", "100"], ["--keep", "--no-valgrind"]])
def test_what_cannot_be_counted_is_refused(given: list[str]) -> None:
    with pytest.raises(SystemExit):
        check.arguments(given)


def test_the_kept_figures_can_be_compared_with() -> None:
    kept = json.loads((check.HERE / "kept.json").read_text())
    assert judged(kept, kept, 0) == (0, ["a page costs what it did"])
    assert set(kept["instructions"]) == set(PARTS)
    assert sum(kept["calls"].values()) > 0
    assert kept["start"] > 0
