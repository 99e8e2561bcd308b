"""The report on a crawl of a million pages: time and memory, from facts that are there; and what making a fact costs.

The facts are generated, in the files and with the distributions that a crawl's have: hosts by a power law, sizes and
links over several powers of ten, five links to other hosts a page. The frontier is a real one that knows as many URLs
as there are pages. Then `gossamer report` runs as a user runs it. Afterwards a small simulated web is crawled, and its
facts are made in one process, which gives the time of a page.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from machine import description, load
from processes import finish, tidy_when_terminated
from synthetic_urls import SyntheticWeb
from tables import figure, table

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.progress import Progress
from gossamer.config import Config, FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.model.url import host_of, split
from gossamer.report.engine import Engine
from gossamer.report.fact import COLUMNS
from gossamer.report.report import make_facts
from gossamer.report.shelf import File, Manifest, Shelf
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.testing import SimServer, World
from gossamer.testing.web.truth import walk

_PACKAGES = ("duckdb", "rocksdict", "msgspec")
_TARGET = 60.0  # seconds for a million pages
_AT_ONCE = 20_000
_FILE = 1_000_000
_BEGIN = 1_790_000_000

# Numbers that look drawn: a hash of the page's number and of what it is for.
_FACTS = """
SELECT 'https://www.h' || h || '.d' || (h % 40000) || suffix || path AS url,
  CASE WHEN i % 97 = 96 THEN 'robots' ELSE 'page' END AS kind,
  'www.h' || h || '.d' || (h % 40000) || suffix AS host, 'd' || (h % 40000) || suffix AS domain,
  suffix[2:] AS suffix,
  CASE WHEN r < 0.86 THEN 200 WHEN r < 0.92 THEN 301 WHEN r < 0.97 THEN 404 WHEN r < 0.99 THEN 302 ELSE 500 END
    AS status,
  CASE WHEN r < 0.95 THEN 'text/html' WHEN r < 0.98 THEN 'application/pdf' ELSE 'text/plain' END AS type,
  CASE WHEN r < 0.3 THEN 'html' WHEN r < 0.4 THEN 'php' WHEN r < 0.43 THEN 'pdf' ELSE '' END AS extension,
  exp(6 + 8 * s)::UBIGINT AS size, exp(5 + 7 * s)::UBIGINT AS encoded_size,
  CASE WHEN i % 97 = 96 THEN NULL ELSE (s * 12)::USMALLINT END AS depth, {begin} + i / 900.0 AS fetched_at,
  ['nginx', 'Apache', 'cloudflare', 'nginx/1.25.' || (h % 9), 'Microsoft-IIS/10.0', ''][1 + h % 6] AS server,
  '198.51.' || (h % 200) || '.' || (h % 251) AS address,
  ['en', 'de', 'fr', 'ja', 'es', 'ru', 'th', ''][1 + h % 8] AS language,
  ['utf-8', 'windows-1252'][1 + h % 2] AS charset,
  'Title of page ' || i AS title,
  CASE WHEN r < 0.86 THEN exp(7 * s)::UINTEGER ELSE NULL END AS links,
  [host] || list_transform(range(5), lambda k: 'www.h' || ((h * 31 + k * k * 977 + i % 13) % {hosts}) || '.d'
    || ((h * 31 + k * k * 977 + i % 13) % {hosts} % 40000) || suffix) AS to_hosts,
  [domain] || list_transform(range(5), lambda k: 'd' || ((h * 31 + k * k * 977 + i % 13) % {hosts} % 40000) || suffix)
    AS to_domains,
  [7, 1, 1, 2, 1, 1]::UINTEGER[] AS to_counts, '' AS redirect, length(url)::USMALLINT AS url_length,
  CASE WHEN i % 20 = 0 THEN md5((i // 200)::VARCHAR) ELSE md5(i::VARCHAR) END AS digest, '' AS duplicate_of,
  '' AS truncated, {begin} - exp(18 * s) AS last_modified, NULL::DOUBLE AS crawl_delay, NULL::BOOLEAN AS closed,
  (i // 50000)::UINTEGER AS file, (i % 50000 * 20000)::UBIGINT AS "offset", 4000::UINTEGER AS length
FROM (SELECT i, (pow(hash(i, 1) % 1000000 / 1e6, 3) * {hosts})::BIGINT AS h, hash(i, 2) % 1000000 / 1e6 AS r,
  hash(i, 3) % 1000000 / 1e6 AS s, '/' || ['news', 'shop', 'blog', 'de/archive'][1 + (i % 4)] || '/item-' || i AS path,
  ['.com', '.org', '.de', '.co.uk', '.co.jp'][1 + (hash(h, 4) % 5)::BIGINT] AS suffix FROM range({first}, {last}) t(i))
"""


def build_facts(home: Path, pages: int) -> None:
    hosts = max(pages // 20, 1)
    shelf = Shelf(home / "facts")
    shelf.home.mkdir(parents=True)
    files = []
    with Engine() as engine:
        for number, first in enumerate(range(0, pages, _FILE), 1):
            last = min(first + _FILE, pages)
            query = _FACTS.format(begin=_BEGIN, hosts=hosts, first=first, last=last)
            wanted = ", ".join(f'"{column.name}"::{column.type} AS "{column.name}"' for column in COLUMNS)
            name = f"facts-{number:06d}.parquet"
            engine.copy(f"SELECT {wanted} FROM ({query})", shelf.home / name)
            files.append(File(name, last - first))
    shelf._write(Manifest(next=len(files) + 1, files=files))


def build_frontier(home: Path, urls: int) -> None:
    import msgspec

    directory = CrawlDir(home)
    directory.take()
    directory.save(Config())
    web = SyntheticWeb(urls, max(urls // 20, 1))
    frontier = Frontier(directory.frontier, FrontierConfig(), Policy(PolicyConfig()), Scope("any"), None, float(_BEGIN))
    for start in range(0, urls, _AT_ONCE):
        frontier.add([web.url(number) for number in range(start, min(start + _AT_ONCE, urls))], 1, 4)
        frontier.commit({"progress": msgspec.msgpack.encode(Progress())}, False)
    frontier.commit({"progress": msgspec.msgpack.encode(Progress())}, True)
    frontier.close()
    directory.release()


def report_once(home: Path, out: Path) -> dict[str, float]:
    done = finish(
        [sys.executable, "-m", "gossamer", "report", "--dir", str(home), "--out", str(out)], home.parent, None, 3600.0
    )
    if done.status:
        raise RuntimeError(f"gossamer ended with status {done.status}: {done.errors[-2000:]}")
    return {"seconds": done.seconds, "cpu": done.cpu_seconds, "rss": done.peak_rss, "load": load()}


def fact_cost(folder: Path, pages: int) -> tuple[int, float]:
    """Captures, and CPU seconds that one process took to make their facts."""
    world = World(7, 20, max(pages // 20, 1), "realistic", faults=0.0)
    home = folder / "small"
    crawled(world, home, "30s")  # some hosts do not give their robots.txt, and are waited for
    began = time.process_time()
    return make_facts(home, processes=0), time.process_time() - began


def crawled(world: World, home: Path, limit: str = "1h") -> None:
    with SimServer.running(world) as server:
        command = [
            sys.executable, "-m", "gossamer", "crawl", world.url(0), "--dir", str(home), "--delay", "0",
            "--scope", "any", "--allow-private", "--connect", server.connect, "--no-index", "--time-limit", limit,
        ]  # fmt: skip
        done = finish(command, home.parent, None, 3600.0)
    if done.status:
        raise RuntimeError(f"gossamer ended with status {done.status}: {done.errors[-2000:]}")


def beside_truth(folder: Path, pages: int) -> bool:
    """A crawl of a simulated web, and whether the report says of it what is true."""
    world = World(11, max(pages // 200, 1), 200, "plain")
    home = folder / "truth"
    crawled(world, home)
    runs = []
    for _ in range(2):  # the first one makes the facts
        command = [sys.executable, "-m", "gossamer", "report", "--dir", str(home), "--json"]
        runs.append(finish(command, folder, None, 3600.0))
    found = json.loads(runs[-1].output)
    tables = found["tables"]
    statuses: Counter[int] = Counter()
    links: Counter[int] = Counter()
    between: Counter[tuple[str, str]] = Counter()
    domains: Counter[str] = Counter()
    for url, expected in walk(world, [world.url(0)]):
        if expected.fetched:
            statuses[expected.status] += 1
            host = world.find(host_of(url))
            resource = None if host is None else world.resource(host, split(url)[1].encode())
            assert host is not None
            assert resource is not None
            domains[host.domain] += 1
            targets = {target for target in world.links(host, resource) if world.url(*target) != url}
            links[1 << len(targets).bit_length() - 1 if targets else 0] += 1
            between.update((host.domain, world.names.domain(other)) for other, _ in targets)
    good = {
        "pages": found["totals"]["pages"] == statuses.total(),
        "status codes": {row["status"]: row["pages"] for row in tables["status_codes"]} == statuses,
        "links per page": {row["from"]: row["pages"] for row in tables["links_per_page"] if row["pages"]} == links,
        "links": found["totals"]["links"] == between.total(),
        "links between domains": all(
            between[row["source"], row["target"]] == row["links"] for row in tables["domain_links"]
        ),
        "top domains": [row["pages"] for row in tables["domains_by_pages"]] == sorted(domains.values())[:-21:-1],
    }
    times = [f"{one.seconds:.1f} s, {one.cpu_seconds:.1f} s of CPU, {one.peak_rss / 1e6:,.0f} MB" for one in runs]
    print(f"a crawl of {statuses.total():,} pages, as the simulated web knows it to be: {good}")
    print(f"first report: {times[0]}; second: {times[1]}; load {load():.1f}")
    return all(good.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=float, default=[1e5, 1e6], help="of the generated facts; 0: none")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--truth", type=int, default=0, help="pages of a crawl whose report is compared with the truth")
    parser.add_argument("--small", type=int, default=2000, help="pages of the crawl whose facts are made")
    arguments = parser.parse_args()
    tidy_when_terminated()
    print(description(_PACKAGES), flush=True)
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    rows, good = [], True
    try:
        for pages in filter(None, map(int, arguments.pages)):
            home = folder / f"crawl-{pages}"
            build_frontier(home, pages)
            build_facts(home, pages)
            size = sum(path.stat().st_size for path in (home / "facts").iterdir())
            runs = [report_once(home, folder / "report.html") for _ in range(arguments.runs)]
            best = min(runs, key=lambda one: one["seconds"])
            page = (folder / "report.html").stat().st_size
            good &= best["seconds"] <= _TARGET * max(pages / 1e6, 0.1)
            rows.append([
                figure(pages), f"{best['seconds']:.1f} s", f"{best['cpu']:.1f} s", f"{best['rss'] / 1e6:,.0f} MB",
                f"{size / 1e6:,.1f} MB", f"{page / 1e3:,.0f} kB", f"{best['load']:.1f}",
            ])  # fmt: skip
            shutil.rmtree(home)
        if rows:
            print(table(["pages", "report", "CPU", "peak RSS", "facts on disk", "page", "load"], rows), flush=True)
        if arguments.truth:
            good &= beside_truth(folder, arguments.truth)
        if arguments.small:
            captures, seconds = fact_cost(folder, arguments.small)
            print(f"making facts: {captures:,} captures, {seconds / captures * 1e6:,.0f} µs of CPU each")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
