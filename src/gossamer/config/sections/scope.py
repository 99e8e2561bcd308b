"""What is visited, and how politely."""

from __future__ import annotations

from gossamer.config.checks import (
    block_pattern,
    check_domain,
    check_media_type,
    check_network,
    check_regex,
    check_reserved,
)
from gossamer.config.kinds import (
    LONGEST_PAUSE,
    Choice,
    Decimal,
    Duration,
    DurationOrPart,
    Many,
    Pause,
    Size,
    Whole,
    WholeOrNone,
)
from gossamer.config.option import Settings, declare, settings


@settings
class ScopeConfig(Settings):
    """What belongs to the crawl."""

    scope: str = declare(
        "domain",
        Choice("host", "domain", "any"),
        "Follow links on the seeds' hosts, on their registered domains, or anywhere.",
        cost="`any` has no end: set a limit of pages or time with it.",
        flag="--scope",
        metavar="host|domain|any",
    )
    include: tuple[str, ...] = declare(
        (),
        Many(check_regex, comma=False),
        "Follow only URLs in which one of these regular expressions is found.",
        cost="Every new URL is searched for each of them until one is found.",
        flag="--include",
        metavar="RE",
    )
    exclude: tuple[str, ...] = declare(
        (),
        Many(check_regex, comma=False),
        "Leave out URLs in which one of these regular expressions is found; wins over include.",
        cost="Every new URL is searched for each of them.",
        flag="--exclude",
        metavar="RE",
    )
    types: tuple[str, ...] = declare(
        ("text/html", "application/xhtml+xml"),
        Many(check_media_type),
        "Store only these media types; text/* and */* are understood.",
        cost="Other types cost a request each, which ends after the headers.",
        flag="--types",
        metavar="TYPE,…",
    )
    max_length: int = declare(
        0,
        Size(0),
        "Leave out responses whose Content-Length is larger; 0 is no limit.",
        cost="They cost a request each, which ends after the headers. Without a Content-Length max_body cuts.",
    )
    domains: tuple[str, ...] = declare(
        (),
        Many(check_domain),
        "Follow links to hosts of these domains, and to no others, instead of going by the seeds: example.org and .th "
        "are those names and all below them. With networks also to hosts whose addresses are in these.",
        cost="With networks every host that is met is remembered, and its name resolved before its URLs can be judged.",
        flag="--domains",
        metavar="DOMAIN,…",
    )
    networks: tuple[str, ...] = declare(
        (),
        Many(check_network),
        "Visit only servers whose addresses are in these networks; none means all. Hosts of domains may be anywhere.",
        cost="A name must be resolved before its URLs can be judged.",
        flag="--networks",
        metavar="CIDR,…",
    )
    max_depth: int | None = declare(
        None,
        WholeOrNone(0),
        "Follow links no further than this many steps from a seed; the seeds are at depth 0.",
        cost="Deeper URLs are not remembered; when the limit is raised, the deepest pages are read for links again.",
        flag="--max-depth",
        metavar="N",
    )
    max_directories: int = declare(
        20,
        Whole(0, 1000),
        "Leave out URLs with more directories in their path: /a/b/c.html has two. The query does not count.",
        cost="A high number lets endless directories take more pages; a low one loses deep trees.",
    )
    reserved: tuple[str, ...] = declare(
        (),
        Many(check_reserved, comma=False),
        "Drop pages in whose source one of these texts is found, in upper or lower case: not stored, no link followed.",
        cost="Every page of text is decoded once more and searched, after it was fetched.",
        live=True,
    )
    domain_hosts: int = declare(
        0,
        Whole(0),
        "The most hosts of one registered domain; links to further ones are left out. 0 is no limit.",
        cost="A few reads from disk for each new host.",
    )


@settings
class PolicyConfig(Settings):
    """How politely."""

    delay: float = declare(
        1.0,
        Duration(0, LONGEST_PAUSE),
        "Pause between two visits to a host; robots.txt can only make it longer.",
        cost="A host gives at most one page per delay; 0 makes no pause and can overload a server.",
        flag="--delay",
        metavar="TIME",
        live=True,
    )
    max_crawl_delay: float = declare(
        60.0,
        Duration(0, LONGEST_PAUSE),
        "The longest Crawl-delay of a robots.txt that is obeyed; longer ones count as this.",
        cost="A high cap lets a host keep its URLs queued for days; a low one may annoy its owner.",
        live=True,
    )
    delay_factor: float = declare(
        1.0,
        Decimal(0, 1000),
        "Pause at least this many times the host's last response time; ignored when delay is 0.",
        cost="Slow hosts are visited more slowly still, and so do not break.",
        live=True,
    )
    host_connections: int = declare(
        1,
        Whole(1, 64),
        "Connections to one host at a time.",
        cost="More than 1 is felt by small servers.",
        flag="--host-connections",
        metavar="N",
        live=True,
    )
    domain_delay: Pause = declare(
        Pause(parts=8.0),
        DurationOrPart(),
        "Pause between the beginnings of two visits to hosts of one registered domain: a time, or a part of the pause "
        "of the host that was visited; 0 makes none.",
        cost="A domain gives at most one page per domain delay, however many hosts it has.",
        live=True,
    )
    address_delay: Pause = declare(
        Pause(parts=16.0),
        DurationOrPart(),
        "The same for hosts at one address. Hosts sent elsewhere with --connect are not counted.",
        cost="Hosts that share an address give at most one page per address delay together.",
        live=True,
    )
    domain_connections: int = declare(
        16,
        Whole(0, 10_000),
        "Connections to the hosts of one registered domain at a time; 0 is no limit.",
        cost="A domain with many hosts is crawled no faster than this allows.",
        live=True,
    )
    address_connections: int = declare(
        16,
        Whole(0, 10_000),
        "Connections to one address at a time; 0 is no limit. Hosts sent elsewhere with --connect are not counted.",
        cost="Hosts that share a server are crawled no faster than this allows.",
        live=True,
    )
    burst: int = declare(
        1,
        Whole(1, 1000),
        "Visits to a host in a row over one connection; then it rests as long as it would have between them.",
        cost="More than 1 saves connections, and is felt by small servers.",
        live=True,
    )
    robots_ttl: float = declare(
        86400.0,
        Duration(60),
        "How long a robots.txt holds before it is fetched again.",
        cost="A short time costs one more request per host each time; a long one obeys old rules.",
        live=True,
    )
    max_tries: int = declare(
        4,
        Whole(1, 1000),
        "Visits to a URL that only fails before it counts as dead.",
        cost="Each try takes a turn of its host.",
        live=True,
    )
    retry_wait: float = declare(
        10.0,
        Duration(0, LONGEST_PAUSE),
        "Wait before a failed visit is tried again; doubles each time.",
        cost="A short wait spends the tries while the host is still down.",
        live=True,
    )
    max_retry_wait: float = declare(
        21600.0,
        Duration(0, LONGEST_PAUSE),
        "The longest wait before a failed visit is tried again.",
        cost="A crawl with failing hosts ends only after their last try.",
        live=True,
    )
    blocklist: tuple[str, ...] = declare(
        (),
        Many(block_pattern),
        "Never visit these: example.org is that host and all below it, *.example.org only those below, "
        "example.org/forum/ the pages whose path begins so.",
        cost="URLs of blocked hosts stay queued until the host is taken off the list; blocked pages are excluded.",
        live=True,
    )
    duplicates: str = declare(
        "skip",
        Choice("skip", "follow"),
        "skip: a directory whose last pages brought nothing new is left, and so are a host that mirrors another and "
        "copies of a page ever deeper below it; follow: all of it is crawled.",
        cost="skip keeps some URLs queued for ever, and says which; follow does not end on sites without end.",
        live=True,
    )
