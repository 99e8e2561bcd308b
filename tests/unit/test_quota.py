"""Exactly so many pages, whoever stores them."""

from __future__ import annotations

import asyncio
import random
from typing import cast

import msgspec
import pytest

from gossamer.agent.quota import QUOTA, Ledger, Quota, begin
from gossamer.cluster.coordinator import Coordinator, Entry
from gossamer.errors import ClusterError, UnavailableError


class Keys:
    """One key in memory, that others may change just before us, and a broker that may not answer."""

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.away = 0
        self.draw = random.Random(1)

    async def get(self, key: str) -> Entry | None:
        assert key == QUOTA
        await asyncio.sleep(0)
        return self.entry

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int | None:
        await asyncio.sleep(0)
        if self.away and self.draw.random() < 0.2:
            self.away -= 1
            raise UnavailableError("away")
        there = self.entry.revision if self.entry else 0
        if revision != there:
            return None
        self.entry = Entry(key, value, there + 1)
        return there + 1

    def ledger(self) -> dict[str, int]:
        assert self.entry is not None
        assert self.entry.value is not None
        return msgspec.json.decode(self.entry.value, type=Ledger).granted


def quota(keys: Keys, name: str) -> Quota:
    return Quota(cast("Coordinator", keys), name)


@pytest.mark.parametrize("seed", range(8))
def test_agents_that_work_at_any_speed_store_exactly_so_many(seed: int) -> None:
    limit, draw, keys = 777, random.Random(seed), Keys()
    keys.away = 30
    pages = dict.fromkeys("abcd", 0)

    async def work(name: str) -> None:
        own = quota(keys, name)
        while sum(pages.values()) < limit:
            needs = draw.random() < 0.7  # now and then it has nothing to visit
            try:
                await own.look(limit, pages[name], 4, needs)
            except UnavailableError:
                continue
            if needs:
                pages[name] += draw.randint(0, max(0, own.granted - pages[name]))
            assert pages[name] <= own.granted or not needs
            await asyncio.sleep(0)

    async def main() -> None:
        async with asyncio.timeout(30):
            await asyncio.gather(*map(work, pages))

    asyncio.run(main())
    assert sum(pages.values()) == limit
    assert sum(keys.ledger().values()) <= limit


def test_what_is_not_needed_is_given_back_before_anybody_is_told() -> None:
    async def work() -> None:
        keys = Keys()
        own, other = quota(keys, "a"), quota(keys, "b")
        await own.look(10, 0, 1, True)
        assert own.granted == 1
        keys.entry = None
        own = quota(keys, "a")
        await own.look(80, 0, 1, True)
        assert own.granted == 10
        giving = asyncio.create_task(own.look(80, 4, 1, False))
        await asyncio.sleep(0)
        assert own.granted == 4  # though the ledger does not know it yet
        await giving
        assert keys.ledger() == {"a": 4}
        await other.look(80, 0, 1, True)
        assert sum(keys.ledger().values()) <= 80

    asyncio.run(work())


def test_all_is_used_when_the_living_say_so_and_the_others_had_been_granted_it() -> None:
    async def work() -> None:
        keys = Keys()
        await begin(cast("Coordinator", keys), {"a": 60, "dead": 40})
        own = quota(keys, "a")
        await own.read()
        assert not own.used(100, {"a": 59})
        assert own.used(100, {"a": 60})
        assert not own.used(101, {"a": 60})

    asyncio.run(work())


def test_a_ledger_that_is_none_is_an_error() -> None:
    async def work() -> None:
        keys = Keys()
        keys.entry = Entry(QUOTA, b"nonsense", 1)
        with pytest.raises(ClusterError, match="one version"):
            await quota(keys, "a").read()

    asyncio.run(work())


def test_more_is_asked_for_before_the_last_pages_are_begun_and_only_where_there_may_be_some() -> None:
    async def work() -> None:
        keys = Keys()
        own, other = quota(keys, "a"), quota(keys, "b")
        assert not own.is_low(0), "nobody has looked yet"
        await own.look(160, 0, 2, True)
        assert own.granted == 10
        assert [own.is_low(pages) for pages in (0, 4, 5, 10)] == [False, False, True, True]
        assert not own.is_spent(10)
        await other.look(160, 150, 2, True)  # which has all the others by now
        await own.look(160, 6, 2, True)
        assert own.granted == 10
        assert not own.is_low(10), "there is nothing left to be had"
        assert [own.is_spent(stored) for stored in (9, 10)] == [False, True]

    asyncio.run(work())
