"""URLs: one spelling for each page, so that equal strings mean equal pages.

Parsing and joining are the WHATWG URL standard, by ada. On top of it, for the crawl:

- only http and https; the fragment, `user:password@` and an empty query are dropped (the web is crawled as a stranger:
  a link that carries credentials leads to the same page, or to one that is not public);
- one dot at the end of a host name is dropped;
- `%7e` becomes `~`: escapes of unreserved characters are decoded, all others are written in upper case. A URL with a
  stray `%` keeps its escapes, since decoding could make a new one of it (`%%32e`);
- session ids and tracking parameters are dropped (`session_ids`); the order of the other parameters is kept;
- what is longer than `MAX_LENGTH` then is no crawlable URL.

Left alone, though tempting: `index.html`, `www.`, double slashes, upper case in paths, empty labels in host names. Each
may be another page, or says itself that it is none when it is fetched. Names that no server can have make URLs, too;
the crawl excludes those by `domain.wrong_name`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from types import ModuleType
from typing import Final

from gossamer.model.domain import wrong_name
from gossamer.model.session_ids import strip_path, strip_query
from gossamer.regex import compiled_later

MAX_LENGTH: Final = 2083
"""The longest URL that all common clients and servers accept."""

# What is longer than this as written is not parsed at all: `data:` images of megabytes are common in pages.
_MAX_INPUT: Final = 4 * MAX_LENGTH

# No `%`, `;`, `(`, `?` and no dot in front, so that no escape, session id or dot segment can be in it; no `&`, so that
# it means the same in HTML.
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.,:+=@!-]{0,62}+"
_PLAIN = rf"(?:{_SEGMENT}/){{0,23}}+(?:{_SEGMENT})?"
PLAIN_PATH: Final[bytes] = b"/" + _PLAIN.encode()
"""A pattern for absolute paths that need no work: `origin + path` is what `normalize` would give.

It is bounded (1,536 characters), so that the result is never over `MAX_LENGTH` for an origin that DNS allows.
"""

# A host name in lower case whose last label is no number (which may be an IPv4 address) and without labels in punycode
# (which ada checks); no port, or one that is no scheme's default.
_PLAIN_NAME = r"(?:(?!xn--)[a-z0-9-]{1,63}\.){0,9}(?!xn--)[a-z][a-z0-9-]{0,62}"
# Or an IPv4 address as ada writes it.
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PLAIN_HOST = rf"(?:{_PLAIN_NAME}|(?:{_OCTET}\.){{3}}{_OCTET}(?=[/:]))"
_PLAIN_PORT = r":(?!(?:80|443)/)(?:[1-9][0-9]{0,3}|[1-5][0-9]{4})(?=/)"
_PLAIN_QUERY = r"\?[][A-Za-z0-9_~.:@!$()*+,;/?=&|-]+"
_plain_url = re.compile(f"https?://{_PLAIN_HOST}(?:{_PLAIN_PORT})?/{_PLAIN}({_PLAIN_QUERY})?").fullmatch
_plain_query = compiled_later(_PLAIN_QUERY)
_plain_path = compiled_later(f"/{_PLAIN}")
# `name`, `dir/name`, `./name`, `../../dir/`: group 1 is the way up. No colon in the first name: that would be a scheme.
_plain_name = compiled_later(rf"(?:\./|((?:\.\./)+))?(?![^/]*:){_PLAIN}")

_escape = compiled_later(r"%[0-9A-Fa-f]{2}")
_stray_percent = compiled_later(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = {
    f"%{code:02X}": chr(code) for code in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
}


def normalize(url: str, base: str | None = None) -> str | None:
    """The one spelling of `url` (relative to `base`) for the crawl; None when it is no crawlable URL.

    `normalize(normalize(u)) == normalize(u)`, and no string raises. A base that is no URL counts as none.
    """
    if len(url) > _MAX_INPUT:
        return None
    cut = url.find("#")
    bare = url if cut < 0 else url[:cut]
    plain = _plain_url(bare)
    if plain is not None:
        query = plain[1]
        if query is not None:
            bare = bare[: plain.start(1)] + strip_query(query)
        return bare if len(bare) <= MAX_LENGTH else None
    if base is not None:
        joiner = _joiner(base)
        if joiner is not None:
            joined = joiner.join_plain(bare)
            if joined is not None:
                return joined if len(joined) <= MAX_LENGTH else None
        base = None if joiner is None else joiner.href
    href = resolve(url, base)
    return None if href is None else _crawl_form(href)


class _Joiner:
    """A base, and what it takes to join a plain reference to it by concatenation.

    `origin` and `directory` are empty where only the whole parser knows the answer: a base of another scheme, or a
    directory with escapes, or with a session id, which is dropped after joining and not before.
    """

    __slots__ = ("directory", "home", "href", "origin")

    def __init__(self, href: str) -> None:
        self.href = href
        self.home = _crawl_form(href)
        self.origin = self.directory = ""
        if self.home is not None:
            self.origin, _ = split(self.home)
            path = re.split("[?#]", href, maxsplit=1)[0].split("/", 3)[3]
            directory = "/" + path[: path.rfind("/") + 1]
            if _plain_path.fullmatch(directory):
                self.directory = self.origin + directory

    def join_plain(self, reference: str) -> str | None:
        """The normalised URL, or None where it takes the whole parser to find it."""
        mark = reference.find("?")
        if mark < 0:
            return self._join_path(reference)
        joined = self._join_path(reference[:mark]) if mark and _plain_query.fullmatch(reference, mark) else None
        return None if joined is None else joined + strip_query(reference[mark:])

    def _join_path(self, reference: str) -> str | None:
        if reference[:1] == "/":
            return self.origin + reference if self.origin and _plain_path.fullmatch(reference) else None
        if not reference:
            return self.home
        if not self.directory:
            return None
        name = _plain_name.fullmatch(reference)
        if name is None:
            return None
        if reference[0] != ".":
            return self.directory + reference
        directory, up = self.directory, name.end(1)
        for _ in range(up // 3):
            directory = directory[: directory.rfind("/", len(self.origin), -1) + 1] or self.origin + "/"
        return directory + reference[max(up, 2) :]


@lru_cache(maxsize=256)
def _joiner(base: str) -> _Joiner | None:
    href = resolve(base) if len(base) <= _MAX_INPUT else None
    return None if href is None else _Joiner(href)


@cache
def _ada() -> ModuleType:
    # Loaded for the first URL that is not plain: it takes 3 ms.
    import ada_url

    return ada_url


def resolve(url: str, base: str | None = None) -> str | None:
    """The WHATWG stage alone: the serialised URL, of any scheme and with its fragment, or None."""
    try:
        return str(_ada().normalize_url(url) if base is None else _ada().join_url(base, url))
    except ValueError:
        pass
    # Python strings may hold lone surrogates, which have no UTF-8 form; the standard reads them as U+FFFD.
    clean, clean_base = _scalar_values(url), None if base is None else _scalar_values(base)
    return None if (clean, clean_base) == (url, base) else resolve(clean, clean_base)


def _scalar_values(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _crawl_form(href: str) -> str | None:
    """`href` is what the WHATWG stage gave."""
    while True:
        start = 8 if href.startswith("https://") else 7
        if start == 7 and not href.startswith("http://"):
            return None
        href = href.partition("#")[0]
        slash = href.find("/", start)
        host = href[start:slash].rpartition("@")[2]
        rest = href[slash:]
        if "%" in rest:
            rest = _unescaped(rest)
        path, mark, query = rest.partition("?")
        query = mark + query if query else ""
        origin = href[:start] + _without_dot(host)
        kept, kept_query = strip_path(path), strip_query(query) if query else ""
        if kept == path and kept_query == query:
            url = origin + path + query
            return url if len(url) <= MAX_LENGTH else None
        # What is left may be a dot segment now (`/a/..;jsessionid=1/b`), or may have lost the stray `%` that kept its
        # escapes; so it is read again. It is shorter each time.
        again = resolve(origin + kept + kept_query)
        if again is None:
            return None
        href = again


def _without_dot(host: str) -> str:
    name, colon, port = host.partition(":") if host[:1] != "[" else (host, "", "")
    if name[-1:] == "." and name[:-1] and name[-2:] != "..":
        return name[:-1] + colon + port
    return host


def _unescaped(rest: str) -> str:
    decode = not _stray_percent.search(rest)

    def spelled(match: re.Match[str]) -> str:
        escape = match[0].upper()
        return _UNRESERVED.get(escape, escape) if decode else escape

    return _escape.sub(spelled, rest)


def split(url: str) -> tuple[str, str]:
    """Origin and the rest of a normalised URL: ("http://h:8080", "/p?q")."""
    slash = url.find("/", 8)
    return url[:slash], url[slash:]


def host_of(url: str) -> str:
    """The host of a normalised URL, with the port only when it is not the scheme's default: "h:8080", "h"."""
    return url.split("/", 3)[2]


_HOST_LIKE = re.compile(r"(?:[^\s/:@?#\\.]+\.)*[^\s/:@?#\\.]+\.?(:[0-9]{1,5})?(?:[/?#].*)?", re.S)
_SCHEME = compiled_later(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LOCAL = compiled_later(r"(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?:[:/?#]|\Z)")


def seed_url(text: str) -> str | None:
    """What a person means by `text`: a URL, or a bare host name (`example.org/path`, `localhost:8000`).

    A bare name is read as https; `localhost` and IPv4 addresses, which seldom have certificates, as http.
    """
    text = text.strip()
    if text.startswith("//"):
        return normalize("https:" + text)
    named = _HOST_LIKE.fullmatch(text)
    if named is not None and (named[1] or "." in re.split(r"[/?#]", text, maxsplit=1)[0] or _LOCAL.match(text)):
        return normalize(("http://" if _LOCAL.match(text) else "https://") + text)
    return normalize(text)


def host_name(text: str) -> str | None:
    """The host that a person means by `text`, as `host_of` has it; None if it is none, or more than that."""
    url = seed_url(text)
    return None if url is None or url.partition("://")[2].strip("/").count("/") else host_of(url)


def usable_seed(text: str) -> tuple[str | None, str]:
    """Return the URL that a person means by `text`, or None and one short sentence on why it cannot be crawled."""
    url = seed_url(text)
    if url is None:
        return None, why_not(text)
    why = wrong_name(host_of(url))
    return (None, why) if why else (url, "")


def why_not(url: str) -> str:
    """One short sentence on why `normalize(url)` is None; empty when it is not."""
    if normalize(url) is not None:
        return ""
    text = url.strip()
    if not text:
        return "it is empty"
    if len(url) > _MAX_INPUT:
        return f"too long: {len(url)} characters, at most {MAX_LENGTH} are crawled"
    href = resolve(url)
    scheme = _SCHEME.match(text)
    if href is not None:
        name = href.partition(":")[0]
        if name not in ("http", "https"):
            return f"scheme {name} is not http or https"
        return f"too long: at most {MAX_LENGTH} characters are crawled"
    if scheme is None:
        return "no scheme: write https:// in front"
    if scheme[1].lower() not in ("http", "https"):
        return f"scheme {scheme[1].lower()} is not http or https"
    rest = text[scheme.end() :].lstrip("/\\")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if not authority or authority[0] == ":":
        return "no host"
    host, colon, port = authority.rpartition(":") if authority[0] != "[" else (authority, "", "")
    digits = port.lstrip("0")
    if colon and not (port.isascii() and port.isdigit() and len(digits) < 6 and int(digits or 0) < 65536):
        return f"port {port[:20]} is not a number up to 65535"
    return f"host {(host or authority)[:80]} is not a host name or address"
