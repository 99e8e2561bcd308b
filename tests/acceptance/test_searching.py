"""A crawl with its index, as its users start it, and what can be found then."""

from __future__ import annotations

import json
from pathlib import Path

from test_command_line import crawl_of, gossamer, web

from gossamer.testing import TinyWeb, World


def test_what_was_crawled_is_found(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with web(World(2, 5, 12, "plain")) as server:
        out, err = gossamer(*crawl_of(server, home, "--index"))
    summary = json.loads(out.splitlines()[-1])
    assert summary["searchable"] == summary["ok"] > 50
    assert summary["index_cpu_seconds"] > 0
    assert f"search    {summary['searchable']} pages: gossamer search QUERY --dir {home}" in err
    title, _ = gossamer("search", "the", "--dir", str(home), "-n", "1", "--json")
    first = json.loads(title)["results"][0]
    assert first["url"].startswith("http://")
    out, _ = gossamer("status", "--dir", str(home))
    assert f"search    {summary['searchable']} pages, 100 % indexed" in out
    # The second run has nothing to do, and goes on with the same index.
    with web(World(2, 5, 12, "plain")) as server:
        out, _ = gossamer(*crawl_of(server, home, "--index"))
    assert json.loads(out.splitlines()[-1])["searchable"] == summary["searchable"]


def test_answers_on_the_terminal_and_in_json(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as tiny:
        tiny.add_page("http://a.test/", ["/b"], "<title>On \x1b[31mspiders</title><p>Silk is spun by spiders &amp; co.")
        tiny.add_page("http://a.test/b", body="<html lang=en><title>Silk</title><p>Some kind of silk")
        command = ["crawl", "http://a.test/", "--dir", str(home), "--connect", tiny.connect, "--allow-private"]
        gossamer(*command, "--delay", "0", "--no-index")
    _, err = gossamer("search", "silk", "--dir", str(home), status=2)
    assert f"has no index yet: gossamer index --dir {home} makes one" in err
    out, _ = gossamer("index", "--dir", str(home))
    assert out == f"2 pages can be searched: gossamer search QUERY --dir {home}\n"
    out, _ = gossamer("search", "silk", "spun", "--dir", str(home))
    assert out.startswith("1 result, ")
    assert "http://a.test/" in out
    assert "Silk is spun by spiders & co." in out
    assert "\x1b" not in out
    out, _ = gossamer("search", "silk", "--dir", str(home), "-n", "1", "--json")
    answer = json.loads(out)
    assert (answer["total"], len(answer["results"])) == (2, 1)
    assert set(answer["results"][0]) >= {"url", "title", "snippet", "score", "fetched_at", "language"}
    assert "<mark>" in answer["results"][0]["snippet"]
    out, _ = gossamer("search", "nothing like this", "--dir", str(home))
    assert out.startswith("0 results")
    _, err = gossamer("search", 'silk "', "--dir", str(home), status=2)
    assert "query, from character " in err
    out, _ = gossamer("index", "--rebuild", "--dir", str(home))
    assert out.startswith("2 pages can be searched")


def test_an_index_of_an_older_version_is_made_again_when_the_crawl_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as tiny:
        tiny.add_page("http://a.test/", ["/b"], "<html lang=en><title>Silk</title><p>Some kind of silk")
        tiny.add_page("http://a.test/b", body="<html lang=en><title>More</title><p>Spiders walk on silk")
        command = ["crawl", "http://a.test/", "--dir", str(home), "--connect", tiny.connect, "--allow-private"]
        command += ["--delay", "0", "--json", "--index"]
        gossamer(*command)
        (home / "index" / "format").write_text("1\n")
        for asked in (["search", "silk"], ["index"]):
            _, err = gossamer(*asked, "--dir", str(home), status=2)
            assert "was made by another version of gossamer (index format 1, this one knows 2)" in err
            assert "gossamer index --rebuild" in err
        out, err = gossamer(*command)
    assert json.loads(out.splitlines()[-1])["searchable"] == 2
    assert "the indexing process ended" not in err
    assert "That is done now" in (home / "logs" / "indexer.log").read_text()
    out, _ = gossamer("search", "walking", "--dir", str(home), "--json")
    assert json.loads(out)["total"] == 1
    assert not (home / "index.new").exists()
