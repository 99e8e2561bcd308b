"""Known pages asked for again with the program as users start it, judged by the servers' log and by what is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_command_line import gossamer

from gossamer.testing import TinyWeb

TEXT = "<title>Page {}</title><main><p>{} and enough other words to be what the page says, not only its frame.</main>"


def words_of(web: TinyWeb, home: Path, *options: str, delay: str = "0") -> list[str]:
    usual = ["--scope", "any", "--allow-private", "--connect", web.connect, "--delay", delay]
    return ["crawl", "http://a.test/", "--dir", str(home), *usual, *options]


@contextmanager
def going(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "gossamer", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}) as process:
        try:
            yield process
        finally:
            process.kill()


def visits(web: TinyWeb) -> Counter[str]:
    found = web.log.requests_per_url()
    return Counter({url: count for url, count in found.items() if not url.endswith("/robots.txt")})


def test_a_page_that_changed_is_asked_for_again_and_found(tmp_path: Path) -> None:
    home, page = tmp_path / "c", "http://a.test/page"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/page", "/other"])
        web.add_page(page, body=TEXT.format(1, "words about spiders"))
        web.add_page("http://a.test/other")
        gossamer(*words_of(web, home))
        before = visits(web)
        web.add_page(page, body=TEXT.format(1, "words about beetles"))
        out, _ = gossamer("refresh", page, "--dir", str(home))
        assert out == f"No crawl runs in {home}: this is done when it is started again.\n"
        gossamer(*words_of(web, home))
        assert visits(web) - before == Counter({page: 1})
    lines = [line for path in (home / "warc").glob("*.cdxj") for line in path.read_text().splitlines()]
    assert sum(page in line for line in lines) == 2, "the store has both versions"
    found = [json.loads(gossamer("search", word, "--dir", str(home), "--json")[0]) for word in ("beetles", "spiders")]
    assert [[each["url"] for each in answer["results"]] for answer in found] == [[page], []]
    assert "It was seen changed once" in gossamer("explain", page, "--dir", str(home))[0]


@pytest.mark.slow
def test_the_pages_of_several_agents_are_waited_for(tmp_path: Path) -> None:
    home, hosts = tmp_path / "c", [f"http://h{number}.test/" for number in range(8)]
    with TinyWeb() as web:
        web.add_page("http://a.test/", hosts)
        for host in hosts:
            web.add_page(host, body=TEXT.format(host, "old words"))
        with going(*words_of(web, home, "--no-index", "--agents", "2", "--keep-fresh")) as process:
            assert web.log.wait_for(2 * (1 + len(hosts)), 120)
            while json.loads(gossamer("status", "--dir", str(home), "--json")[0])["pages"] < 1 + len(hosts):
                pass  # the last ones are about to be committed
            before = visits(web)
            web.add_page(hosts[3], body=TEXT.format(hosts[3], "new words"))
            out, _ = gossamer("refresh", *hosts, "--dir", str(home), "--wait", "--json")
            rows = json.loads(out)["urls"]
            fresh, _ = gossamer("refresh", *hosts, "--max-age", "1h", "--dir", str(home), "--wait", "--json")
            gossamer("control", "stop", "--dir", str(home))
            process.wait(60)
        assert visits(web) - before == Counter(hosts)
    assert {row["url"]: row["change"] for row in rows} == {
        host: "changed" if host == hosts[3] else "unchanged" for host in hosts
    }
    assert {row["result"] for row in rows} == {"queued again", "handed over"}
    assert {row["result"] for row in json.loads(fresh)["urls"]} == {"fresh enough"}


def test_what_was_asked_for_is_visited_though_the_crawl_is_killed(tmp_path: Path) -> None:
    home, pages = tmp_path / "c", [f"http://a.test/{number}" for number in range(30)]
    with TinyWeb() as web:
        web.add_page("http://a.test/", pages)
        for page in pages:
            web.add_page(page, body=TEXT.format(page, page))
        gossamer(*words_of(web, home, "--no-index"))
        first = len(web.log.arrivals)
        gossamer("refresh", *pages, "--dir", str(home))
        settings = home / "gossamer.toml"
        settings.write_text(settings.read_text().replace('commit_interval = "1s"', 'commit_interval = "100ms"'))
        with going(*words_of(web, home, "--no-index", delay="100ms")) as process:
            assert web.log.wait_for(first + 12, 60)
            process.kill()
            process.wait(60)
        killed = len(web.log.arrivals)
        gossamer(*words_of(web, home, "--no-index"))
        asked = [f"http://{each.host}{each.path}" for each in web.log.arrivals]
    before, after = asked[first:killed], asked[killed:]
    known = before[: before.index(after[0])] if after[0] in before else before
    assert known + after == pages, "only what no commit had is visited once more"
