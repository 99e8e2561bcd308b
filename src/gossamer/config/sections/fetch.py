"""How pages are fetched and read."""

from __future__ import annotations

from gossamer.config.checks import check_link_kind, connect_rule, dns_server, port_range
from gossamer.config.hours import hours
from gossamer.config.kinds import LONGEST_PAUSE, Choice, Decimal, Duration, Many, Size, Switch, Text, Whole
from gossamer.config.option import Settings, declare, settings
from gossamer.config.secrets import ProxyUrl


@settings
class FetchConfig(Settings):
    """How pages are fetched, and as whom."""

    connections: int = declare(
        256,
        Whole(1, 20_000),
        "Connections in all.",
        cost="Each may hold a response of up to max_body in memory, and one file descriptor.",
        flag="--connections",
        metavar="N",
        live=True,
        local=True,
    )
    target_rate: float = declare(
        0.0,
        Decimal(0),
        "Reach this many pages a second with as few connections as that takes, from least_connections to connections; "
        "0 uses all of them.",
        cost="Some seconds until a change of the servers or of this machine is answered; it is no cap, which rate is.",
        flag="--target-rate",
        metavar="N",
        live=True,
    )
    least_connections: int = declare(
        4,
        Whole(1, 20_000),
        "Connections that there may be in any case, where target_rate adjusts them.",
        cost="None, unless it is more than the target takes.",
        live=True,
        local=True,
    )
    timeout: float = declare(
        60.0,
        Duration(0.001, LONGEST_PAUSE),
        "The longest time for one response, from the first byte sent to the last received.",
        cost="A slow server holds a connection this long.",
    )
    connect_timeout: float = declare(
        15.0,
        Duration(0.001, LONGEST_PAUSE),
        "The longest time to connect, TLS included.",
        cost="A server that does not answer holds a connection this long.",
    )
    low_speed_time: float = declare(
        20.0,
        Duration(1, LONGEST_PAUSE),
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
        local=True,
    )
    dns: tuple[str, ...] = declare(
        (),
        Many(dns_server),
        "Ask these DNS servers, all at once, instead of those of the system.",
        cost="Every new host costs each of them one or two questions.",
        flag="--dns",
        metavar="IP[:PORT]",
        local=True,
    )
    proxy: str = declare(
        "",
        ProxyUrl(),
        "Send requests through this proxy: http, https, socks5 (names are resolved here) or socks5h (by the proxy); the"
        " environment is not asked for one.",
        cost="Where the proxy connects to is judged only as far as this machine can tell.",
        secret=True,
        local=True,
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
        "Send a HEAD before the first GET of a URL: never, where its extension says no type, or always; to one that was"
        " visited before none is sent.",
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
        flag="--ca-file",
        metavar="FILE",
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


@settings
class ParseConfig(Settings):
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
