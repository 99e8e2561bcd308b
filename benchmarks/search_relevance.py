"""Is the page that one looks for among the first three? 30 queries in English and 10 in Japanese, on documentation.

The pages are those of Debian's python3-doc, postgresql-doc and debian-handbook, read as the crawl reads them, with
the texts of the links between them. Each query has one right page (or a few that say the same), known beforehand.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import gossamer
from gossamer.index import Entry, IndexWriter, Search
from gossamer.model.url import normalize

PLACES = {
    "https://python.test/": Path("/usr/share/doc/python3-doc/html"),
    "https://postgresql.test/": Path("/usr/share/doc/postgresql-doc-15/html"),
    "https://handbook.test/ja/": Path("/usr/share/doc/debian-handbook/html/ja-JP"),
    "https://handbook.test/en/": Path("/usr/share/doc/debian-handbook/html/en-US"),
}
# Query -> ends of URLs that are right.
QUERIES: dict[str, tuple[str, ...]] = {
    "asyncio.gather": ("library/asyncio-task.html",),
    "asyncio event loop": ("library/asyncio-eventloop.html",),
    "regular expressions": ("library/re.html", "howto/regex.html"),
    "list comprehension": ("tutorial/datastructures.html", "reference/expressions.html", "howto/functional.html"),
    "json encoder": ("library/json.html",),
    "read csv file": ("library/csv.html",),
    "subprocess popen": ("library/subprocess.html",),
    "date formatting strftime": ("library/datetime.html", "library/time.html"),
    "command line arguments parsing": ("library/argparse.html", "howto/argparse.html"),
    "logging cookbook": ("howto/logging-cookbook.html",),
    "unit testing framework": ("library/unittest.html",),
    "garbage collector interface": ("library/gc.html",),
    "virtual environments": ("library/venv.html", "tutorial/venv.html"),
    "what's new in python 3.11": ("whatsnew/3.11.html",),
    "descriptor howto guide": ("howto/descriptor.html",),
    "dataclass": ("library/dataclasses.html",),
    "sqlite3 database": ("library/sqlite3.html",),
    "pickle protocol": ("library/pickle.html",),
    "typing generics": ("library/typing.html",),
    "socket programming howto": ("howto/sockets.html",),
    "pg_dump": ("app-pgdump.html",),
    "create index concurrently": ("sql-createindex.html",),
    "vacuum full": ("sql-vacuum.html", "routine-vacuuming.html"),
    "explain analyze": ("sql-explain.html", "using-explain.html"),
    "streaming replication": ("warm-standby.html", "protocol-replication.html", "runtime-config-replication.html"),
    "foreign data wrapper": ("fdwhandler.html", "sql-createforeigndatawrapper.html", "postgres-fdw.html"),
    "jsonb operators": ("functions-json.html", "datatype-json.html"),
    "window functions": ("tutorial-window.html", "functions-window.html"),
    "pg_hba.conf": ("auth-pg-hba-conf.html",),
    "full text search": ("textsearch.html", "textsearch-intro.html", "textsearch-controls.html"),
    "パッケージ管理": ("packaging-system.html", "sect.manipulating-packages-with-dpkg.html", "apt.html"),
    "ファイアウォール": ("sect.firewall-packet-filtering.html",),
    "インストール 手順": ("installation.html", "sect.installation-steps.html"),
    "ウェブサーバ HTTP": ("sect.http-web-server.html",),
    "仮想化": ("sect.virtualization.html",),
    "バックアップ": ("sect.backup.html",),
    "デスクトップ環境": ("sect.graphical-desktops.html", "workstation.html"),
    "プリンタ 設定": ("sect.config-printing.html",),
    "メールサーバ": ("sect.config-mail-server.html", "sect.mail-server.html", "network-services.html"),
    "RAID": ("advanced-administration.html", "sect.raid-soft.html"),
}  # fmt: skip


def read_all() -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    anchors: dict[str, dict[str, str]] = defaultdict(dict)
    for base, folder in PLACES.items():
        for path in sorted(folder.rglob("*.html")):
            url = normalize(base + str(path.relative_to(folder)))
            if url is None:
                continue
            document = gossamer.parse(path.read_bytes(), url, "text/html; charset=utf-8")
            entries[url] = Entry(
                url, 1_700_000_000.0, document.title, document.description, document.text, document.main_text,
                language=document.language, digest=path.read_bytes()[:4000] + str(path.stat().st_size).encode(),
            )  # fmt: skip
            for link in document.links:
                if link.kind == "a" and link.url != url and link.text.strip():
                    anchors[link.url].setdefault(url, link.text.strip()[:100])
    for url, entry in entries.items():
        entry.inlinks = len(anchors[url])
        entry.anchors = list(dict.fromkeys(anchors[url].values()))[:50]
    return entries


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the index is written here (bench-work)")
    parser.add_argument("--keep", type=Path, help="write the index here, or use the one that is there")
    options = parser.parse_args()
    missing = [str(folder) for folder in PLACES.values() if not folder.is_dir()]
    if missing:
        print(f"Not there: {', '.join(missing)}. apt-get install python3-doc postgresql-doc debian-handbook")
        return 1
    options.work.mkdir(parents=True, exist_ok=True)
    home = options.keep or Path(tempfile.mkdtemp(prefix="relevance-", dir=options.work.resolve()))
    try:
        if not (home / "meta.json").exists():
            writer = IndexWriter(home, 64_000_000)
            writer.upsert(list(read_all().values()))
            writer.commit(b"")
            writer.close()
        judge(Search([home]))
    finally:
        if not options.keep:
            shutil.rmtree(home)
    return 0


def judge(search: Search) -> None:
    size = search.size()
    print(f"{size.pages:,} pages from {size.hosts} hosts; words that tell: {', '.join(search.terms(8))}")
    first = among = 0
    for query, right in QUERIES.items():
        answer = search.answer(query, limit=20)
        place = next((at for at, hit in enumerate(answer.results, 1) if hit.url.endswith(right)), 0)
        first += place == 1
        among += 0 < place <= 3
        others = ", ".join(hit.url.partition(".test/")[2] for hit in answer.results[:3])
        note = "" if 0 < place <= 3 else f"  instead: {others}"
        print(f"{place or '-':>3}  {query} ({answer.total:,}){note}")
    print(f"{len(QUERIES)} queries: the right page is first for {first}, among the first three for {among}")


if __name__ == "__main__":
    sys.exit(main())
