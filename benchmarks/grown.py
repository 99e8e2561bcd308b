"""A crawl that knows ten million URLs beside one that knows a hundred thousand: pages a second, in one run.

Before each crawl its frontier is given that many URLs of other hosts, judged and remembered as out of scope. Every page
of the web that is then crawled has sixteen links into that web and one to a URL that is known in this way, so that the
database is asked. The crawls take turns on copies of the two directories.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import nginx
from crawlers import last_json, memory_folder
from frontier_load import LINKS
from machine import cores, description, load
from processes import finish, tidy_when_terminated
from static_web import StaticWeb
from synthetic_urls import SyntheticWeb
from tables import figure, table

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope

_PACKAGES = ("rocksdict", "pycurl", "uvloop")
_AT_ONCE = 20_000
_HOSTS = 100_000  # of the URLs known
_TARGET = 0.85


class LinkedWeb(StaticWeb):
    """Its pages also link to URLs that both crawls know."""

    def __init__(self, hosts: int, pages: int, port: int, known: list[str]) -> None:
        super().__init__(hosts, pages, port)
        self._known = known

    def page(self, host: int, page: int) -> str:
        known = self._known[(host * self.pages + page) % len(self._known)]
        return super().page(host, page).replace("</body>", f'<a href="{known}">elsewhere</a>\n</body>')


def crawl(home: Path, web: StaticWeb, pages: int, core: int | None) -> dict[str, float]:
    seeds = web.first_pages(web.hosts)
    command = [
        sys.executable, "-m", "gossamer", "crawl", *seeds, "--dir", str(home), "--delay", "0", "--allow-private",
        "--scope", "host", "--connections", "64", "--max-pages", str(pages), "--no-index", "--json",
    ]  # fmt: skip
    done = finish(command, home.parent, core, 3600.0)
    if done.status:
        raise RuntimeError(f"gossamer ended with status {done.status}: {done.errors[-2000:]}")
    said = last_json(done.output)
    return {"pages": said["pages"], "seconds": said["seconds"], "cpu": done.cpu_seconds, "rss": done.peak_rss}


def known_urls(urls: int, links: int = 20_000) -> list[str]:
    """URLs for pages to link to, of those that a frontier which has learned this many or more knows."""
    web = SyntheticWeb(urls, _HOSTS)  # a larger one has more pages of the same hosts
    return [web.url(number * 97 % web.urls) for number in range(links)]


def learn(home: Path, urls: int) -> None:
    """Let the frontier of a crawl know URLs that are not its own."""
    web = SyntheticWeb(urls, _HOSTS)
    frontier = Frontier(
        home / "frontier", FrontierConfig(), Policy(PolicyConfig()), Scope("host"), None, 1_800_000_000.0
    )
    known = frontier.counts.urls
    for start in range(0, urls, _AT_ONCE):
        for first in range(start, min(start + _AT_ONCE, urls), LINKS):
            frontier.add([web.url(number) for number in range(first, min(first + LINKS, urls))], 1, 4)
        frontier.commit({}, clean=True)
    if frontier.counts.urls - known != urls:
        raise AssertionError(f"{urls:,} URLs were added, the frontier counts {frontier.counts.urls - known:,}")
    # A crawl that came to this size by itself had the time. Otherwise the merging of all, seconds of it, which is due
    # once in millions of URLs, falls into the few that are measured.
    frontier._database.compact()
    frontier.close()


def learn_apart(home: Path, urls: int) -> None:
    """In a process of its own: what a program uses is counted from what its parent had."""
    done = finish([sys.executable, __file__, "--learn", str(home), str(urls)], home.parent, None, 3600.0)
    if done.status:
        raise RuntimeError(done.errors)


def words(run: dict[str, float]) -> str:
    speed, cpu = run["pages"] / run["seconds"], run["cpu"] / run["pages"] * 1e6
    return f"{speed:,.0f} pages/s, {cpu:,.0f} µs CPU a page, peak RSS {run['rss'] / 1e6:,.0f} MB"


def main() -> int:
    if sys.argv[1:2] == ["--learn"]:
        learn(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=lambda text: int(float(text)), default=[10**5, 10**7], metavar="URLS",
                        help="how many URLs are known; the first is the measure (1e5 1e7)")  # fmt: skip
    parser.add_argument("--runs", type=int, default=3, help="crawls of each size; they take turns (3)")
    parser.add_argument("--max-pages", type=int, default=15_000, help="pages of a crawl (15000)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    options = parser.parse_args()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    usable = cores()
    server_core, crawler_core = (usable[0], usable[1]) if len(usable) > 1 else (None, None)
    print(description(_PACKAGES), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="grown-", dir=options.work.resolve()))
    runs: dict[int, list[dict[str, float]]] = {urls: [] for urls in options.sizes}
    try:
        with memory_folder() as folder:
            folder.chmod(0o755)
            web = LinkedWeb(100, 200, nginx.free_port(), known_urls(min(options.sizes)))
            web.write(folder / "web")
            with nginx.serving(web, folder / "web", folder, server_core):
                for urls in options.sizes:
                    crawl(home / str(urls), web, 1, crawler_core)
                    learn_apart(home / str(urls), urls)
                    size = sum(path.stat().st_size for path in (home / str(urls)).rglob("*") if path.is_file())
                    print(f"{urls:,} URLs known, {size / 1e6:,.0f} MB", flush=True)
                for number in range(1, options.runs + 1):
                    for urls in options.sizes:
                        copy = home / "copy"
                        shutil.copytree(home / str(urls), copy)
                        busy = load()
                        run = crawl(copy, web, options.max_pages, crawler_core)
                        shutil.rmtree(copy)
                        runs[urls].append(run)
                        print(
                            f"run {number}: {urls:,} known: {words(run)} (load average before {busy:.2f})", flush=True
                        )
    finally:
        shutil.rmtree(home)
    rows = []
    measure = statistics.median(run["pages"] / run["seconds"] for run in runs[options.sizes[0]])
    for urls in options.sizes:
        speed = statistics.median(run["pages"] / run["seconds"] for run in runs[urls])
        cpu = statistics.median(run["cpu"] / run["pages"] * 1e6 for run in runs[urls])
        share = f"{speed / measure:.0%}" + (" !" if speed < _TARGET * measure else "")
        memory = max(run["rss"] for run in runs[urls])
        rows.append([f"{urls:,}", figure(speed), share, figure(cpu), f"{memory / 1e6:,.0f} MB"])
    print("\n" + table(["URLs known", "pages/s", "share", "CPU µs/page", "peak RSS"], rows))
    print(f"\nmedian of {options.runs}; ! is below {_TARGET:.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
