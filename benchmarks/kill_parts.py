"""Trials of what runs on a crawl, for `kill_loop.py`: applications, strategies, a watch with a webhook, forms that are
sent with POST. Each is killed again and again, left to finish, and judged by the log of whoever was on the other side
and by what was kept.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from judge import ROBOTS, Verdict, captures, fetched, is_stored, judge_pages
from killed_parts import TAG
from killing import Killer, finish
from simulated_web import GOSSAMER, Arrival, SimulatedWeb

from gossamer.agent.asked import read_tagged, start_of
from gossamer.agent.parts import opened
from gossamer.agent.watching.adding import add_watch
from gossamer.agent.watching.book import WatchBook
from gossamer.testing import Receiver, World
from gossamer.testing.catalogue import Catalogue
from gossamer.testing.web.profile import PROFILES

CONNECTIONS = 16
_HOSTS = 4  # that site-by-site visits at a time
STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "importance": (),
    "focused": (),  # its topic is one of the web's
    "random-walk": (),
    "sitemap-first": (),
    "site-by-site": (f"hosts={_HOSTS}",),
    "killed_parts:Ledger": (),
}
_QUERIES = 300
_RECORDS = 1000
_MUCH = 0.97  # of what is found undisturbed: which queries are asked depends on the order of answers
_FORMS_RATE = 20  # requests a second
_WORKED = 2.0  # seconds that a life leaves behind, at most
_IN_FLIGHT = 4  # forms that may be on their way at a kill


class PartTrials:
    """Trials on webs of one size. Invariant: nothing that was killed runs any more when a trial has returned."""

    def __init__(self, home: Path, hosts: int, pages: int, kills: int, killer: Killer) -> None:
        self._home = home
        self._size = hosts, pages
        self._kills = kills
        self._killer = killer
        self._rate = max(hosts * pages / (kills * _WORKED), 10.0)

    # -- applications --------------------------------------------------------------------------------------------------

    def applications(self) -> list[Verdict]:
        web = SimulatedWeb(*self._size, self._home / "apps.log")
        directory = self._home / "apps"
        with web.served():
            crawl = web.crawl(
                directory, *self._speed(), "--max-depth", "0", "--app", "asker=killed_parts:Asker",
                "--app", "recorder=killed_parts:Recorder,format=parquet",
            )  # fmt: skip
            kills = self._killer.kill(crawl, self._kills)
            finish([*crawl, "--rate", "0"])
        truth = web.truth()
        asker, recorder = (_records(directory, name) for name in ("asker", "recorder"))
        asked = sum(record["asked"] for record in asker)
        counted = json.loads(_said("apps", "list", "--json", "--dir", str(directory)))["asker"]["requests"]
        with opened(directory) as parts:
            tagged = sum(1 for _ in read_tagged(parts[0].frontier.meta_rows(start_of(TAG), "")))
        return [
            self._enough(kills),
            *judge_pages(directory, truth),
            *(judge_records(name, found, truth) for name, found in (("asker", asker), ("recorder", recorder))),
            Verdict(
                "requests taken up, and listed by their tag",
                f"{counted:,} and {tagged:,}",
                f"the {asked:,} that records tell of",
                counted == tagged == asked,
            ),
        ]

    # -- strategies ----------------------------------------------------------------------------------------------------

    def strategy(self, name: str) -> list[Verdict]:
        """Killed, and beside it the same undisturbed."""
        short = name.rpartition(":")[2].lower()
        profile = {"focused": "topical", "sitemap-first": "changing"}.get(name, "plain")
        options = STRATEGIES[name]
        if name == "focused":
            options = (f"words={','.join(World(1, *self._size, PROFILES[profile]).topic_words(1)[:6])}",)
        wanted = self._size[0] * self._size[1] * 3 // 4
        if name == "random-walk":
            options = (f"pages={wanted}", f"walkers={CONNECTIONS}")
        given = [word for option in options for word in ("--strategy-option", option)]
        web = SimulatedWeb(*self._size, self._home / f"{short}.log", "--profile", profile)
        directory, calm = self._home / short, self._home / f"{short}-calm"
        with web.served():
            crawl = web.crawl(directory, *self._speed(), "--strategy", name, *given)
            kills = self._killer.kill(crawl, self._kills)
            summary = finish([*crawl, "--rate", "0"])
            ended = time.time()
            undisturbed = finish([*web.crawl(calm, *self._speed(), "--strategy", name, *given), "--rate", "0"])
        if name == "random-walk":
            return [self._enough(kills), *_walked(directory, wanted)]
        truth = fetched(calm)
        found = [self._enough(kills), _figures(summary, undisturbed), *judge_pages(directory, truth)]
        if name == "site-by-site":
            arrivals = [arrival for arrival in web.arrivals() if arrival.time < ended and arrival.path != ROBOTS]
            most = most_open(arrivals)
            # Those that were begun after the last commit, and before a kill, nobody knows of.
            found.append(Verdict("hosts begun and not finished", f"{most}", f"<= {2 * _HOSTS}", most <= 2 * _HOSTS))
        if name.endswith(":Ledger"):
            lines = (directory / "strategy" / f"{name.replace(':', '-')}.jsonl").read_text().splitlines()
            found.append(judge_records("the strategy", list(map(json.loads, lines)), truth))
        return found

    # -- a watch -------------------------------------------------------------------------------------------------------

    def watch(self) -> list[Verdict]:
        web = SimulatedWeb(*self._size, self._home / "watch.log")
        directory = self._home / "watch"
        with web.served(), Receiver() as receiver:
            crawl = web.crawl(directory, *self._speed(), "--index")
            # The first page makes the settings, which say that loopback may be called.
            subprocess.run([*crawl, "--max-pages", "1"], check=True, capture_output=True)
            add_watch(directory, "benchmark", "domain:test", receiver.url, "all")
            crawl += ["--max-pages", "0"]
            kills = self._killer.kill(crawl, self._kills)
            finish([*crawl, "--rate", "0"])
            _said("index", "--dir", str(directory))
            _said("watch", "deliver", "--dir", str(directory))
            calls = [(call.id, call.body) for call in receiver.calls]
        book = WatchBook(directory)
        hits = Counter(url for (url,) in book.rows("SELECT url FROM hits"))
        book.close()
        return [
            self._enough(kills),
            *judge_pages(directory, web.truth()),
            *judge_calls(calls, hits, web.truth(), kills),
        ]

    # -- forms ---------------------------------------------------------------------------------------------------------

    def forms(self) -> list[Verdict]:
        directory = self._home / "forms"
        with Catalogue(_RECORDS, post=True) as site:
            crawl = [
                *GOSSAMER, "crawl", site.seed, "--dir", str(directory), "--connect", site.connect, "--allow-private",
                "--no-index", "--json", "--delay", "0", "--host-connections", str(_IN_FLIGHT), "--rate",
                f"{_FORMS_RATE}", "--app", f"hidden=hidden-web,queries={_QUERIES},post={site.seed}search",
            ]  # fmt: skip
            kills = self._killer.kill(crawl, self._kills)
            finish([*crawl, "--rate", "0"])
            sent = Counter(body.decode() for _, body in site.sent)
            urls = [json.loads(line) for line in _said("urls", "--dir", str(directory)).splitlines()]
            found = [self._enough(kills), *judge_forms(site, directory, sent, urls, kills)]
            calm = self._home / "forms-calm"
            finish([str(calm) if word == str(directory) else word for word in crawl] + ["--rate", "0"])
        one, other = (sum("/record/" in url for url in fetched(each)) for each in (directory, calm))
        enough = one >= _MUCH * other
        return [*found, Verdict("records found", f"{one:,}", f">= {_MUCH:.0%} of {other:,}, undisturbed", enough)]

    # -- all -----------------------------------------------------------------------------------------------------------

    def named(self, kind: str) -> Iterator[tuple[str, Callable[[], list[Verdict]]]]:
        """Those of a kind, by the names of their tables."""
        if kind == "strategies":
            for name in STRATEGIES:
                yield f"--strategy {name}", partial(self.strategy, name)
        else:
            yield {
                "apps": ("two applications", self.applications),
                "watch": ("a watch with a webhook", self.watch),
                "forms": ("hidden-web, forms sent with POST", self.forms),
            }[kind]

    def _speed(self) -> list[str]:
        return ["--delay", "0", "--connections", str(CONNECTIONS), "--rate", f"{self._rate:g}"]

    def _enough(self, kills: int) -> Verdict:
        return Verdict("killed while it ran", f"{kills} times", f"{self._kills}", kills >= self._kills)


def judge_records(whose: str, records: list[dict[str, Any]], truth: set[str]) -> Verdict:
    """Each page once, and numbered as it was seen: what is remembered goes with what is recorded."""
    times = Counter(record["url"] for record in records)
    numbers = [record["number"] for record in records]
    astray = sum(number != place for place, number in enumerate(numbers, 1))
    return Verdict(
        f"records of {whose}",
        f"{len(truth - times.keys()):,} missing, {times.total() - len(times):,} again, {astray:,} misnumbered",
        f"{len(truth):,}, one a page",
        times.keys() == truth and times.total() == len(times) and not astray,
    )


def _walked(directory: Path, wanted: int) -> list[Verdict]:
    """A walk that was killed goes elsewhere; but it is a walk of as many pages, each of which was fetched."""
    known = fetched(directory)
    sample = [json.loads(line)["url"] for line in _results(directory).read_text().splitlines()]
    stored, _ = captures(directory)
    again = len(stored) - len({capture["url"] for capture in stored})
    broken = sum(not is_stored(directory, capture) for capture in stored)
    most = wanted + CONNECTIONS  # a page for each walker is on its way when there are enough
    return [
        Verdict("pages of the sample", f"{len(sample):,}", f"{wanted:,} to {most:,}", wanted <= len(sample) <= most),
        Verdict(
            "each once, and fetched",
            f"{len(sample) - len(set(sample)):,} again, {len(set(sample) - known):,} not fetched",
            "0",
            len(sample) == len(set(sample)) and set(sample) <= known,
        ),
        Verdict("each page once in CDXJ", f"{again:,} again, {broken:,} lead astray", "0", not again and not broken),
    ]


def most_open(arrivals: Sequence[Arrival]) -> int:
    """Hosts that were begun and not finished at a time."""
    last = {arrival.host: number for number, arrival in enumerate(arrivals)}
    open_: set[str] = set()
    most = 0
    for number, arrival in enumerate(arrivals):
        open_.add(arrival.host)
        most = max(most, len(open_))
        if last[arrival.host] == number:
            open_.discard(arrival.host)
    return most


def judge_calls(calls: Iterable[tuple[str, bytes]], hits: Counter[str], truth: set[str], kills: int) -> list[Verdict]:
    """`calls` as the receiver got them: id and body. `hits` as they are kept."""
    bodies: dict[str, set[bytes]] = {}
    times: Counter[str] = Counter()
    for id_, body in calls:
        bodies.setdefault(id_, set()).add(body)
        times[id_] += 1
    told = Counter(
        hit["url"] for found in bodies.values() for hit in json.loads(next(iter(found)))["hits"] if not hit["earlier"]
    )
    changed = sum(len(found) > 1 for found in bodies.values())
    repeated = times.total() - len(times)
    return [
        Verdict(
            "each page is a hit once",
            f"{len(truth - hits.keys()):,} missing, {hits.total() - len(hits):,} again",
            f"{len(truth):,}",
            hits.keys() == truth and hits.total() == len(hits),
        ),
        Verdict(
            "each hit is told in one call",
            f"{len(truth - told.keys()):,} not told, {told.total() - len(told):,} in two",
            "all but the first page, which was there before the watch",
            len(truth - told.keys()) <= 1 and told.total() == len(told),
        ),
        Verdict("calls made again, equal to the first", f"{repeated:,}, {changed:,} not equal", f"<= {kills}, 0",
                repeated <= kills and not changed),
    ]  # fmt: skip


def judge_forms(
    site: Catalogue, directory: Path, sent: Counter[str], urls: list[dict[str, Any]], kills: int
) -> list[Verdict]:
    again = sum(count - 1 for count in sent.values())
    forms = {_body(each["url"]): each for each in urls if "#" in each["url"]}
    states = Counter(f"{each['state']} {each['reason'] or ''}".strip() for each in forms.values())
    unknown = sent.keys() - forms.keys()
    open_ = [each for each in forms.values() if each["state"] not in ("fetched", "dead")]
    unanswered = sum(each["state"] == "dead" for each in forms.values())
    known = {each["url"] for each in urls if each["state"] == "fetched"}
    answered = [body for body, each in forms.items() if each["state"] == "fetched"]
    missed = {
        f"{site.seed}record/{number}"
        for body in answered
        for number in site.found(parse_qs(body)["q"][0])
    } - known  # fmt: skip
    stored, unreadable = captures(directory)
    times = Counter((capture["url"], capture.get("requestBody", "")) for capture in stored)
    unsent = [body for body in answered if body not in sent]
    return [
        Verdict("each form sent once at most", f"{sent.total():,} sent, {again:,} again", "0 again", not again),
        Verdict(
            "what was sent is known, and settled",
            f"{len(unknown):,} unknown, {len(open_):,} open, {len(unsent):,} answered and not sent",
            "0",
            not unknown and not open_ and not unsent,
        ),
        Verdict(
            "forms without an answer",
            f"{unanswered:,} of {len(forms):,} ({', '.join(f'{count} {state}' for state, count in states.items())})",
            f"<= {kills * _IN_FLIGHT}",
            unanswered <= kills * _IN_FLIGHT,
        ),
        Verdict("records that answers name, fetched", f"{len(missed):,} are not", "0", not missed),
        Verdict(
            "each response once in CDXJ",
            f"{times.total() - len(times):,} again, {unreadable:,} unreadable",
            "0",
            times.total() == len(times) and not unreadable,
        ),
    ]


def _body(url: str) -> str:
    fields = urlsplit(url).fragment
    return fields.removeprefix("__wb_method=POST&")


def _figures(summary: dict[str, Any], undisturbed: dict[str, Any]) -> Verdict:
    """Those that do not depend on the order of answers."""
    different = []
    for name in ("pages", "ok", "urls", "hosts", "strategy_error"):
        if summary[name] != undisturbed[name]:
            different.append(f"{name}: {summary[name]} and {undisturbed[name]}")
    one, other = summary["strategy_figures"], undisturbed["strategy_figures"]
    for name in ("relevant", "harvest", "seen", "pages_met"):
        if one.get(name) != other.get(name):
            different.append(f"{name}: {one.get(name)} and {other.get(name)}")
    relevant = f", {one['relevant']:,} relevant" if "relevant" in one else ""
    some = one.get("relevant", 1) > 0  # or there is nothing to compare
    said = "; ".join(different) or f"equal{relevant}"
    return Verdict("figures beside an undisturbed crawl", said, "equal", some and not different)


def _records(directory: Path, app: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _said("apps", "records", app, "--dir", str(directory)).splitlines()]


def _results(directory: Path) -> Path:
    return directory / "strategy" / "random-walk-results.jsonl"


def _said(*words: str) -> str:
    return subprocess.run([*GOSSAMER, *words], check=True, capture_output=True, text=True).stdout
