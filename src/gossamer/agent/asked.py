"""What applications and other programs have asked for: whose it is, what became of it, and by which tag it is found."""

from __future__ import annotations

import re
from collections import Counter
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
from gossamer.frontier.parties import APPLICATIONS, LINKS, RECRAWL, Shares, level_of, owner_of, read_level
from gossamer.model import Exclusion, Fault, Page, Reason, RequestOutcome, Visit
from gossamer.model.post import LONGEST_BODY, plain, posted
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.rules.scope import Scope

ASKED: Final = "asked"  # in the frontier's notes: the book
TAG: Final = "tag "  # before a tag, NUL and a number: one request
MOST_AT_ONCE: Final = 10_000
_NUMBER: Final = 12  # digits of the number of a request
_MOST_SHOWN: Final = 20  # of what was refused
_KEPT_IDS: Final = 32

_COUNTED: Final[Mapping[str, tuple[RequestOutcome, ...]]] = {
    # Of those that are handed over nobody here knows whether they are known: they count as new.
    "new": (RequestOutcome.QUEUED, RequestOutcome.HANDED_OVER),
    "known": (RequestOutcome.KNOWN,),
    "left_out": (RequestOutcome.REFUSED,),
    "handed_over": (RequestOutcome.HANDED_OVER,),
    "queued_again": (RequestOutcome.AGAIN,),
    "fresh_enough": (RequestOutcome.FRESH,),
}
_WORDS: Final[Mapping[str, str]] = {
    RequestOutcome.QUEUED: "it is new, and queued",
    RequestOutcome.AGAIN: "it is queued to be visited again",
    RequestOutcome.FRESH: "it is not visited again: what is stored is fresh enough",
    RequestOutcome.KNOWN: "it is known already",
    RequestOutcome.REFUSED: "it is left out",
    RequestOutcome.HANDED_OVER: "it is handed over to the agent that it belongs to",
}
_MIRRORED: Final = 'its host shows the pages of another one, and is left (policy.duplicates = "follow" visits it)'

Usable = Callable[[str], tuple[str | None, str]]


class Given(msgspec.Struct, array_like=True):
    """A request as it is sent."""

    url: Annotated[str, msgspec.Meta(max_length=8192)]
    priority: Annotated[int, msgspec.Meta(ge=0, le=9)] = USUAL_PRIORITY
    tag: Annotated[str, msgspec.Meta(max_length=LONGEST_TAG)] = ""
    body: Annotated[str, msgspec.Meta(max_length=LONGEST_BODY)] | None = None
    max_age: Annotated[float, msgspec.Meta(ge=0)] | None = None


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


class Reply(msgspec.Struct):
    """What becomes of one request, and why it is refused; no result: that is not known yet."""

    url: str
    result: RequestOutcome | None = None
    why: str = ""


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
        twice. Gives facts for the answer; those of each request are in `each`, but for the batches of applications,
        which nobody reads.
        """
        party = self._party(given.app)
        if given.series != party.series:  # what it had was removed: it begins again
            party.series, party.batch = given.series, 0
        if id in self._book.ids or (given.batch and given.batch <= party.batch):
            return {**dict.fromkeys(_COUNTED, 0), "refused": [], "each": [], "again": True}
        own: dict[tuple[int, bool], list[tuple[Reply, str]]] = {}
        others: dict[tuple[int, bool, float | None], list[str]] = {}
        told: list[Reply] = []
        for request in given.requests:
            said, url = self._said(request, given.app, party.number, usable, now)
            told.append(said)
            if url is None:
                continue
            post = request.body is not None
            if said.result == RequestOutcome.HANDED_OVER:
                others.setdefault((request.priority, post, None if post else request.max_age), []).append(url)
            elif not said.result:
                own.setdefault((request.priority, post), []).append((said, url))
            if request.tag:
                self._tag(request.tag, Tagged(url, now, given.app))
        for (rank, post), new in sorted(own.items()):
            self._queue(new, party.number, rank, post)
        for (rank, post, max_age), urls in others.items():
            self._frontier.hand_over_requests(urls, party.number, rank, post, max_age)
        counted = Counter(said.result for said in told)
        party.asked += len(told)
        party.new += counted[RequestOutcome.QUEUED]
        party.left_out += counted[RequestOutcome.REFUSED]
        party.batch = max(party.batch, given.batch)
        self._book.ids = [*self._book.ids, id][-_KEPT_IDS:] if id else self._book.ids
        self._changed = True
        facts: dict[str, Any] = {name: sum(counted[result] for result in results) for name, results in _COUNTED.items()}
        refused = [{"url": said.url[:200], "why": said.why} for said in told if said.result == RequestOutcome.REFUSED]
        each = [] if given.batch else [msgspec.to_builtins(said) for said in told]
        return {**facts, "refused": refused[:_MOST_SHOWN], "each": each, "again": False}

    def _said(self, request: Given, app: str, party: int, usable: Usable, now: float) -> tuple[Reply, str | None]:
        """Return what can be said of a request at once, and its URL if it is not refused. Without a result the URL is
        ours, and to be queued if it is new. What another agent may know is judged there: only new URLs have to belong.
        """
        url, why = usable(request.url)
        if url is None:
            return Reply(request.url, RequestOutcome.REFUSED, why), None
        ours = self._frontier.is_ours(url)
        if request.max_age is not None and request.body is None:
            if not ours:
                return Reply(request.url, RequestOutcome.HANDED_OVER), url
            level = level_of(party, request.priority)
            found = self._frontier.visit_again(url, level, request.max_age, now)
            if found is RequestOutcome.REFUSED or isinstance(found, Exclusion):
                why = _MIRRORED if found is RequestOutcome.REFUSED else _left_out(found)
                return Reply(request.url, RequestOutcome.REFUSED, why), None
            if found is not None:
                return Reply(request.url, found), url
        if reason := self._scope.judge(url, anywhere=not ours):
            return Reply(request.url, RequestOutcome.REFUSED, _left_out(reason)), None
        if request.body is not None:
            url, why = self._form(app, url, request.body)
        if url is None:
            return Reply(request.url, RequestOutcome.REFUSED, why), None
        return Reply(request.url, None if ours else RequestOutcome.HANDED_OVER), url

    def _queue(self, given: list[tuple[Reply, str]], party: int, priority: int, post: bool) -> None:
        """Queue what is new, and note of each which it is; known URLs stay as they are."""
        urls = [url for _, url in given]
        met: set[str] = set()
        for (said, url), known in zip(given, self._frontier.are_known(urls), strict=True):
            said.result = RequestOutcome.KNOWN if known or url in met else RequestOutcome.QUEUED
            met.add(url)
        self._frontier.request(urls, party, priority, post)

    def receive(
        self, urls: Iterable[str], level: int, post: bool, max_age: float | None = None, now: float = 0.0
    ) -> None:
        """Queue what was asked for beside another agent, and is ours. It may mean harm: what is not allowed here is
        excluded, whoever sends it. With a `max_age` known URLs are visited again.
        """
        number, rank = read_level(level)
        name = self._names.get(number, "")
        party = self._book.parties.get(name) or Party(number)
        good = []
        for url in urls:
            if not self._frontier.is_ours(url):  # by now
                self._frontier.hand_over_requests([url], number, rank, post, max_age)
            elif max_age is not None and self._frontier.visit_again(url, level, max_age, now) is not None:
                continue
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


def words_of(facts: Mapping[str, Any]) -> str:
    """Return what became of requests in words: of a single one its result, of several how many of each there are."""
    each = facts["each"]
    if len(each) == 1:
        words, why = _WORDS[each[0]["result"]], each[0]["why"]
        return f"{words}: {why}" if why else words
    again = [(facts["queued_again"], "queued again"), (facts["fresh_enough"], "fresh enough")]
    usual = [(facts["new"], "new requests"), (facts["known"], "known already"), (facts["left_out"], "left out")]
    return ", ".join(f"{count:,} {words}" for count, words in [*(one for one in again if one[0]), *usual])


def _left_out(reason: str) -> str:
    seeds = "; as a seed it is visited all the same (gossamer seeds)" if reason == Exclusion.SCOPE else ""
    return f"it does not belong to the crawl ({reason}){seeds}"


def read_book(stored: bytes | None) -> Book:
    return msgspec.msgpack.decode(stored, type=Book) if stored else Book()


def start_of(tag: str) -> str:
    """What the names of its requests begin with."""
    return f"{TAG}{tag}\0"


def read_tagged(rows: Iterable[tuple[str, bytes]]) -> Iterator[tuple[int, Tagged]]:
    """Number and request, of names without their beginning."""
    for name, value in rows:
        yield int(name), msgspec.msgpack.decode(value, type=Tagged)
