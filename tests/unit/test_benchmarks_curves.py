"""The scaling curves: the webs they need, what is taken off a run, the figures, the pictures."""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gossamer

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import curves
from curve_plot import places, plotted, short, ticks
from curve_points import USUAL, Case, Point, Spent, case
from curves import CURVES, Curve, arguments, as_data, points_of, table_of
from grown import known_urls
from named_web import NamedWeb, Shape
from synthetic_urls import SyntheticWeb

# -- the web -----------------------------------------------------------------------------------------------------------


def links_of(web: NamedWeb, host: int, page: int) -> list[str]:
    base = web.origin(host) + web.path(page)
    links = gossamer.parse(web.page(host, page).encode(), base, "text/html").links
    return [link.url for link in links if link.kind == "a"]


@pytest.mark.parametrize(
    ("size", "links"),
    [(2_000, 16), (14_000, 16), (150_000, 16), (500_000, 16), (32_000, 0), (32_000, 1), (32_000, 500)],
)
def test_a_page_has_its_size_and_its_links(size: int, links: int) -> None:
    web = NamedWeb(Shape(5, 600, size, links), 8080)
    for host, page in ((0, 0), (4, 599)):
        assert len(web.page(host, page).encode()) == size
        assert len(web.links(host, page)) == links
        found = links_of(web, host, page)
        assert set(found) == {gossamer.normalize(url) for url in found}
        assert len(found) == pytest.approx(links, abs=links // 20)  # a few of those to other hosts are the same


def test_links_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="500 links do not fit into a page of 14,000 bytes"):
        NamedWeb(Shape(5, 600, 14_000, 500), 8080).page(0, 0)


def test_the_web_is_the_same_each_time() -> None:
    shape = Shape(2, 5)
    assert list(NamedWeb(shape, 8080).files()) == list(NamedWeb(shape, 8080).files())


@pytest.mark.parametrize("shared", [False, True])
def test_every_page_is_reached_from_the_first_of_each_host(shared: bool) -> None:
    web = NamedWeb(Shape(3, 12, links=2, shared=shared), 8080)
    seen = set(web.seeds())
    assert len(seen) == 3
    every = {web.origin(host) + web.path(page): (host, page) for host in range(3) for page in range(12)}
    assert set(web.seeds(every=True)) == every.keys()
    queue = list(seen)
    while queue:
        found = set(links_of(web, *every[queue.pop()])) - seen
        seen |= found
        queue += found
    assert seen == every.keys()


def test_links_within_a_host_are_different_where_there_are_pages_enough() -> None:
    web = NamedWeb(Shape(3, 600, 32_000, 500, shared=True), 8080)
    assert len(set(web.links(0, 7))) == 500
    assert all(link.startswith("/") for link in web.links(0, 7))
    few = NamedWeb(Shape(3, 2, shared=True), 8080)
    assert len(few.links(0, 0)) == 16
    assert set(few.links(0, 0)) == {few.path(0), few.path(1)}


def test_one_link_of_a_page_leads_elsewhere_but_not_of_the_first() -> None:
    web = NamedWeb(Shape(3, 9), 8080, ["https://elsewhere.example/"])
    assert [web.links(1, page).count("https://elsewhere.example/") for page in range(9)] == [0, *[1] * 8]
    assert {len(web.links(1, page)) for page in range(9)} == {16}


def test_urls_known_to_a_small_crawl_are_known_to_a_larger_one() -> None:
    larger = SyntheticWeb(4_000, 100_000)
    assert set(known_urls(400, 50)) <= {larger.url(number) for number in range(larger.urls)}


def test_a_shared_web_has_the_files_of_one_host_and_is_told_which_host_it_is() -> None:
    web = NamedWeb(Shape(100_000, 3, shared=True), 8080)
    assert len(list(web.files())) == 2 + 3
    # The name of a host would not do: a crawl recognises a page that differs in that only.
    assert all('<!--# echo var="number" -->' in web.page(0, page) for page in range(3))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_all_hosts_are_one_address_of_loopback(tmp_path: Path, scheme: str) -> None:
    config = NamedWeb(Shape(100_000, 1, scheme=scheme), 8080).config(tmp_path / "web", tmp_path)
    assert re.findall(r"listen (\S+)", config) == ["127.0.0.1:8080"]
    assert ("ssl_certificate" in config) == (scheme == "https")


def test_pages_are_packed_beside_where_they_are_to_be_sent_so(tmp_path: Path) -> None:
    web = NamedWeb(Shape(2, 3, packed=True), 8080)
    web.write(tmp_path)
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) == 6
    assert all(gzip.decompress(Path(f"{page}.gz").read_bytes()) == page.read_bytes() for page in pages)
    assert "gzip_static on;" in web.config(tmp_path, tmp_path)
    assert "gzip_static off;" in NamedWeb(Shape(2, 3), 8080).config(tmp_path, tmp_path)


# -- cases -------------------------------------------------------------------------------------------------------------


def test_a_web_has_a_third_more_pages_than_are_fetched() -> None:
    usual = case(15_000)
    assert usual == Case(Shape(100, 200), 15_000)
    assert case(300, USUAL._replace(hosts=1_000)).shape.pages == 1


def test_of_large_pages_fewer_are_fetched_unless_hosts_share_them() -> None:
    large = case(20_000, USUAL._replace(size=500_000))
    assert large.shape.hosts * large.shape.pages * large.shape.size <= 500_000_000
    assert large.pages == 750
    assert case(20_000, USUAL._replace(size=500_000, shared=True)).pages == 20_000


@pytest.mark.parametrize("curve", CURVES.values(), ids=lambda curve: curve.name)
def test_the_points_of_a_curve_differ_and_can_be_crawled(curve: Curve) -> None:
    cases = [curve.at(value, 20_000, curve.points) for value in curve.points]
    assert len(set(cases)) == len(cases)
    for made in cases:
        assert made.shape.hosts >= made.connections  # a host has one connection at a time
        assert 500 <= made.pages <= made.shape.hosts * made.shape.pages
        assert len(NamedWeb(made.shape, 8080).page(0, 0)) == made.shape.size


def test_connections_are_compared_on_one_web() -> None:
    curve = CURVES["connections"]
    assert len({curve.at(value, 300, curve.points).shape for value in curve.points}) == 1


# -- the command line --------------------------------------------------------------------------------------------------


def test_points_are_numbers_or_words_of_the_curve() -> None:
    assert points_of(CURVES["hosts"], "1e5, 1e6,100000") == [100_000, 1_000_000]
    assert points_of(CURVES["links"], "0,5") == [0, 5]
    assert points_of(CURVES["scheme"], "https") == ["https"]
    with pytest.raises(ValueError, match="not numbers"):
        points_of(CURVES["hosts"], "many")
    with pytest.raises(ValueError, match="scheme has no ftp; it has http, https"):
        points_of(CURVES["scheme"], "ftp")


def test_all_curves_are_measured_unless_some_are_named() -> None:
    assert [curve.name for curve in arguments([]).curves] == list(CURVES)
    (links,) = arguments(["links", "--points", "0,5"]).curves
    assert (links.name, links.points) == ("links", [0, 5])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["height"], "height is not known; there are known, hosts"),
        (["--points", "1e5"], "--points are of one curve: name it"),
        (["hosts", "--points", "x"], "not numbers"),
        (["hosts", "--points", "0"], "hosts begins at 1"),
        (["--pages", "1"], "at least 2 --pages"),
    ],
)
def test_what_cannot_be_measured_is_said(given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(given)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "curve"), [("nginx", "hosts"), ("openssl", "scheme")])
def test_a_program_that_is_missing_is_named(
    missing: str, curve: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(curves.nginx, "program", lambda: None if missing == "nginx" else "nginx")
    monkeypatch.setattr(curves.shutil, "which", lambda name: None if name == missing else name)
    monkeypatch.setattr(curves, "tidy_when_terminated", lambda: None)
    monkeypatch.setattr(sys, "argv", ["curves.py", curve])
    assert curves.main() == 2
    assert f"{missing} is not installed: apt-get install {missing}" in capsys.readouterr().err


# -- figures -----------------------------------------------------------------------------------------------------------


def points(indexed: bool = False) -> list[Point]:
    start = Spent(1, 0.1, 0.25, 0.5, 60_000_000)
    made = Point(10_000, case(1_001, indexed=indexed), start)
    made = made.and_also(start, Spent(1_001, 0.5, 0.65, 1.5, 80_000_000))
    made = made.and_also(Spent(1, 0.1, 0.20, 0.5, 60_000_000), Spent(1_001, 1.0, 0.60, 2.5, 90_000_000))
    return [made, made._replace(value=1_000_000)]


def test_the_best_run_counts_without_the_best_start() -> None:
    found = points()[0].figures()
    assert found == {
        "pages": 1_001, "pages_per_s": pytest.approx(2_002), "cpu_us": pytest.approx(400),
        "worst_cpu_us": pytest.approx(450), "index_cpu_us": pytest.approx(1_000), "start_cpu_s": 0.20,
        "peak_rss": 90_000_000,
    }  # fmt: skip


def test_the_table_has_a_row_a_point_and_indexing_only_where_it_was() -> None:
    lines = table_of(CURVES["hosts"], points()).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "10,000", "1,001", "2,002", "400", "450", "90 MB", "0.20 s"
    ]  # fmt: skip
    assert "indexing" not in lines[0]
    indexed = table_of(CURVES["index"], points(indexed=True)).splitlines()
    assert "indexing µs/page" in indexed[0]
    assert indexed[2].split("|")[-2].strip() == "1,000"


# -- pictures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("highest", "last", "number"), [(0, 1, 2), (1, 1, 6), (4, 4, 5), (73, 80, 5), (102, 125, 6), (3_665, 4_000, 5)]
)
def test_ticks_are_round_and_reach_the_highest(highest: float, last: float, number: int) -> None:
    marks = ticks(highest)
    assert marks[0] == 0
    assert marks[-1] == pytest.approx(last)
    assert len(marks) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (64, "64"), (1_000, "1,000"), (10**5, "10⁵"), (10**10, "10¹⁰"), (4e4, "40,000")],
)
def test_labels_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_magnitudes_stand_by_their_logarithms() -> None:
    stand, labels = places([10**5, 10**6, 10**7])
    assert stand == pytest.approx([0, 0.5, 1])
    assert [label for _, label in labels] == ["10⁵", "10⁶", "10⁷"]


def test_numbers_with_zero_among_them_stand_from_zero_on() -> None:
    stand, labels = places([0, 50, 500])
    assert stand == pytest.approx([0, 0.1, 1])
    assert labels[0] == (0, "0")
    assert labels[-1] == (1, "500")


def test_words_are_spread_evenly() -> None:
    assert places(["http", "https"]) == ([0.25, 0.75], [(0.25, "http"), (0.75, "https")])


@pytest.mark.parametrize("name", ["hosts", "index"])
def test_a_picture_shows_every_point_on_a_light_ground(name: str) -> None:
    made = [point._replace(value=value) for point, value in zip(points(), CURVES[name].points, strict=False)]
    picture = ElementTree.fromstring(plotted(name, as_data(CURVES[name], made)))
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert CURVES[name].heading in (picture.findtext("svg:title", None, space) or "")
    first = picture.find("svg:rect", space)
    assert first is not None
    assert first.get("fill") == "#ffffff"
    marks = picture.findall("svg:circle" if name == "hosts" else "svg:rect", space)
    # Both panels; the indexer has a line of its own.
    assert len(marks) == (6 if name == "hosts" else 1 + 6)
    _, _, width, height = map(float, (picture.get("viewBox") or "").split())
    for text in picture.findall("svg:text", space):
        assert 0 <= float(text.get("x", "-1")) <= width
        assert 0 <= float(text.get("y", "-1")) <= height
