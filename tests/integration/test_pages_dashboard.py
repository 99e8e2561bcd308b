"""The dashboard as it is rendered: all of it without a script, in every state of a crawl."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from crawling import crawl
from serving import client

from gossamer.agent.history import Sample
from gossamer.agent.index_status import IndexStatus
from gossamer.agent.progress import AppFigures, Progress
from gossamer.frontier.reader import HostCounts
from gossamer.service.host_tables import tables_of
from gossamer.service.pages.board import board, changes
from gossamer.service.pages.choice import Choice
from gossamer.service.picture import Picture
from gossamer.testing import TinyWeb

NOW = 1_800_000_000.0
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("dashboard") / "c"
    with TinyWeb() as web:
        web.add_page("http://www.a.test/", ["/1", "/none", "http://b.a.test/"])
        web.add_page("http://www.a.test/1")
        web.add_page("http://b.a.test/")
        crawl(home, ["http://www.a.test/"], web.connect)
    return home


def lived(html: str) -> set[str]:
    return {name for names in re.findall(r'data-live="([^"]+)"', html) for name in names.split()}


def test_everything_is_there_without_a_script(home: Path) -> None:
    with client(home) as pages:
        html = pages.get("/dashboard").text
    assert "Finished: every URL in scope has been visited." in html
    assert "4 pages" in html
    for host in ("www.a.test", "b.a.test"):
        assert f'href="/hosts/{host}"' in html
    assert re.search(r'<path class="ok" data-live="chart.ok@d" d="M0 400', html)
    assert re.search(r'<path class="refusals" data-live="chart.refusals@d" d="M0 400', html)
    assert re.search(r'data-live="status.4xx">1<', html)


def test_all_that_moves_has_a_place_and_every_place_something_that_moves(home: Path) -> None:
    with client(home) as pages:
        html = pages.get("/dashboard").text
    found = board(Picture(NOW, True, Progress()), Choice())
    assert lived(html) - set(found) == set()
    assert set(found) - lived(html) == set()


def test_what_does_not_run_any_more_is_not_said_to(home: Path) -> None:
    apps = {"links": AppFigures(started=3), "prices": AppFigures(records=9), "fails": AppFigures(state="stopped: no")}
    progress = Progress(running=False, beside={"index": "running"}, apps=apps)
    found = board(Picture(NOW, True, progress, index=IndexStatus()), Choice())
    rows = [(found[f"agent.{number}.name"], found[f"agent.{number}.state"]) for number in range(5)]
    assert rows == [
        ("agent", "not running"),
        ("index", "not running"),
        ("service", "running"),
        ("app prices", "not running, 0 visits, 9 records"),
        ("app fails", "stopped: no, 0 visits, 0 records"),
    ]
    assert found["agent.4.state@title"] == rows[4][1]


def test_before_a_crawl_there_is_a_sentence_and_no_empty_curve(tmp_path: Path) -> None:
    with client(tmp_path) as pages:
        answer = pages.get("/dashboard")
    assert answer.status_code == 200
    assert "There is no crawl here yet." in answer.text
    assert "<svg" not in answer.text.partition("<main")[2]


def test_choices_stand_in_the_address(home: Path) -> None:
    with client(home) as pages:
        html = pages.get("/dashboard?range=all&busy=host&slow=odd&agents=").text
    assert 'href="/dashboard?range=6h&amp;busy=host"' in html
    assert 'href="/dashboard?range=all"' in html  # back to the usual order
    hosts = re.findall(r'data-live="busy.\d.host [^>]*>([^<]+)<', html)
    assert hosts == ["b.a.test", "www.a.test"]
    assert html.count('aria-sort="ascending"') == 2  # hosts, and processes
    assert Choice.of({"range": HOSTILE}) == Choice()


def test_only_what_has_changed_is_sent() -> None:
    one = board(Picture(NOW, True, Progress(pages=1, updated_at=NOW)), Choice())
    other = board(Picture(NOW, True, Progress(pages=2, updated_at=NOW)), Choice())
    assert changes(one, one) == {}
    assert set(changes(one, other)) < {"asof", "faults.more", "status.2xx", "status.3xx", "status.4xx", "status.5xx"}
    assert changes({}, one) == one


def test_names_of_strangers_stay_text(home: Path) -> None:
    hosts = [HostCounts(HOSTILE, 5, 5, 3, NOW + 90, "", trouble=HOSTILE)]
    picture = Picture(NOW, True, Progress(updated_at=NOW, reasons={HOSTILE: 1}), [], tables_of(hosts, True))
    found = board(picture, Choice())
    assert found["busy.0.host@href"] == "/hosts/%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E"
    assert found["slow.0.why"] == HOSTILE  # the template and the script put it in place as text
    assert found["slow.0.next"] == "in 1 min"


def test_a_crawl_of_weeks_is_shown_as_a_whole() -> None:
    samples = [Sample(NOW - 3600 * hour, ok=1_000_000 - 1000 * hour) for hour in range(24 * 21, -1, -1)]
    found = board(Picture(NOW, True, Progress(updated_at=NOW), samples), Choice(range="all"))
    assert found["chart.x0"] == "21 d ago"
    assert found["chart.ok@d"].startswith("M0 400")
    assert found["chart.top"] == "0.3/s"
    assert len(str(found)) < 20_000


def lived_through(seconds: int, running: bool = False) -> Picture:
    """A crawl that has fetched ten pages a second for so long, up to now, and then perhaps ended."""
    samples = [Sample(NOW - seconds + at, ok=10 * at, bytes=50_000 * at, urls=at) for at in range(0, seconds + 1, 2)]
    progress = Progress(
        updated_at=NOW, seconds=seconds, pages=10 * seconds, run_pages=10 * seconds, bytes=50_000 * seconds,
        pages_per_s=10 * running, mean_pages_per_s=10.0, peak_pages_per_s=12.0, running=running,
        reason="" if running else "complete",
    )  # fmt: skip
    return Picture(NOW + (0 if running else 3600), True, progress, samples)


def test_a_crawl_that_has_ended_is_shown_as_it_was() -> None:
    """Not as it is now, an hour later: nothing a second, and an empty chart."""
    found = board(lived_through(100), Choice())
    assert found["sentence"] == "Finished: every URL in scope has been visited."
    assert found["asof"] == "1,000 pages · the last run took 1 min 40 s · ended 2027-01-15 08:00:00 UTC"
    assert (found["pages"], found["pages.more"]) == ("10.0/s", "mean of the run, peak 12.0/s")
    assert (found["bytes"], found["bytes.more"]) == ("50.0 kB/s", "mean of the run, 5.0 MB received")
    assert found["faults"] == "0"
    assert found["range.run@aria-current"] == "true"
    assert found["chart.ok@d"] == "M0 400v-400h50v400H0z"  # the run from its first second to its last, and all of it
    assert (found["chart.x0"], found["chart.x1"], found["chart.x2"]) == (
        "2027-01-15 07:58:20", "1 min 40 s", "08:00:00",
    )  # fmt: skip
    assert found["now.ok"] == "1,000"


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize(("chosen", "label"), [("15min", "15 min"), ("6h", "6 h")])
@pytest.mark.parametrize("seconds", [40, 400, 4000])
def test_the_axis_spans_what_its_tab_says(running: bool, chosen: str, label: str, seconds: int) -> None:
    found = board(lived_through(seconds, running), Choice.of({"range": chosen}))
    assert [name for name, current in found.items() if name.startswith("range.") and current == "true"] == [
        f"range.{chosen}@aria-current"
    ]
    assert found["chart.x0" if running else "chart.x1"] == (f"{label} ago" if running else label)


def test_a_young_run_is_shown_whole_and_an_older_one_by_its_last_minutes() -> None:
    assert board(lived_through(898, True), Choice())["range.run@aria-current"] == "true"
    found = board(lived_through(902, True), Choice())
    assert (found["range.15min@aria-current"], found["range.run@aria-current"]) == ("true", "false")
    assert board(lived_through(902), Choice())["range.run@aria-current"] == "true"


def test_a_run_is_shown_without_those_before_it() -> None:
    picture = lived_through(100, True)
    earlier = [Sample(NOW - 5000, ok=0), Sample(NOW - 4000, ok=8000)]
    later = [Sample(each.at, ok=8000 + each.ok) for each in picture.samples]
    picture.samples = [*earlier, *later]
    assert board(picture, Choice())["chart.x0"] == "1 min 40 s ago"
    assert board(picture, Choice(range="all"))["chart.x0"] == "1 h 23 min ago"
