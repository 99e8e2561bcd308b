"""One phase of the benchmark of the index, in a process of its own: build or ask, gossamer's index or SQLite's FTS5.

Prints its figures as one JSON object. CPU is that of all threads, without what making the documents took.
"""

from __future__ import annotations

import json
import re
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from search_documents import Query, entries, queries

from gossamer.index import Entry, IndexWriter, Search
from gossamer.model.url import host_of

_MEMORY = 64_000_000
_BATCH = 500
_COMMIT = 5000  # documents; what an indexer gathers in a few seconds
_WARM = 20


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Batches:
    """The documents in batches. Invariant: `spent` is the CPU that making them took, and nothing else."""

    def __init__(self, count: int) -> None:
        self._entries = entries(count)
        self.spent = 0.0

    def __iter__(self) -> Iterator[list[Entry]]:
        while True:
            begun = time.thread_time()
            batch = list(islice(self._entries, _BATCH))
            self.spent += time.thread_time() - begun
            if not batch:
                return
            yield batch


def built(count: int, write: Callable[[list[Entry]], None], end: Callable[[], None]) -> dict[str, float]:
    batches = Batches(count)
    begun = cpu()
    for batch in batches:
        write(batch)
    end()
    return {"index_us": (cpu() - begun - batches.spent) / count * 1e6, "build_peak": peak()}


def build_gossamer(path: Path, count: int) -> dict[str, float]:
    writer = IndexWriter(path / "index", _MEMORY)
    commits: list[float] = []
    written = 0

    def commit() -> None:
        begun = time.perf_counter()
        writer.commit(b"")
        commits.append(time.perf_counter() - begun)

    def write(batch: list[Entry]) -> None:
        nonlocal written
        writer.upsert(batch)
        written += len(batch)
        if written % _COMMIT == 0:
            commit()

    def end() -> None:
        commit()
        writer.close()

    return built(count, write, end) | {"longest_commit_s": max(commits)}


def build_fts5(path: Path, count: int) -> dict[str, float]:
    path.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path / "fts5.db")
    base.execute("PRAGMA journal_mode=WAL")
    base.execute(
        "CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, host, title, body, anchors, "
        "tokenize='porter unicode61 remove_diacritics 2')"
    )
    written = 0

    def write(batch: list[Entry]) -> None:
        nonlocal written
        base.executemany(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?)",
            [(one.url, host_of(one.url).replace(".", ""), one.title, one.body, " ".join(one.anchors)) for one in batch],
        )
        written += len(batch)
        if written % _COMMIT == 0:
            base.commit()

    def end() -> None:
        base.commit()
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.close()

    return built(count, write, end)


def asked(made: Sequence[Query], ask: Callable[[str], int]) -> dict[str, float]:
    for query in made[:_WARM]:
        ask(query.text)
    times: dict[str, list[float]] = {"all": []}
    found = 0
    for query in made[_WARM:]:
        begun = time.perf_counter()
        found += ask(query.text)
        seconds = time.perf_counter() - begun
        times["all"].append(seconds)
        times.setdefault(query.kind, []).append(seconds)
    figures: dict[str, float] = {"found": found / len(times["all"]), "ask_peak": peak()}
    for kind, taken in times.items():
        taken.sort()
        figures[f"{kind}_p50_ms"] = taken[len(taken) // 2] * 1e3
        figures[f"{kind}_p95_ms"] = taken[int(len(taken) * 0.95)] * 1e3
    return figures


def ask_gossamer(path: Path, count: int) -> dict[str, float]:
    """Each answer with its total, facets and ten results with marked snippets; none of them remembered."""
    search = Search([path / "index"])
    return asked(queries(count), lambda text: search.answer(text).total)


def ask_fts5(path: Path, count: int) -> dict[str, float]:
    """Each answer with its total and ten results with marked snippets; FTS5 has no facets."""
    base = sqlite3.connect(path / "fts5.db")

    def ask(text: str) -> int:
        match = fts5_query(text)
        total = base.execute("SELECT count(*) FROM pages WHERE pages MATCH ?", (match,)).fetchone()[0]
        base.execute(
            "SELECT url, title, snippet(pages, 3, '<mark>', '</mark>', '…', 30) FROM pages WHERE pages MATCH ? "
            "ORDER BY bm25(pages, 0, 0, 3, 1, 2) LIMIT 10",
            (match,),
        ).fetchall()
        return int(total)

    return asked(queries(count), ask)


def fts5_query(text: str) -> str:
    host = re.search(r" site:(\S+)", text)
    if host:
        text = text[: host.start()]
    terms = [part if part == "OR" or part[0] == '"' else f'"{part}"' for part in re.findall(r'"[^"]*"|\S+', text)]
    match = "{title body anchors} : (" + " ".join(terms) + ")"
    return match + f' AND host : "{host[1].replace(".", "")}"' if host else match


PHASES = {
    "build gossamer": build_gossamer,
    "ask gossamer": ask_gossamer,
    "build fts5": build_fts5,
    "ask fts5": ask_fts5,
}


def command(phase: str, path: Path, count: int) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), phase, str(path), str(count)]


if __name__ == "__main__":
    print(json.dumps(PHASES[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
