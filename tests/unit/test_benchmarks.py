"""The parts of the benchmarks that decide something: the webs they make, the judge, the tables."""

from __future__ import annotations

import gzip
import random
import re
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin

import pytest

import gossamer

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import judge
import kill_loop
import nginx
import snapshots
from crawlers import Gossamer, Run, Wget2, last_json
from frontier_load import LINKS, Links, Load
from frontier_scale import FIGURES
from frontier_scale import rows_of as frontier_rows
from processes import finish
from side_by_side import rows_of, stage_rows
from simulated_web import Arrival, read_arrivals
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
