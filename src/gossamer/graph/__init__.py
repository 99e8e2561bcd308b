"""The link graph: which page leads where, kept beside the crawl; and PageRank over it."""

from gossamer.graph.scores import RankReader

__all__ = ["RankReader"]
