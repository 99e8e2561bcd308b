"""What is kept on disk, and what it takes in memory."""

from __future__ import annotations

from gossamer.config.checks import store_directory
from gossamer.config.kinds import Many, Size, Switch, Whole
from gossamer.config.option import Settings, declare, settings


@settings
class FrontierConfig(Settings):
    """The durable queues."""

    recent_urls: int = declare(
        4_194_304,
        Whole(0, 1_000_000_000),
        "Fingerprints of URLs kept in memory to know them again without asking the disk; rounded down to a power of 2.",
        cost="8 bytes of memory each, taken as the crawl grows.",
    )
    queue_head: int = declare(
        64,
        Whole(1, 1_000_000),
        "URLs of a host kept in memory.",
        cost="Memory for each host in turn; a small number means more reads from disk.",
    )
    hosts: int = declare(
        10_000,
        Whole(1, 10_000_000),
        "Hosts kept in memory; the others wait on disk for their turn.",
        cost="About 5 KB of memory each; too few limit the speed to this many visits per delay.",
    )
    memory: int = declare(
        64 * 1024**2,
        Size(1024**2),
        "Block cache of the database.",
        cost="This much memory; too little means more reads from disk.",
        local=True,
    )
    partitions: int = declare(
        256,
        Whole(1, 65_536),
        "Slices of the web, by registered domain, among which agents share the work.",
        cost="Fixed when a crawl begins; more slices than agents cost almost nothing.",
    )


@settings
class StoreConfig(Settings):
    """The WARC files."""

    directories: tuple[str, ...] = declare(
        (),
        Many(store_directory),
        "More directories for WARC files, on other disks, each with its share of the pages; DIR/warc has share 1.",
        cost="One more fsync a commit each. A disk with less than 64 MiB left gets no pages while another has more.",
        flag="--store",
        metavar="DIR=SHARE",
        local=True,
    )
    warc_size: int = declare(
        1_000_000_000,
        Size(1),
        "A new WARC file is begun when one has reached this size.",
        cost="Small files are many files; large ones are slow to copy.",
    )
    compression: int = declare(
        1,
        Whole(0, 3),
        "Level of gzip compression, 0 to 3.",
        cost="A higher level costs CPU and saves a little disk.",
    )
    request_records: bool = declare(
        True,
        Switch(),
        "Store the request beside each response.",
        cost="A few hundred bytes of disk a page.",
    )


@settings
class IndexConfig(Settings):
    """The full-text index, written by a process of its own."""

    on: bool = declare(
        True,
        Switch(),
        "Index pages while they are crawled, so that gossamer search finds them seconds later.",
        cost="Up to one more core, at low priority, and disk for the text of the pages; pages are fetched no slower.",
        flag="--index",
        local=True,
    )
    buffer: int = declare(
        64 * 1024**2,
        Size(15 * 1000**2, 4 * 1024**3),
        "Memory for pages that are not yet in the index.",
        cost="This much memory of the indexing process, beside about 150 MB; too little means smaller parts to merge.",
    )
