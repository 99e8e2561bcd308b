"""Hosts and domains by what an operator looks for."""

from __future__ import annotations

import pytest

from gossamer.frontier.reader import HostCounts
from gossamer.model import Reason
from gossamer.service.host_list import HostPage, read_cursor
from gossamer.service.host_tables import ROWS, HostTables, tables_of, why_slow
from gossamer.service.host_together import hosts_together, tables_together


def host(name: str, pages: int = 0, queued: int = 1, failures: int = 0, due: float = 0.0, **more: float) -> HostCounts:
    return HostCounts(name, pages, queued, failures, due, "", **more)


def names(tables: HostTables, table: str, order: str) -> list[str]:
    found: dict[str, list[HostCounts]] = getattr(tables, table)
    return [each.name for each in found[order]]


def test_the_busiest_by_each_order() -> None:
    hosts = [host(f"h{number:02}.test", pages=number, queued=100 - number) for number in range(20)]
    tables = tables_of(hosts, True)
    assert names(tables, "busy", "pages") == [f"h{number}.test" for number in range(19, 9, -1)]
    assert names(tables, "busy", "queued")[0] == "h00.test"
    assert names(tables, "busy", "host") == sorted(each.name for each in hosts)[:ROWS]


def test_slow_are_those_that_keep_something_waiting() -> None:
    hosts = [
        host("fine.test"),
        host("down.test", failures=3, due=50.0),
        host("worse.test", failures=9, due=20.0),
        host("done.test", queued=0, failures=9),
        host("busy.test", added_delay=8.0),
        host("patient.test", crawl_delay=30.0, due=5.0),
        host("quick.test", crawl_delay=2.0),
    ]
    tables = tables_of(hosts, True)
    assert tables.slow_hosts == 4
    assert names(tables, "slow", "failures")[:2] == ["worse.test", "down.test"]
    assert names(tables, "slow", "next") == ["busy.test", "patient.test", "worse.test", "down.test"]


OF_PAGES = {
    Reason.ROBOTS, Reason.ADDRESS, Reason.RESERVED, Reason.UNWANTED_TYPE, Reason.FORM, Reason.UNANSWERED,
}  # which are the ends of visits, and blame no host  # fmt: skip


@pytest.mark.parametrize("reason", sorted(set(Reason) - OF_PAGES))
def test_every_reason_of_a_host_has_words(reason: Reason) -> None:
    assert why_slow(HostCounts("a.test", 0, 1, 2, 0.0, "", trouble=reason)) not in ("", reason)


def test_why_a_host_is_slow() -> None:
    assert why_slow(HostCounts("a.test", 0, 1, 2, 0.0, "")) == "no answer"  # of a crawl made before reasons were kept
    assert why_slow(host("a.test", added_delay=8.0)) == "busy (429, 503)"
    assert why_slow(host("a.test", crawl_delay=30.0)) == "robots.txt asks for 30 s"


def test_domains_are_the_sum_of_their_hosts() -> None:
    tables = tables_of([host("a.b.co.uk", 5, 1), host("www.b.co.uk", 4, 2), host("c.test", 8, 3)], False)
    assert [(each.name, each.hosts, each.pages, each.queued) for each in tables.domains] == [
        ("b.co.uk", 2, 9, 3),
        ("c.test", 1, 8, 3),
    ]
    assert not tables.complete


def test_lists_of_several_agents_follow_each_other() -> None:
    one, other = HostCounts("a.test", 3, 0, 0, 0.0, ""), HostCounts("b.test", 2, 0, 0, 0.0, "")
    stale = HostCounts("b.test", 1, 9, 0, 0.0, "")
    part = hosts_together([HostPage([one, stale], 2, True, ""), HostPage([other], 1, True, "")], "pages", 1)
    assert part.hosts == [one]
    assert read_cursor(part.next) == (-3, "a.test")
    part = hosts_together([HostPage([stale], 2, True, ""), HostPage([other], 1, True, "")], "pages", 1)
    assert (part.hosts, part.next) == ([other], "")


def test_heads_of_several_lists_are_the_head_of_all() -> None:
    hosts = [HostCounts(f"h{number}.test", number, number % 7, number % 3, float(number), "") for number in range(40)]
    apart = [tables_of(hosts[start::3], True) for start in range(3)]
    together, whole = tables_together(apart), tables_of(hosts, True)
    assert together.busy == whole.busy
    assert {order: {host.name for host in rows} for order, rows in together.slow.items()} == {
        order: {host.name for host in rows} for order, rows in whole.slow.items()
    }
    assert together.slow_hosts == whole.slow_hosts
