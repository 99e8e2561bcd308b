from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.agent.limits import Facts, Verdict, available_memory, judge, local_ports
from gossamer.config import load

PLENTY = Facts(100_000, 100_000, 28_000, 64 << 30, 1 << 40)


def verdict(connections: int, facts: Facts, **options: object) -> Verdict:
    return judge(load(None, {"fetch.connections": connections, **options}), facts)


@pytest.mark.parametrize("facts", [Facts(), PLENTY])
def test_where_there_is_enough_or_nothing_known_nothing_is_said(facts: Facts) -> None:
    assert verdict(2000, facts) == Verdict(2000, None, ())


def test_the_soft_limit_is_raised_as_far_as_needed_without_a_word() -> None:
    assert verdict(256, Facts(soft=1024, hard=1_000_000)) == Verdict(256, 1768, ())
    assert verdict(256, Facts(soft=1024, hard=None)) == Verdict(256, 1768, ())
    assert verdict(256, Facts(soft=1024, hard=1200)) == Verdict(256, 1200, ())
    assert verdict(256, Facts(soft=1768, hard=1768)) == Verdict(256, None, ())


@pytest.mark.parametrize(("hard", "most"), [(1024, 256), (1023, 255), (500, 81), (120, 13), (10, 1), (3, 1)])
def test_a_hard_limit_that_is_too_low_lowers_the_connections(hard: int, most: int) -> None:
    found = verdict(256, Facts(soft=hard, hard=hard))
    assert found.connections == most
    assert found.descriptors is None
    assert [note for note in found.notices if "`ulimit -n 1768`" in note and f"goes on with {most} " in note] == list(
        found.notices
    )
    assert bool(found.notices) == (most < 256)


def test_few_ports() -> None:
    found = verdict(5000, Facts(ports=1000))
    assert found.connections == 1000
    assert "net.ipv4.ip_local_port_range" in found.notices[0]


def test_little_memory_lowers_the_connections_but_not_to_nothing() -> None:
    found = verdict(256, Facts(memory=450_000_000))
    assert 16 < found.connections < 256
    assert "450 MB of memory can be had, and 256 connections may need 569 MB" in found.notices[0]
    assert verdict(256, Facts(memory=0)).connections == 16
    assert verdict(8, Facts(memory=0)) == Verdict(8, None, ())
    assert verdict(256, Facts(memory=450_000_000), **{"fetch.max_body": "1MB"}).notices == ()


def test_a_disk_that_is_nearly_full_is_only_told() -> None:
    found = verdict(256, Facts(disk=100_000_000))
    assert found.connections == 256
    assert "only 100 MB of disk are free" in found.notices[0]


def test_when_two_are_short_the_lower_number_holds_and_is_said() -> None:
    found = verdict(256, Facts(soft=500, hard=500, memory=0))
    assert found.connections == 16
    assert len(found.notices) == 2
    assert all("goes on with 16 connections" in note for note in found.notices)


def machine(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMORY = {"proc__meminfo": "MemTotal: 9 kB\nMemAvailable:   1000 kB\n"}


def test_memory_of_the_machine(tmp_path: Path) -> None:
    assert available_memory(machine(tmp_path, **MEMORY)) == 1_024_000
    assert available_memory(tmp_path / "nothing") is None
    assert local_ports(tmp_path) is None


def test_memory_that_a_control_group_leaves(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        **MEMORY,
        proc__self__cgroup="0::/shop/crawl\n",
        sys__fs__cgroup__shop__memory_dot_max="500000\n",
        sys__fs__cgroup__shop__memory_dot_current="300000\n",
        sys__fs__cgroup__shop__memory_dot_stat="anon 1\ninactive_file 70000\n",
        sys__fs__cgroup__shop__crawl__memory_dot_max="max\n",
        sys__fs__cgroup__shop__crawl__memory_dot_current="1\n",
        proc__sys__net__ipv4__ip_local_port_range="32768\t60999\n",
    )
    assert available_memory(root) == 270_000
    assert local_ports(root) == 28_232


def test_memory_that_an_old_control_group_leaves(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        **MEMORY,
        proc__self__cgroup="5:cpu,cpuacct:/x\n4:memory:/x\n",
        sys__fs__cgroup__memory__x__memory_dot_limit_in_bytes="5000\n",
        sys__fs__cgroup__memory__x__memory_dot_usage_in_bytes="6000\n",
    )
    assert available_memory(root) == 0
