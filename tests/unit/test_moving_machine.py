"""Two frontiers between which partitions move, in any order of work, moves and crashes: together they are one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from gossamer.config import FreshConfig, FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier, keys, moving, pieces
from gossamer.frontier.diffs import DiffReader, diffs_of, pack_diff
from gossamer.frontier.pieces import PieceReader
from gossamer.frontier.roster import _chunk
from gossamer.frontier.tally import Totals
from gossamer.model import Change, Exclusion, Fault, Reason, State, Visit
from gossamer.model.domain import partition_of, registered_domain
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

PARTITIONS = 4
HOSTS = ["a.test", "www.a.test", "b.test", "c.test:8080", "d.test", "e.test", "f.test", "g.test"]
HOUR, DAY = 3600.0, 86_400.0
State_ = dict[bytes, bytes]


def partition(host: str) -> int:
    return partition_of(registered_domain(host), PARTITIONS)


def about(name: str) -> str | None:
    return name[5:] if name.startswith("seed ") else None


class Site:
    """A frontier, and what it told others of its commits."""

    def __init__(self, world: World, home: Path) -> None:
        self.world = world
        self.home = home
        self.owns: set[int] = set()
        self.leased: list[Visit] = []
        self.added: set[str] = set()
        self.config = FrontierConfig(
            queue_head=2, partitions=PARTITIONS, recent_urls=64, hosts=world.chance.choice((1, 3, 8))
        )
        self.open()

    def open(self) -> None:
        self.leased.clear()
        self.added.clear()
        policy = Policy(PolicyConfig(delay=1.0, max_tries=2, host_connections=2, retry_wait=60, max_retry_wait=900))
        self.frontier = Frontier(
            self.home, self.config, policy, Scope("any"), None, self.world.now, FreshConfig(keep_fresh=True), rate=1.0
        )
        self.moving = self.frontier.moving(about)

    def hosts(self) -> list[str]:
        return [host for host in HOSTS if partition(host) in self.owns]

    def add(self) -> None:
        chance = self.world.chance
        hosts = self.hosts()
        if hosts:
            urls = [f"http://{chance.choice(hosts)}/p{chance.randrange(400)}" for _ in range(chance.randrange(1, 8))]
            self.added.update(urls)
            self.frontier.add(urls, 1, chance.choice((0, 4, 5)))

    def lease(self) -> None:
        now = self.world.now
        for visit in self.frontier.lease(now, self.world.chance.randrange(1, 9)):
            assert partition(visit.host) in self.owns, f"{visit.host} is somebody else's"
            if visit.robots:
                self.frontier.settle_robots(visit, ALLOW_ALL, now, 0.1, now + 10 * DAY)
            else:
                self.leased.append(visit)

    def settle(self) -> None:
        self.world.chance.shuffle(self.leased)
        for _ in range(self.world.chance.randrange(len(self.leased) + 1)):
            self.settle_one(self.leased.pop())

    def settle_one(self, visit: Visit) -> None:
        frontier, now = self.frontier, self.world.now
        outcome = self.world.chance.choice(["page", "page", "page", "source", "fault", "dead", "excluded", "back"])
        if outcome == "page":
            found = Found() if visit.before is None else Found(Change.CHANGED, 7, 3)
            frontier.settle_page(visit, 200, now, 0.1, (0, 1, 2), digest=b"12345678", found=found)
        elif outcome == "source":
            found = Found(Change.NEW if visit.before is None else Change.CHANGED, is_page=False)
            frontier.settle_source(visit, Exclusion.SITEMAP, 200, now, 0.1, (0, 1, 2), b"12345678", found=found)
        elif outcome == "excluded":
            frontier.settle_excluded(visit, Fault(Reason.UNWANTED_TYPE, False), now)
        elif outcome == "back":
            frontier.give_back(visit, now)
        else:
            frontier.settle_fault(visit, Fault(Reason.TIMEOUT, outcome == "fault"), now)

    def work(self) -> None:
        for _ in range(3):
            self.add()
            self.lease()
            self.settle()
            self.world.now += 2.0

    def commit(self) -> None:
        """And tell what it changed, as the agent will: before it is durable, to be sent after."""
        frontier, world = self.frontier, self.world
        database = frontier._database
        meta = {f"seed {host}": b"%d" % world.commits for host in self.hosts() if world.chance.random() < 0.1}
        sent = {}

        def told() -> None:
            found = diffs_of(database.visits, database.hosts, meta, self.moving.partition_of, frontier.counts.number)
            assert found.keys() <= self.owns, "something of another one's partition was changed"
            for number, diff in found.items():
                diff.taken = world.commits
                sent[number] = pack_diff(diff)
            type(database).commit(database)

        database.commit = told  # type: ignore[method-assign]
        frontier.commit(meta)
        del database.commit  # type: ignore[method-assign]
        world.commits += 1
        for number, messages in sent.items():
            world.log[number] += messages
        world.known |= self.added
        world.seeds.update({name[5:] for name in meta})
        self.added.clear()

    def crash(self) -> None:
        """Whatever is not committed is forgotten, and what was moving is not there."""
        self.frontier.close()
        self.open()
        for number in self.moving.leftovers():
            self.owns.discard(number)
            for _ in self.moving.drop(number):
                pass
        self.commit()

    def rows(self, number: int) -> State_:
        """All that is committed of a partition, and here to stay."""
        visits, hosts, notes = self.frontier._database.snapshot(keys.partition_prefix(number))
        own = {key: value for key, value in notes if self.moving.partition_of(key[3:].decode()) == number}
        return {key: keys.with_elsewhere(value) for key, value in visits} | {b"h" + k: v for k, v in hosts} | own

    # -- what must hold ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        """After a commit, while nothing moves."""
        frontier = self.frontier
        database, counts = frontier._database, frontier.counts
        due, index, states, sums = set(), set(), Counter[State](), Totals()
        waiting, again = self.queues(index)
        urls = set()
        for number in range(PARTITIONS):
            totals = self.moving.totals(number)
            for name in Totals.__struct_fields__[:-1]:
                setattr(sums, name, getattr(sums, name) + getattr(totals, name))
            rows = list(database.scan_visits(keys.partition_prefix(number)))
            assert number in self.owns or not rows, f"of partition {number} visits are left"
            for key, value in rows:
                urls.add(keys.read_visit(key, value).url)
                states[State(value[0])] += 1
                assert waiting[key] == (value[0] == State.QUEUED), f"{key!r} waits {waiting[key]} times: {value!r}"
                if keys.due_of(value):
                    due.add(keys.due_key(keys.due_of(value), key))
                elif keys.has_again(value):
                    assert again[key] == 1, f"{key!r} waits {again[key]} times"
        assert urls == {url for url in self.world.known if partition(url.split("/")[2]) in self.owns}
        assert {key for key, _ in database.scan_due(b"")} == due
        assert min(due, default=b"\xff") >= frontier.revisits._cursor, "one is due before what is looked at"
        assert {key for key, _ in database.scan_hosts(keys.INDEX, keys.INDEX)} == index
        assert counts.revisits == sums.revisits == again.total()
        assert counts.queued == sums.queued == waiting.total() == states[State.QUEUED]
        assert (counts.urls, counts.hosts, counts.aside) == (sums.urls, sums.hosts, sums.aside)
        assert (sums.fetched, sums.dead, sums.excluded) == (counts.fetched, counts.dead, counts.excluded)
        assert counts.fetched == states[State.FETCHED]
        assert set(frontier.meta_names("seed ")) == {host for host in self.world.seeds if partition(host) in self.owns}
        assert frontier.leased == len(self.leased)

    def queues(self, index: set[bytes]) -> tuple[Counter[bytes], Counter[bytes]]:
        """How often each visit waits: for the first time, and again; and which keys the index must have."""
        waiting, again = Counter[bytes](), Counter[bytes]()
        for number in range(PARTITIONS):
            prefix = keys.partition_prefix(number)
            settled: dict[int, tuple[int, list[int]]] = {}
            for key, value in self.frontier._database.scan_hosts(prefix, prefix):
                assert number in self.owns, f"of partition {number} hosts are left"
                host, kind = keys.prefix_of_row((key, value)), key[key.index(b"\0", 2) + 1 :]
                if kind == keys.RECORD:
                    settled = {row[0]: (row[1], row[2]) for row in keys.HostRecord.unpack(value).done}
                elif kind[:1] == keys.QUEUE:
                    assert keys.number_of(key) <= self.frontier.counts.number
                    index.add(keys.index_key(kind[1], keys.epoch(keys.number_of(key)), host))
                    for entry in filter(None, _chunk(key, value, *settled.get(kind[1], (0, []))).entries):
                        _, _, marks, scheme, path = keys.read_entry(entry)
                        counted = again if marks & keys.REVISIT else waiting
                        counted[keys.visits_of(host) + (scheme + path).encode()] += 1
        return waiting, again


class World:
    """Two sites, and what is kept beside them: of each partition a checkpoint, and all diffs since."""

    def __init__(self, home: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 1_790_000_000.0
        self.commits = 0
        self.known: set[str] = set()
        self.seeds: set[str] = set()
        self.checkpoints: dict[int, list[bytes]] = {}
        self.log: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
        self.moves: Counter[str] = Counter()
        self.sites = [Site(self, home / "a"), Site(self, home / "b")]
        for number in range(PARTITIONS):
            self.sites[number % 2].owns.add(number)

    def step(self) -> None:
        site = self.chance.choice(self.sites)
        usual = [site.work] * 6 + [site.commit] * 4 + [self.pass_time] * 2
        self.chance.choice([*usual, site.crash, *[self.checkpoint] * 2, *[self.move] * 3, self.lose])()
        for each in self.sites:
            each.commit()
            each.check()

    def pass_time(self) -> None:
        self.now += self.chance.choice((3.0, 60.0, HOUR, 5 * DAY, 30 * DAY))

    def done(self, steps: Generator[object], site: Site) -> bool:
        """Between two steps there is work to do. False: the site has crashed."""
        last = self.chance.choice((None, None, None, 0, 1, 5, 20, -1))  # step
        for number, _ in enumerate(steps):
            if self.chance.random() < 0.1:
                for each in self.sites:
                    each.work()
                    each.commit()
            if number == last:
                break
        else:
            if last != -1:  # before the commit
                site.commit()
                return True
        steps.close()  # or it holds the database open
        site.crash()
        self.moves["crashes"] += 1
        return False

    def checkpoint(self) -> None:
        number = self.chance.randrange(PARTITIONS)
        owner = next(site for site in self.sites if number in site.owns)
        expected = owner.rows(number)
        made: list[bytes] = []
        before = len(self.log[number])
        if not self.done((made.append(piece) for piece in owner.moving.export(number, self.commits)), owner):
            return
        reader, found = PieceReader(number), State_()
        for piece in made:
            if (records := reader.feed(piece)) is not None:
                found |= {key: keys.with_elsewhere(value) for key, value in records.visits.items()}
                found |= {b"h" + key: value for key, value in records.hosts.items()}
                found |= {keys.META + name.encode(): value for name, value in records.meta.items()}
        assert found == expected, "what was committed meanwhile is in it"
        self.checkpoints[number] = made
        del self.log[number][:before]

    def restoring(self, site: Site, number: int) -> Generator[None]:
        if number in self.checkpoints:
            yield from site.moving.take_in(number, self.checkpoints[number])
        else:
            site.moving.begin(number)
        reader = DiffReader(number)
        for message in self.log[number]:
            diff = reader.feed(message)
            if diff is not None:
                site.moving.apply(number, diff)
                if self.chance.random() < 0.2:
                    site.moving.apply(number, diff)
                assert site.moving.taken(number) == diff.taken
                yield
        yield from site.moving.finish(number)

    def move(self) -> None:
        """As planned: all of it is committed, and told of; then it goes here and comes there."""
        number = self.chance.randrange(PARTITIONS)
        owner, other = self.sites if number in self.sites[0].owns else self.sites[::-1]
        for visit in [visit for visit in owner.leased if partition(visit.host) == number]:
            owner.frontier.give_back(visit, self.now)
            owner.leased.remove(visit)
        owner.commit()
        if self.chance.random() < 0.5:  # else the diffs since are enough
            self.checkpoints[number] = list(owner.moving.export(number))
            self.log[number].clear()
        expected = owner.rows(number)
        owner.frontier.forget_partition(number)
        owner.owns.discard(number)
        self.done(owner.moving.drop(number), owner)
        self.take(other, number, expected)

    def lose(self) -> None:
        """One dies; the other takes one of its partitions, and when it is back it has to let go."""
        owner, other = self.chance.sample(self.sites, 2)
        if not owner.owns:
            return
        number = self.chance.choice(sorted(owner.owns))
        owner.frontier.close()
        owner.open()
        expected = owner.rows(number)
        owner.owns.discard(number)
        self.done(owner.moving.drop(number), owner)
        self.take(other, number, expected)

    def take(self, site: Site, number: int, expected: State_) -> None:
        while not self.done(self.restoring(site, number), site):
            pass
        assert site.rows(number) == expected
        site.owns.add(number)
        self.moves["moves"] += 1


@pytest.mark.parametrize("seed", range(6))
def test_whatever_moves_all_is_somewhere_and_nothing_is_in_two_places(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "SIZE", 2000)  # so that there are several steps
    monkeypatch.setattr(moving, "_AT_ONCE", 20)
    world = World(tmp_path, seed)
    for _ in range(50):
        world.step()
    assert world.moves["moves"] > 4
    assert len(world.known) > 100
    for site in world.sites:
        site.frontier.close()
