"""The parts of the benchmarks that decide something: the webs they make, the judge, the tables."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin

import pytest

import gossamer
from gossamer.config import Config, FetchConfig

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import caps
import charsets
import fetch_alone
import freshness
import fuzz
import hostile
import judge
import kill_loop
import kill_parts
import nginx
import snapshots
from crawlers import PEERS, Crawlee, Gossamer, PythonPeer, Run, Scrapy, Wget2, last_json
from fetch_load import Cost, Fetches, Turn
from fetch_server import KINDS, FetchServer
from frontier_load import LINKS, Links, Load
from frontier_scale import FIGURES
from frontier_scale import rows_of as frontier_rows
from fuzz_inputs import Inputs
from link_peers import links_of
from links import Compared, pages
from links import rows_of as link_rows
from processes import finish, resident
from side_by_side import arguments, crawlers_of, rows_of, stage_rows
from simulated_web import Arrival, Outcome, read_arrivals
from slow_servers import Lag, percentile, spread
from static_web import StaticWeb
from synthetic_urls import SyntheticWeb
from tables import figure, table

# -- the static web ----------------------------------------------------------------------------------------------------


def test_every_page_of_the_static_web_is_reachable_from_one_first_page() -> None:
    web = StaticWeb(4, 30, 8080)
    files = {f"http://{name.replace('/', ':8080/', 1)}": text for name, text in web.files() if name.endswith(".html")}
    files = {url.removesuffix("index.html"): text for url, text in files.items()}
    seen = {web.first_pages(1)[0]}
    queue = list(seen)
    while queue:
        url = queue.pop()
        found = {urljoin(url, href) for href in re.findall(r'<a href="([^"]*)"', files[url])} - seen
        seen |= found
        queue += found
    assert seen == files.keys()
    assert len(seen) == 4 * 31


def test_a_page_of_the_static_web_has_its_size_and_its_links() -> None:
    web = StaticWeb(100, 200, 8080)
    pages = [web.page(host, page) for host in (0, 57, 99) for page in range(0, 200, 10)]
    assert 13_600 < sum(map(len, pages)) / len(pages) < 14_000
    for page in pages:
        links = gossamer.parse(page.encode(), "http://127.1.0.1:8080/", "text/html").links
        assert sum(link.kind == "a" for link in links) == 16


def test_the_static_web_is_the_same_each_time() -> None:
    assert list(StaticWeb(2, 5, 8080).files()) == list(StaticWeb(2, 5, 8080).files())
    assert StaticWeb(2, 5, 8080, seed=2).page(0, 0) != StaticWeb(2, 5, 8080).page(0, 0)


def test_the_static_web_is_written_as_it_is(tmp_path: Path) -> None:
    web = StaticWeb(2, 9, 8080)
    size = web.write(tmp_path)
    assert (tmp_path / "127.1.0.2" / web.path(8).lstrip("/")).read_text() == web.page(1, 8)
    assert (tmp_path / "127.1.0.1/robots.txt").is_file()
    assert size == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())


def test_nginx_listens_on_loopback_only(tmp_path: Path) -> None:
    listens = re.findall(r"listen (\S+)", nginx.config(StaticWeb(300, 1, 8080), tmp_path, tmp_path))
    assert len(set(listens)) == 300
    assert all(address.startswith("127.1.") for address in listens)


# -- synthetic URLs ----------------------------------------------------------------------------------------------------


def test_synthetic_urls_are_unique_and_normalised() -> None:
    web = SyntheticWeb(40_000, 1_000)
    urls = [web.url(number) for number in range(web.urls)]
    assert len(set(urls)) == len(urls) == 40_000
    assert all(gossamer.normalize(url) == url for url in urls[::17])
    assert 50 < sum(map(len, urls)) / len(urls) < 60


def test_sizes_of_synthetic_hosts_follow_a_power_law() -> None:
    web = SyntheticWeb(40_000, 1_000)
    sizes = sorted(Counter(web.url(number).split("/")[2] for number in range(web.urls)).values(), reverse=True)
    assert len(sizes) == 1_000
    # Ten times the rank is a tenth of the size, to the power of 0.8.
    assert sizes[9] / sizes[99] == pytest.approx(10**0.8, rel=0.1)
    assert sizes[99] / sizes[999] == pytest.approx(10**0.8, rel=0.2)


def test_links_come_in_the_mix_of_a_crawl() -> None:
    load = Load("", 200_000, 1_000, 2_000)
    web = load.web
    links = Links(load)
    known = {web.url(number) for number in range(load.urls)}
    met = {url for page in links.first() for url in page}
    assert met < known
    kinds: Counter[str] = Counter()
    for _ in range(load.visits):
        page = links.page()
        assert len(page) == LINKS
        for url in page:
            kinds["recent" if url in met else "known" if url in known else "new"] += 1
            met.add(url)
    assert kinds["new"] == links.new
    share = {kind: count / kinds.total() for kind, count in kinds.items()}
    assert share["recent"] == pytest.approx(0.85, abs=0.02)
    assert share["known"] == pytest.approx(0.08, abs=0.02)
    assert share["new"] == pytest.approx(0.07, abs=0.01)


# -- the judge ---------------------------------------------------------------------------------------------------------


def arrivals(*rows: tuple[float, str, str]) -> list[Arrival]:
    return [Arrival(*row) for row in rows]


def test_requests_beyond_one_a_url_are_counted_without_robots() -> None:
    seen = arrivals((0, "a", "/robots.txt"), (1, "a", "/robots.txt"), (2, "a", "/x"), (3, "b", "/x"), (4, "a", "/x"))
    assert judge.repeated(seen) == 1


def test_the_smallest_gap_is_of_one_host_and_counts_robots() -> None:
    seen = arrivals((0.0, "a", "/robots.txt"), (0.1, "b", "/"), (0.5, "a", "/"), (0.9, "b", "/x"))
    assert judge.smallest_gap(seen) == (0.5, "a")
    assert judge.smallest_gap(seen[:2])[0] == float("inf")


@pytest.mark.parametrize(
    ("times", "window", "most"),
    [
        ([], 1.0, 0),
        ([5.0], 1.0, 1),
        ([0.0, 1.0, 2.0], 1.0, 2),
        ([0.0, 0.4, 0.9, 1.5, 1.6], 1.0, 3),
        ([0, 2, 4], 1.0, 1),
    ],
)
def test_the_most_in_a_window(times: list[float], window: float, most: int) -> None:
    assert judge.most_in(times, window) == most


def test_arrivals_are_read_from_the_log_of_the_simulated_web() -> None:
    line = '{"time":12.5,"host":"a.test","path":"/x","user_agent":"g","connection":1,"method":"GET","status":200}'
    assert read_arrivals([line])[0].url == "http://a.test/x"


@pytest.mark.parametrize("damage", ["none", "cut", "other url", "two records", "zeros"])
def test_a_capture_is_stored_only_if_its_record_is_whole_and_its_own(tmp_path: Path, damage: str) -> None:
    url = "http://a.test/x"
    target = "http://a.test/y" if damage == "other url" else url
    record = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {target}\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody".encode()
    member = gzip.compress(record)
    length = len(member) * (2 if damage == "two records" else 1)
    written = {"cut": member[:-9], "zeros": bytes(len(member)), "two records": member * 2}.get(damage, member)
    (tmp_path / "warc").mkdir()
    (tmp_path / "warc/f.warc.gz").write_bytes(b"before" + written)
    capture = {"url": url, "filename": "f.warc.gz", "offset": "6", "length": str(length)}
    assert judge.is_stored(tmp_path, capture) is (damage == "none")


def test_captures_are_pages_not_robots_and_broken_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "warc").mkdir()
    lines = [f'test,a){path} 2026 {{"url": "http://a.test{path}"}}' for path in ("/robots.txt", "/", "/x")]
    (tmp_path / "warc/f.cdxj").write_text("\n".join([*lines, "\0\0\0", lines[1][:-3]]) + "\n")
    pages, unreadable = judge.captures(tmp_path)
    assert [capture["url"] for capture in pages] == ["http://a.test/", "http://a.test/x"]
    assert unreadable == 2


def test_a_torn_log_loses_its_end_only(tmp_path: Path) -> None:
    (tmp_path / "000004.log").write_bytes(b"old")
    (tmp_path / "000009.log").write_bytes(bytes(range(200)))
    snapshots.tear_log(tmp_path, random.Random(1))
    left = (tmp_path / "000009.log").read_bytes()
    assert 136 <= len(left) < 200
    assert bytes(range(200)).startswith(left)
    assert (tmp_path / "000004.log").read_bytes() == b"old"


def test_repeats_over_the_bound_break_the_rule() -> None:
    seen = arrivals((0, "a", "/x"), (1, "a", "/x"), (2, "a", "/x"))
    assert kill_loop.judge_repeats(seen, 2).holds
    broken = kill_loop.judge_repeats(seen, 1.9)
    assert not broken.holds
    assert broken.row()[-1] == "BROKEN"


def test_records_that_are_missing_again_or_misnumbered_break_the_rule() -> None:
    rows = [{"url": url, "number": number} for number, url in enumerate("abc", 1)]
    assert kill_parts.judge_records("it", rows, set("abc")).holds
    for wrong in (rows[:2], [*rows, {"url": "a", "number": 4}], rows[::-1]):
        assert not kill_parts.judge_records("it", wrong, set("abc")).holds


def test_hits_that_are_told_twice_or_not_at_all_break_the_rule() -> None:
    def call(id_: str, *urls: str) -> tuple[str, bytes]:
        return id_, json.dumps({"hits": [{"url": url, "earlier": False} for url in urls]}).encode()

    def broken(*calls: tuple[str, bytes], hits: str = "abc", kills: int = 1) -> list[str]:
        found = kill_parts.judge_calls(calls, Counter(hits), set("abc"), kills)
        return [verdict.rule for verdict in found if not verdict.holds]

    hit, told, again = "each page is a hit once", "each hit is told in one call", "calls made again, equal to the first"
    assert broken(call("1", "a", "b"), call("2", "c")) == []
    assert broken(call("1", "a", "b"), call("1", "a", "b")) == [], "made again; and one page was there before"
    assert broken(call("1", "a", "b"), call("1", "a", "b"), kills=0) == [again]
    assert broken(call("1", "a", "b"), call("1", "a", "b", "c")) == [again], "another one under the same id"
    assert broken(call("1", "a")) == [told]
    assert broken(call("1", "a", "b"), call("2", "b")) == [told]
    assert broken(call("1", "a", "b"), hits="abcc") == [hit]


def test_hosts_that_are_open_at_a_time() -> None:
    assert kill_parts.most_open(arrivals((0, "a", "/"), (1, "a", "/x"), (2, "b", "/"))) == 1
    assert kill_parts.most_open(arrivals((0, "a", "/"), (1, "b", "/"), (2, "a", "/x"), (3, "b", "/x"))) == 2


# -- fetching ----------------------------------------------------------------------------------------------------------


def test_every_host_has_one_request_at_a_time_and_the_warm_up_does_not_count() -> None:
    turn = Turn(Fetches("http", "127.0.0.1:1", connections=3, hosts=5, requests=10, warm_up=4, page_size=1))
    seen: list[str] = []
    while not turn.over:
        out = []
        while (found := turn.next()) is not None:
            out.append(found)
        assert len({host for host, _ in out}) == len(out) <= 3
        assert all(f"//h{host}." in url for host, url in out)
        seen += [url for _, url in out]
        for host, _ in out:
            turn.came(host)
    assert len(set(seen)) == len(seen)
    assert turn.cost(0.0).requests == len(seen) - 4 >= 10


def test_what_the_idle_process_takes_is_no_cost_of_requests() -> None:
    assert Cost(1_000, 2.0, 0.1, 0.0).us == pytest.approx(100)
    assert Cost(1_000, 2.0, 0.1, 0.01).us == pytest.approx(80)


def test_rows_of_the_fetcher_give_the_median_and_mark_what_misses_its_target() -> None:
    case = fetch_alone.CASES[0]
    ours = [Cost(1_000, 0.1, cpu, 0.0) for cpu in (0.060, 0.080, 0.090)]
    row = fetch_alone.rows_of({(case, "fetcher"): ours, (case, "bare"): [Cost(1_000, 0.1, 0.050, 0.0)]}, {case: 0.5})[0]
    assert row[3:] == ["70.0", "80.0 !", "60.0-90.0", "50.0", "30.0", "10,000", "50%"]
    under = fetch_alone.rows_of({(case, "fetcher"): ours[:1], (case, "bare"): ours[:1]}, {})[0]
    assert under[4] == "60.0"


def test_the_fetch_server_listens_on_loopback_only(tmp_path: Path) -> None:
    listens = re.findall(r"listen (\S+)", FetchServer(tmp_path).config())
    assert len(set(listens)) == len(KINDS)
    assert all(address.startswith("127.0.0.1:") for address in listens)


def test_a_long_wait_counts_for_all_who_would_have_waited() -> None:
    assert spread([0.0, 0.012], 0.005) == pytest.approx([0.0, 0.012, 0.007, 0.002])
    lag = Lag()
    lag.moments, lag.waits = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]
    assert lag.after(2.0) == [0.2, 0.3]


@pytest.mark.parametrize(("share", "value"), [(0.5, 51), (0.99, 100), (1.0, 100), (0.0, 1)])
def test_percentiles(share: float, value: float) -> None:
    assert percentile(list(range(100, 0, -1)), share) == value
    assert percentile([], share) == 0.0


def test_the_memory_of_a_process_can_be_read() -> None:
    assert resident(os.getpid()) > 5_000_000
    assert resident(2**22 + 1) == 0


@pytest.mark.parametrize(("last", "holds"), [(100e6, True), (129e6, True), (131e6, False)])
def test_memory_that_grows_after_the_warm_up_breaks_the_rule(last: float, holds: bool) -> None:
    warm_up = [hostile.Sample(second, 900_000_000) for second in range(30)]
    samples = [hostile.Sample(30 + second, int(100e6 if second < 35 else last)) for second in range(71)]
    assert hostile.judge_memory(warm_up + samples).holds is holds


_TRUTH = {
    "http://a.test/": Outcome("ok", 200),
    "http://a.test/gone": Outcome("missing", 404),
    "http://a.test/x.pdf": Outcome("non-html", 200),
    "http://a.test/private": Outcome("robots-excluded", 0),
    "http://a.test/hang": Outcome("dropped", 0),
    "http://a.test/cut": Outcome("cut", 200),
}


def _known(**states: tuple[str, int]) -> dict[str, dict[str, object]]:
    right = {"": ("fetched", 200), "gone": ("fetched", 404), "x.pdf": ("excluded", 200), "private": ("excluded", 0)}
    right |= {"hang": ("dead", 0), "cut": ("fetched", 200)}
    return {
        f"http://a.test/{path}": {"state": s, "status": n, "reason": ""} for path, (s, n) in (right | states).items()
    }


def test_pages_as_the_web_has_them_break_no_rule() -> None:
    assert not list(hostile.wrong_pages(_TRUTH, _known()))
    assert not list(hostile.impossible(_TRUTH, _known()))


@pytest.mark.parametrize(
    ("path", "record", "incomplete", "cannot_be"),
    [
        ("gone", ("queued", 0), True, False),
        ("gone", ("fetched", 200), True, True),
        ("gone", ("dead", 0), True, True),
        ("private", ("fetched", 200), True, True),
        ("x.pdf", ("dead", 0), True, False),
        ("hang", ("fetched", 200), False, True),
        ("cut", ("dead", 0), False, False),
    ],
)
def test_pages_that_are_missing_or_cannot_be(
    path: str, record: tuple[str, int], incomplete: bool, cannot_be: bool
) -> None:
    known = _known(**{path: record})
    assert bool(list(hostile.wrong_pages(_TRUTH, known))) is incomplete
    assert bool(list(hostile.impossible(_TRUTH, known))) is cannot_be
    del known[f"http://a.test/{path}"]
    assert list(hostile.wrong_pages(_TRUTH, known)) == [f"http://a.test/{path} is not known"]


def test_a_visit_before_its_time_is_told_with_its_host_and_paths() -> None:
    seen = arrivals((0.0, "a", "/robots.txt"), (0.1, "b", "/"), (0.15, "a", "/"), (1.0, "a", "/x"), (1.0, "b", "/y"))
    seen += arrivals((1.1, "b", "/shared/robots.txt"))
    judged = hostile.judge_politeness(seen, 0.2)
    assert list(judged.wrong) == ["a: 0.1500 s, /robots.txt then /"]
    assert hostile.judge_politeness(seen, 0.15).verdict.holds


def test_a_crash_is_told_from_an_end() -> None:
    assert hostile.judge_end(0, {"reason": "time_limit"}, "").holds
    assert not hostile.judge_end(1, {}, "").holds
    assert not hostile.judge_end(0, {"reason": "complete"}, "Traceback (most recent call last):").holds


def test_caps_are_judged_in_whole_windows_of_their_phase() -> None:
    phase = caps.Phase("rate", 10.0, 100.0, 125.0)
    times = [(99.9, 50.0), *((100 + second / 10, 1.0) for second in range(200)), (121.0, 500.0)]
    assert caps.windows(times, phase) == [10.0, 10.0]
    assert caps.judge_phase(times, phase).holds
    assert not caps.judge_phase([*times, (105.0, 6.0)], phase).holds
    assert not caps.judge_phase(times, phase._replace(until=105.0)).holds


def test_a_setting_is_rewritten_where_it_stands() -> None:
    config = Config(fetch=FetchConfig(rate=200.0, bandwidth=2_000_000))
    text = caps.rewritten(caps.rewritten(config.to_toml(), "rate", 100.0), "bandwidth", 1e6)
    changed = tomllib.loads(text)["fetch"]
    assert (changed["rate"], changed["bandwidth"]) == (100, 1_000_000)
    with pytest.raises(ValueError, match="0 lines for speed"):
        caps.rewritten(text, "speed", 1.0)


# -- running and printing ----------------------------------------------------------------------------------------------


def test_a_finished_program_tells_what_it_cost(tmp_path: Path) -> None:
    work = "import sys\nfor _ in range(10**6): pass\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)"
    done = finish([sys.executable, "-c", work], tmp_path)
    assert (done.output, done.errors, done.status) == ("out\n", "err\n", 3)
    assert 0 < done.cpu_seconds <= done.seconds * 1.5
    assert done.peak_rss > 1_000_000


def test_a_program_that_does_not_end_is_killed(tmp_path: Path) -> None:
    done = finish([sys.executable, "-c", "import signal; signal.pause()"], tmp_path, limit=0.05)
    assert done.status == -9


def test_the_last_json_of_an_output() -> None:
    assert last_json('{"pages": 1}\nnoise\n{"pages": 2}\n[3]\nend') == {"pages": 2}
    assert last_json("nothing") == {}


def test_a_table_is_aligned_markdown() -> None:
    assert table(["name", "µs"], [["a", "1"], ["longer", "1,000"]]) == (
        "| name   |    µs |\n| ------ | ----: |\n| a      |     1 |\n| longer | 1,000 |"
    )


@pytest.mark.parametrize(
    ("number", "text"), [(None, "-"), (0.456, "0.46"), (9.99, "9.99"), (12.34, "12.3"), (123.4, "123"), (9876, "9,876")]
)
def test_a_figure_has_three_digits(number: float | None, text: str) -> None:
    assert figure(number) == text


@pytest.mark.parametrize("kind", [Scrapy, Crawlee])
def test_a_python_peer_is_found_where_a_variable_says_or_told_how_to_get(
    kind: type[PythonPeer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    variable = f"{kind.name.upper()}_PYTHON"
    monkeypatch.delenv(variable, raising=False)
    peer = kind(StaticWeb(1, 1, 8080), tmp_path, None, 100)
    assert f"pip install {kind.wanted}" in peer.missing()
    assert variable in peer.missing()
    monkeypatch.setenv(variable, sys.executable)
    assert peer.missing() == ""


def test_all_peers_are_asked_for_and_those_in_python_fetch_fewer_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in PEERS:
        monkeypatch.setattr(kind, "missing", lambda _: "")
    options = arguments(["--max-pages", "900", "--scrapy-pages", "30"])
    found = crawlers_of(options, StaticWeb(1, 1, 8080), tmp_path, None)
    assert {crawler.name: crawler.pages for crawler in found} == {
        "gossamer": 900, "scrapy": 30, "crawlee": 30, "spider-rs": 900, "wget2": 900,
    }  # fmt: skip


def test_rows_give_the_best_run_and_the_ratio_to_gossamer(tmp_path: Path) -> None:
    web = StaticWeb(1, 1, 8080)
    crawlers = [Gossamer(web, tmp_path, None, 100), Wget2(web, tmp_path, None, 100)]
    results = {
        "gossamer": [Run(100, 1.0, 0.03, 10**7), Run(100, 0.5, 0.02, 2 * 10**7)],
        "wget2": [Run(50, 1.0, 0.02, 10**6)],
    }
    ours, peer = rows_of(crawlers, results)
    assert ours[:7] == ["gossamer", "100", "200", "200", "300", "1.00", "20 MB"]
    assert peer[:6] == ["wget2", "50", "50.0", "400", "400", "2.00"]


def test_stages_are_those_of_the_fastest_run_and_what_is_left() -> None:
    runs = [Run(100, 0.03, 0.03, 0), Run(100, 0.02, 0.02, 0)]
    rows = stage_rows(runs, [{"fetch": 1.0, "parse": 1.0}, {"fetch": 0.0, "parse": 50.0}])
    assert rows == [["parse", "50.0", "25%"], ["fetch, loop, waiting", "150", "75%"]]


def test_a_figure_above_its_target_is_marked() -> None:
    found = dict.fromkeys((name for name, *_ in FIGURES), 1.0) | {"judge_us": 2.0}
    rows = {row[0]: row[2] for row in frontier_rows([found])}
    assert rows["link judged, crawl mix, µs"] == "2.00 !"
    assert rows["URL added and committed, µs"] == "1.00"


# -- encodings ---------------------------------------------------------------------------------------------------------


def test_a_page_is_right_to_the_last_character_and_the_share_is_of_those_beyond_ascii() -> None:
    score = charsets.Score().plus("né, là", "né, là").plus("nÃ©, là", "né, là")
    assert score == charsets.Score(pages=2, right=1, characters=4, found=3)
    assert str(score) == "1/2  75.0%"


@pytest.mark.parametrize("name", ["utf-8", "windows-1251", "shift_jis"])
@pytest.mark.parametrize("declared", [True, False])
def test_pages_for_the_time_of_decoding_are_of_one_size_and_readable(name: str, declared: bool) -> None:
    page = charsets.page_of(name, declared)
    assert 0.9 * 13_800 < len(page) < 1.1 * 13_800
    assert (b"charset" in page) is declared
    assert gossamer.parse(page, "http://a.test/", "text/html").charset == name


# -- links beside other parsers ----------------------------------------------------------------------------------------

ELEMENTS = [
    ("base", {"href": "/base/"}, False),
    ("a", {"href": "1", "rel": "Nofollow x"}, False),
    ("a", {"href": "2"}, False),
    ("a", {"xlink:href": "3"}, True),
    ("a", {"xlink:href": "no"}, False),
    ("a", {"href": "javascript:x"}, False),
    ("img", {"src": "i", "srcset": "j 1x, k"}, False),
    ("link", {"rel": "Shortcut  Icon", "href": "l"}, False),
    ("meta", {"http-equiv": "refresh", "content": "0; URL='m'"}, False),
    ("object", {"codebase": "/c/", "data": "o"}, False),
    ("input", {"type": "image", "src": "p", "formaction": "q"}, False),
]


def test_the_reader_beside_ours_reads_the_same_kinds() -> None:
    found, followed = links_of(ELEMENTS, "http://h.example/", "utf-8")
    assert {f"{kind} {url.removeprefix('http://h.example')}" for kind, url in found} == {
        "a /base/1", "a /base/2", "a /base/3", "img /base/i", "img /base/j", "img /base/k", "meta /base/m",
        "link:shortcut icon /base/l", "object /c/o", "img /base/p", "form /base/q",
    }  # fmt: skip
    assert {url.removeprefix("http://h.example/base/") for url in followed} == {"2", "3", "m"}
    forbidden = [*ELEMENTS, ("meta", {"name": "robots", "content": "NoFollow"}, False)]
    assert links_of(forbidden, "http://h.example/", "utf-8")[1] == set()


def test_shares_of_links_are_not_rounded_up() -> None:
    counts = Counter(a=10_000_000), Counter(a=9_999_999), Counter(a=9_999_999)
    rows = link_rows([Compared("x", False, {"lexbor": counts}, [])], "lexbor")
    assert rows[0] == ["lexbor a", "10,000,000", "9,999,999", "99.9999%", "100 %"]


def test_a_share_of_pages_is_always_the_same(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}.html").write_text("x")
    (tmp_path / "x.txt").write_text("x")
    assert len(list(pages([tmp_path]))) == 100
    some = list(pages([tmp_path], 0.5))
    assert 20 < len(some) < 80
    assert some == list(pages([tmp_path], 0.5))


# -- fuzzing -----------------------------------------------------------------------------------------------------------


def test_inputs_come_again() -> None:
    made, again = (Inputs([b"<p>real</p>" * 100], 7, 4096) for _ in range(2))
    inputs = [made.input(number) for number in range(300)]
    assert inputs == [again.input(number) for number in range(300)]
    assert inputs != [Inputs([b"x"], 8, 4096).input(number) for number in range(300)]
    assert {kind for kind, _ in inputs} == {"changed", "pieced", "random"}
    assert max(len(body) for _, body in inputs) <= 4096


def test_what_goes_wrong_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(body: bytes, content_type: str | None) -> None:
        raise fuzz.Difference("x") if body else ValueError("y")

    def hangs(body: bytes, content_type: str | None) -> None:
        raise fuzz.Hang

    assert fuzz.examine(1, b"<a href=x>", "text/html") is None
    for reader, body, kind in ((raises, b"x", "difference"), (raises, b"", "exception"), (hangs, b"", "hang")):
        monkeypatch.setattr(fuzz, "READERS", (reader,))
        failure = fuzz.examine(1, body, None)
        assert failure is not None
        assert failure.kind == kind


# -- freshness ---------------------------------------------------------------------------------------------------------


def test_a_crawl_with_a_budget_is_judged_beside_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "FEW", {"pages": 40, "hosts": 2})
    monkeypatch.setattr(freshness, "BUDGETS", (0.5,))
    monkeypatch.setattr(freshness, "MEDIANS", (5,))
    figures = tmp_path / "figures.json"
    assert not freshness.main(
        ["--only", "budgets", "--days", "12", "--work", str(tmp_path / "work"), "--json", str(figures)]
    )
    (row,) = json.loads(figures.read_text())["budgets"]["rows"]
    assert (row["median"], row["budget"]) == (5, 0.5)
    assert 0.5 < row["uniform"] < 1
    assert all(0.3 < share < 1.7 for share in (*row["watcher"], *row["gossamer"]))  # of 40 pages that little is known
    assert row["made"] == pytest.approx([1.0] * 3, abs=0.1)
