"""The command line as seen by a user. The crawl itself is replaced: what is tested is what reaches it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click
import pytest

from gossamer import agent
from gossamer.agent.companion import Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.progress import AppFigures, Progress, Summary
from gossamer.agent.running_app import RunningApp
from gossamer.cli import COMMANDS, StrictCommand, StrictGroup, load_command, run
from gossamer.cli.plain import apps_text, summary_text
from gossamer.config import OPTIONS, Config, StrategyConfig
from gossamer.errors import CrawlDirError, DiskFullError


class Recorded:
    """Stands for `agent.run` and keeps what it was given."""

    def __init__(self) -> None:
        self.config = Config()
        self.home = Path()
        self.seeds: list[str] = []
        self.result: Summary | Exception = Summary(pages=12, ok=11, urls=40, hosts=2, reason="complete")

    def __call__(
        self,
        config: Config,
        home: Path,
        seeds: Iterable[str],
        *,
        watch: Callable[[Progress], None] | None = None,
        every: float = 0.5,
        notice: Callable[[str], None] | None = None,
        index: Companion | None = None,
        service: Companion | None = None,
        kept: Config | None = None,
        apps: Sequence[RunningApp] = (),
    ) -> Summary:
        self.config, self.home, self.seeds = config, home, list(seeds)
        assert watch
        assert notice
        watch(Progress(pages=3, max_pages=12, pages_per_s=4112.0))
        if isinstance(self.result, Progress):
            watch(self.result)
        notice("seed ftp://x is left out")
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded = Recorded()
    monkeypatch.setattr(agent, "run", recorded, raising=False)
    return recorded


def test_every_flag_reaches_its_option(crawl: Recorded, tmp_path: Path) -> None:
    flags = {
        "scope.scope": ("host", "host"),
        "scope.include": ("/a{1,2}", ("/a{1,2}",)),
        "scope.exclude": ("/b", ("/b",)),
        "scope.types": ("text/html,text/plain", ("text/html", "text/plain")),
        "scope.domains": (".th,example.org", (".th", "example.org")),
        "scope.networks": ("8.8.0.0/16", ("8.8.0.0/16",)),
        "scope.max_depth": ("3", 3),
        "strategy.strategy": ("site-by-site", "site-by-site"),
        "strategy.strategy_option": ("hosts=3", ("hosts=3",)),
        "policy.delay": ("1.5m", 90.0),
        "policy.host_connections": ("2", 2),
        "fetch.connections": ("64", 64),
        "fetch.user_agent": ("mybot/2", "mybot/2"),
        "fetch.contact": ("me@example.org", "me@example.org"),
        "fetch.connect": ("*=127.0.0.1:8080", ("*=127.0.0.1:8080",)),
        "fetch.dns": ("127.0.0.1:5353", ("127.0.0.1:5353",)),
        "fetch.rate": ("2.5", 2.5),
        "fetch.target_rate": ("50", 50.0),
        "fetch.bandwidth": ("5MB", 5_000_000),
        "store.directories": ("/disk2/warc=3", ("/disk2/warc=3",)),
        "service.port": ("0", 0),
        "fetch.ca_file": ("roots.pem", "roots.pem"),
        "agent.max_pages": ("100", 100),
        "agent.time_limit": ("90s", 90.0),
        "cluster.agents": ("1", 1),
    }
    switches = {"fetch.allow_private", "fresh.keep_fresh", "index.on"}
    assert set(flags) | switches == {name for name, option in OPTIONS.items() if option.flag}
    arguments = [
        "crawl",
        "https://example.org",
        "--dir",
        str(tmp_path),
        "--allow-private",
        "--keep-fresh",
        "--no-index",
        "--no-supervise",
    ]
    for name, (text, _) in flags.items():
        arguments += [OPTIONS[name].flag, text]
    assert run(arguments) == 0
    for name, (_, value) in flags.items():
        section, _, key = name.partition(".")
        assert getattr(getattr(crawl.config, section), key) == value, name
    assert crawl.config.fetch.allow_private
    assert crawl.config.fresh.keep_fresh
    assert not crawl.config.index.on
    assert crawl.home == tmp_path
    assert crawl.seeds == ["https://example.org"]


def test_without_flags_the_defaults_hold(crawl: Recorded, tmp_path: Path) -> None:
    assert run(["crawl", "https://example.org", "--dir", str(tmp_path)]) == 0
    assert crawl.config == Config()


def test_repeated_flags_add_up(crawl: Recorded, tmp_path: Path) -> None:
    run(
        [
            "crawl",
            "x",
            "--dir",
            str(tmp_path),
            "--types",
            "a/b",
            "--types",
            "c/d,e/f",
            "--include",
            "x",
            "--include",
            "y",
        ]
    )
    assert crawl.config.scope.types == ("a/b", "c/d", "e/f")
    assert crawl.config.scope.include == ("x", "y")


def test_seeds_from_files_and_stdin(crawl: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(b"\xef\xbb\xbfhttps://b.example\r\n\r\n# not this\n  https://c.example  \n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"https://d.example\n#\nhttps://\xff.example\n")))
    assert run(["crawl", "https://a.example", f"@{seeds}", "-", "--dir", str(tmp_path)]) == 0
    assert crawl.seeds == [
        "https://a.example",
        "https://b.example",
        "https://c.example",
        "https://d.example",
        "https://\ufffd.example",
    ]


def test_a_seed_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    from gossamer.cli.seed_list import Seeds

    file = tmp_path / "seeds.txt"
    file.write_text("https://a.example\n")
    seeds = Seeds([f"@{file}"])
    file.write_text("https://b.example\n")
    assert list(seeds) == ["https://b.example"]


def test_how_much_of_the_seeds_was_read_is_known(tmp_path: Path) -> None:
    from gossamer.cli.seed_list import Seeds

    file = tmp_path / "seeds.txt"
    file.write_text("".join(f"https://a.example/{number:04d}\n" for number in range(1000)))
    seeds = Seeds([f"@{file}"])
    reading = iter(seeds)
    assert seeds.share() == 0
    for _ in range(250):
        next(reading)
    assert seeds.share() == pytest.approx(0.25)
    assert len(list(reading)) == 750
    assert seeds.share() == 1
    assert Seeds(["https://a.example"]).share() == 1


def test_a_crawl_goes_on_with_the_settings_it_had(crawl: Recorded, tmp_path: Path) -> None:
    run(["crawl", "x", "--dir", str(tmp_path), "--delay", "3s", "--allow-private", "--max-pages", "5"])
    (tmp_path / "gossamer.toml").write_text(crawl.config.to_toml(), encoding="utf-8")
    assert run(["crawl", "--dir", str(tmp_path), "--connections", "9"]) == 0
    assert crawl.seeds == []
    assert crawl.config.policy.delay == 3.0
    assert crawl.config.fetch.allow_private
    assert crawl.config.fetch.connections == 9
    assert crawl.config.agent.max_pages == 0
    run(["crawl", "--dir", str(tmp_path), "--no-allow-private"])
    assert not crawl.config.fetch.allow_private


def test_a_file_named_takes_the_place_of_the_kept_settings(crawl: Recorded, tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("[policy]\ndelay = 3\n")
    (tmp_path / "mine.toml").write_text("[policy]\nmax_tries = 7\n")
    run(["crawl", "--dir", str(tmp_path), "--config", str(tmp_path / "mine.toml"), "--delay", "2"])
    assert (crawl.config.policy.max_tries, crawl.config.policy.delay) == (7, 2.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["crawl", "x"], "Missing option '--dir'. See 'gossamer crawl --help'."),
        (["crawl", "x", "--dir", "DIR", "--max-pages"], "Option '--max-pages' requires an argument."),
        (["crawl", "x", "--dir", "DIR", "--maxpages", "3"], "No such option: --maxpages"),
        (["crawl", "x", "--dir", "DIR", "--max-pages", "many"], "--max-pages: 'many' is not a whole number"),
        (["crawl", "x", "--dir", "DIR", "--delay", "soon"], "--delay: 'soon' is not a duration such as 10s"),
        (
            ["crawl", "x", "--dir", "DIR", "--agents", "none"],
            "--agents: 'none' is not a whole number",
        ),
        (["search", "x", "--dir", "DIR"], "is not a crawl: it has no gossamer.toml"),
        (["index", "--dir", "DIR"], "is not a crawl: it has no gossamer.toml"),
        (["index", "--dir", "DIR", "--rebuild", "--follow"], "--rebuild and --follow: give one of them"),
        (
            ["crawl", "x", "--dir", "DIR", "--strategy", "best"],
            "--strategy: 'best' is not known; there are breadth-first, focused",
        ),
        (["crawl", "x", "--dir", "DIR", "--config", "DIR/no.toml"], "no.toml: cannot be read (No such file"),
        (["crawl", "--dir", "DIR"], "there is no crawl in DIR to go on with: give at least one SEED"),
        (["crawl", "@DIR/no", "--dir", "DIR"], "@DIR/no: the seed file 'DIR/no' cannot be read (No such file"),
        (["crawl", "@DIR", "--dir", "DIR"], "cannot be read (Is a directory)"),
        (
            ["urls", "--dir", "DIR", "--state", "quued"],
            "is not one of queued, fetched, dead, excluded; did you mean 'queued'?",
        ),
        (
            ["serve", "--dir", "DIR", "--dir", "DIR/b"],
            "--dir is given 2 times, and only one directory can be worked on: give it once.",
        ),
        (["keys", "list", "--dir", "DIR", "--dir", "DIR"], "--dir is given 2 times"),
        (["crwal"], "No such command 'crwal'. Did you mean 'crawl'?"),
        (["crawl", "x", "--\x1b[31mred"], "No such option: --\\x1b[31mred"),
        (["urls", "\x1b[31mred", "--dir", "DIR"], "(\\x1b[31mred)"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run([argument.replace("DIR", str(tmp_path)) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gossamer: ")
    assert err.count("\n") == 1
    assert message.replace("DIR", str(tmp_path)) in err


def test_what_can_be_repeated_is_taken_as_often_as_it_is_given(crawl: Recorded, tmp_path: Path) -> None:
    options = ["--exclude", "a", "--exclude", "b", "--json", "--json", "--index", "--no-index"]
    options += ["--delay", "1s", "--delay=2s"]
    assert run(["crawl", "x", "--dir", str(tmp_path), *options]) == 0
    assert crawl.config.scope.exclude == ("a", "b")
    assert crawl.config.policy.delay == 2, "of what can hold once the last holds"
    assert not crawl.config.index.on


@pytest.mark.parametrize(
    ("error", "status"), [(CrawlDirError("d is in use"), 2), (DiskFullError("3 GB are needed"), 1)]
)
def test_our_failures_are_one_line(
    crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str], error: Exception, status: int
) -> None:
    crawl.result = error
    assert run(["crawl", "x", "--dir", str(tmp_path)]) == status
    assert capsys.readouterr().err.endswith(f"gossamer: {error}\n")


def test_json_is_the_last_line_of_stdout(crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl.result = Progress(
        pages=12, ok=11, urls=40, hosts=2, seconds=1.23456, reason="max_pages", run_pages=6, running=False
    )
    assert run(["crawl", "x", "--dir", str(tmp_path), "--json", "--no-index"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "pages": 12,
        "ok": 11,
        "faults": 0,
        "hosts_left": {},
        "given_up": {},
        "lost": {},
        "excluded": 0,
        "urls": 40,
        "hosts": 2,
        "bytes": 0,
        "seconds": 1.235,
        "cpu_seconds": 0.0,
        "reason": "max_pages",
        "searchable": 0,
        "index_cpu_seconds": 0.0,
        "strategy": "breadth-first",
        "strategy_figures": {},
        "strategy_error": "",
    }
    assert "3 / 12 pages · 4,112/s" in err
    assert "seed ftp://x is left out" in err
    assert "the limit of pages is reached" in err
    assert "1.2 s, 0 s of CPU, 6 pages, 4.86/s" in err


def test_the_summary_goes_to_stdout(crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["crawl", "x", "--dir", str(tmp_path)])
    out = capsys.readouterr().out
    assert f"{tmp_path}: complete" in out
    assert "12 (11 ok, 1 other)" in out
    assert "40 known on 2 hosts" in out


def test_a_stopped_crawl_says_how_to_go_on(
    crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    crawl.result = Summary(reason="stopped")
    home = str(tmp_path / "a crawl")
    assert run(["crawl", "https://a.example/?b&c", "-", "--dir", home, "--max-pages", "5"]) == 130
    command = f"gossamer crawl 'https://a.example/?b&c' --dir '{home}' --max-pages 5\n"
    assert capsys.readouterr().out.endswith(command)


def test_no_delay_and_no_contact_are_noted(crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["crawl", "x", "--dir", str(tmp_path), "--delay", "0"])
    err = capsys.readouterr().err
    assert "note: --delay 0 makes no pause between visits to a host" in err
    assert "note: no --contact given" in err
    run(["crawl", "x", "--dir", str(tmp_path), "--contact", "me@example.org"])
    assert "note:" not in capsys.readouterr().err


def test_help_names_every_flag_with_its_options_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["crawl", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for option in OPTIONS.values():
        if option.flag:
            assert f"{option.flag} " in words
            assert option.help in words


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Those of several commands with each of these."""
    for name in COMMANDS:
        command = load_command(name)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {each}", inner) for each, inner in command.commands.items())


def test_every_command_is_strict_and_its_help_is_for_people() -> None:
    for name, command in every_command():
        assert isinstance(command, StrictCommand | StrictGroup), name
        text = command.get_help(click.Context(command, info_name=name, show_default=True))
        assert not re.search(
            r"<[a-z]{2}|\b(INTEGER|FLOAT|TEXT|BOOLEAN|FILENAME)\b|str\]|\[\w+\||default: \"\"", text
        ), text


def test_no_arguments_show_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    out = capsys.readouterr().out
    for command in ("crawl", "urls", "status", "simweb"):
        assert f"\n  {command} " in out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert COMMANDS[name].rstrip(".") in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("gossamer")


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a process has loaded when it has run this command."""
    code = "import sys; from gossamer.cli import run; run(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_nothing_heavy() -> None:
    """What takes long to load would be felt at every `--help`."""
    heavy = {"asyncio", "msgspec", "pycurl", "resiliparse", "rich", "rocksdict", "uvloop", "gossamer.config"}
    assert not heavy & loaded_by("--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_command_asked_for_is_loaded(name: str) -> None:
    assert {f"gossamer.cli.{other}" for other in COMMANDS} & loaded_by(name, "--help") == {f"gossamer.cli.{name}"}


def test_a_reader_of_help_that_leaves_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([sys.executable, "-m", "gossamer", "--help"], stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_another_strategy_does_not_get_the_options_of_the_one_before(crawl: Recorded, tmp_path: Path) -> None:
    options = ["--strategy-option", "words=solar", "--strategy-option", "learn=false"]
    assert run(["crawl", "https://example.org", "--dir", str(tmp_path), "--strategy", "focused", *options]) == 0
    CrawlDir(tmp_path).save(crawl.config)
    assert run(["crawl", "--dir", str(tmp_path)]) == 0
    assert crawl.config.strategy.strategy_option == ("words=solar", "learn=false")
    assert run(["crawl", "--dir", str(tmp_path), "--strategy", "focused"]) == 0
    assert crawl.config.strategy.strategy_option == ("words=solar", "learn=false")
    assert run(["crawl", "--dir", str(tmp_path), "--strategy", "breadth-first"]) == 0
    assert crawl.config.strategy == StrategyConfig()


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("x=gossamer.apps.hidden_web:HiddenWeb,share=0", "--app: share '0' is not a number of at least 0.001"),
        ("x=gossamer.apps.hidden_web:HiddenWeb,format=xml", "--app: format 'xml' is not one of jsonl, parquet"),
        ("hidden-web,post=(", "--app: post '(' is not a regular expression"),
        ("hidden-web,queries=none", "[apps.hidden-web] hidden-web: queries and at_once are whole numbers"),
        ("a b=gossamer.apps.hidden_web:HiddenWeb", "--app: 'a b' is no name"),
        ("links=hidden-web", "--app: 'links' is what the crawl does by itself; give it another name: NAME=hidden-web"),
    ],
)
def test_what_is_wrong_with_an_application_is_said_once_and_with_what_was_given(
    crawl: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str], app: str, said: str
) -> None:
    assert run(["crawl", "https://example.org", "--dir", str(tmp_path / "c"), "--app", app]) == 2
    assert capsys.readouterr().err.startswith(f"gossamer: {said}")


@pytest.mark.parametrize("command", ["apps", "watch", "keys", "cluster"])
def test_a_command_of_several_without_one_shows_them_a_line_each(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"Usage: gossamer {command} ")
    assert "\n\nCommands:\n" in said


def test_ranks_with_options_that_are_no_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", "--dir", str(tmp_path), "--tolerance", "nan"]) == 2
    assert "--damping and --tolerance are numbers" in capsys.readouterr().err


def test_a_crawl_without_watches_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", "list", "--dir", str(tmp_path)]) == 2, "nor a crawl"
    CrawlDir(tmp_path).save(Config())
    assert run(["watch", "list", "--dir", str(tmp_path)]) == 0
    assert f"gossamer watch add QUERY --dir {tmp_path}" in capsys.readouterr().err


def test_one_that_asks_for_nothing_is_shown_with_what_it_has_seen() -> None:
    found = {"links": AppFigures(), "census": AppFigures(pages=20, records=3)}
    assert apps_text(found).splitlines() == [
        "links     share 1 · 0 visits (0 failed)",
        "census    share 1 · 0 visits (0 failed) · 0 requests (0 new, 0 left out) · 20 pages seen, 3 records",
    ]


@pytest.mark.parametrize(
    ("strategy", "said"),
    [("breadth-first", "every URL in scope has been visited"), ("random-walk", "nothing that the")],
)
def test_a_strategy_may_leave_out_what_is_in_scope(strategy: str, said: str, tmp_path: Path) -> None:
    found = Progress(pages=1, reason="complete", strategy=strategy, run_pages=1, seconds=1.0)
    assert f"complete: {said}" in summary_text(found, tmp_path)
    assert "1 page, 1.00/s" in summary_text(found, tmp_path)
