"""Page -> Locator: WARC 1.1 with CDXJ beside it, the public contract of a crawl."""

from gossamer.store.writer import Position, Store

__all__ = ["Position", "Store"]
