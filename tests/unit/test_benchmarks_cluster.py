"""The judge of the cluster's trials, with logs made up: good ones, and bad ones that it must see through."""

from __future__ import annotations

import asyncio
import math
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import agent_speed
import cluster_trials
from cluster import churn, judge, relay
from cluster.faults import KINDS
from cluster.judge import Fault, Request
from cluster.relay import Relays
from cluster.summary import headings, line, summary
from cluster.trial import Row
from simulated_web import Arrival


def asked(*rows: tuple[float, float, str, str]) -> list[Request]:
    """Start, end, URL without its scheme, agent."""
    return [
        Request(start, end, place.partition("/")[0], "/" + place.partition("/")[2], agent)
        for start, end, place, agent in rows
    ]


# -- two at a host -----------------------------------------------------------------------------------------------------


def test_agents_that_keep_their_distance_do_not_meet() -> None:
    seen = asked((0, 0.1, "h/1", "a"), (0.5, 0.6, "h/2", "a"), (1.7, 1.8, "h/3", "b"), (0.2, 0.3, "g/1", "b"))
    assert judge.meetings(seen, 1.0) == []
    [change] = judge.changes_of_hands(seen)
    assert change.gap == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("rows", "gap"),
    [
        ([(0, 0.1, "h/1", "a"), (0.9, 1.0, "h/2", "b")], 0.8),  # too soon
        ([(0, 5.0, "h/1", "a"), (2.0, 2.1, "h/2", "b")], -3.0),  # both at once
        ([(0, math.inf, "h/1", "a"), (9.0, 9.1, "h/2", "b")], -math.inf),  # never answered
        ([(0, 0.1, "h/1", "a"), (3, 3.1, "h/2", "b"), (3.5, 3.6, "h/3", "a")], 0.4),  # the old one wakes up
        # A long request of one, under which the other goes on: not only the last request counts.
        ([(0, 9.0, "h/1", "a"), (1, 1.1, "h/2", "a"), (5, 5.1, "h/3", "b")], -4.0),
        # The other began before it and goes on: no change of hands, and yet both are there.
        ([(0, 0.1, "h/1", "b"), (2, 2.1, "h/robots.txt", "a"), (2.5, 2.6, "h/2", "b")], 0.4),
    ],
)
def test_agents_that_meet_are_found(rows: list[tuple[float, float, str, str]], gap: float) -> None:
    found = judge.meetings(asked(*reversed(rows)), 1.0)
    assert found
    assert found[0].gap == pytest.approx(gap)
    assert found[0].first.agent != found[0].second.agent


def test_each_request_under_a_long_one_of_another_is_a_meeting() -> None:
    seen = asked((0, 9, "h/1", "a"), (2, 2.1, "h/2", "b"), (3, 3.1, "h/3", "b"))
    assert [meeting.second.path for meeting in judge.meetings(seen, 1.0)] == ["/2", "/3"]


# -- all of it, and once -----------------------------------------------------------------------------------------------


def test_what_was_never_answered_is_lost() -> None:
    truth = {"http://h/1", "http://h/2", "http://h/3", "http://h/4"}
    seen = [*asked((0, 1, "h/1", "a"), (0, math.inf, "h/2", "a")), Request(0, 1, "h", "/3", "a", 503)]
    assert judge.lost(seen, truth) == truth - {"http://h/1"}
    assert judge.strange(asked((0, 1, "h/robots.txt", "a"), (0, 1, "h/x", "a")), truth) == {"http://h/x"}


def test_what_was_asked_for_again_is_counted_without_robots() -> None:
    seen = asked((0, 1, "h/1", "a"), (2, 3, "h/1", "b"), (4, 5, "h/1", "b"), (0, 1, "h/2", "a"))
    robots = asked((0, 1, "h/robots.txt", "a"), (2, 3, "h/robots.txt", "b"))
    assert judge.again([*seen, *robots]) == {"http://h/1": 2}


def test_what_a_fault_may_have_fetched_again() -> None:
    seen = asked((1, 1, "h/1", "a"), (6, 6, "h/2", "a"), (6, 6, "g/2", "b"), (11, 11, "h/3", "a"), (21, 21, "h/4", "a"))
    assert judge.exposed(seen, Fault(10, "a", back=20), 5.0) == 2


def test_the_books() -> None:
    truth = {"http://h/1", "http://h/2", "http://h/3"}
    books = judge.audit(
        {
            "a": [("http://h/1", "fetched"), ("http://h/2", "queued"), ("http://h/private", "excluded")],
            "b": [("http://h/1", "fetched"), ("http://h/x", "fetched")],
        },
        truth,
    )
    assert books == ({"http://h/2", "http://h/3"}, {"http://h/1"}, {"http://h/x"}, {"http://h/2"})
    good = judge.audit(
        {"a": [("http://h/1", "fetched")], "b": [(url, "fetched") for url in truth - {"http://h/1"}]}, truth
    )
    assert good == (set(), set(), set(), set())


# -- how soon others come ----------------------------------------------------------------------------------------------


def links(url: str) -> Iterable[str]:
    """/1 leads to /2 and so on, up to /9."""
    number = int(url[-1])
    return [f"{url[:-1]}{number + 1}"] if number < 9 else []


SEEDS = ("http://h/1", "http://g/1")


def test_a_takeover_is_the_first_request_of_another() -> None:
    seen = asked((5, 5.1, "h/1", "a"), (8, 8.1, "h/2", "a"), (9, 9.1, "g/1", "b"), (16, 16.1, "h/3", "b"))
    # Page 3 is not known for long enough: what the agent found in its last seconds may have died with it.
    assert judge.takeovers(seen, Fault(10, "a"), SEEDS, links) == {}
    seen = asked((1, 1.1, "h/1", "a"), (2, 2.1, "h/2", "a"), (9, 9.1, "h/1", "a"), (16, 16.1, "h/3", "b"))
    assert judge.takeovers(seen, Fault(10, "a"), SEEDS, links) == {"h": pytest.approx(6.0)}


def test_hosts_that_nobody_takes_over_are_found() -> None:
    seen = asked((1, 1.1, "h/1", "a"), (9, 9.1, "h/2", "a"), (2, 2.1, "g/1", "a"), (9, 9.1, "g/2", "a"))
    more = asked((3, 3.1, "h/2", "a"), (4, 4.1, "g/2", "a"), (15, 15.1, "g/3", "b"))
    found = judge.takeovers([*seen, *more], Fault(10, "a"), SEEDS, links)
    assert found == {"h": math.inf, "g": pytest.approx(5.0)}


def test_a_host_without_work_or_not_visited_lately_needs_nobody() -> None:
    done = asked(*((float(n) / 2, n / 2 + 0.1, f"h/{n}", "a") for n in range(1, 10)), (9, 9.1, "h/9", "a"))
    assert judge.takeovers(done, Fault(10, "a"), SEEDS, links) == {}
    idle = asked((1, 1.1, "h/1", "a"))
    assert judge.takeovers(idle, Fault(10, "a"), SEEDS, links) == {}


def test_the_victim_may_go_on_before_others_come_and_when_it_is_back() -> None:
    seen = asked((1, 1.1, "h/1", "a"), (2, 2.1, "h/2", "a"), (3, 3.1, "h/3", "a"), (9, 9.1, "h/1", "a"))
    gone_on = asked((12, 12.1, "h/4", "a"))  # cut off from the broker, it still fetches, and that is no takeover
    assert judge.takeovers([*seen, *gone_on], Fault(10, "a"), SEEDS, links) == {}
    seen = asked((1, 1.1, "h/1", "a"), (2, 2.1, "h/2", "a"), (9, 9.1, "h/1", "a"), (24, 24.1, "h/3", "a"))
    assert judge.takeovers(seen, Fault(10, "a", back=22), SEEDS, links) == {"h": pytest.approx(14.0)}


def test_when_one_stops_another_begins_and_nobody_asks() -> None:
    seen = asked(
        (1, 1, "h/1", "a"), (11, 11, "h/2", "a"), (12, 12, "h/3", "a"), (18, 18, "h/4", "b"), (30, 30, "h/5", "a")
    )
    assert judge.last_of(seen, "a", 10, 20) == 2
    assert judge.last_of(seen, "b", 10, 12) == 0
    assert judge.first_of(seen, "b", 10) == 8
    assert judge.first_of(seen, "c", 10) == math.inf
    assert judge.longest_pause(seen, 10, 31) == 12


# -- what is told of it ------------------------------------------------------------------------------------------------


def test_rows_survive_json_and_become_a_table() -> None:
    rows = [Row("kill", seed, pages=100, again=seed, takeover=5.0 + seed, closest=2.0 / seed) for seed in (1, 2, 4)]
    rows.append(Row("complete-3", 1, broken=["something"]))
    rows = [msgspec.json.decode(msgspec.json.encode(row), type=Row) for row in rows]
    killed, whole = summary(rows)
    assert len(killed) == len(whole) == len(headings())
    assert killed[1:8] == ["3", "300", "0", "2 (4)", "0", "0.50 s", "7.00 s (9.00 s)"]
    assert (whole[0], whole[7], whole[9]) == ("complete-3", "-", "1")
    assert "kill 4:" in line(rows[2])


def test_every_kind_comes_once_before_any_comes_again() -> None:
    options = cluster_trials.arguments(["faults", "--repeat", "2", "--seed", "7"])
    planned = cluster_trials.plan(options)
    assert planned[: len(KINDS)] == [(name, 7) for name in KINDS]
    assert planned[len(KINDS) :] == [(name, 8) for name in KINDS]
    with pytest.raises(SystemExit):
        cluster_trials.arguments(["faults", "earthquake"])


def samples(**last: float) -> list[churn.Sample]:
    """Forty of them, all alike but for the last ten."""
    usual = churn.Sample(0.0, 24, 80e6, 60.0, 300, 10**7, 500)
    return [usual] * 30 + [msgspec.structs.replace(usual, **last)] * 10


def test_what_grows_is_a_leak() -> None:
    assert churn.leaks(samples()) == []
    assert churn.leaks(samples(memory=90e6, descriptors=70.0, consumers=320, checkpoints=600)) == []
    for grown in ({"memory": 120e6}, {"descriptors": 90.0}, {"consumers": 600}, {"checkpoints": 1200}):
        [said] = churn.leaks(samples(**grown))
        assert "grew" in said
    assert churn.leaks(samples()[:5])


# -- the network that fails --------------------------------------------------------------------------------------------


def test_a_relay_stops_without_closing_and_goes_on() -> None:
    relays = Relays()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, _, port = relays.way("127.0.0.9", "web", listener.getsockname()).rpartition(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            there, peer = listener.accept()
            with there:
                assert peer[0] == "127.0.0.9"
                client.sendall(b"one")
                assert there.recv(9) == b"one"
                relays.stop("127.0.0.9", "web", False)
                client.sendall(b"two")
                there.sendall(b"back")  # half cut: it hears and is not heard
                assert client.recv(9) == b"back"
                there.setblocking(False)
                with pytest.raises(BlockingIOError):
                    there.recv(9)
                there.setblocking(True)
                relays.go_on("127.0.0.9")
                assert there.recv(9) == b"two"
    relays.close()


class Wire(asyncio.Protocol):
    """What arrives at the far side."""

    def __init__(self) -> None:
        self.arrived = b""

    def data_received(self, data: bytes) -> None:
        self.arrived += data


@pytest.mark.parametrize("reset", [False, True])
def test_what_was_held_up_when_its_sender_reset_never_arrives(reset: bool) -> None:
    async def arrived() -> bytes:
        loop = asyncio.get_running_loop()
        near, far = socket.socketpair()
        wire = Wire()
        await loop.create_connection(lambda: wire, sock=far)
        _, writer = await asyncio.open_connection(sock=near)
        reader, passing = asyncio.StreamReader(), asyncio.Event()
        reader.feed_data(b"late")
        task = asyncio.create_task(relay._pass(reader, writer, passing))
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # it has read, and waits
        if reset:
            reader.set_exception(ConnectionResetError())
        else:
            reader.feed_data(b"r")
        passing.set()
        if not reset:
            while len(wire.arrived) < 5:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0)
            task.cancel()
        await task
        for _ in range(5):  # turns of the loop, in each of which it looks at its sockets
            await asyncio.sleep(0)
        return wire.arrived

    assert asyncio.run(arrived()) == (b"" if reset else b"later")


# -- speed and balance by agents ---------------------------------------------------------------------------------------


def test_speed_is_judged_between_the_start_and_the_end() -> None:
    slow_start = [Arrival(number / 1.0, "h", f"/{number}") for number in range(10)]
    steady = [Arrival(10 + number / 100, "h", f"/s{number}") for number in range(90)]
    robots = [Arrival(10.5, "h", "/robots.txt")] * 50
    assert agent_speed.speed([*steady, *robots, *slow_start]) == pytest.approx(100)


def test_agents_share_an_uneven_web_within_the_bounds_of_the_plan() -> None:
    rows = agent_speed.balance(3_000)
    assert [row["agents"] for row in rows] == list(range(2, 11))
    for row in rows:
        for kind in ("urls", "hosts"):
            assert 0.4 < row[kind]["smallest"] <= 1 <= row[kind]["largest"] < 1.6


def test_the_picture_has_a_line_for_each_number_of_connections() -> None:
    runs = [
        {"agents": number, "connections": connections, "speed": 100.0 * number, "cpu_us": 200.0, "peak_rss": 9e7}
        for number in (1, 2)
        for connections in (50, 300)
    ]
    picture = agent_speed.plotted({"runs": runs, "balance": agent_speed.balance(200)})
    assert picture.count(">50 connections<") == picture.count(">300 connections<") == 3
    assert picture.count("<polyline") == 3 * 2 + 2
