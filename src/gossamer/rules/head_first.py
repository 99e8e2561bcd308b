"""Whether a HEAD goes before the GET, to learn the type without the body (N4)."""

from __future__ import annotations

from gossamer.model import Method, Visit

_MOST = 100_000  # hosts with an extension


class HeadFirst:
    """`unknown` asks where neither the extension says what a URL is nor the host has shown what it sends under such an
    extension; `always` asks before every first visit.

    Invariant: a URL is asked about at most once in a run, and not when it was visited before.
    """

    def __init__(self, policy: str) -> None:
        from mimetypes import MimeTypes  # for who asks first

        self._always = policy == "always"
        self._known = frozenset(kind.removeprefix(".") for kind in MimeTypes(filenames=()).types_map[True])
        self._shown: set[tuple[str, str]] = set()
        self._asked: set[str] = set()

    def asks(self, visit: Visit) -> bool:
        if visit.robots or visit.source or visit.tries or visit.method is not Method.GET or any(visit.validators):
            return False
        if visit.url in self._asked:
            return False
        if self._always:
            return True
        kind = extension(visit.url)
        return kind not in self._known and (visit.host, kind) not in self._shown

    def answered(self, visit: Visit) -> None:
        """The HEAD brought something, if only that it is no use; the GET is next."""
        self._asked.add(visit.url)

    def settled(self, visit: Visit) -> None:
        """The GET is over; from now on the visit has tries, or a history."""
        self._asked.discard(visit.url)

    def shown(self, visit: Visit) -> None:
        """A good response had a type: what comes under this extension is known now."""
        if not self._always:
            if len(self._shown) >= _MOST:
                self._shown.clear()
            self._shown.add((visit.host, extension(visit.url)))


def extension(url: str) -> str:
    """Of the last part of the path, in lower case; nothing where there is none."""
    path = url.partition("?")[0]
    _, dot, kind = path[path.rfind("/") + 1 :].rpartition(".")
    return kind.lower() if dot else ""
