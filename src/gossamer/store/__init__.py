"""Page -> Locator: WARC 1.1 with CDXJ beside it, the public contract of a crawl; and back."""

from gossamer.store.by_moment import places_at
from gossamer.store.captures import Capture, Captures, Place, StoredFile, committed_files
from gossamer.store.committed import CommittedNote, read_committed
from gossamer.store.history import captures_of
from gossamer.store.reader import Record, RecordFiles, directories_of
from gossamer.store.seeking import newest_first, places_since
from gossamer.store.store import Store, StorePosition
from gossamer.store.warc import payload_digest

__all__ = [
    "Capture",
    "Captures",
    "CommittedNote",
    "Place",
    "Record",
    "RecordFiles",
    "Store",
    "StorePosition",
    "StoredFile",
    "captures_of",
    "committed_files",
    "directories_of",
    "newest_first",
    "payload_digest",
    "places_at",
    "places_since",
    "read_committed",
]
