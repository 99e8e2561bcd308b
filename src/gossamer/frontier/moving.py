"""A partition that moves between databases: what is committed of it goes out, comes in elsewhere, and is dropped here.

    export                     what the last commit has, in pieces
    take_in, apply, finish     pieces, then diffs on top of them, then all that follows from the records
    drop                       nothing of it is left

Records move, and what follows from them is made anew: index, times, counts. What is stored of pages stays where it is,
so a record that came from elsewhere says ELSEWHERE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from gossamer.errors import DiffError
from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Changes, Database, Rows
from gossamer.frontier.diffs import Diff
from gossamer.frontier.pieces import Header, PieceReader, pack_pieces
from gossamer.frontier.revisits import Revisits
from gossamer.frontier.roster import Roster
from gossamer.frontier.tally import Tally, Totals
from gossamer.rules.url_rules import UrlRules

_AT_ONCE: Final = 1000  # records between two turns of the loop


class Moving:
    """All but `apply` is done in steps, between which the crawl goes on and commits.

    Invariant: from before the first record of a partition is there until the commit after `finish`, and from before the
    first is gone until the commit after `drop`, there is a mark, and the partition is closed: nobody takes anything up
    there, and whoever finds the mark on opening (`leftovers`) drops it. Counts change with the mark, in one commit.
    """

    def __init__(
        self,
        database: Database,
        roster: Roster,
        counts: Counts,
        revisits: Revisits,
        about: Callable[[str], str | None],
        rules: Callable[[], UrlRules | None] = lambda: None,
    ) -> None:
        """`about`: the host that a note of this name (`Frontier.meta`) is about; None: it is about none, and stays.
        `rules`: those for URLs that hold now; pages are counted for patterns that have a cap.
        """
        self._database = database
        self._roster = roster
        self._counts = counts
        self._revisits = revisits
        self._about = about
        self._rules = rules
        self._coming: dict[int, Header] = {}  # the last number and position of a writer, of those that come
        self._notes: dict[int, set[str]] = {}  # names of notes that came with them

    def partition_of(self, name: str) -> int | None:
        """To which partition a note belongs; None: it is the agent's own."""
        if (partition := keys.judged_partition(name)) is not None:
            return partition
        host = self._about(name)
        return None if host is None else int.from_bytes(self._roster.prefix(host)[:2], "big")

    def leftovers(self) -> list[int]:
        """Partitions of which a part is here, as somebody was stopped while they came or went. Drop them."""
        return sorted(int.from_bytes(prefix, "big") for prefix in self._database.closed)

    # -- out ---------------------------------------------------------------------------------------------------------

    def export(self, partition: int, taken: int = 0) -> Iterator[bytes]:
        """What the database has of a partition now, whatever is committed until the last piece is asked for. It holds
        the database open until it is read to the end, or let go.
        """
        visits, hosts, notes = self._database.snapshot(keys.partition_prefix(partition))
        header = Header(partition, self._counts.number, taken)
        return pack_pieces(header, visits, hosts, self._notes_of(partition, notes))

    def _notes_of(self, partition: int, notes: Rows) -> Iterator[tuple[str, bytes] | None]:
        for number, (key, value) in enumerate(notes, 1):
            name = _name(key)
            if name is not None and self.partition_of(name) == partition:
                yield name, value
            elif number % _AT_ONCE == 0:
                yield None

    def totals(self, partition: int) -> Totals:
        """By going over all that is committed."""
        tally = Tally(self._rules())
        visits, hosts, _ = self._database.snapshot(keys.partition_prefix(partition))
        for row in visits:
            tally.visit(*row)
        for row in hosts:
            tally.host(*row)
        return tally.totals

    # -- in ----------------------------------------------------------------------------------------------------------

    def begin(self, partition: int) -> None:
        """A partition comes, of which nothing is here."""
        prefix = keys.partition_prefix(partition)
        visits, hosts, _ = self._database.snapshot(prefix)
        assert next(chain(visits, hosts), None) is None, f"partition {partition} is here already"
        self._mark(partition, keys.COMES)
        self._coming[partition] = Header(partition, 0)
        self._notes.pop(partition, None)

    def take_in(self, partition: int, pieces: Iterable[bytes]) -> Iterator[None]:
        """What `export` gave; DiffError where it did not. `drop` takes away what came, then and later."""
        self.begin(partition)
        return self._taking_in(partition, pieces)

    def _taking_in(self, partition: int, pieces: Iterable[bytes]) -> Iterator[None]:
        reader = PieceReader(partition)
        for piece in pieces:
            records = reader.feed(piece)
            if records is not None:
                self._put(partition, records.visits, records.hosts, records.meta)
            yield
        if not reader.whole:
            raise DiffError(f"partition {partition} is cut off")
        self._coming[partition] = reader.header

    def apply(self, partition: int, diff: Diff) -> None:
        """What a later commit changed; all of them, in their order. To do it again changes nothing."""
        self._put(partition, diff.visits, diff.hosts, diff.meta)
        known = self._coming[partition]
        self._coming[partition] = Header(partition, max(known.number, diff.number), max(known.taken, diff.taken))

    def taken(self, partition: int) -> int:
        """Of one that comes: the position in the log up to which what others sent is part of it."""
        return self._coming[partition].taken

    def _put(
        self,
        partition: int,
        visits: Mapping[bytes, bytes | None],
        hosts: Mapping[bytes, bytes | None],
        meta: dict[str, bytes],
    ) -> None:
        elsewhere = keys.with_elsewhere
        changes: Changes = {key: None if value is None else elsewhere(value) for key, value in visits.items()}
        for name, value in meta.items():
            if self.partition_of(name) != partition:
                raise DiffError(f"a note is not about partition {partition}: {name[:200]!r}")
            changes[keys.META + name.encode()] = value
        self._notes.setdefault(partition, set()).update(meta)
        self._database.write(changes, dict(hosts), {})

    def notes(self, partition: int) -> set[str]:
        """The names of notes that came with a partition; asked for once, when it has come."""
        return self._notes.pop(partition, set())

    def finish(self, partition: int) -> Iterator[None]:
        """All has come. The partition is this frontier's after the last step, and for good with the next commit."""
        prefix = keys.partition_prefix(partition)
        tally = Tally(self._rules())
        first = b""
        for due, index, _ in self._derived(partition, tally):
            first = min(filter(None, (first, *due)), default=b"")
            self._database.write({}, dict.fromkeys(index, b""), dict.fromkeys(due, b""))
            yield
        tally.totals.add_to(self._counts)
        self._counts.number = max(self._counts.number, tally.number, self._coming.pop(partition).number)
        self._database.visits[keys.taking_key(partition)] = None
        self._database.closed.discard(prefix)
        self._revisits.joined(first, tally.all_enrolled)
        self._roster.look_again()

    def _derived(self, partition: int, tally: Tally) -> Iterator[tuple[list[bytes], list[bytes], list[bytes]]]:
        """Keys of `due`, of the index and of notes that belong to a partition, in steps."""
        visits, hosts, notes = self._database.snapshot(keys.partition_prefix(partition))
        while step := list(islice(visits, _AT_ONCE)):
            yield [due for row in step if (due := tally.visit(*row)) is not None], [], []
        while step := list(islice(hosts, _AT_ONCE)):
            yield [], [index for row in step if (index := tally.host(*row)) is not None], []
        while step := list(islice(notes, _AT_ONCE)):
            named = ((key, _name(key)) for key, _ in step)
            yield [], [], [key for key, name in named if name is not None and self.partition_of(name) == partition]

    # -- away --------------------------------------------------------------------------------------------------------

    def drop(self, partition: int) -> Iterator[None]:
        """All of it goes, whole or not; the last of it with the commit after the last step. No host of it may be in
        memory (`Frontier.forget_partition`).
        """
        counted = self._database.visit(keys.taking_key(partition)) != keys.COMES
        self._mark(partition, keys.GOES if counted else keys.COMES)
        self._coming.pop(partition, None)
        return self._dropping(partition, counted)

    def _dropping(self, partition: int, counted: bool) -> Iterator[None]:
        tally = Tally(self._rules())
        for due, index, notes in self._derived(partition, tally):
            self._database.write(dict.fromkeys(notes), dict.fromkeys(index), dict.fromkeys(due))
            yield
        if counted:
            tally.totals.add_to(self._counts, -1)
        self._database.visits[keys.taking_key(partition)] = None
        self._database.dropped.append(keys.partition_prefix(partition))

    def _mark(self, partition: int, way: bytes) -> None:
        mark = keys.taking_key(partition)
        assert mark not in self._database.visits, f"partition {partition} has just moved: a commit comes first"
        self._database.write({mark: way}, {}, {})
        self._database.closed.add(keys.partition_prefix(partition))


def _name(key: bytes) -> str | None:
    try:
        return key[len(keys.META) :].decode()
    except UnicodeDecodeError:
        return None
