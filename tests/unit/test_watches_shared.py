"""Watches of agents on several machines: books that follow one log, whoever is killed and whatever is said twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.agent.watching.book import WatchBook
from gossamer.agent.watching.keeping import SaidHits
from gossamer.agent.watching.records import Added, CallWas, Found, Match, Record, Removed, Revived, decode, encode
from gossamer.agent.watching.sharing import Sharing
from gossamer.agent.watching.teller import LOST_AFTER, Teller
from gossamer.agent.watching.watch import MOST_WATCHES, REMEMBERED_FOR, WatchHit, new_id, new_secret
from gossamer.cluster.watch_log import Said
from gossamer.config import FetchConfig
from gossamer.errors import BatchError, ConfigError, LogFullError, UnavailableError
from gossamer.index.schema import key_in, key_of, rank_of
from gossamer.testing import FakeClock, Receiver

NOW = 1_800_000_000.0


class ListedLog:
    """A log in memory. `trouble`: what the next ones come to, in turn."""

    def __init__(self, identity: str = "first", start: int = 1_800_000_000_000) -> None:
        self.identity = identity
        self.said: list[Said] = []
        self.about: list[str] = []
        self.trouble: list[str] = []
        self._next = start

    async def append(self, about: str, data: bytes) -> int:
        trouble = self.trouble.pop(0) if self.trouble else ""
        if trouble == "full":
            raise LogFullError("the log is full")
        if trouble == "before":
            raise UnavailableError("not heard")
        self.said.append(Said(self._next, data))
        self.about.append(about)
        self._next += 1
        if trouble == "after":
            raise UnavailableError("heard, and not answered")
        return self._next - 1

    async def read(self, after: int, patience: float) -> Sequence[Said]:
        return [each for each in self.said if each.sequence > after]

    async def end(self) -> int:
        return self._next - 1

    async def forget(self, about: str) -> None:
        kept = [(said, name) for said, name in zip(self.said, self.about, strict=True) if name != about]
        self.said, self.about = [said for said, _ in kept], [name for _, name in kept]

    async def close(self) -> None:
        pass

    def records(self) -> list[Record]:
        return [decode(each.data) for each in self.said]


class Machine:
    """An agent's directory and the processes beside it, which may be killed and begun again."""

    def __init__(self, home: Path, name: str, log: ListedLog, clock: FakeClock) -> None:
        self.home, self.name, self.log, self.clock = home, name, log, clock
        self.book = WatchBook(home)
        self.begin()

    def begin(self) -> None:
        """Anew, as after kill -9: what was in memory is gone."""
        self.sharing = Sharing(self.book, self.name, self.log, clock=self.clock)
        self.teller = Teller(self.sharing.replica, FetchConfig(allow_private=True), self.clock)
        self.keeping = SaidHits(self.book, self.name)

    def catch_up(self) -> None:
        asyncio.run(self.sharing.catch_up())

    def step(self) -> None:
        asyncio.run(self.sharing.step(0.0, self.teller))

    def begin_call(self) -> None:
        """It is on its way then."""
        self.catch_up()
        for trying in self.teller.wanted():
            self.say(trying)
        self.teller.begin()
        assert self.teller.in_flight

    def say(self, record: Record) -> None:
        asyncio.run(self.sharing.say(record))

    def find(self, id_: str, *urls: str, tell: bool = True) -> None:
        """As the process that indexes does it."""
        watch = self.book.known(id_)
        with self.book.changing() as base:
            new = [url for url in urls if self.keeping.is_new(base, watch, key_of(url))]
            self.keeping.keep(base, watch, [match(url, tell) for url in new], [])

    def hits(self, id_: str) -> list[WatchHit]:
        return self.book.hits(self.book.known(id_))

    def urls(self, id_: str) -> list[str]:
        return [hit.url for hit in reversed(self.hits(id_))]


def match(url: str, tell: bool = True) -> Match:
    return Match(key_of(url), url, "T", "a <mark>b</mark>", "en", NOW, NOW, False, tell)


def added(name: str = "silk", webhook: str = "", given: bool = False) -> Added:
    return Added(new_id(), name, given, "silk", webhook, new_secret() if webhook else "", False, NOW)


@pytest.fixture
def log() -> ListedLog:
    return ListedLog()


@pytest.fixture
def machines(tmp_path: Path, log: ListedLog) -> Iterator[list[Machine]]:
    clock = FakeClock(NOW)
    found = [Machine(tmp_path / name, name, log, clock) for name in ("m1", "m2", "m3")]
    yield found
    for each in found:
        each.teller.close()
        each.book.close()


# -- watches -----------------------------------------------------------------------------------------------------------


def test_a_watch_is_known_to_all_and_gone_for_all(machines: list[Machine], log: ListedLog) -> None:
    one, two, _ = machines
    one.catch_up()
    watch = added(webhook="https://example.org/hook")
    one.say(watch)
    two.catch_up()
    assert two.book.secret(two.book.known(watch.watch)) == watch.secret
    one.find(watch.watch, "http://a/")
    one.step()
    two.catch_up()
    two.say(Removed(watch.watch))
    one.catch_up()
    assert (one.book.all(), two.book.all()) == ([], [])
    assert one.book.rows("SELECT count(*) FROM hits")[0][0] == 0
    assert [type(record) for record in log.records()] == [Added, Removed], "what it had found takes no room any more"


def test_what_a_watch_is_for_is_known_to_all_and_what_is_remembered_ends_everywhere(machines: list[Machine]) -> None:
    machines[0].catch_up()
    machines[0].say(Added(new_id(), "silk", False, "silk", "", "", False, NOW, crawl=True))
    machines[0].say(Added(new_id(), "zither", False, "zither", "", "", False, NOW, crawl=True, remembered=True))
    machines[0].say(Added(new_id(), "late", False, "late", "", "", False, NOW - REMEMBERED_FOR - 1, remembered=True))
    for machine in machines:
        machine.catch_up()
        known = {watch.name: (watch.crawl, watch.remembered) for watch in machine.book.all()}
        assert known == {"silk": (True, False), "zither": (True, True)}
        machine.book.forget_old(NOW + REMEMBERED_FOR + 1)
        assert [watch.name for watch in machine.book.all()] == ["silk"]


def test_of_two_who_choose_a_name_the_first_gets_it_and_names_that_are_made_differ(machines: list[Machine]) -> None:
    one, two, _ = machines
    for each, chosen in ((one, True), (two, True), (two, False)):
        each.catch_up()
        each.say(added("cloth", given=chosen))
    one.catch_up()
    assert [watch.name for watch in one.book.all()] == [watch.name for watch in two.book.all()] == ["cloth", "cloth-2"]
    with pytest.raises(ConfigError, match="already"):
        one.book.check_room("cloth", True)


def test_there_are_no_more_watches_than_there_may_be(machines: list[Machine], log: ListedLog) -> None:
    one = machines[0]
    one.catch_up()
    for number in range(MOST_WATCHES + 1):
        log.said.append(Said(log._next + number, encode(added(f"w{number}"))))
    log._next += MOST_WATCHES + 1
    one.catch_up()
    assert len(one.book.all()) == MOST_WATCHES


def test_who_joins_later_gets_all_of_it_with_the_same_numbers(machines: list[Machine]) -> None:
    one, two, late = machines
    one.catch_up()
    watch = added()
    one.say(watch)
    two.catch_up()
    one.find(watch.watch, "http://a/", "http://b/")
    two.find(watch.watch, "http://c/")
    for each in (one, two, late, one):
        each.catch_up()
    assert [hit.id for hit in late.hits(watch.watch)] == [hit.id for hit in one.hits(watch.watch)]
    assert late.urls(watch.watch) == ["http://a/", "http://b/", "http://c/"]


def test_what_a_directory_had_alone_is_everybodys_when_it_joins(machines: list[Machine]) -> None:
    one, two, _ = machines
    for each in (one, two):
        made, _ = each.book.add("silk", "https://example.org/", "cloth", False, NOW)
        with each.book.changing() as base:
            base.execute(
                "INSERT INTO calls (id, watch, made, state) VALUES (?, ?, ?, 'done')",
                (f"msg_{each.name[1] * 24}", made.number, NOW),
            )
            for url, call in ((f"http://{each.name}/", 1), ("http://both/", None)):
                base.execute("INSERT INTO seen VALUES (?, ?)", (made.number, key_of(url)))
                base.execute(
                    "INSERT INTO hits (watch, url, title, snippet, language, fetched, found, earlier, tell, call) "
                    "VALUES (?, ?, '', '', '', 0, 0, 0, 1, ?)",
                    (made.number, url, call),
                )
            base.execute("INSERT INTO seen VALUES (?, 7)", (made.number,))
    for each in (one, two, one):
        each.catch_up()
    assert [watch.name for watch in one.book.all()] == [watch.name for watch in two.book.all()] == ["cloth", "cloth-2"]
    for each in (one, two):
        assert each.urls("cloth") == ["http://m1/", "http://both/"]
        assert [hit.told for hit in each.hits("cloth-2")] == ["waiting", "done"]
        assert each.book.tally(each.book.known("cloth")).seen == 3


def test_a_log_that_is_lost_is_written_again_by_those_who_know_it(machines: list[Machine], log: ListedLog) -> None:
    one, two, late = machines
    one.catch_up()
    watch = added(webhook="https://example.org/")
    one.say(watch)
    two.catch_up()
    one.find(watch.watch, "http://a/")
    two.find(watch.watch, "http://b/")
    for each in (one, two, one):
        each.catch_up()
    before = [hit.id for hit in one.hits(watch.watch)]
    two.find(watch.watch, "http://c/")  # which nobody has heard of
    fresh = ListedLog("second", 1_900_000_000_000)
    for each in (one, two, late, one, two):
        each.log = each.sharing.log = fresh  # type: ignore[assignment]
        each.catch_up()
    for each in (one, two, late):
        assert [hit.id for hit in each.hits(watch.watch)][1:] == before
        assert each.urls(watch.watch) == ["http://a/", "http://b/", "http://c/"]
        assert each.book.secret(each.book.known(watch.watch)) == watch.secret


# -- hits --------------------------------------------------------------------------------------------------------------


def test_a_page_that_two_agents_find_is_a_hit_once_by_who_said_it_first(machines: list[Machine]) -> None:
    one, two, _ = machines
    one.catch_up()
    watch = added()
    one.say(watch)
    two.catch_up()
    one.find(watch.watch, "http://a/")
    two.find(watch.watch, "http://a/", "http://b/")
    two.step()
    one.step()
    for each in (one, two):
        each.catch_up()
        assert each.urls(watch.watch) == ["http://a/", "http://b/"]
        each.find(watch.watch, "http://a/")  # fetched again
        each.catch_up()
        assert len(each.hits(watch.watch)) == 2
        assert each.book.rows("SELECT count(*) FROM claimed")[0][0] == 0


AGENT, PAGE = st.integers(0, 2), st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("find"), AGENT, PAGE),
        st.tuples(st.sampled_from(["step", "kill", "before", "after"]), AGENT, st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(STEPS)
def test_whatever_happens_each_page_is_a_hit_once_everywhere(steps: list[tuple[str, int, int]]) -> None:
    log, clock = ListedLog(), FakeClock(NOW)
    with TemporaryDirectory() as folder:
        machines = [Machine(Path(folder) / str(number), f"m{number}", log, clock) for number in range(3)]
        machines[0].catch_up()
        watch = added()
        machines[0].say(watch)
        for each in machines:
            each.catch_up()
        found = set()
        for what, number, page in steps:
            machine = machines[number]
            if what == "find":
                machine.find(watch.watch, f"http://{page}/")
                found.add(f"http://{page}/")
            elif what == "kill":
                machine.teller.close()
                machine.begin()
            else:
                log.trouble = [what] if what != "step" else []
                with suppress(UnavailableError):
                    machine.step()
                log.trouble = []
        for _ in range(2):
            for each in machines:
                each.catch_up()
        listed = [[hit.id for hit in each.hits(watch.watch)] for each in machines]
        assert listed[0] == listed[1] == listed[2]
        assert sorted(machines[0].urls(watch.watch)) == sorted(found)
        for each in machines:
            each.teller.close()
            each.book.close()


def test_a_log_that_is_full_keeps_what_is_found_waiting(machines: list[Machine], log: ListedLog) -> None:
    one = machines[0]
    told: list[str] = []
    one.sharing = Sharing(one.book, "m1", log, told.append, one.clock)
    one.catch_up()
    watch = added()
    one.say(watch)
    one.find(watch.watch, "http://a/")
    log.trouble = ["full", "full"]
    one.catch_up()
    one.catch_up()
    assert len(told) == 1
    assert not one.sharing.is_quiet
    one.catch_up()
    assert one.urls(watch.watch) == ["http://a/"]


# -- calls -------------------------------------------------------------------------------------------------------------


def shared_watch(machines: list[Machine], receiver: Receiver) -> str:
    watch = added(webhook=receiver.url)
    machines[0].catch_up()
    machines[0].say(watch)
    for each in machines:
        each.catch_up()
    return watch.watch


def rounds(machines: Sequence[Machine], receiver: Receiver, calls: int) -> None:
    """Until the receiver was called so often and all know what became of it."""
    for _ in range(200):
        for each in machines:
            each.step()
        busy = any(each.teller.in_flight for each in machines)
        if len(receiver.calls) >= calls and not busy:
            break
        for each in machines:
            each.teller._webhooks._multi.select(0.02)
    for each in machines:
        each.catch_up()


def test_a_hit_is_told_once_by_one_of_all(machines: list[Machine]) -> None:
    with Receiver() as receiver:
        id_ = shared_watch(machines, receiver)
        machines[1].find(id_, "http://a/")
        machines[2].find(id_, "http://a/", "http://b/")
        rounds(machines, receiver, 1)
        machines[0].clock.advance(10.0)
        rounds(machines, receiver, 2)
        rounds(machines, receiver, 3)
        told = [hit["url"] for call in receiver.calls for hit in call.hits]
        assert sorted(told) == ["http://a/", "http://b/"]
        secret = machines[0].book.secret(machines[0].book.known(id_))
        assert all(call.is_signed_with(secret) for call in receiver.calls)
    for each in machines:
        assert {hit.told for hit in each.hits(id_)} == {"done"}
        assert each.book.tally(each.book.known(id_)).done == 2


def test_who_did_not_find_it_waits_and_then_tells_it_too(machines: list[Machine]) -> None:
    """The finder has been killed, and its machine is lost."""
    one, two, three = machines
    with Receiver() as receiver:
        id_ = shared_watch(machines, receiver)
        one.find(id_, "http://a/")
        asyncio.run(one.sharing.step(0.0))
        rounds([two, three], receiver, 0)
        assert not receiver.calls
        two.clock.advance(4.0)
        rounds([two, three], receiver, 1)
        rounds([two, three], receiver, 2)
        assert len(receiver.calls) == 1


def test_one_that_is_killed_in_a_call_leaves_it_to_another_with_the_same_id_and_body(machines: list[Machine]) -> None:
    one, two, _ = machines
    with Receiver() as receiver:
        id_ = shared_watch(machines, receiver)
        one.find(id_, "http://a/")
        one.begin_call()
        while not receiver.calls:
            one.teller._webhooks.wait(0.05)
        one.teller.close()  # killed: what came back is not noted
        two.catch_up()
        two.clock.advance(LOST_AFTER - 1)
        rounds([two], receiver, 1)
        assert len(receiver.calls) == 1
        two.clock.advance(2)
        rounds([two], receiver, 2)
        first, second = receiver.calls
        assert (first.id, first.body) == (second.id, second.body)
    one.begin()
    one.catch_up()
    assert one.hits(id_)[0].told == two.hits(id_)[0].told == "done"


def test_one_that_comes_back_late_does_not_undo_what_another_has_done(machines: list[Machine]) -> None:
    one, two, _ = machines
    with Receiver(503) as receiver:
        id_ = shared_watch(machines, receiver)
        one.find(id_, "http://a/")
        one.begin_call()
        while not (tried := one.teller.ended(0.05)):
            pass
        receiver.status = 204
        two.catch_up()
        two.clock.advance(LOST_AFTER + 1)
        rounds([two], receiver, 2)
        one.sharing._unsaid += tried
        rounds([one, two], receiver, 2)
        assert len(receiver.calls) == 2
    for each in (one, two):
        assert each.hits(id_)[0].told == "done"


def test_a_receiver_that_fails_is_called_again_and_dead_calls_are_revived_for_all(machines: list[Machine]) -> None:
    one, two, _ = machines
    with Receiver(410) as receiver:
        id_ = shared_watch(machines, receiver)
        one.find(id_, "http://a/")
        rounds([one, two], receiver, 1)
        assert [each.hits(id_)[0].told for each in (one, two)] == ["dead", "dead"]
        assert two.book.tally(two.book.known(id_)).last_status == 410
        receiver.status = 503
        two.say(Revived(id_, NOW))
        rounds([one, two], receiver, 2)
        assert one.hits(id_)[0].told == "waiting"
        receiver.status = 204
        one.clock.advance(20.0)
        rounds([one, two], receiver, 3)
        assert [each.hits(id_)[0].told for each in (one, two)] == ["done", "done"]
        assert len({call.id for call in receiver.calls}) == 1


# -- records -----------------------------------------------------------------------------------------------------------


def test_records_come_back_as_they_were() -> None:
    id_ = new_id()
    for record in (
        added(),
        Removed(id_),
        Found(id_, "m1", (match("http://a/"),), (1, 2), "p"),
        CallWas(id_, f"msg_{'0' * 24}", "dead", 3, NOW, None, 500, "it answers 500", NOW),
    ):
        assert decode(encode(record)) == record


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GW\x02" + encode(added())[3:],
        encode(added())[:-1],
        encode(added()) + b"x",
        encode(Removed("no id")),
        encode(Found(new_id(), "m1", (Match(1, "u", "t", "<script>", "", 0, 0, False, False),))),
    ],
)
def test_what_is_no_record_is_refused_and_stops_nothing(machines: list[Machine], log: ListedLog, data: bytes) -> None:
    with pytest.raises(BatchError):
        decode(data)
    log.said.append(Said(log._next, data))
    log._next += 1
    machines[0].catch_up()
    machines[0].say(added())
    assert len(machines[0].book.all()) == 1


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_record_or_refused(data: bytes) -> None:
    for each in (data, b"GW\x01" + data):
        with suppress(BatchError):
            decode(each)


@given(st.text())
def test_a_page_has_one_key_whoever_makes_it(url: str) -> None:
    from gossamer.index.schema import _hash_of

    assert key_in(rank_of(_hash_of(url), 1.3)) == key_of(url)
