"""Seeds found by a search: a keyword starts a crawl."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from gossamer.errors import SeedError

MOST = 10_000
USUAL = 50
_AT_ONCE = 100


def found_seeds(query: str, directory: Path, count: int) -> tuple[str, ...]:
    """The URLs of the best results. Raises SeedError where there are none, and says what to do."""
    from gossamer.cli.search import answers

    found: dict[str, None] = {}
    with closing(answers(directory, query, min(count, _AT_ONCE))) as several:
        for answer in several:
            found.update((hit.url, None) for hit in answer.results)
            if len(found) >= count:
                break
    if not found:
        import shlex

        asked = shlex.quote(query)
        raise SeedError(
            f"--from-search: nothing in the index of {directory} matches {query[:200]!r}. Try other words, give a SEED "
            f"as well, or have it remembered until a page turns up: gossamer watch add {asked} --dir {directory}"
        )
    return tuple(found)[:count]
