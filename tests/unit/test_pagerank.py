"""PageRank: what networkx computes, from links on disk in small blocks; and what counts as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from test_graph import A, B, C, D, write

from gossamer.errors import DamagedError
from gossamer.graph import RankReader
from gossamer.graph.edges import Edges, EdgeSort
from gossamer.graph.log import frames_of
from gossamer.graph.pagerank import pagerank
from gossamer.graph.ranks import DOMAINS, HOSTS, PAGES, GraphRanks, How

EXACT = How(tolerance=1e-13, most_rounds=1000)


def sorted_edges(folder: Path, nodes: int, links: np.ndarray, block: int = 1000) -> Edges:
    sort = EdgeSort(folder, "test", nodes, block)
    for some in np.array_split(links, 7):
        sort.add(some[:, 0].astype(np.uint32), some[:, 1].astype(np.uint32))
    return sort.sorted()


def test_as_networkx_on_ten_thousand_pages(tmp_path: Path) -> None:
    """With pages that link nowhere, links to the page itself, links that are there several times, and a page that
    every second one links to.
    """
    nodes, draw = 10_000, np.random.default_rng(3)
    sources = draw.integers(0, 8_000, 60_000)
    targets = (nodes * draw.random(60_000) ** 4).astype(np.int64)
    hub = np.column_stack((np.arange(0, nodes - 2_000, 2), np.full(4_000, 77)))
    links = np.concatenate((np.column_stack((sources, targets)), hub, [[5, 5], [6, 6], [9, 1], [9, 1]]))
    edges = sorted_edges(tmp_path, nodes, links)
    found = pagerank(edges, tolerance=1e-13, most_rounds=1000, block=997)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((int(one), int(other)) for one, other in links if one != other)
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000)
    assert edges.links == graph.number_of_edges()
    difference = np.abs(found.scores - np.array([expected[number] for number in range(nodes)]))
    assert difference.max() < 1e-12
    assert difference.sum() < 1e-6
    assert found.scores.sum() == pytest.approx(1.0)
    assert found.settled(1e-13)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.99])
def test_damping_is_that_of_networkx(tmp_path: Path, damping: float) -> None:
    links = np.random.default_rng(4).integers(0, 50, (200, 2))
    found = pagerank(sorted_edges(tmp_path, 50, links), damping=damping, tolerance=1e-13, most_rounds=10_000)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(50))
    graph.add_edges_from((int(one), int(other)) for one, other in links if one != other)
    expected = nx.pagerank(graph, alpha=damping, tol=1e-14, max_iter=10_000)
    assert found.scores == pytest.approx([expected[number] for number in range(50)], abs=1e-9)


def test_links_in_order_whatever_the_blocks(tmp_path: Path) -> None:
    links = np.random.default_rng(5).integers(0, 300, (5000, 2))
    links[:2000, 1] = 7  # more than a block to one page
    expected = sorted({(int(target), int(source)) for source, target in links if source != target})
    for block in (10, 500, 100_000):
        edges = sorted_edges(tmp_path, 300, links, block)
        found = [
            (first + place, int(source))
            for first, last, sources in edges.blocks(block)
            for place in range(last - first)
            for source in sources[edges.starts[first + place] - edges.starts[first] :][
                : edges.starts[first + place + 1] - edges.starts[first + place]
            ]
        ]
        assert found == expected
        assert edges.out_degrees.tolist() == np.bincount([one for _, one in expected], minlength=300).tolist()
        assert [path.name for path in tmp_path.iterdir()] == ["test"], "what was needed meanwhile is gone"


def test_no_links_and_no_pages(tmp_path: Path) -> None:
    none = np.empty((0, 2), np.int64)
    assert pagerank(sorted_edges(tmp_path, 4, none)).scores.tolist() == [0.25] * 4
    assert pagerank(sorted_edges(tmp_path, 0, none)).scores.tolist() == []


def test_it_ends_after_so_many_rounds(tmp_path: Path) -> None:
    edges = sorted_edges(tmp_path, 3, np.array([[0, 1], [1, 2], [2, 1]]))
    told: list[int] = []
    found = pagerank(edges, tolerance=1e-15, most_rounds=3, watch=lambda number, _: told.append(number))
    assert (found.rounds, told) == (3, [1, 2, 3])
    assert not found.settled(1e-15)


# -- graphs of pages ---------------------------------------------------------------------------------------------------


def ranks(home: Path, how: How = EXACT) -> GraphRanks:
    scratch = home / "scratch"
    scratch.mkdir(exist_ok=True)
    return GraphRanks(frames_of(home / "graph"), scratch, how, lambda what, done, total: None)


def scores(found: GraphRanks) -> dict[str, float]:
    return {page.url: page.score for some in found.pages() for page in some}


def expected(pages: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, float]:
    graph = nx.DiGraph()
    graph.add_nodes_from(pages)
    graph.add_edges_from(links)
    return dict(nx.pagerank(graph, tol=1e-14, max_iter=1000))


def test_a_redirect_stands_for_where_it_leads(tmp_path: Path) -> None:
    """B leads by C to D: a link to any of them is one to D, and two of them on one page count once."""
    write(tmp_path / "graph", (A, 1, [B, D]), (B, 1, C), (C, 1, D), (D, 1, [A]))
    found = ranks(tmp_path)
    assert scores(found) == pytest.approx(expected([A, D], [(A, D), (D, A)]))
    (tmp_path / "rank").mkdir()
    found.write_scores(tmp_path / "rank" / "scores.bin")
    reader = RankReader(tmp_path)
    assert reader.score(B) == reader.score(C) == reader.score(D) == pytest.approx(0.5)
    reader.close()


def test_redirects_in_a_circle_are_pages_that_lead_nowhere(tmp_path: Path) -> None:
    write(tmp_path / "graph", (A, 1, [B]), (B, 1, C), (C, 1, B), (D, 1, B))
    assert scores(ranks(tmp_path)) == pytest.approx(expected([A, B, C, D], [(A, B)]))


def test_pages_that_are_only_linked_to_count(tmp_path: Path) -> None:
    write(tmp_path / "graph", (A, 1, [B, C]))
    found = ranks(tmp_path)
    assert scores(found) == pytest.approx(expected([A, B, C], [(A, B), (A, C)]))
    assert {page.url: (page.links, page.stored) for some in found.pages() for page in some} == {
        A: (0, True), B: (1, False), C: (1, False),
    }  # fmt: skip


def test_a_page_that_is_gone_has_no_links_any_more(tmp_path: Path) -> None:
    write(tmp_path / "graph", (A, 1, [B]), (B, 1, [A]), (A, 2, []))
    assert scores(ranks(tmp_path)) == pytest.approx(expected([A, B], [(B, A)]))


def test_hosts_and_domains_link_once_to_each_other(tmp_path: Path) -> None:
    write(
        tmp_path / "graph",
        ("http://x.a.test/1", 1, ["http://y.a.test/1", "http://y.a.test/2", "http://b.test/"]),
        ("http://x.a.test/2", 1, ["http://y.a.test/1", "http://b.test/"]),
        ("http://b.test/", 1, ["http://b.test/other", "http://y.a.test:8080/"]),
    )
    found = ranks(tmp_path)
    x, y, odd, b = "x.a.test", "y.a.test", "y.a.test:8080", "b.test"
    assert {host.name: host.score for host in found.hosts()} == pytest.approx(
        expected([x, y, odd, b], [(x, y), (x, b), (b, odd)])
    )
    assert {(host.name, host.links, host.pages) for host in found.hosts()} == {
        (x, 0, 2), (y, 1, 0), (odd, 1, 0), (b, 1, 1),
    }  # fmt: skip
    domains = {domain.name: domain.score for domain in found.domain_ranks()}
    assert domains == pytest.approx(expected(["a.test", b], [("a.test", b), (b, "a.test")]))
    assert {name: (level.nodes, level.links) for name, level in found.levels.items()} == {
        PAGES: (7, 7), HOSTS: (4, 3), DOMAINS: (2, 2),
    }  # fmt: skip


# -- the reader --------------------------------------------------------------------------------------------------------


def test_scores_by_url(tmp_path: Path) -> None:
    assert RankReader.of(tmp_path) is None
    write(tmp_path / "graph", *((f"{A}{number}", 1, [f"{A}{number // 2}", B]) for number in range(300)))
    found = ranks(tmp_path)
    (tmp_path / "rank").mkdir()
    found.write_scores(tmp_path / "rank" / "scores.bin")
    reader = RankReader.of(tmp_path)
    assert reader is not None
    for url, score in scores(found).items():
        assert reader.score(url) == pytest.approx(score, rel=1e-6)
    assert reader.score(f"{A}300") is None
    assert reader.pages * reader.mean() == pytest.approx(1.0)
    reader.close()


@pytest.mark.parametrize("damage", [b"", b"gossamer scores\x02", b"gossamer scores\x01" + bytes(8) + b"\xff" * 8])
def test_a_file_that_is_none_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "rank").mkdir()
    (tmp_path / "rank" / "scores.bin").write_bytes(damage + b"x" * (len(damage) > 0) * 20)
    with pytest.raises(DamagedError, match="Run gossamer rank again"):
        RankReader(tmp_path)
