from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from gossamer.agent.progress import Progress
from gossamer.cli.numbers import count, rate, share, size, span
from gossamer.cli.plain import progress_line, status_text, summary_text
from gossamer.cli.view import LiveView, render

HOME = Path("/data/crawls/of-the-year/example.org")


def progress() -> Progress:
    return Progress(
        pages=18_504,
        run_pages=8_000,
        ok=18_000,
        faults=3,
        excluded=450,
        urls=1_234_567,
        hosts=950,
        bytes=12_345_678,
        seconds=4,
        cpu_seconds=3.5,
        max_pages=100_000,
        pages_per_s=4112.4,
        mean_pages_per_s=4000,
        peak_pages_per_s=5200,
        bytes_per_s=57e6,
        queued=45_000,
        in_flight=241,
        hosts_ready=38,
        hosts_waiting=909,
        hosts_down=3,
        statuses={"2xx": 18_000, "3xx": 270, "4xx": 180, "5xx": 54},
        reasons={"timeout": 1, "dns": 2},
        stages={"fetch": 41.0, "parse": 62.0, "store": 50.0},
        limit="Limited by politeness: 38 of 950 hosts are ready.",
    )


def drawn(state: Progress, width: int, *, colour: bool = False, encoding: str = "utf-8") -> list[str]:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    console = Console(
        file=file, width=width, force_terminal=True, color_system="standard" if colour else None, legacy_windows=False
    )
    console.print(render(state, HOME))
    buffer = file.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(encoding).splitlines()


def test_a_terminal_of_120_columns_shows_everything() -> None:
    assert [line.rstrip() for line in plain(drawn(progress(), 120))] == [
        "crawl   ━━━━━━─────────────────────────────── 18,504 / 100,000 pages · 20 s left · 18 % · 4.0 s so far",
        "speed   4,112/s now · 4,000/s mean · 5,200/s peak · 57.0 MB/s · 241 in flight",
        "hosts   38 ready · 909 waiting · 3 down",
        "URLs    1,234,567 known · 45,000 queued · 450 excluded",
        "status  ████████████████████████████████████▓▒░╳ █ 2xx 18,000 · ▓ 3xx 270 · ▒ 4xx 180 · ░ 5xx 54 · ╳ fault 3",
        "limit   politeness: 38 of 950 hosts are ready · slowest stage parse, 62 µs",
        "data    /data/crawls/of-the-year/example.org/warc · 12.3 MB received",
        "stop    Ctrl-C stops cleanly; the same command goes on",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("colour", [True, False])
def test_eight_lines_that_fit(width: int, colour: bool) -> None:
    lines = plain(drawn(progress(), width, colour=colour))
    assert len(lines) == 8
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for fact in (
        "18,504 / 100,000 pages",
        "20 s left",
        "4,112/s now",
        "4,000/s mean",
        "5,200/s peak",
        "38 ready · 909 waiting · 3 down",
        "1,234,567 known · 45,000 queued · 450 excluded",
        "2xx 18,000",
        "fault 3",
        "politeness: 38 of 950 hosts are ready",
        "example.org/warc",
        "12.3 MB received",
        "Ctrl-C",
    ):
        assert fact in text


@pytest.mark.parametrize("width", [1, 20, 40])
def test_even_absurd_widths_keep_eight_lines(width: int) -> None:
    lines = plain(drawn(progress(), width))
    assert len(lines) == 8
    assert max(map(len, lines)) <= width


def test_colours_only_where_wanted() -> None:
    assert any("\x1b[32m" in line for line in drawn(progress(), 80, colour=True))
    assert not any("\x1b[3" in line for line in drawn(progress(), 80))


def test_without_colours_the_strip_uses_shades() -> None:
    assert "▓▒░╳" in drawn(progress(), 80)[4]
    assert "▓" not in drawn(progress(), 80, colour=True)[4]


def test_a_terminal_that_knows_only_ascii() -> None:
    lines = plain(drawn(progress(), 80, encoding="ascii"))
    assert all(line.isascii() for line in lines)
    assert lines[0].startswith("crawl   ####.................... 18,504")
    assert "2xx 18,000" in lines[4]


def test_before_the_first_answer() -> None:
    lines = [line.rstrip() for line in plain(drawn(Progress(), 80))]
    assert len(lines) == 8
    assert "0 pages" in lines[0]
    assert lines[4] == "status  no answers yet"
    assert lines[5] == "limit"


@pytest.mark.parametrize(
    ("max_pages", "time_limit", "first", "filled"),
    [
        (0, 0, "1,000 pages · 50 % of known URLs", 12),
        (2000, 0, "1,000 / 2,000 pages · 10 s left · 50 %", 12),
        (0, 40, "1,000 pages · 30 s left · 25 %", 6),
        (2000, 15, "1,000 pages · 5.0 s left · 66 %", 16),
        (2000, 1000, "1,000 / 2,000 pages · 10 s left · 50 %", 12),
        (500, 0, "1,000 / 500 pages · 0 s left · 100 %", 24),
    ],
)
def test_the_bar_shows_the_limit_that_comes_first(max_pages: int, time_limit: float, first: str, filled: int) -> None:
    state = Progress(
        pages=1000, urls=3000, queued=1500, seconds=10, mean_pages_per_s=100, max_pages=max_pages, time_limit=time_limit
    )
    line = plain(drawn(state, 80))[0]
    assert first in line
    assert (line.count("━"), line.count("─")) == (filled, 24 - filled)


def test_rare_outcomes_are_seen_in_the_strip() -> None:
    state = Progress(statuses={"2xx": 10_000_000, "5xx": 1, "9xx": 1})
    strip = plain(drawn(state, 80))[4]
    assert strip.split(" 2xx")[0].count("░") == 1
    assert "other 1" in strip


def test_the_live_view_draws_in_place_and_leaves_nothing() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, color_system=None, legacy_windows=False)
    with LiveView(HOME, console) as view:
        view.update(progress())
        view.notice("seed [bold]ftp://x is left out")
        view.update(progress())
    out = file.getvalue()
    assert "seed [bold]ftp://x is left out\n" in out
    assert out.count("\x1b[1A") >= 7 * 2
    assert out.endswith("\x1b[2K")  # the last thing drawn is nothing


def test_the_summary_is_one_to_paste() -> None:
    state = progress()
    state.reason = "time_limit"
    assert summary_text(state, HOME).splitlines() == [
        "crawl     /data/crawls/of-the-year/example.org: the time limit is reached",
        "this run  4.0 s, 3.5 s of CPU, 8,000 pages, 2,000/s",
        "pages     18,504 (18,000 ok, 504 other), 12.3 MB received",
        "URLs      1,234,567 known on 950 hosts: 450 excluded, 3 faults",
        "status    2xx 18,000 · 3xx 270 · 4xx 180 · 5xx 54",
        "failed    dns 2 · timeout 1",
        "data      /data/crawls/of-the-year/example.org/warc",
    ]


def refreshed() -> Progress:
    state = progress()
    state.keep_fresh, state.freshness, state.age, state.due = True, 0.934, 7380.0, 45
    state.revisits, state.revisits_changed, state.revisits_unmodified, state.gone = 1234, 120, 800, 12
    return state


FRESH = "93 % of copies · mean age 2 h 3 min · 45 due · 1,234 visited again (120 changed, 800 unmodified) · 12 gone"


def test_a_crawl_that_visits_pages_again_says_so() -> None:
    state = refreshed()
    assert f"fresh     {FRESH}" in summary_text(state, HOME).splitlines()
    assert f"fresh     {FRESH}" in status_text(state, HOME).splitlines()
    assert " · fresh 93 %, due 45 · " in progress_line(state)
    lines = [line.rstrip() for line in plain(drawn(state, 120))]
    assert len(lines) == 9
    assert lines[4] == f"fresh   {FRESH}"
    assert plain(drawn(state, 60))[4].rstrip() == "fresh   93 % of copies · mean age 2 h 3 min · 45 due"


def test_the_plain_line() -> None:
    assert progress_line(progress()) == (
        "4.0 s · 18,504 / 100,000 pages · 4,112/s · 12.3 MB · queued 45,000 · faults 3"
        " · hosts 38 ready 909 waiting 3 down · limited by politeness: 38 of 950 hosts are ready"
    )


def test_the_status_says_how_old_it_is() -> None:
    state = progress()
    state.updated_at = 1000.0
    assert "as of     2 min 5 s ago" in status_text(state, HOME, now=1125.0).splitlines()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_960, "1.0 MB"), (123e9, "123 GB")],
)
def test_sizes(number: float, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0/s"), (0.5, "0.50/s"), (12.34, "12.3/s"), (99.96, "100/s"), (4112.4, "4,112/s")]
)
def test_rates(number: float, text: str) -> None:
    assert rate(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.25, "0.2 s"),
        (9.96, "10 s"),
        (72, "1 min 12 s"),
        (120, "2 min"),
        (3600 * 3 + 125, "3 h 2 min"),
        (86400, "1 d"),
        (86400 + 59, "1 d"),
        (86400 * 2 + 3600 * 4 + 9, "2 d 4 h"),
    ],
)
def test_spans(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_counts_and_shares() -> None:
    assert count(1_234_567) == "1,234,567"
    assert (share(999, 1000), share(1000, 1000), share(1, 0)) == ("99 %", "100 %", "0 %")


def plain(lines: list[str]) -> list[str]:
    """Without the terminal's control sequences."""
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
