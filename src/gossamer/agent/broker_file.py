"""cluster.json in a crawl's directory: how to reach the broker, for its owner's eyes only."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.crawl_dir import write_whole
from gossamer.cluster.broker import Broker
from gossamer.errors import CrawlDirError

NAME: Final = "cluster.json"
_OWNER_ONLY: Final = 0o600
_LONGEST: Final = 1 << 20


def save_broker(broker: Broker, home: Path) -> None:
    write_whole(home / NAME, msgspec.json.format(msgspec.json.encode(broker)) + b"\n", home, _OWNER_ONLY)


def read_broker(home: Path) -> Broker:
    """CrawlDirError if the directory knows of none."""
    try:
        with (home / NAME).open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST), type=Broker)
    except FileNotFoundError:
        raise CrawlDirError(
            f"{home} is not a crawl of several agents: it has no {NAME}. Give --dir the directory of one, or --cluster"
            " with the broker's address."
        ) from None
    except (OSError, msgspec.MsgspecError) as error:
        raise CrawlDirError(
            f"{home / NAME} cannot be read ({error}): give --cluster with the broker's address"
        ) from None
