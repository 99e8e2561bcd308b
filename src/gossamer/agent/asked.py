"""What applications and other programs have asked for: whose it is, what became of it, and by which tag it is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec

from gossamer.agent.application import LONGEST_TAG
from gossamer.config import AppRule
from gossamer.config.apps import LINKS as LINKS_NAME
from gossamer.config.apps import MOST_APPS
from gossamer.config.apps import RECRAWL as RECRAWL_NAME
from gossamer.errors import ConfigError
from gossamer.frontier import Frontier
from gossamer.frontier.parties import APPLICATIONS, LINKS, RECRAWL, Shares, owner_of, read_level
from gossamer.model import Exclusion, Fault, Page, Reason, Visit
from gossamer.model.post import LONGEST_BODY, plain, posted
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.rules.scope import Scope

ASKED: Final = "asked"  # in the frontier's notes: the book
TAG: Final = "tag "  # before a tag, NUL and a number: one request
MOST_AT_ONCE: Final = 10_000
_NUMBER: Final = 12  # digits of the number of a request
_MOST_SHOWN: Final = 20  # of what was refused
_KEPT_IDS: Final = 32

Usable = Callable[[str], tuple[str | None, str]]


class Given(msgspec.Struct, array_like=True):
    """A request as it is sent."""

    url: Annotated[str, msgspec.Meta(max_length=8192)]
    priority: Annotated[int, msgspec.Meta(ge=0, le=9)] = USUAL_PRIORITY
    tag: Annotated[str, msgspec.Meta(max_length=LONGEST_TAG)] = ""
    body: Annotated[str, msgspec.Meta(max_length=LONGEST_BODY)] | None = None


class RequestsGiven(msgspec.Struct):
    """`app`: whose they are; empty: the crawl's own. `batch` is its number in a series of batches of its application;
    0: it has none. A batch is taken up once.
    """

    requests: Annotated[list[Given], msgspec.Meta(max_length=MOST_AT_ONCE)]
    app: str = ""
    series: str = ""
    batch: int = 0


class Party(msgspec.Struct):
    """What is known of one that shares the speed."""

    number: int
    share: float = 1.0
    asked: int = 0  # requests
    new: int = 0  # of these: URLs that were not known
    left_out: int = 0  # of these: no URL, or out of scope
    started: int = 0  # visits
    fetched: int = 0  # of these: brought a response
    failed: int = 0  # of these: brought none
    series: str = ""
    batch: int = 0  # the last that was taken up of this series


class Book(msgspec.Struct):
    parties: dict[str, Party] = {}
    requests: int = 0  # that have a tag
    ids: list[str] = []  # of the last commands


class Tagged(msgspec.Struct, array_like=True):
    """One request, as its tag leads to it."""

    url: str
    at: float
    app: str = ""


class Asked:
    """Invariant: a batch is taken up once, and what it asked for is queued or handed over, counted and found by its
    tags in the same commit.

    Among several agents the one that an application runs beside counts what it asks for, and keeps its tags; the one
    whose URL it is judges and queues it, and counts whether it was new.
    """

    def __init__(
        self, rules: Sequence[AppRule], stored: bytes | None, frontier: Frontier, scope: Scope, shares: Shares | None
    ) -> None:
        self._frontier = frontier
        self._scope = scope
        self._book = msgspec.msgpack.decode(stored, type=Book) if stored else Book()
        self._tagged: dict[str, bytes] = {}
        self._changed = False
        self.kept = {name: party.number for name, party in self._book.parties.items() if party.number in APPLICATIONS}
        """Numbers of applications that queues on disk have."""
        for party in self._book.parties.values():
            party.share = 1.0
        self._enter(rules)
        self._post = {rule.name: re.compile(rule.post) for rule in rules if rule.post}
        self._shares = shares
        self._numbered()

    def _numbered(self) -> None:
        self._names = {party.number: name for name, party in self._book.parties.items()}
        if self._shares is not None:
            self._shares.change({party.number: party.share for party in self._book.parties.values()})

    def _enter(self, rules: Sequence[AppRule]) -> None:
        parties = self._book.parties
        own = {LINKS_NAME: LINKS, RECRAWL_NAME: RECRAWL} if rules else {}
        for name, number in own.items():
            parties.setdefault(name, Party(number))
        for rule in rules:
            if rule.name not in parties:
                taken = {party.number for party in parties.values()}
                free = next((number for number in APPLICATIONS if number not in taken), None)
                if free is None:
                    raise ConfigError(
                        f"[apps.{rule.name}]: this crawl has had {MOST_APPS} applications, which is the most; "
                        "use the name of one that is not needed any more"
                    )
                parties[rule.name] = Party(free)
            parties[rule.name].share = rule.share
            self._changed = True

    @property
    def applications(self) -> list[str]:
        return [name for name, party in self._book.parties.items() if party.number in APPLICATIONS]

    def agree(self, numbers: Mapping[str, int]) -> None:
        """Applications have these numbers, which are those of all agents; before anything is asked for or visited."""
        for name, number in numbers.items():
            self._book.parties.setdefault(name, Party(number)).number = number
            self._changed = True
        self._numbered()

    @property
    def parties(self) -> dict[str, Party]:
        self._count_started()
        return self._book.parties

    def take(self, given: RequestsGiven, usable: Usable, now: float, id: str = "") -> dict[str, Any]:
        """Queue them. `usable` gives a URL, or None and why it is none; `id` is that of the command, which may come
        twice. Gives facts for the answer.
        """
        party = self._party(given.app)
        if given.series != party.series:  # what it had was removed: it begins again
            party.series, party.batch = given.series, 0
        if id in self._book.ids or (given.batch and given.batch <= party.batch):
            return {"new": 0, "known": 0, "left_out": 0, "handed_over": 0, "refused": [], "again": True}
        own: dict[tuple[int, bool], list[str]] = {}
        others: dict[tuple[int, bool], list[str]] = {}
        refused: list[dict[str, str]] = []
        for request in given.requests:
            url, why = usable(request.url)
            ours = url is None or self._frontier.is_ours(url)
            if url is not None and (reason := self._scope.judge(url, anywhere=not ours)):
                url, why = None, f"it does not belong to the crawl ({reason})"
            if url is not None and request.body is not None:
                url, why = self._form(given.app, url, request.body)
            if url is None:
                refused.append({"url": request.url[:200], "why": why})
                continue
            way = request.priority, request.body is not None
            (own if ours else others).setdefault(way, []).append(url)
            if request.tag:
                self._tag(request.tag, Tagged(url, now, given.app))
        count = sum(map(len, own.values()))
        handed = sum(map(len, others.values()))
        new = sum(self._frontier.request(urls, party.number, *way) for way, urls in sorted(own.items()))
        for (rank, post), urls in sorted(others.items()):
            self._frontier.hand_over_requests(urls, party.number, rank, post)
        party.asked += len(given.requests)
        party.new += new
        party.left_out += len(refused)
        party.batch = max(party.batch, given.batch)
        self._book.ids = [*self._book.ids, id][-_KEPT_IDS:] if id else self._book.ids
        self._changed = True
        # Of those that are handed over nobody here knows whether they are known: they count as new.
        facts = {"new": new + handed, "known": count - new, "left_out": len(refused), "handed_over": handed}
        return {**facts, "refused": refused[:_MOST_SHOWN], "again": False}

    def receive(self, urls: Iterable[str], level: int, post: bool) -> None:
        """Queue what was asked for beside another agent, and is ours. It may mean harm: what is not allowed here is
        excluded, whoever sends it.
        """
        number, rank = read_level(level)
        name = self._names.get(number, "")
        party = self._book.parties.get(name) or Party(number)
        good = []
        for url in urls:
            if not self._frontier.is_ours(url):  # by now
                self._frontier.hand_over_requests([url], number, rank, post)
            elif reason := self._refusal(url, name, post):
                party.left_out += self._frontier.refuse(url, reason)
            else:
                good.append(url)
        party.new += self._frontier.request(good, number, rank, post, handed=True)
        self._changed = self._changed or bool(name)

    def _refusal(self, url: str, name: str, post: bool) -> Exclusion | Reason | None:
        if reason := self._scope.judge(plain(url)):
            return reason
        return Reason.FORM if post and not self._allows(name, plain(url)) else None

    def _form(self, app: str, url: str, body: str) -> tuple[str | None, str]:
        """The URL of a form that is to be sent, or None and why it is not."""
        if not self._allows(app, url):
            return None, f"forms may not be sent there: [apps.{app}] post does not allow it"
        return posted(url, body), "its body is no form"

    def _allows(self, app: str, url: str) -> bool:
        allowed = self._post.get(app)
        return allowed is not None and allowed.fullmatch(url) is not None

    def may_post(self, visit: Visit) -> bool:
        """Whether a form may be sent now: what was allowed when it was asked for may have been taken back."""
        return any(allowed.fullmatch(plain(visit.url)) for allowed in self._post.values())

    def _party(self, name: str) -> Party:
        if not name:
            return self._book.parties.get(LINKS_NAME) or Party(LINKS)
        party = self._book.parties.get(name)
        if party is None or party.number not in APPLICATIONS:
            known = [each for each, one in self._book.parties.items() if one.number in APPLICATIONS]
            raise ConfigError(
                f"no application {name!r} takes part in this crawl; there are: {', '.join(known) or 'none'}"
            )
        return party

    def _tag(self, tag: str, tagged: Tagged) -> None:
        self._book.requests += 1
        self._tagged[f"{TAG}{tag}\0{self._book.requests:0{_NUMBER}d}"] = msgspec.msgpack.encode(tagged)

    def settled(self, visit: Visit, outcome: Page | Fault) -> None:
        """A visit of a party was made."""
        name = self._names.get(owner_of(visit))
        if name is not None:
            party = self._book.parties[name]
            self._changed = True
            if isinstance(outcome, Page):
                party.fetched += 1
            else:
                party.failed += 1

    def _count_started(self) -> None:
        if self._shares is not None:
            for number, count in self._shares.taken().items():
                if number in self._names:
                    self._changed = True
                    self._book.parties[self._names[number]].started += count

    def notes(self) -> dict[str, bytes]:
        """What the next commit must have."""
        self._count_started()
        if not self._changed:
            return {}
        self._changed = False
        tagged, self._tagged = self._tagged, {}
        return {ASKED: msgspec.msgpack.encode(self._book), **tagged}


def read_book(stored: bytes | None) -> Book:
    return msgspec.msgpack.decode(stored, type=Book) if stored else Book()


def start_of(tag: str) -> str:
    """What the names of its requests begin with."""
    return f"{TAG}{tag}\0"


def read_tagged(rows: Iterable[tuple[str, bytes]]) -> Iterator[tuple[int, Tagged]]:
    """Number and request, of names without their beginning."""
    for name, value in rows:
        yield int(name), msgspec.msgpack.decode(value, type=Tagged)
