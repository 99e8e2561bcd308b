"""Several agents on one machine, commanded as one."""

from __future__ import annotations

from pathlib import Path

import pytest
from commanding import WHO, running

from gossamer.agent.application import Request
from gossamer.agent.audit import read_changes
from gossamer.agent.control_of_all import ControlOfAll, control_of
from gossamer.agent.spool import Spool
from gossamer.config import load
from gossamer.errors import ControlError
from gossamer.testing import TinyWeb


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two agents that have nothing to do, and wait for it."""
    return tmp_path / "c"


def settings(home: Path) -> list[bool]:
    return [load(home / "agents" / name / "gossamer.toml").agent.paused for name in ("a1", "a2")]


def test_agents_at_work(home: Path) -> None:
    with TinyWeb(latency=30.0) as web:
        web.add_page("http://a.test/")
        web.add_page("http://b.test/")
        with (
            running(home / "agents" / "a1", ["http://a.test/"], web.connect) as first,
            running(home / "agents" / "a2", ["http://b.test/"], web.connect) as second,
        ):
            control = control_of(home, WHO)
            assert isinstance(control, ControlOfAll)
            assert control.running
            assert control.pause().ok
            assert settings(home) == [True, False]  # one, which shares it with the others
            assert control.resume().ok
            assert control.set_limits({"rate": 3}).ok
            assert control.limits().rate == 3
            assert "durable" in control.checkpoint().text
            assert [read_changes(each.home)[-1].what for each in (first, second)] == ["checkpoint", "checkpoint"]
            assert control.add_seeds(["http://c.test/"]).facts["new"] == 1
            asked = control.request([Request("http://d.test/", tag="t"), Request("http://c.test/"), Request("ftp:x")])
            assert [asked.facts[each] for each in ("new", "known", "left_out", "handed_over")] == [1, 1, 1, 0]
            assert control.add_seeds(["http://c.test/"], 1, links=True).facts["pages"] == 0
            assert [read_changes(each.home)[-1].what for each in (first, second)] == ["seeds", "seeds"], "all are told"
            control.set_priority("b.test", 0)
            assert control.priority("b.test") == 0
            assert control.stop(wait=False).ok
            first.end()
            assert control.running  # of these two, the second has not heard of it
            second.control.stop()
    assert not control.running
    with pytest.raises(ControlError):
        control.stop()


def test_agents_at_rest(home: Path) -> None:
    """What lasts is kept where the next run begins; what happens once waits for an agent."""
    for name in ("a1", "a2"):
        with TinyWeb() as web:
            web.add_page("http://a.test/")
            with running(home / "agents" / name, ["http://a.test/"], web.connect) as agent:
                agent.end()
    (home / "gossamer.toml").write_bytes((home / "agents" / "a1" / "gossamer.toml").read_bytes())
    control = control_of(home, WHO)
    assert not control.running
    assert control.block(["x.test"]).later
    assert load(home / "gossamer.toml").policy.blocklist == ("x.test",)
    assert control.blocklist() == ("x.test",)
    assert control.add_seeds(["http://c.test/"]).later
    assert list((home / "agents" / "a1" / "control").glob("*.json"))
    assert control.retry().later
    assert control.rejudge().later
    waiting = [Spool(home / "agents" / name).waiting() for name in ("a1", "a2")]
    assert [commands[-1].kind for commands in waiting] == ["rejudge", "rejudge"]
    assert list((home / "agents" / "a2" / "control").glob("*.json"))
