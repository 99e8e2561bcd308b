"""Every option, declared once: default, kind, what it means and what it costs.

One section for each folder of the program, handed only to that folder. Help texts, docs/configuration.md and the
comments in gossamer.toml are made from these declarations.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from gossamer.config.checks import (
    block_pattern,
    check_link_kind,
    check_media_type,
    check_network,
    check_regex,
    check_reserved,
    connect_rule,
    dns_server,
    port_range,
    store_directory,
)
from gossamer.config.hosts import HostRule
from gossamer.config.hours import hours
from gossamer.config.kinds import Choice, Decimal, Duration, Many, Size, Switch, Text, Whole, WholeOrNone
from gossamer.config.option import Option, declare
from gossamer.config.secrets import ProxyUrl
from gossamer.config.urls import UrlRule


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeConfig:
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
    networks: tuple[str, ...] = declare(
        (),
        Many(check_network),
        "Visit only servers whose addresses are in these networks; none means all.",
        cost="A name must be resolved before its URLs can be judged.",
        flag="--networks",
        metavar="CIDR,…",
    )
    max_depth: int | None = declare(
        None,
        WholeOrNone(0),
        "Follow links no further than this many steps from a seed; the seeds are at depth 0.",
        cost="Deeper URLs are not remembered; they are found again if the limit is raised and their page visited.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """How politely."""

    delay: float = declare(
        1.0,
        Duration(0),
        "Pause between two visits to a host; robots.txt can only make it longer.",
        cost="A host gives at most one page per delay; 0 makes no pause and can overload a server.",
        flag="--delay",
        metavar="TIME",
        live=True,
    )
    max_crawl_delay: float = declare(
        60.0,
        Duration(0),
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
        Duration(0),
        "Wait before a failed visit is tried again; doubles each time.",
        cost="A short wait spends the tries while the host is still down.",
        live=True,
    )
    max_retry_wait: float = declare(
        21600.0,
        Duration(0),
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
        "skip: links of a page that repeats another one are not followed, a directory whose last pages brought nothing "
        "new is left, and so is a host that mirrors another; follow: all of it is crawled.",
        cost="skip keeps some URLs queued for ever, and says which; follow does not end on sites without end.",
        live=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchConfig:
    """How pages are fetched, and as whom."""

    connections: int = declare(
        256,
        Whole(1, 20_000),
        "Connections in all.",
        cost="Each may hold a response of up to max_body in memory, and one file descriptor.",
        flag="--connections",
        metavar="N",
        live=True,
    )
    timeout: float = declare(
        60.0,
        Duration(0.001),
        "The longest time for one response, from the first byte sent to the last received.",
        cost="A slow server holds a connection this long.",
    )
    connect_timeout: float = declare(
        15.0,
        Duration(0.001),
        "The longest time to connect, TLS included.",
        cost="A server that does not answer holds a connection this long.",
    )
    low_speed_time: float = declare(
        20.0,
        Duration(1),
        "Give up a response of which nothing arrives for this long.",
        cost="A short time loses pages of servers that think before they answer.",
    )
    max_body: int = declare(
        16 * 1024**2,
        Size(1),
        "The longest body, as sent and decompressed; longer ones are cut and marked so.",
        cost="Memory: in the worst case this much for every connection.",
    )
    max_headers: int = declare(
        64 * 1024,
        Size(1024),
        "The longest response headers; longer ones make the visit fail.",
        cost="Memory, and room for servers that never stop sending headers.",
    )
    user_agent: str = declare(
        "gossamer/0.1",
        Text(),
        "The name sent with every request; the contact is added to it.",
        cost="robots.txt rules for another name no longer apply.",
        flag="--user-agent",
        metavar="NAME",
    )
    contact: str = declare(
        "",
        Text(empty=True),
        "A mail address or URL where the owner of a server finds you; part of the user agent.",
        cost="When empty, user@hostname of this machine is sent.",
        flag="--contact",
        metavar="ADDRESS",
    )
    allow_private: bool = declare(
        False,
        Switch(),
        "May connect to loopback and private addresses.",
        cost="A page on the web can then make the crawl request things inside your network.",
        flag="--allow-private",
    )
    ports: tuple[str, ...] = declare(
        ("80", "443", "1024-65535"),
        Many(port_range),
        "Ports that may be connected to, by number or range; those of databases, mail and the like only by number.",
        cost="A wide list lets a page on the web send requests to services that are no web servers.",
    )
    connect: tuple[str, ...] = declare(
        (),
        Many(connect_rule),
        "Send requests for hosts that match a pattern to this address instead; the first match holds.",
        cost="Names that match are not resolved; whatever answers there is stored under their name.",
        flag="--connect",
        metavar="PATTERN=IP:PORT",
    )
    dns: tuple[str, ...] = declare(
        (),
        Many(dns_server),
        "Ask these DNS servers, all at once, instead of those of the system.",
        cost="Every new host costs each of them one or two questions.",
        flag="--dns",
        metavar="IP[:PORT]",
    )
    proxy: str = declare(
        "",
        ProxyUrl(),
        "Send requests through this proxy: http, https, socks5 (names are resolved here) or socks5h (by the proxy); the"
        " environment is not asked for one.",
        cost="Where the proxy connects to is judged only as far as this machine can tell.",
        secret=True,
    )
    cookies: bool = declare(
        False,
        Switch(),
        "Take cookies and send them back to the host that set them, until the run ends.",
        cost="Servers can tell the visits of a crawl apart from others, and may show it other pages.",
    )
    head_first: str = declare(
        "never",
        Choice("never", "unknown", "always"),
        "Send a HEAD before the GET: never, where the URL's extension says no type, or before every first visit.",
        cost="One more request, and a pause of the host, for each URL asked about; a GET that is not wanted ends "
        "after its headers anyway.",
    )
    http2: bool = declare(
        False,
        Switch(),
        "Speak HTTP/2 with servers that offer it over TLS; still one request at a time to a host.",
        cost="More CPU and memory for each connection, and WARC files hold heads rewritten as HTTP/1.1.",
    )
    ca_file: str = declare(
        "",
        Text(empty=True),
        "A PEM file with the root certificates to trust, instead of the system's; for intranets with their own.",
        cost="Servers with certificates from anybody else fail; put both into one file to trust both.",
    )
    rate: float = declare(
        0.0,
        Decimal(0),
        "The most pages a second for the whole crawl; 0 is no cap.",
        cost="The crawl takes at least pages / rate seconds.",
        flag="--rate",
        metavar="N",
        live=True,
    )
    bandwidth: int = declare(
        0,
        Size(0),
        "The most bytes a second for the whole crawl; 0 is no cap.",
        cost="The crawl takes at least bytes / bandwidth seconds.",
        flag="--bandwidth",
        metavar="SIZE",
        live=True,
    )
    schedule: tuple[str, ...] = declare(
        (),
        Many(hours, comma=False),
        "Other caps at certain hours of local time, the first that match: Mon-Fri 08:00-18:00 rate=5 bandwidth=1MB, "
        "22:00-06:00 rate=0 (no cap), Sun pause.",
        cost="None.",
        live=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseConfig:
    """What is taken out of a page."""

    follow: tuple[str, ...] = declare(
        ("a", "area", "frame", "iframe", "meta"),
        Many(check_link_kind),
        "The kinds of links to follow: names of elements, link:REL and header:REL for a relation, meta for a refresh.",
        cost="img, script and the like multiply the requests, most of them for types that are not stored.",
    )
    nofollow: bool = declare(
        True,
        Switch(),
        "Obey rel=nofollow, meta robots and X-Robots-Tag.",
        cost="false follows links that their author asked robots not to follow.",
    )
    sitemaps: bool = declare(
        True,
        Switch(),
        "Read sitemaps named by robots.txt, and feeds, for links.",
        cost="A few requests a host, which count as no pages; a sitemap may list pages that nothing links to.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierConfig:
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
    )
    partitions: int = declare(
        256,
        Whole(1, 65_536),
        "Slices of the web, by registered domain, among which agents share the work.",
        cost="Fixed when a crawl begins; more slices than agents cost almost nothing.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """The WARC files."""

    directories: tuple[str, ...] = declare(
        (),
        Many(store_directory),
        "More directories for WARC files, on other disks, each with its share of the pages; DIR/warc has share 1.",
        cost="One more fsync a commit each. A disk with less than 64 MiB left gets no pages while another has more.",
        flag="--store",
        metavar="DIR=SHARE",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexConfig:
    """The full-text index, written by a process of its own."""

    on: bool = declare(
        True,
        Switch(),
        "Index pages while they are crawled, so that gossamer search finds them seconds later.",
        cost="Up to one more core, at low priority, and disk for the text of the pages; pages are fetched no slower.",
        flag="--index",
    )
    buffer: int = declare(
        64 * 1024**2,
        Size(15 * 1000**2, 4 * 1024**3),
        "Memory for pages that are not yet in the index.",
        cost="This much memory of the indexing process, beside about 150 MB; too little means smaller parts to merge.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """API and pages, served by a process of its own."""

    port: int | None = declare(
        None,
        WholeOrNone(0, 65535),
        "Serve API and pages at this port of loopback while the crawl runs; 0 takes one that is free.",
        cost="A process of about 100 MB. With keys (gossamer keys add) each request needs one.",
        flag="--serve",
        metavar="PORT",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """The loop: its limits and its commits."""

    max_pages: int = declare(
        0,
        Whole(0),
        "Stop after exactly this many pages, counted over all runs of the crawl; 0 is no limit.",
        cost="Holds for this run: a later one says its own.",
        flag="--max-pages",
        metavar="N",
        once=True,
        live=True,
    )
    time_limit: float = declare(
        0.0,
        Duration(0),
        "Stop after this time; 0 is no limit.",
        cost="Holds for this run: a later one says its own.",
        flag="--time-limit",
        metavar="TIME",
        once=True,
        live=True,
    )
    commit_interval: float = declare(
        1.0,
        Duration(0.01, 3600),
        "Everything becomes durable together at least this often.",
        cost="A commit waits for the disk; what came after the last one is fetched again after a crash.",
        live=True,
    )
    commit_pages: int = declare(
        5000,
        Whole(1, 1_000_000),
        "Commit after this many pages even if the interval is not over.",
        cost="Memory for what is not yet committed.",
        live=True,
    )
    paused: bool = declare(
        False,
        Switch(),
        "Start no visits; `gossamer control` pauses and resumes. A paused crawl stays so when it is started again.",
        cost="Nothing is visited.",
        live=True,
    )
    log_format: str = declare(
        "text",
        Choice("text", "json"),
        "How DIR/logs/crawl.log is written: a line for people, or a JSON object, for each commit and notice.",
        cost="At most 30 MB of disk; one line for each commit.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of a crawl. Immutable: every part of the program sees the same."""

    scope: ScopeConfig = ScopeConfig()
    policy: PolicyConfig = PolicyConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseConfig = ParseConfig()
    frontier: FrontierConfig = FrontierConfig()
    store: StoreConfig = StoreConfig()
    index: IndexConfig = IndexConfig()
    service: ServiceConfig = ServiceConfig()
    agent: AgentConfig = AgentConfig()
    hosts: tuple[HostRule, ...] = ()
    urls: tuple[UrlRule, ...] = ()

    def to_toml(self) -> str:
        """Every value, with its meaning as a comment; reads back equal."""
        from gossamer.config.load import to_toml

        return to_toml(self)


TABLES = ("hosts", "urls")  # named by patterns
SECTIONS: dict[str, type[Any]] = {
    field.name: type(field.default) for field in dataclasses.fields(Config) if field.name not in TABLES
}

OPTIONS: dict[str, Option] = {
    option.name: option
    for section, cls in SECTIONS.items()
    for field in dataclasses.fields(cls)
    for option in [
        dataclasses.replace(field.metadata["option"], default=field.default, section=section, key=field.name)
    ]
}
