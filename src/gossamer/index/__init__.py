"""The full-text index: entries in, answers out. The only place that knows tantivy."""

from gossamer.index.answer import Answer, DomainCount, FoundDomain, Hit, IndexSize
from gossamer.index.entry import Entry
from gossamer.index.hidden import Elsewhere
from gossamer.index.search import Search
from gossamer.index.writer import IndexWriter

__all__ = ["Answer", "DomainCount", "Elsewhere", "Entry", "FoundDomain", "Hit", "IndexSize", "IndexWriter", "Search"]
