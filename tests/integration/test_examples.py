"""The examples as their README has them: its own commands, in a folder with their files, on a web on loopback."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.testing import TinyWeb

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text()


def commands(heading: str) -> list[str]:
    """The lines of shell below a heading of the README."""
    _, _, section = README.partition(f"\n## {heading}\n")
    assert section, heading
    blocks = re.findall(r"^```sh\n(.*?)^```", section.partition("\n## ")[0], re.S | re.M)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the files of the examples, so that nothing is written beside these."""
    for file in EXAMPLES.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path / file.name)
    return tmp_path


def run(here: Path, line: str, *more: str, status: int = 0) -> str:
    """As a shell does it in this folder, and says what it printed."""
    words = shlex.split(line, comments=True)
    program = {"gossamer": [sys.executable, "-m", "gossamer"], "python": [sys.executable]}[words[0]]
    done = subprocess.run(
        [*program, *words[1:], *more],
        cwd=here, env={**os.environ, "PYTHONWARNINGS": "error"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def on(web: TinyWeb) -> list[str]:
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


# -- the link checker --------------------------------------------------------------------------------------------------

SITE = "http://www.example.org"


def options_on(web: TinyWeb) -> list[str]:
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
