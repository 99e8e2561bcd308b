"""The web of documentation: how it is divided, where its links lead, and what is held against a crawl of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import documentation
import nginx
from real_pages import arguments, judged
from real_web import RealWeb, disarmed, divided, redirected, undeclared

PAGES = {
    "index.html": '<a href="big/index.html">big</a> <a href="http://away.test/">away</a>',
    "big/index.html": "<a href=one.html#x>1</a><A title='a>b' HREF='../small/?q=1&amp;r#f'></A><a href='gone.html'>",
    "big/one.html": '<frame src="deep/two.html"><!-- <a href="hidden.html"> --><a href="/no"><a href="mailto&#58;me">',
    "big/deep/two.html": '<meta http-equiv="refresh" content="0; url=../three.html">',
    "big/three.html": "<script>'<a href=\"hidden.html\">'</script>",
    "big/hidden.html": "nobody leads here",
    "small/index.html": '<a href="../index.html">up</a>',
}


@pytest.fixture
def web(tmp_path: Path) -> RealWeb:
    """Two hosts: the package, and `big/` of it."""
    for name, text in PAGES.items():
        path = tmp_path / "share" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    files = sorted((tmp_path / "share").rglob("*.html"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("real_web.divided", lambda pages: divided(pages, many=5, large=4))
        return RealWeb({"manual": files}, 8080)


def test_large_folders_of_many_pages_are_hosts() -> None:
    pages = [f"{folder}{page}.html" for folder in ("", "a/", "a/x/", "a/y/", "b/") for page in range(4)]
    assert divided(pages, many=100, large=2) == [""]
    assert divided(pages, many=12, large=5) == ["", "a/"]
    assert divided(pages, many=11, large=4) == ["", "a/", "a/x/", "a/y/", "b/"]


def test_each_page_is_on_one_host_and_every_host_has_a_front_page(web: RealWeb, tmp_path: Path) -> None:
    web.write(tmp_path / "web")
    assert web.folders == ["manual/", "manual/big/"]
    served = sorted(str(path.relative_to(tmp_path / "web")) for path in (tmp_path / "web").rglob("*.html"))
    assert served == sorted(
        ["127.2.0.1/index.html", "127.2.0.2/index.html"]
        + [f"127.2.0.{2 if name.startswith('big') else 1}/manual/{name}" for name in PAGES]
    )
    front = (tmp_path / "web/127.2.0.1/index.html").read_text()
    assert re.findall('href="([^"]*)"', front) == ["/manual/index.html", "http://127.2.0.2:8080/"]
    assert (tmp_path / "web/127.2.0.2/robots.txt").is_file()


def test_links_to_another_host_name_it_and_those_to_nothing_stay_on_the_page(web: RealWeb, tmp_path: Path) -> None:
    web.write(tmp_path / "web")
    index = (tmp_path / "web/127.2.0.1/manual/index.html").read_text()
    assert index == '<a href="http://127.2.0.2:8080/manual/big/index.html">big</a> <a href="#ttp://away.test/">away</a>'
    big = (tmp_path / "web/127.2.0.2/manual/big/index.html").read_text()
    assert "<a href=one.html#x>" in big
    assert "HREF='http://127.2.0.1:8080/manual/small/?q=1&amp;r#f'>" in big
    assert "<a href='#gone.html'>" in big
    assert '<a href="#/no"><a href="#mailto:me">' in (tmp_path / "web/127.2.0.2/manual/big/one.html").read_text()


def test_what_links_lead_to_is_reachable(web: RealWeb, tmp_path: Path) -> None:
    kinds = web.write(tmp_path / "web")
    assert web.reachable() == {f"manual/{name}" for name in PAGES} - {"manual/big/hidden.html"}
    assert (kinds.pages, kinds.links) == (7, 10)


def test_a_host_without_an_index_leads_to_all_of_its_pages(tmp_path: Path) -> None:
    for name in ("b.html", "a b.html"):
        (tmp_path / name).write_text("no links")
    web = RealWeb({"manual": sorted(tmp_path.glob("*.html"))}, 8080)
    web.write(tmp_path / "web")
    front = (tmp_path / "web/127.2.0.1/index.html").read_text()
    assert re.findall('href="([^"]*)"', front) == ["/manual/a%20b.html", "/manual/b.html"]
    assert web.page_at("http://127.2.0.1:8080/manual/a%20b.html") == "manual/a b.html"


def test_a_page_is_known_by_its_url(web: RealWeb) -> None:
    assert web.page_at("http://127.2.0.2:8080/manual/big/") == "manual/big/index.html"
    assert web.page_at("http://127.2.0.1:8080/manual/index.html?q=1") == "manual/index.html"
    assert web.page_at("http://127.2.0.1:8080/manual/big/one.html") is None  # of the other host
    assert web.page_at("http://127.2.0.1:8080/") is None


def test_nginx_serves_it_on_loopback_only(web: RealWeb, tmp_path: Path) -> None:
    assert re.findall(r"listen (\S+)", nginx.config(web, tmp_path, tmp_path)) == ["127.2.0.1:8080", "127.2.0.2:8080"]


@pytest.mark.parametrize(
    "link",
    [
        "http://a.test/",
        "HTTPS://a.test",
        "https:/a.test",
        "https&#58;//a.test",
        "http&#x3A;//a",
        "//a.test",
        r"\\a.test",
    ],
)
def test_no_link_leads_out(link: str) -> None:
    page = disarmed(f'<a href="{link}">'.encode())
    assert page.startswith(b'<a href="#')
    assert len(page) == len(f'<a href="{link}">')


def test_a_declaration_is_taken_away_and_nothing_else() -> None:
    assert undeclared(b'<?xml version="1.0"?>\n<html>') == b"<html>"
    assert undeclared(b"<html><?xml?>") == b"<html><?xml?>"


def test_targets_of_all_that_is_followed_are_asked_for() -> None:
    asked = []
    page = b"""<a href="a&amp;b"><area href=c><iframe src='d'></iframe><link href="e"><img src="f">"""
    assert redirected(page, lambda target: asked.append(target)) == page
    assert asked == ["a&b", "c", "d"]


def test_a_crawl_must_have_what_is_reachable_unless_it_was_stopped(web: RealWeb, tmp_path: Path) -> None:
    web.write(tmp_path / "web")
    urls = {f"http://127.2.0.{2 if name.startswith('big') else 1}:8080/manual/{name}": 200 for name in PAGES}
    hidden = "http://127.2.0.2:8080/manual/big/hidden.html"
    del urls[hidden]

    def holds(known: dict[str, int], stopped: bool = False) -> list[bool]:
        return [verdict.holds for verdict in judged(web, known, stopped)[0]]

    assert holds(urls) == [True, True, True]
    assert holds({**urls, hidden: 200}) == [True, False, True]
    assert holds({**urls, "https://away.test/": 200}) == [False, True, True]
    lost = {**urls, "http://127.2.0.1:8080/manual/index.html": 404}
    assert holds(lost) == [True, True, False]
    assert judged(web, lost, False)[1] == {"manual/index.html"}
    assert holds(lost, stopped=True) == [True, True, True]


def test_pages_of_a_package_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []

    def done(*command: str, folder: Path | None = None) -> str:
        commands.append(command[0])
        if command[0] == "apt-get":
            assert folder is not None
            (folder / "manual_1_all.deb").touch()
        elif command[0] == "dpkg":
            (Path(command[-1]) / "usr").mkdir()
            (Path(command[-1]) / "usr/a.html").touch()
        return ""

    monkeypatch.setattr(documentation, "_done", done)
    for _ in range(2):
        assert documentation.pages_of("manual", tmp_path) == [tmp_path / "root/manual/usr/a.html"]
    assert commands == ["dpkg-query", "apt-get", "dpkg", "dpkg-query"]


def test_a_package_that_is_not_to_be_had_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def done(*_: str, folder: Path | None = None) -> str:
        raise FileNotFoundError("no apt-get")

    monkeypatch.setattr(documentation, "_done", done)
    with pytest.raises(documentation.Unobtainable, match=r"manual is not installed .*: no apt-get"):
        documentation.pages_of("manual", tmp_path)


def test_all_pages_are_wanted_unless_told_otherwise() -> None:
    assert arguments([]).max_pages > 50_000
    assert len(arguments([]).packages.split()) == 10
