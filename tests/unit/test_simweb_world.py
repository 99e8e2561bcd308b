"""The simulated web as a function: names, pages, links, texts."""

from __future__ import annotations

import re

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ConfigError
from gossamer.testing import FakeClock, World
from gossamer.testing.web.hosts import HostSizes
from gossamer.testing.web.message import Request
from gossamer.testing.web.names import HostNames
from gossamer.testing.web.paths import Section, page_number, page_path, parse_path, path_of
from gossamer.testing.web.profile import PROFILES
from gossamer.testing.web.render import Renderer
from gossamer.testing.web.site import WorldSite
from gossamer.testing.web.text import Pool
from gossamer.testing.web.words import LANGUAGES

NAMES = HostNames(7)
HREF = re.compile(rb'<a href="([^"]+)"')


@given(st.integers(0, 10**9))
def test_host_names_lead_back_to_their_number(index: int) -> None:
    name = NAMES.name(index)
    assert NAMES.index(name) == index
    assert name.endswith("." + NAMES.domain(index))
    assert name.endswith(".test")


@given(st.text(alphabet="wndoceshp.-019tamberfil", max_size=40))
def test_no_other_name_is_a_host(name: str) -> None:
    index = NAMES.index(name)
    assert index is None or NAMES.name(index) == name


@pytest.mark.parametrize("name", ["", "test", "www.test", "www.a-b-1.test", "shop." + NAMES.domain(0), "www.x-٣.test"])
def test_names_that_look_like_hosts(name: str) -> None:
    assert NAMES.index(name) is None


def test_hosts_share_registered_domains() -> None:
    domains = [NAMES.domain(index) for index in range(800)]
    assert len(set(domains)) == 400
    assert max(domains.count(domain) for domain in set(domains)) == 4
    assert len({NAMES.name(index) for index in range(800)}) == 800


@given(st.integers(0, 10**9))
def test_page_paths_lead_back_to_their_number(page: int) -> None:
    assert page_number(page_path(page)) == page


@given(
    st.sampled_from([s for s in Section if s not in (Section.STYLE, Section.TRAP, Section.FEED)]), st.integers(0, 10**9)
)
def test_every_path_says_what_it_is(section: Section, number: int) -> None:
    path = path_of(section, number)
    assert parse_path(path) == (section, number, path)


@pytest.mark.parametrize(
    "path",
    [b"", b"/x", b"/go/01", b"/go/1.html", b"/private/1", b"/news/field-016.html", b"/news/x-16.html", b"/-1.html"],
)
def test_paths_that_are_nothing(path: bytes) -> None:
    assert parse_path(path) is None


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_word_can_be_written_in_every_charset(code: str) -> None:
    source = LANGUAGES[code]
    assert len(source.words) >= 150
    for charset in source.charsets:
        pool = Pool(1, source.code, charset)  # encodes strictly
        assert pool.decode(pool.titles[0]).strip()
        if charset != "big5":
            assert pool.decode(pool.blocks[3]) == Pool(1, source.code, "utf-8").blocks[3].decode()


def test_plain_pages_are_what_the_profile_promises() -> None:
    world = World(seed=3, hosts=20, pages=100)
    renderer = Renderer(world)
    sizes, inside, links = [], 0, 0
    bodies = set()
    for index in range(20):
        host = world.host(index)
        assert host.size == 100
        assert host.charset == "utf-8"
        for page in range(100):
            body = renderer.page(host, page)
            hrefs = HREF.findall(body)
            body.decode("utf-8")
            sizes.append(len(body))
            links += len(hrefs)
            inside += sum(href.startswith(b"/") for href in hrefs)
            assert len(hrefs) == 16
            bodies.add(body)
    assert len(bodies) == 2000
    assert 7_500 < sum(sizes) / len(sizes) < 8_500
    assert 0.78 < inside / links < 0.83


def test_equal_worlds_are_equal_and_seeds_differ() -> None:
    one, same, other = (World(seed=seed, hosts=10, pages=10) for seed in (1, 1, 2))
    first = Renderer(one).page(one.host(4), 7)
    assert first == Renderer(same).page(same.host(4), 7)
    assert first != Renderer(other).page(other.host(4), 7)
    assert one.url(4) != other.url(4)


@pytest.mark.parametrize(
    ("profile", "digest"),
    [("plain", "4155f9566801d93c"), ("realistic", "eba7cd21d5560c9b"), ("hostile", "5d2852618c4c08ed")],
)
def test_the_web_of_a_seed_stays_the_same(profile: str, digest: str) -> None:
    """Figures of different days are compared: a change that moves a byte must be meant."""
    world = World(hosts=30, pages=10, profile=profile, clock=FakeClock())
    site = WorldSite(world)
    seen = xxhash.xxh3_64()
    for name in (world.names.name(index).encode() for index in range(30)):
        for path in (b"/robots.txt", b"/sitemap.xml", b"/go/1", *map(page_path, range(10))):
            answer = site.answer(Request(b"GET", name, path, b"GET %b HTTP/1.1\r\n" % path))
            seen.update(answer if isinstance(answer, bytes) else repr((answer.status, answer.end)).encode())
    assert seen.hexdigest() == digest


def test_titles_and_markers_are_in_the_page() -> None:
    world = World(seed=3, hosts=9, pages=40)
    renderer = Renderer(world)
    titles = set()
    for index in range(9):
        host = world.host(index)
        for page in range(40):
            text = renderer.page(host, page).decode()
            title = renderer.title(host, page)
            assert f"<title>{title}</title>" in text
            assert f"<p>{world.marker(host, page)} - {host.name}</p>" in text
            titles.add(title)
    assert len(titles) > 300


def test_links_are_written_as_the_world_says_they_are() -> None:
    world = World(seed=3, hosts=9, pages=40)
    renderer = Renderer(world)
    for index in range(9):
        host = world.host(index)
        for page in range(40):
            written = [
                href.decode() if href.startswith(b"http") else f"http://{host.name}{href.decode()}"
                for href in HREF.findall(renderer.page(host, page))
            ]
            resource = world.resource(host, page_path(page))
            assert resource is not None
            assert written == [world.url(*link) for link in world.links(host, resource)]


def test_a_web_of_a_million_hosts_costs_nothing() -> None:
    world = World(hosts=10**6, pages=10**6)
    last = world.host(10**6 - 1)
    assert last.size == 10**6
    assert world.find(last.name) == last
    assert world.find(world.names.name(10**6)) is None
    assert Renderer(world).page(last, 10**6 - 1) != Renderer(world).page(last, 10**6 - 2)


def test_realistic_hosts_differ_in_size_by_a_power_law() -> None:
    sizes = sorted(HostSizes(1, 100, True).size(host) for host in range(20_000))
    assert 80 < sum(sizes) / len(sizes) < 120
    assert sizes[len(sizes) // 2] < 60  # the median is far below the mean
    assert sizes[-1] > 2_000
    assert sizes[0] >= 1


def test_realistic_hosts_have_all_charsets_and_all_kinds_of_robots() -> None:
    world = World(hosts=3_000, pages=2, profile="realistic")
    hosts = [world.host(index) for index in range(3_000)]
    assert {host.charset for host in hosts} == {c for known in LANGUAGES.values() for c in known.charsets}
    assert {host.robots.kind for host in hosts} == {kind for kind, _ in PROFILES["realistic"].robots}
    assert {host.declared for host in hosts} == {"header", "meta", "both", "none"}
    assert {host.sitemap for host in hosts} == {"", "xml", "gz", "index"}


def test_mirrors_show_the_bytes_of_their_origin() -> None:
    world = World(hosts=500, pages=20, profile="realistic")
    mirrors = [host for host in map(world.host, range(500)) if host.origin != host.index]
    assert 5 < len(mirrors) < 40
    renderer = Renderer(world)
    for mirror in mirrors:
        origin = world.host(mirror.origin)
        assert mirror.size == origin.size
        for page in range(mirror.size):
            assert renderer.page(mirror, page) == renderer.page(origin, page)


def test_the_share_of_faults_is_what_was_asked_for() -> None:
    world = World(hosts=1, pages=10_000, faults=0.2)
    faulty = [world.fault(world.host(0), page_path(page)) for page in range(10_000)]
    assert faulty[0] is None  # a crawl can begin
    assert 0.18 < sum(kind is not None for kind in faulty) / 10_000 < 0.22
    assert {kind for kind in faulty if kind} == {kind for kind, _ in PROFILES["plain"].fault_kinds}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"hosts": 0}, "between 1 and 1,000,000,000 hosts, not 0"),
        ({"pages": -3}, "pages, not -3"),
        ({"faults": 1.5}, "between 0 and 1, not 1.5"),
        ({"profile": "nice"}, "no profile 'nice' of the simulated web: choose one of plain, realistic, hostile"),
    ],
)
def test_impossible_worlds_are_refused_in_a_sentence(arguments: dict[str, int], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        World(**arguments)  # type: ignore[arg-type]
