"""What a user is told of servers that cannot be reached: their causes, everywhere, and no word of a complete crawl."""

from __future__ import annotations

import json
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain
from gossamer.agent.metrics import metrics_of
from gossamer.agent.parts import opened
from gossamer.report.report import make_report
from gossamer.testing import TinyWeb
from gossamer.testing.dns import TinyDNS
from gossamer.testing.web import End, Reply

SETTINGS = """
[policy]
delay = 0
retry_wait = "10ms"
max_tries = 2
[fetch]
allow_private = true
timeout = "1s"
connect = [CONNECT]
dns = ["DNS"]
[index]
on = false
"""
CAUSES = {
    "http://refused.test/": "connect",
    "http://nobody.test/": "dns",
    "http://silent.test/": "timeout",
    "https://broken.test/": "tls",
    "http://failing.test/": "robots_5xx",
}
WORDS = {
    "connect": "refused the connection",
    "dns": "could not be found in DNS",
    "timeout": "did not answer in time",
    "tls": "failed at TLS",
    "robots_5xx": "answered robots.txt with a server error",
}
ONE_OF_EACH = ", ".join(f"1 {WORDS[reason]}" for reason in sorted(WORDS))
AGAIN = "run the same command again later to try them again"


def gossamer(*words: str, status: int = 0) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


class NoTls(socketserver.StreamRequestHandler):
    """Says hello in no language that a client of TLS understands."""

    def handle(self) -> None:
        self.wfile.write(b"220 mail.broken.test ESMTP\r\n")


@contextmanager
def troubled_web(home: Path) -> Iterator[tuple[TinyWeb, str]]:
    """One host for each cause, and a.test, which answers; and the file of settings to crawl them with."""
    with (
        socket.socket() as bound,
        socketserver.ThreadingTCPServer(("127.0.0.1", 0), NoTls) as broken,
        TinyWeb() as web,
        TinyDNS() as dns,
    ):
        bound.bind(("127.0.0.1", 0))  # and nobody listens
        threading.Thread(target=broken.serve_forever, args=(0.05,), daemon=True).start()
        ports = {"refused.test": bound.getsockname()[1], "broken.test": broken.server_address[1]}
        ports |= dict.fromkeys(("a.test", "silent.test", "failing.test"), web.port)
        connect = ", ".join(f'"{name}=127.0.0.1:{port}"' for name, port in ports.items())
        web.add_page("http://a.test/", list(CAUSES))
        web.add_handler("http://silent.test/robots.txt", lambda request: Reply((), End.HANG))
        web.add_robots("failing.test", "oops", status=500)
        home.mkdir()
        file = home / "settings.toml"
        file.write_text(SETTINGS.replace("CONNECT", connect).replace("DNS", dns.address))
        yield web, str(file)
        broken.shutdown()


def listed(home: str) -> dict[str, Any]:
    out, _ = gossamer("urls", "--dir", home)
    return {line["url"]: (line["state"], line["reason"]) for line in map(json.loads, out.splitlines())}


def test_why_hosts_were_not_reached_is_said_everywhere(tmp_path: Path) -> None:
    home = str(tmp_path / "c")
    with troubled_web(tmp_path / "web") as (_, settings):
        out, err = gossamer("crawl", "http://a.test/", "--dir", home, "--config", settings, "--scope", "any", "--json")
    summary = json.loads(out.splitlines()[-1])
    assert (summary["pages"], summary["reason"]) == (1, "complete")
    assert summary["hosts_left"] == dict.fromkeys(WORDS, 1)
    ended = f"ended: 5 of 6 hosts could not be reached ({ONE_OF_EACH}); {AGAIN}"
    assert ended in err
    assert "every URL in scope has been visited" not in err
    assert listed(home) == {"http://a.test/": ("fetched", None)} | {
        url: ("queued", reason) for url, reason in CAUSES.items()
    }
    for url, reason in CAUSES.items():
        assert f"to get its robots.txt, which comes first (it {WORDS[reason]})" in explain(tmp_path / "c", url).sentence
    status, _ = gossamer("status", "--dir", home)
    assert ended in status
    assert all(f"{reason} " in status.partition("failed ")[2] for reason in WORDS)
    assert "robots_unreachable" not in status
    faults = make_report(tmp_path / "c").tables["faults"].objects()
    assert {row["reason"]: row["waiting"] for row in faults} == dict.fromkeys(WORDS, 1)
    with opened(tmp_path / "c") as (part,):
        metrics = {metric.name: metric.samples for metric in metrics_of(CrawlDir(tmp_path / "c"), part.frontier)}
    assert metrics["gossamer_failures_total"].keys() == set(WORDS)


def test_a_crawl_whose_seeds_were_all_refused_or_failed_says_why_and_ends_with_1(tmp_path: Path) -> None:
    home = str(tmp_path / "c")
    with troubled_web(tmp_path / "web") as (web, settings):
        web.add_page("http://a.test/private/")
        web.add_robots("a.test", "User-agent: *\nDisallow: /private/\n")
        seeds = ["http://refused.test/", "http://nobody.test/", "http://a.test/private/"]
        words = ["crawl", *seeds, "--dir", home, "--config", settings, "--json"]
        out, err = gossamer(*words, status=1)
        summary = json.loads(out.splitlines()[-1])
        assert (summary["pages"], summary["reason"], summary["excluded"]) == (0, "complete", 1)
        assert sorted(line for line in err.splitlines() if line.startswith("seed ")) == [
            "seed http://a.test/private/ was not visited: the robots.txt of a.test does not allow it (Disallow: "
            "/private/). Its owner decides; gossamer control rejudge asks for robots.txt again.",
            "seed http://nobody.test/ was not visited: nobody.test could not be found in DNS; it is tried again by the "
            "next run.",
            "seed http://refused.test/ was not visited: refused.test refused the connection; it is tried again by the "
            "next run.",
        ]
        assert "ended: no page was stored, 2 of 3 hosts could not be reached (" in err
        _, err = gossamer("crawl", "--dir", home, status=1)  # no seeds are needed to be told of those there are
        assert err.count("was not visited: ") == 3
        web.add_robots("a.test", "")
        gossamer("control", "rejudge", "--dir", home)
        out, err = gossamer(*words)
        assert json.loads(out.splitlines()[-1])["pages"] == 1
        gossamer(*words)  # nothing new is stored, and there are pages of an earlier run


def test_a_private_address_is_no_dead_end(tmp_path: Path) -> None:
    home = str(tmp_path / "c")
    with TinyWeb() as web:
        web.add_page("/")
        words = ["crawl", web.url(), "--dir", home, "--no-index", "--json"]
        out, err = gossamer(*words, status=1)
        assert json.loads(out.splitlines()[-1])["excluded"] == 1
        assert f"seed {web.url()} was not visited: the address of 127.0.0.1:{web.port} may not be connected to" in err
        assert "Start the crawl again with --allow-private to have it visited." in err
        assert "complete" not in err
        out, _ = gossamer(*words, "--allow-private")
    assert json.loads(out.splitlines()[-1])["pages"] == 1


def test_of_many_seeds_that_failed_some_are_named(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"http://127.0.0.{number}:9999/\n" for number in range(1, 31)))
    _, err = gossamer("crawl", f"@{seeds}", "--dir", str(tmp_path / "c"), "--no-index", "--supervise", status=1)
    assert sum("was not visited: " in line for line in err.splitlines()) == 20
    assert "10 more seeds were not visited" in err
