"""Whether a HEAD goes before the GET, to learn the type without the body."""

from __future__ import annotations

from gossamer.model import Method, Visit


class HeadFirst:
    """The rule of `fetch.head_first`: `unknown` asks where the extension of a URL says no type, `always` asks about
    every URL.

    What other URLs of the host have sent says nothing: one directory has pages and pictures without any extension.

    Invariant: a URL is asked about at most once in a run, and not when it was visited before.
    """

    def __init__(self, policy: str) -> None:
        from mimetypes import MimeTypes  # for who asks first

        self._always = policy == "always"
        self._known = frozenset(kind.removeprefix(".") for kind in MimeTypes(filenames=()).types_map[True])
        self._asked: set[str] = set()

    def asks(self, visit: Visit) -> bool:
        """Return whether a HEAD goes before this visit, which is about to begin."""
        if visit.robots or visit.source or visit.tries or visit.revisit or visit.method is not Method.GET:
            return False
        if visit.url in self._asked:
            return False
        return self._always or extension(visit.url) not in self._known

    def answered(self, visit: Visit) -> None:
        """Note that the HEAD brought something, if only that it is no use; the GET is next."""
        self._asked.add(visit.url)

    def settled(self, visit: Visit) -> None:
        """Forget a visit whose GET is over: from now on it has tries, or a history."""
        self._asked.discard(visit.url)


def extension(url: str) -> str:
    """Of the last part of the path, in lower case; nothing where there is none."""
    path = url.partition("?")[0]
    _, dot, kind = path[path.rfind("/") + 1 :].rpartition(".")
    return kind.lower() if dot else ""
