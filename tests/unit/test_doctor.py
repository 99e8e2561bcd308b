"""What the doctor finds, where it is right and where it is not."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from gossamer.agent import doctor
from gossamer.agent.doctor import BAD, GOOD, RISK, Diagnosis
from gossamer.agent.limits import Facts
from gossamer.cli import run
from gossamer.config import Config, FetchConfig
from gossamer.testing.dns import Manner, TinyDNS

PLENTY = Facts(100_000, 100_000, 28_000, 64 << 30, 1 << 40)


def grades(found: list[Diagnosis]) -> list[str]:
    return [diagnosis.grade for diagnosis in found]


def test_a_machine_that_has_enough_is_good(tmp_path: Path) -> None:
    found = [*doctor.limits(Config(), PLENTY), *doctor.loopback(), *doctor.libraries()]
    assert BAD not in grades(found)
    assert "28,000 local ports" in found[0].found


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda name: asked)
    asked = ["msgspec<1,>=0.22", "no-such-thing>=1", "extra<2,>=1; extra"]  # the order is that of setuptools
    _, missing, others = doctor.libraries()
    assert (missing.grade, missing.found) == (BAD, "not installed: no-such-thing")
    assert others.found.startswith("msgspec ")


def test_compiled_modules_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name.endswith("_links") else name)
    (found,) = doctor.compiled()
    assert (found.grade, found.found.rpartition(": ")[2]) == (RISK, "parse._links")
    assert "compiler" in found.remedy
    monkeypatch.setattr(doctor, "find_spec", lambda name: name)
    assert grades(list(doctor.compiled())) == [GOOD]


@pytest.mark.parametrize(
    ("facts", "remedy"),
    [
        (Facts(500, 500, 28_000, 64 << 30, 1 << 40), "ulimit -n"),
        (Facts(9999, 9999, 100, 64 << 30, 1 << 40), "ip_local_port_range"),
        (Facts(9999, 9999, 28_000, 100 << 20, 1 << 40), "more memory"),
    ],
)
def test_what_is_short_is_said_with_what_to_do(facts: Facts, remedy: str) -> None:
    (found,) = doctor.limits(Config(), facts)
    assert found.grade == BAD
    assert remedy in found.remedy


@pytest.mark.parametrize(("free", "grade"), [(100 << 20, BAD), (1 << 30, RISK), (1 << 40, GOOD)])
def test_room_on_the_disk(tmp_path: Path, free: int, grade: str) -> None:
    room, speed = doctor.disk(Facts(disk=free), tmp_path / "not" / "there")
    assert room.grade == grade
    assert bool(room.remedy) == (grade != GOOD)
    assert "durable after" in speed.found
    assert list(tmp_path.iterdir()) == []


def test_a_slow_disk_is_a_risk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "sync_time", lambda folder: 0.2)
    _, speed = doctor.disk(PLENTY, tmp_path)
    assert (speed.grade, "200.0 ms" in speed.found, "commit_interval" in speed.remedy) == (RISK, True, True)


def test_a_clock_in_the_past(tmp_path: Path) -> None:
    (found,) = doctor.clock(86_400.0, tmp_path)
    assert (found.grade, "NTP" in found.remedy) == (BAD, True)
    assert grades(list(doctor.clock(1_800_000_000.0, tmp_path))) == [GOOD]


def test_names_are_asked_of_the_servers_given() -> None:
    with TinyDNS() as server:
        server.add("example.org", "192.0.2.1")
        config = Config(fetch=FetchConfig(dns=(server.address,)))
        assert grades(list(doctor.names(config)))[0] == GOOD
        server.misbehave("example.org", Manner.REFUSED)
        (found,) = doctor.names(config)
    assert (found.grade, server.address in found.found, "--dns" in found.remedy) == (BAD, True, True)
    assert grades(list(doctor.names(Config(fetch=FetchConfig(connect=("*=127.0.0.1:1",)))))) == [GOOD]


def test_a_server_that_answers_later_or_never_disturbs_nobody() -> None:
    """Its question is under way when the answer of another is there."""
    with TinyDNS() as quick, TinyDNS() as silent:
        quick.add("example.org", "192.0.2.1")
        silent.misbehave("example.org", Manner.SILENT)
        found = list(doctor.names(Config(fetch=FetchConfig(dns=(quick.address, silent.address)))))
    assert found[0].grade == GOOD
    gc.collect()  # what is left open now would say so


def test_root_certificates(tmp_path: Path) -> None:
    (found,) = doctor.roots(Config())
    assert found.grade == GOOD
    (tmp_path / "none.pem").write_text("nothing")
    (found,) = doctor.roots(Config(fetch=FetchConfig(ca_file=str(tmp_path / "none.pem"))))
    assert (found.grade, "fetch.ca_file" in found.found) == (BAD, True)


def test_the_command_says_it_in_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [Diagnosis("disk", GOOD, "much is free")]
    monkeypatch.setattr(doctor, "examine", lambda home: good)
    assert run(["doctor", "--dir", str(tmp_path)]) == 0
    assert "good  disk       much is free" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "examine", lambda home: [*good, Diagnosis("clock", BAD, "it is 1970", "set it")])
    assert run(["doctor"]) == 1
    assert "-> set it" in capsys.readouterr().out
    assert run(["doctor", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["healthy"], [check["grade"] for check in said["checks"]]) == (False, ["good", "bad"])


def test_a_directory_that_is_no_crawl_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "names", lambda config: iter(()))
    assert doctor.examine(tmp_path / "new")[0].grade == GOOD
    (tmp_path / "letters.txt").write_text("dear")
    first = doctor.examine(tmp_path)[0]
    assert (first.check, first.grade) == ("directory", BAD)
