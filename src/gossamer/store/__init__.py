"""Page -> Locator: WARC 1.1 with CDXJ beside it, the public contract of a crawl."""

from gossamer.store.store import Store, StorePosition
from gossamer.store.warc import payload_digest

__all__ = ["Store", "StorePosition", "payload_digest"]
