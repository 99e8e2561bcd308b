"""A crawl that sends forms is killed while one is under way: none is ever sent twice, unless somebody says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Event
from urllib.parse import parse_qs

from gossamer.testing import TinyWeb
from gossamer.testing.web.message import End, Reply, Request, response

GOSSAMER = [sys.executable, "-m", "gossamer"]
WORDS = ("alpha", "beta", "gamma", "delta")


def crawl(web: TinyWeb, home: Path) -> list[str]:
    return [
        *GOSSAMER, "crawl", "http://a.test/", "--dir", str(home), "--delay", "0", "--host-connections", "4",
        "--allow-private", "--connect", web.connect, "--no-index", "--json",
        "--app", f"hidden-web,words={' '.join(WORDS)},post=http://a\\.test/find",
    ]  # fmt: skip


def visits(home: Path) -> dict[str, tuple[str, str]]:
    """State and reason of each word."""
    command = [*GOSSAMER, "urls", "--dir", str(home)]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    start = "http://a.test/find#__wb_method=POST&q="
    return {
        each["url"].removeprefix(start): (each["state"], each["reason"] or "")
        for each in found
        if each["url"].startswith(start)
    }


def test_a_form_is_sent_once_though_the_crawl_is_killed(tmp_path: Path) -> None:
    home = tmp_path / "c"
    sent: list[str] = []
    came, hang = Event(), True

    def find(request: Request) -> bytes | Reply:
        assert request.method == b"POST"
        (word,) = parse_qs(request.body.decode())["q"]
        sent.append(word)
        if len(sent) == len(WORDS):
            came.set()
        return Reply((), End.HANG, 0) if word == "beta" and hang else response(200, "text/html", word.encode())

    with TinyWeb() as web:
        web.add_page("http://a.test/", body="<form method=post action=/find><input name=q></form>")
        web.add_handler("http://a.test/find", find)
        with subprocess.Popen(crawl(web, home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                assert came.wait(60), sent
            finally:
                process.kill()
        hang = False
        assert visits(home)["beta"] == ("queued", "unanswered")
        subprocess.run(crawl(web, home), check=True, capture_output=True, timeout=60)
        assert sorted(sent) == sorted(WORDS)
        known = visits(home)
        assert known["beta"] == ("dead", "unanswered")
        # What was answered and not yet committed is not asked for again either.
        assert set(known.values()) <= {("fetched", ""), ("dead", "unanswered")}
        assert set(known) == set(WORDS)
        said = subprocess.run(
            [*GOSSAMER, "explain", "http://a.test/find#__wb_method=POST&q=beta", "--dir", str(home)],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout  # fmt: skip
        assert "it may have been received" in said
        # Somebody who knows what it does may say that it is sent again.
        subprocess.run([*GOSSAMER, "control", "retry", "--dir", str(home)], check=True, capture_output=True, timeout=60)
        subprocess.run(crawl(web, home), check=True, capture_output=True, timeout=60)
        assert sent.count("beta") == 2
    assert set(visits(home).values()) == {("fetched", "")}
