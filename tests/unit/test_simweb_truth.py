"""The truth about a simulated web, held against its own links."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import SeedError
from gossamer.testing import World, reachable
from gossamer.testing.web.graph import private_pages
from gossamer.testing.web.paths import TRAPS, Resource, Section, page_path
from gossamer.testing.web.truth import Kind, walk


def _all_pages(world: World) -> set[str]:
    return {world.url(h, page_path(page)) for h in range(world.hosts) for page in range(world.pages)}


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_root_of_a_plain_web_leads_to_every_page(hosts: int, pages: int, seed: int, start: int) -> None:
    world = World(seed=seed, hosts=hosts, pages=pages)
    found = reachable(world, [world.url(start % hosts)])
    fetched = {url for url, expected in found.items() if expected.fetched}
    assert fetched == _all_pages(world)
    excluded = Counter(expected.kind for expected in found.values())[Kind.ROBOTS_EXCLUDED]
    assert excluded == hosts * private_pages(pages)
    assert len(found) == len(fetched) + excluded


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 80), st.integers(0, 11))
def test_a_root_leads_to_all_pages_of_its_host_without_leaving_it(hosts: int, pages: int, start: int) -> None:
    world = World(hosts=hosts, pages=pages)
    start %= hosts
    found = reachable(world, [world.url(start)], scope="host")
    ok = {url for url, expected in found.items() if expected.kind is Kind.OK}
    assert ok == {world.url(start, page_path(page)) for page in range(pages)}


def test_scope_domain_takes_the_hosts_of_the_registered_domain() -> None:
    world = World(hosts=40, pages=30)
    found = reachable(world, [world.url(4)], scope="domain")
    hosts = {url.split("/")[2] for url in found}
    assert hosts == {world.names.name(index) for index in (4, 5, 6, 7)}


def test_depth_is_the_least_number_of_links() -> None:
    world = World(hosts=5, pages=50)
    whole = reachable(world, [world.url(0)])
    assert whole[world.url(0)].depth == 0
    for limit in (0, 1, 2, 3):
        near = reachable(world, [world.url(0)], max_depth=limit)
        assert near == {url: expected for url, expected in whole.items() if expected.depth <= limit}
    assert len(reachable(world, [world.url(0)], max_depth=0)) == 1


def test_walk_is_breadth_first_and_lazy() -> None:
    world = World(hosts=10**6, pages=10**6)
    steps = walk(world, [world.url(0)])
    depths = [next(steps)[1].depth for _ in range(2_000)]
    assert depths == sorted(depths)


def test_robots_rules_depend_on_who_asks() -> None:
    world = World(hosts=200, pages=8, profile="realistic")
    index = next(i for i in range(200) if world.host(i).robots.kind == "agents")
    start = [world.url(index)]
    assert len(reachable(world, start, scope="host", user_agent="Gossamer/1.0 (+https://example.org)")) > 5
    other = reachable(world, start, scope="host", user_agent="someone/2.0")
    assert other[world.url(index)].kind is Kind.OK  # Allow: /$
    assert Kind.ROBOTS_EXCLUDED in {expected.kind for expected in other.values()}
    bad = reachable(world, start, scope="host", user_agent="BadBot")
    assert [expected.kind for expected in bad.values()] == [Kind.ROBOTS_EXCLUDED]


def test_a_host_without_its_robots_is_closed() -> None:
    world = World(hosts=400, pages=4, profile="realistic")
    index = next(i for i in range(400) if world.host(i).robots.kind == "error")
    assert reachable(world, [world.url(index)]) == {world.url(index): (Kind.ROBOTS_UNREACHABLE, 0, 0, False)}


def test_sitemaps_and_embedded_things_are_counted_when_asked_for() -> None:
    world = World(hosts=200, pages=30, profile="realistic", faults=0)
    index = next(i for i in range(200) if world.host(i).sitemap and world.host(i).size > 3)
    start = [world.url(index)]
    plain = reachable(world, start, scope="host", sitemaps=False)
    mapped = reachable(world, start, scope="host")
    assert {url for url in mapped if "/archive/" in url} == set(mapped) - set(plain)
    assert set(mapped) > set(plain)
    whole = reachable(world, start, scope="host", embedded=True)
    assert set(whole) - set(mapped) >= {world.url(index, "/style.css")}


def test_nothing_hidden_by_nofollow_is_in_the_truth() -> None:
    world = World(hosts=50, pages=60, profile="realistic")
    found = reachable(world, [world.url(0)])
    assert not [url for url in found if "/hidden/" in url]
    assert {expected.kind for expected in found.values()} == set(Kind)


def test_faults_cost_the_links_of_the_faulty_pages() -> None:
    world = World(hosts=5, pages=200, faults=0.5)
    found = reachable(world, [world.url(0)])
    kinds = Counter(expected.kind for expected in found.values())
    assert kinds[Kind.ERROR] > 100
    assert kinds[Kind.DROPPED] > 50
    assert kinds[Kind.CUT] > 20
    assert reachable(World(hosts=5, pages=200, faults=0.5), [world.url(0)]) == found


def test_hostile_truth_is_the_finite_part() -> None:
    world = World(hosts=20, pages=20, profile="hostile")
    found = reachable(world, [world.url(0)])
    assert len(found) > 100
    assert not [url for url in found if url.split("/", 3)[3].encode().startswith(tuple(t[1:] for t in TRAPS))]


def test_some_hosts_of_a_hostile_web_do_no_harm() -> None:
    world = World(hosts=200, pages=20, profile="hostile")
    hosts = [world.host(index) for index in range(world.hosts)]
    assert 30 < sum(host.well for host in hosts) < 70
    harm = {Kind.ERROR, Kind.CUT, Kind.DROPPED}
    found = reachable(world, [world.url(0)])
    for host in hosts:
        kinds = {expected.kind for url, expected in found.items() if url.split("/")[2] == host.name}
        links = [link for page in range(host.size) for link in world.links(host, Resource(Section.PAGE, page, b"/x"))]
        if host.well:
            assert not kinds & harm
            assert not [path for index, path in links if index == host.index and path.startswith((*TRAPS, b"/out/"))]
    assert not any(world.host(index).well for world in (World(hosts=200, profile="realistic"),) for index in range(200))


@pytest.mark.parametrize("seed", ["http://example.org/", "https://www.x.test/", "nonsense", "http://127.0.0.1:80/"])
def test_seeds_outside_the_world_are_refused_in_a_sentence(seed: str) -> None:
    world = World(hosts=2, pages=2)
    with pytest.raises(SeedError, match="no URL of this simulated web: take http://www"):
        reachable(world, [seed])
    with pytest.raises(SeedError, match="at least one seed"):
        reachable(world, [])
