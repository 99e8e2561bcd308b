"""The examples as their README has them: its own commands, in a folder with their files, on a web on loopback."""

from __future__ import annotations

import base64
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request as UrlRequest
from urllib.request import urlopen

import pytest

from gossamer.testing import SimServer, TinyWeb, World
from gossamer.testing.web import Request

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text()
TUTORIAL = (EXAMPLES.parent / "docs" / "applications.md").read_text()


def blocks(heading: str, kind: str, document: str = README) -> list[str]:
    """Of what is below a heading."""
    _, _, section = document.partition(f"\n## {heading}\n")
    assert section, heading
    found = re.findall(r"^```(\w*)\n(.*?)^```$", section.partition("\n## ")[0], re.S | re.M)
    return [text for its, text in found if its == kind]


def commands(heading: str, document: str = README) -> list[str]:
    """The lines of shell."""
    return [line for block in blocks(heading, "sh", document) for line in block.replace("\\\n", " ").splitlines()]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the files of the examples, so that nothing is written beside these."""
    for file in EXAMPLES.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path / file.name)
    return tmp_path


def command(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    return {"gossamer": [sys.executable, "-m", "gossamer"], "python": [sys.executable]}[words[0]] + words[1:]


def run(here: Path, line: str, *more: str, status: int = 0, to_stderr: bool = False) -> str:
    """As a shell does it in this folder, and says what it printed."""
    done = subprocess.run(
        [*command(line), *more],
        cwd=here, env={**os.environ, "PYTHONWARNINGS": "error"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if to_stderr else done.stdout


@contextmanager
def started(here: Path, line: str) -> Iterator[subprocess.Popen[str]]:
    """One that goes on until it is interrupted."""
    with subprocess.Popen(command(line), cwd=here, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def on(web: TinyWeb | SimServer) -> list[str]:
    """What a crawl of this web needs besides."""
    return ["--connect", web.connect, "--allow-private", "--delay", "0"]


# -- the price monitor -------------------------------------------------------------------------------------------------

SHOP = "http://www.shop.example"


def json_ld(name: str, price: object) -> str:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    said = json.dumps({"@graph": [{"@type": "WebSite"}, {"@type": ["Product"], "name": name, "offers": [offer]}]})
    script = '<script type="application/ld+json">'
    return f"{script}{{not json</script>{script}{said}</script><p>Soft and warm.</p>"


def microdata(name: str, price: str) -> str:
    return (
        f"<title>{name}</title><div itemscope itemtype='https://schema.org/Product'><span itemprop=price>{price}</span>"
        "<meta itemprop=priceCurrency content=EUR></div>"
    )


def meta(name: str, price: str) -> str:
    return (
        f'<meta property="og:title" content="{name}"><meta property="product:price:amount" content="{price}">'
        '<meta property="product:price:currency" content="EUR"><![odd['
    )


def test_price_monitor(here: Path) -> None:
    crawl, ask = commands("A price monitor")
    settings = here / "price_monitor.toml"
    settings.write_text(settings.read_text().replace('"1d"', '"1s"'))  # a day that is over soon
    crawl = crawl.replace("https:", "http:")
    with TinyWeb() as web:
        web.add_page(f"{SHOP}/", ["/product/scarf", "/product/tie", "/product/thread", "/product/hat", "/about"])
        web.add_page(f"{SHOP}/about", body="<title>About us</title>")
        web.add_page(f"{SHOP}/product/scarf", body=json_ld("Silk scarf", "49.00"))
        web.add_page(f"{SHOP}/product/tie", body=microdata("Silk tie", "1.039,50 €"))
        web.add_page(f"{SHOP}/product/thread", body=meta("Silk thread", "12"))
        web.add_page(f"{SHOP}/product/hat", body=json_ld("Hat\x1b[31m", 20))
        run(here, crawl, *on(web), "--max-pages", "6")
        said = run(here, ask).splitlines()
        assert {line.split("  ")[0] for line in said[:-1]} == {
            "new at 49.00 EUR", "new at 1039.50 EUR", "new at 12.00 EUR", "new at 20.00 EUR",
        }  # fmt: skip
        assert "Silk tie  http://www.shop.example/product/tie" in "\n".join(said)
        assert "\x1b" not in "".join(said)
        assert said[-1] == "4 changes since you last asked, 4 in all"
        web.add_page(f"{SHOP}/product/scarf", body=json_ld("Silk scarf", "44.10"))  # only in JSON-LD
        web.add_page(f"{SHOP}/product/tie", body=microdata("Silk tie", "1.139,50 €"))
        web.add_page(f"{SHOP}/product/thread", status=410)
        run(here, crawl, *on(web), "--max-pages", "14")
    said = run(here, ask).splitlines()
    assert sorted(line.split("  ")[0] for line in said[:-1]) == [
        "1039.50 -> 1139.50 EUR", "49.00 -> 44.10 EUR", "gone, was 12.00",
    ]  # fmt: skip
    assert said[-1] == "3 changes since you last asked, 7 in all"
    assert run(here, ask) == "0 changes since you last asked, 7 in all\n"
    assert run(here, "gossamer apps records prices --dir shop").count("\n") == 7


@pytest.mark.parametrize(
    ("said", "price"),
    [
        (1299, 1299.0), (12.5, 12.5), ("1,299.00", 1299.0), ("1.299,00 €", 1299.0), ("1 299", 1299.0), ("€ 0,99", 0.99),
        ("EUR 7.-", 7.0), ("free", None), ("", None), (None, None), (True, None), ({"a": 1}, None), (-3, None),
        (float("nan"), None), (10**400, None), ("9" * 5000, float("9" * 40)),
    ],
)  # fmt: skip
def test_prices_as_shops_write_them(said: object, price: float | None) -> None:
    of = runpy.run_path(str(EXAMPLES / "price_monitor.py"))
    assert of["number"](said) == price
    assert of["offer_in"]({"@type": "Product", "name": "x", "offers": {"price": said}})[1] == price


def test_prices_on_pages_that_mean_harm() -> None:
    of = runpy.run_path(str(EXAMPLES / "price_monitor.py"))
    script = '<script type="application/ld+json">{}</script>'
    deep, wide = "[" * 100_000, json.dumps([[]] * 100_000)
    for text in (deep, wide, '{"@type": {}, "offers": 1}', '{"@type": "Product", "offers": []}', "null"):
        page = SimpleNamespace(source=script.format(text), document=SimpleNamespace(title="t"))
        assert of["offer_on"](page) == ("t", None, ""), text[:40]


# -- the intranet search -----------------------------------------------------------------------------------------------


def test_intranet(here: Path) -> None:
    crawl, *others, curl, serve = commands("An intranet search")
    login = "Basic " + base64.b64encode(b"crawler:password").decode()

    def behind(name: str, value: str, text: str) -> Callable[[Request], bytes]:
        def answer(request: Request) -> bytes:
            if request.header(name) != value:
                return b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n"
            body = text.encode()
            return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

        return answer

    rules = "<title>Holiday rules</title><p>Ask for a holiday two weeks before. <a href='/logout'>Leave</a></p>"
    form = "<title>Forms</title><p>Here are travel expenses, and how to have them back.</p>"
    links = ["http://wiki.corp.example/rules", "http://files.corp.example/", "http://www.elsewhere.example/"]
    with TinyWeb() as web:
        web.add_page("http://www.corp.example/", links)
        web.add_handler("http://wiki.corp.example/rules", behind("Authorization", login, rules))
        web.add_handler("http://files.corp.example/", behind("X-Token", "secret", form))
        here_only = ["--networks", "127.0.0.0/8", "--serve", "0", "--max-pages", "3"]
        run(here, crawl, *on(web), *here_only)
        asked = set(web.log.requests_per_url())
        said = [run(here, line) for line in others]
        run(here, crawl, *on(web), *here_only)  # who indexes takes up the watch
    assert {url for url in asked if not url.endswith("/robots.txt")} == {"http://www.corp.example/", *links[:2]}
    assert "/logout" not in run(here, "gossamer urls --dir intranet --state queued")
    key, _, found, _ = said
    assert "Holiday rules" in found
    assert "wiki.corp.example" in found
    assert "http://files.corp.example/" in run(here, others[-1]), "the watch has a hit"
    with started(here, serve.replace("8001", "0")) as process:
        assert process.stdout is not None
        address = re.search(r"http://[^/ ]+:\d+", process.stdout.readline())
        assert address is not None
        url = shlex.split(curl)[-1].replace("http://localhost:8000", address[0])
        with pytest.raises(HTTPError, match="401"):
            urlopen(url, timeout=30)
        with urlopen(UrlRequest(url, headers={"Authorization": f"Bearer {key.strip()}"}), timeout=30) as answer:
            results = json.load(answer)["results"]
    assert [each["url"] for each in results] == ["http://wiki.corp.example/rules"]
    assert "password" not in "".join(said)


# -- the corpus of one language ----------------------------------------------------------------------------------------


def test_language_corpus(here: Path) -> None:
    crawl, ask = commands("A corpus of one language")
    world = World(1, 120, 40, "plain")
    thai = {host.name for index in range(120) if (host := world.host(index)).language == "th"}
    crawl = crawl.replace("https://www.example.th/", world.url(0)).replace("100000", "600")
    # Where all hosts may be visited at once the order does not matter.
    crawl = crawl.replace("--connections 16", "--connections 4")
    with SimServer.running(world) as server:
        run(here, crawl, *on(server))
    found = json_lines(run(here, "gossamer apps records corpus --dir thai"))
    by_chance = 600 * len(thai) / world.hosts  # hosts are of one size; breadth-first finds about as many
    assert {urlsplit(record["url"]).hostname for record in found} == thai
    assert len({record["url"] for record in found}) == len(found) > 3 * by_chance
    assert all(record["language"] == "th" and "\u0e01" <= max(record["text"]) <= "\u0e5b" for record in found)
    assert list((here / "thai" / "apps" / "corpus").glob("records-*.parquet"))
    said = run(here, ask).splitlines()
    size = sum(len(record["text"].encode()) for record in found)
    assert said[0] == f"{len(found)} of 600 pages ({len(found) / 600:.0%}), {len(thai)} hosts"
    assert said[1].endswith(f" {size:,} bytes of text")
    assert run(here, "gossamer apps list --dir thai").count("corpus")


def test_language_corpus_is_of_the_language_and_of_those_who_do_not_mind(here: Path) -> None:
    crawl, _ = commands("A corpus of one language")
    kana = "これはとてもながいぶんしょうです。ねこがにわであそんでいます。" * 5
    with TinyWeb() as web:
        web.add_page("http://www.example.jp/", ["/han", "/kept-out", "/en"], body=f"<title>ねこ</title><p>{kana}</p>")
        web.add_page(
            "http://www.example.jp/han", body="<p>" + "这是一个很长的中文句子，说的是花园里的猫。" * 8 + "</p>"
        )
        web.add_page("http://www.example.jp/kept-out", body=f'<meta name=robots content="noindex"><p>{kana}</p>')
        web.add_page("http://www.example.jp/en", body="<p>" + "A page about cats in a garden, ねこ. " * 9 + "</p>")
        crawl = crawl.replace("https://www.example.th", "http://www.example.jp").replace("=th", "=ja")
        run(here, crawl, *on(web))
        wrong = run(here, crawl.replace("=ja", "=xx"), *on(web), status=2, to_stderr=True)
        (found,) = json_lines(run(here, "gossamer apps records corpus --dir thai"))
    assert (found["url"], found["language"], found["share"]) == ("http://www.example.jp/", "ja", 1.0)
    assert "language 'xx' is not one of th, ja" in wrong


# -- the link checker --------------------------------------------------------------------------------------------------

SITE = "http://www.example.org"


def options_on(web: TinyWeb | SimServer) -> list[str]:
    """The same for those who have `-o`; no host of nobody.example answers."""
    connect = f"nobody.example=127.0.0.1:1,{web.connect}"
    return ["-o", f"connect={connect}", "-o", "allow_private=true", "-o", "delay=0", "-o", "retry_wait=0.01s"]


def test_link_checker(here: Path) -> None:
    (check,) = commands("A link checker")
    check = check.replace("https:", "http:")
    with TinyWeb() as web:
        web.add_robots("other.example", "User-agent: *\nDisallow: /private")
        web.add_page(
            f"{SITE}/",
            ["/about#staff", "/about#people", "#here", "/gone", "/old", "http://other.example/", "http://nobody.example/",
             "http://other.example/private", "/report.pdf", "/about#top", "/about#:~:text=x", "http://moved.example/1"],
            body='<p id=here>Here</p><img src="/lost.png"><img src="/there.png">',
        )  # fmt: skip
        web.add_page(f"{SITE}/about", ["/gone"], body="<h2 id=staff>Staff</h2><![odd[>")
        web.add_page(f"{SITE}/report.pdf", headers={"Content-Type": "application/pdf"})
        web.add_page(f"{SITE}/there.png", headers={"Content-Type": "image/png"})
        web.add_redirect(f"{SITE}/old", "/about", status=301)
        web.add_page("http://other.example/", ["/elsewhere"])
        for number in range(1, 20):  # without end, so to speak
            web.add_redirect(f"http://moved.example/{number}", f"/{number + 1}")
        said = run(here, check, *options_on(web), status=1)
        asked = set(web.log.requests_per_url())
    lines = said.splitlines()
    dead = {line for line in lines if line.startswith("dead")}
    assert dead == {
        f"dead    404  {SITE}/gone",
        f"dead    404  {SITE}/lost.png",
        "dead    no answer  http://nobody.example/",
    }
    after_gone = lines[lines.index(f"dead    404  {SITE}/gone") + 1 :]
    assert after_gone[:2] == [f"        on {SITE}/", f"        on {SITE}/about"]
    assert [line for line in lines if line.startswith("anchor")] == [f"anchor  {SITE}/about#people"]
    assert [line for line in lines if line.startswith("moved")] == [f"moved   {SITE}/old -> {SITE}/about"]
    assert "2 pages of www.example.org: 3 dead links, 1 missing anchors, 1 moved" in lines
    assert "1 links were not checked: robots" in lines
    assert "http://other.example/elsewhere" not in asked
    assert "http://other.example/" in asked
    assert "http://moved.example/6" in asked
    assert "http://moved.example/7" not in asked


def test_link_checker_of_a_site_without_faults(here: Path) -> None:
    (check,) = commands("A link checker")
    with TinyWeb() as web:
        web.add_page("http://example.org/", ["/a"])
        web.add_page("http://example.org/a", ["/"])
        said = run(here, check.replace("https://www.", "http://"), *options_on(web))
        assert said == "2 pages of example.org: 0 dead links, 0 missing anchors, 0 moved\n"
        web.add_page("http://example.org/a", [f"/{number}" for number in range(9)])
        said = run(here, check.replace("https://www.", "http://"), *options_on(web), "--max-pages", "2")
        assert said.splitlines()[-1] == "9 links were not checked: the limit was reached"


@pytest.mark.parametrize("name", ["link_checker.py", "sampler.py --dir sample --pages 5"])
def test_examples_that_read_nothing_say_so_and_fail(here: Path, name: str) -> None:
    with TinyWeb() as web:
        web.add_robots("www.site.test", "User-agent: *\nDisallow: /")
        said = run(here, f"python {name} http://www.site.test/", *options_on(web), status=1, to_stderr=True)
    assert "Nothing was checked" in said or "There is no sample" in said


# -- the sampler -------------------------------------------------------------------------------------------------------


def test_sampler(here: Path) -> None:
    """The truth is within half as much again as the interval: 997 times of 1,000, were chance all there is."""
    (sample,) = commands("A sampler")
    world = World(1, 100, 30, "plain")
    truth = Counter(world.host(index).language for index in range(100))  # all have as many pages
    sample = sample.replace("https://www.example.org/", world.url(0)).replace("2000", "800")
    with SimServer.running(world) as server:
        run(here, sample, *options_on(server), "-o", "max_pages=300")
        said = run(here, sample, *options_on(server))  # goes on
        asked = server.log.requests_per_url()
        servers = run(here, f"{sample} --of server", *options_on(server))
    head, *lines = said.splitlines()
    figures = re.fullmatch(r"([78]\d\d) pages of (\d+) hosts, for about ([\d,]+) pages", head)
    assert figures is not None
    assert 1.5 * int(figures[1]) < int(figures[3].replace(",", "")) < 4000, "it stands for more pages than it has"
    assert set(asked.values()) == {1}, "each page is asked for once"
    found = {}
    for line in lines:
        share, low, _, high, language, *_ = line.split()
        found[language] = [float(number.rstrip("%")) for number in (low, share, high)]
    assert sum(share for _, share, _ in found.values()) == pytest.approx(100, abs=1)
    for language, (low, share, high) in found.items():
        assert low <= share <= high
        assert share - 1.5 * (share - low) - 1 <= truth[language] <= share + 1.5 * (high - share) + 1, language
    assert re.search(r"^100.0% .* not said ", servers, re.M), "the simulated web does not say"


def test_shares_of_a_sample() -> None:
    """By hand: two hosts, of which one stands for three times as many pages."""
    of = runpy.run_path(str(EXAMPLES / "sampler.py"))
    page = of["Sampled"]
    found = of["shares"]([page("a", 2.0, "x"), page("a", 1.0, "x"), page("b", 1.0, "y")])
    assert [(each.trait, each.share, each.pages) for each in found] == [("x", 0.75, 2), ("y", 0.25, 1)]
    # What is apart from 3/4: 3 - 0.75 * 3 = 0.75 of a, 0 - 0.75 = -0.75 of b; times 2 of 1, in shares of 4 pages.
    assert found[0].error == pytest.approx((2 * (0.75**2 + 0.75**2)) ** 0.5 / 4)
    assert (found[0].high, found[1].low) == (1.0, 0.0)
    assert of["shares"]([page("a", 1.0, "x")])[0].low == 0.0, "of one host nothing follows"
    assert of["shares"]([]) == []


# -- the tutorial ------------------------------------------------------------------------------------------------------


def test_tutorial(tmp_path: Path) -> None:
    simweb, crawl, attempt, again, listed, records = commands("Step by step", TUTORIAL)
    (tmp_path / "census.py").write_text(blocks("Step by step", "python", TUTORIAL)[0])
    with started(tmp_path, simweb.replace("8080", "0")) as web:
        assert web.stdout is not None
        address = re.search(r"127\.0\.0\.1:\d+", web.stdout.readline())
        assert address is not None
        run(tmp_path, crawl.replace("127.0.0.1:8080", address[0]))
        shown = blocks("Step by step", "", TUTORIAL)
        assert run(tmp_path, attempt) == shown[0]
        run(tmp_path, again)
    said = run(tmp_path, listed).splitlines() + run(tmp_path, records).splitlines()
    assert set(shown[1].splitlines()) <= set(said)
    assert sum("host" in line for line in said) == 20
