"""Page -> Locator: WARC 1.1 with CDXJ beside it, the public contract of a crawl; and back."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gossamer.store.committed import CommittedNote, read_committed
from gossamer.store.store import Store, StorePosition
from gossamer.store.warc import payload_digest

if TYPE_CHECKING:
    from gossamer.store.by_moment import places_at
    from gossamer.store.captures import Capture, Captures, Place, StoredFile, committed_files
    from gossamer.store.history import captures_of
    from gossamer.store.reader import Record, RecordFiles, directories_of
    from gossamer.store.seeking import newest_first, places_since

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

# What reads a store is loaded when first asked for: a crawl writes.
_HOMES = {
    "Capture": "captures",
    "Captures": "captures",
    "Place": "captures",
    "Record": "reader",
    "RecordFiles": "reader",
    "StoredFile": "captures",
    "captures_of": "history",
    "committed_files": "captures",
    "directories_of": "reader",
    "newest_first": "seeking",
    "places_at": "by_moment",
    "places_since": "seeking",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"gossamer.store.{home}"), name)
    return value
