"""Several agents on one crawl."""

from __future__ import annotations

from gossamer.config.kinds import Choice, Text, Whole
from gossamer.config.option import Settings, declare, settings


@settings
class ClusterConfig(Settings):
    """Several agents on one crawl: how many, and what they do with each other's URLs."""

    agents: int = declare(
        1,
        Whole(1, 256),
        "Processes that share the crawl on this machine; more than one need the extra `cluster`.",
        cost="About 150 MB and up to one core each, and a broker beside them.",
        flag="--agents",
        metavar="N",
    )
    foreign: str = declare(
        "exchange",
        Choice("exchange", "firewall", "cross-over"),
        "URLs of other agents' partitions: handed over, left out, or visited when there is nothing else to do.",
        cost="Handing over costs messages; leaving out costs pages; cross-over visits some pages twice.",
    )
    checkpoints: str = declare(
        "",
        Text(empty=True),
        "Where copies of partitions are kept from which others go on: a directory that all agents see, or s3://BUCKET/PATH.",
        cost="Disk or an object store: about the size of the frontier, twice. Empty is DIR/checkpoints on one machine.",
        local=True,
    )
