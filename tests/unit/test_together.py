"""What several agents say of themselves as one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.agent.progress import AppFigures, Progress, Summary
from gossamer.agent.together import left, merge, read_written, summary_of, write_progress


def agents() -> list[Progress]:
    return [
        Progress(
            pages=30, ok=20, urls=100, hosts=3, bytes=1000, seconds=10.0, cpu_seconds=4.0, run_pages=30, max_pages=90,
            pages_per_s=6.0, peak_pages_per_s=9.0, latency=0.2, freshness=0.5, age=60.0, lag=0.5, memory=5,
            statuses={"2xx": 20, "4xx": 10}, reasons={"timeout": 1}, stages={"parse": 100.0}, partitions=4,
            in_flight=3, connections=10, hosts_waiting=5, limit="politeness: 5 of 8 hosts wait for their delay",
            seeds_share=0.5, keep_fresh=True, updated_at=5.0,
        ),
        Progress(
            pages=10, ok=10, urls=50, hosts=1, bytes=500, seconds=12.0, cpu_seconds=1.0, run_pages=10, max_pages=90,
            pages_per_s=2.0, peak_pages_per_s=3.0, latency=0.6, freshness=1.0, lag=0.1, memory=7,
            statuses={"2xx": 10}, reasons={"timeout": 2, "dns": 1}, stages={"parse": 200.0, "store": 40.0},
            partitions=4, in_flight=1, connections=10, hosts_waiting=2, limit="the servers: one response is awaited",
            keep_fresh=True, updated_at=7.0,
        ),
    ]  # fmt: skip


def test_numbers_are_added_and_means_weighted() -> None:
    whole = merge(agents())
    assert (whole.pages, whole.ok, whole.urls, whole.hosts, whole.bytes) == (40, 30, 150, 4, 1500)
    assert (whole.seconds, whole.cpu_seconds, whole.max_pages, whole.lag, whole.memory) == (12.0, 5.0, 90, 0.5, 12)
    assert whole.statuses == {"2xx": 30, "4xx": 10}
    assert whole.reasons == {"timeout": 3, "dns": 1}
    assert whole.stages == {"parse": 125.0, "store": 10.0}
    assert whole.latency == pytest.approx(0.3)
    assert whole.freshness == pytest.approx(2 / 3)
    assert whole.age == pytest.approx(40.0)
    assert (whole.pages_per_s, whole.peak_pages_per_s, whole.mean_pages_per_s) == (8.0, 9.0, pytest.approx(40 / 12))
    assert (whole.seeds_share, whole.keep_fresh, whole.running, whole.reason) == (0.5, True, True, "")
    assert whole.updated_at == 7.0


def test_what_limits_most_is_said_with_the_figures_of_all() -> None:
    assert merge(agents()).limit == "politeness: 7 of 11 hosts wait for their delay"
    capped = [msgspec.structs.replace(each, limit="the cap of 5 pages a second") for each in agents()]
    assert merge(capped).limit == "the cap of 5 pages a second"


def test_of_nobody() -> None:
    whole = merge([])
    assert (whole.pages, whole.running, whole.reason, whole.freshness, whole.stages) == (0, False, "", 1.0, {})


@pytest.mark.parametrize(
    ("reasons", "whole"),
    [
        (["complete", "complete"], "complete"),
        (["stopped", "max_pages"], "max_pages"),  # one was told to leave before
        (["stopped", "stopped"], "stopped"),
        (["", "time_limit"], "time_limit"),
    ],
)
def test_the_reason_is_that_of_the_crawl(reasons: list[str], whole: str) -> None:
    assert merge([Progress(running=False, reason=reason) for reason in reasons]).reason == whole


def test_it_runs_while_one_does() -> None:
    assert merge([Progress(running=False, reason="stopped"), Progress()]).reason == ""


def test_what_an_agent_had_is_with_others_and_what_it_did_is_done() -> None:
    past = left(agents()[0])
    assert (past.pages, past.ok, past.bytes, past.statuses) == (30, 20, 1000, {"2xx": 20, "4xx": 10})
    assert (past.urls, past.hosts, past.queued, past.pages_per_s, past.seconds, past.running) == (0, 0, 0, 0, 0, False)


def test_every_figure_is_either_merged_or_said_of_one_process_only() -> None:
    """A figure that is added to Progress and forgotten in `merge` stays at its default."""
    full = Progress(
        **{
            name: 3 if isinstance(default, bool | int | float) else {"x": 3} if isinstance(default, dict) else "x"
            for name, default in ((name, getattr(Progress(), name)) for name in Progress.__struct_fields__)
        }
    )
    full.apps = {"x": AppFigures(started=3)}
    whole = merge([full])
    same = {name for name in Progress.__struct_fields__ if getattr(whole, name) == getattr(Progress(), name)}
    assert same == {"reason", "beside", "pid", "running"}


def test_figures_of_applications_are_added_and_their_states_told() -> None:
    one = AppFigures(2.0, 5, 4, 1, 9, 6, 2, 7, 3, "running")
    two = AppFigures(2.0, 1, 1, 0, 1, 3, 1, 2, 1, "stopped: ValueError: no")
    whole = merge([Progress(apps={"a": one, "links": AppFigures(started=4)}), Progress(apps={"a": two})])
    assert whole.apps == {
        "a": AppFigures(2.0, 6, 5, 1, 10, 9, 3, 9, 4, "running (1); stopped: ValueError: no (1)"),
        "links": AppFigures(started=4),
    }
    assert merge([Progress(apps={"a": one})] * 2).apps["a"].state == "running"
    gone = left(Progress(apps={"a": one})).apps["a"]
    assert (gone.started, gone.records, gone.state) == (5, 3, "")


def test_a_summary_is_what_it_says_of_all() -> None:
    summary = summary_of(merge(agents()))
    assert type(summary) is Summary
    assert summary.pages == 40


def test_what_is_written_is_read_by_another_process(tmp_path: Path) -> None:
    assert read_written(tmp_path) is None
    write_progress(tmp_path, agents()[0])  # there is no logs/ yet, and nobody minds
    (tmp_path / "logs").mkdir()
    write_progress(tmp_path, agents()[0])
    assert read_written(tmp_path) == agents()[0]
    (tmp_path / "logs" / "progress").write_bytes(b"\xff")
    assert read_written(tmp_path) is None
