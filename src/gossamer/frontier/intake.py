"""Links on their way into the frontier: looked up, judged and queued many at once, each URL once for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.domain_hosts import DomainHosts
from gossamer.frontier.foreign import Foreign, Sent
from gossamer.frontier.hosts import Origin
from gossamer.frontier.parting import Group, Wanted, parted, taken
from gossamer.frontier.recent import Recent
from gossamer.frontier.review import BY_FORM
from gossamer.frontier.roster import Roster
from gossamer.model import Exclusion, Judgement, Reason, RequestOutcome, State
from gossamer.model.post import plain
from gossamer.model.url import split
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope

_AT_ONCE = 4096  # looked up in the database together
_SURPLUS = 10_000  # entries that may stand twice, or half as many as there are
MOST_REDIRECTS = 10  # one after the other
_SOURCE_PRIORITY = 4  # of sitemaps: as pages have, so that the many of a large site do not keep its pages waiting
_FIRST_SOURCE_PRIORITY = 2  # where depth is limited: what they list must not be found by a longer way before
_READ_FOR_LINKS = frozenset({Exclusion.SITEMAP, Exclusion.FEED})
_LEFT_OUT_AS_PAGE: frozenset[str] = frozenset(
    {Exclusion.SCOPE, Exclusion.INCLUDE, Reason.UNWANTED_TYPE}
)  # and may be a sitemap all the same


class Intake:
    """Invariant: what was added is either among the `waiting`, which a commit resolves, or known to the database."""

    def __init__(
        self,
        recent: Recent,
        database: Database,
        roster: Roster,
        counts: Counts,
        scope: Scope,
        policy: Policy,
        max_depth: int | None,
        domain_hosts: DomainHosts | None,
        enqueue: Callable[[Origin, list[str], int], None],
        put: Callable[[Origin, list[str], int], None],
        request: Callable[[Origin, str, bytes, int], None],
    ) -> None:
        """`enqueue` counts what it puts into a queue, `put` does not; `request` is that of `Revisits`."""
        self.policy = policy
        self.waiting: list[Group] = []  # links to look up
        self._links = 0  # waiting
        self._recent = recent
        self._database = database
        self._changes = database.visits
        self._roster = roster
        self._counts = counts
        self._scope = scope
        self._max_depth = max_depth
        self._domain_hosts = domain_hosts
        self._enqueue = enqueue
        self._put = put
        self._request = request
        self.foreign = Foreign()

    def add(
        self, urls: list[str], depth: int, priority: int, hops: int = 0, suspect: bool = False, handed: bool = False
    ) -> None:
        """Links found at one moment, normalised. They are looked up, judged and queued a little later, many at once.

        `hops`: redirects that led here, one after the other. `suspect`: found on a page that brought nothing new.
        `handed`: over, by another agent. It may have been met here, too, when it was not ours.
        """
        if self._max_depth is not None and depth > self._max_depth:
            return  # not remembered: a shorter way may lead there yet
        if not handed:
            urls = self._recent.fresh(urls)
        if urls:
            self.waiting.append((urls, depth, priority, hops | keys.SUSPECT if suspect else hops))
            self._links += len(urls)
            if self._links >= _AT_ONCE:
                self.resolve()

    def forget(self) -> None:
        """What was met lately may have gone with a partition, or was handed over before that was ours."""
        self._recent.clear()

    def resolve(self) -> None:
        """Whatever waits is known and judged from here on."""
        fresh, self.waiting = self.waiting, []
        self._links = 0
        roster, scope = self._roster, self._scope
        wanted, visits, away = parted(
            fresh, roster.origins, roster.origin, scope.max_url_length, scope.harmless_slashes
        )
        for each in away:
            self._turn_away(*each)
        if not visits:
            return
        counts, changes, forms_only = self._counts, self._changes, scope.forms_only
        known = self._database.known(visits)
        counts.urls += known.count(False)
        found: dict[tuple[Origin, int], list[str]] = {}  # in the order of the first of each: many are of one host
        unusual = self._domain_hosts is not None or self.policy.urls is not None
        at = 0
        while at < len(visits):
            if not unusual:
                at, twice = taken(
                    at, visits, known, wanted, changes, found, forms_only, keys.QUEUED, MOST_REDIRECTS
                )  # fmt: skip
                counts.urls -= twice
            if at < len(visits) and not known[at]:
                self._take(visits[at], wanted[at], found)
            at += 1
        for (origin, priority), entries in found.items():
            self._enqueue(origin, entries, priority)

    def _take(self, key: bytes, wanted: Wanted, found: dict[tuple[Origin, int], list[str]]) -> None:
        """One that is not known to the database."""
        origin, path, url, depth, priority, hops, is_plain = wanted
        counts, changes, domain_hosts, by_url = self._counts, self._changes, self._domain_hosts, self.policy.urls
        if key in changes:  # twice among these
            counts.urls -= 1
            return
        # A seed belongs because somebody says so.
        reason: Judgement = "" if not depth or (is_plain and self._scope.forms_only) else self._scope.judge(url)
        if hops and hops & keys.HOPS > MOST_REDIRECTS:
            reason = reason or Exclusion.REDIRECTS
        if domain_hosts is not None and not reason and not self._lets_in(domain_hosts, origin, depth):
            reason = Exclusion.DOMAIN_HOSTS
        if reason:
            counts.excluded += 1
            changes[key] = keys.excluded_visit(depth, reason)
            return
        changes[key] = keys.queued_visit(depth)
        fixed = origin.manners.priority
        if by_url is not None:
            fixed = by_url.priority(url, fixed)
        if fixed >= 0:
            priority = priority & -keys.ASKED | fixed  # whose it is stays
        entry = keys.pack_entry(depth, 0, hops, origin.scheme, path)
        if domain_hosts is not None:
            self._enqueue(origin, [entry], priority)  # at once: from here on its host is a known one
        else:
            found.setdefault((origin, priority), []).append(entry)

    @staticmethod
    def _lets_in(domain_hosts: DomainHosts, origin: Origin, depth: int) -> bool:
        """Whether the domain of a URL may have its host."""
        if not origin.let_in and (origin.let_in is None or origin.host is not None or not depth):
            origin.let_in = domain_hosts.lets_in(origin, not depth)
        return origin.let_in

    def judge_again(self, origin: Origin, url: str, path: str, depth: int, seed: bool) -> Judgement:
        """Return what now speaks against a URL that was excluded, as far as that is known without a visit."""
        if origin.malformed:
            return Exclusion.HOST_NAME
        if any(blocked.match(path) for blocked in origin.manners.blocked_paths):
            return Exclusion.BLOCKLIST
        if not seed and (reason := self._scope.judge(plain(url))):
            return reason
        if self._max_depth is not None and depth > self._max_depth:
            return Exclusion.DEPTH
        if self._domain_hosts is not None and not self._lets_in(self._domain_hosts, origin, depth):
            return Exclusion.DOMAIN_HOSTS
        return ""

    def ask(self, url: str, depth: int, priority: int, raises: bool) -> None:
        """Somebody asks for a URL. One that waits may come earlier (`raises`): it stands in two queues of its host
        then, and whichever comes second is dropped when its turn comes.
        """
        if self.waiting:
            self.resolve()
        start, path = split(url)
        origin = self._roster.origin(start)
        known = self._database.visit(origin.prefix + path.encode())
        if known is None or origin.away:
            self.add([url], depth, priority, handed=True)
            return
        room = self._counts.surplus < max(_SURPLUS, self._counts.queued // 2)
        if (
            raises and room and keys.is_queued(known) and self._priority(origin, url, -1) < 0
        ):  # else a pattern says when
            self._counts.surplus += 1
            self._put(origin, [keys.pack_entry(known[1], 0, 0, origin.scheme, path)], priority)

    def visit_again(self, url: str, priority: int, max_age: float, now: float) -> RequestOutcome | Exclusion | None:
        """Queue a known URL to be visited again, unless what is stored of it is younger than `max_age` seconds. Return
        what becomes of that. An exclusion says why it is not visited, REFUSED that its host is left as it shows the
        pages of another one, and None that nothing is known of the URL.

        What brought a response keeps its history. What never did, or was not wanted, is visited as if it were new, by
        the rules that hold now.
        """
        self.resolve()
        start, path = split(url)
        origin = self._roster.origin(start)
        key = origin.prefix + path.encode()
        value = self._database.visit(key)
        if value is None:
            return None
        visit = keys.read_visit(key, value)
        if visit.waits:
            return RequestOutcome.KNOWN
        if visit.digest and max(now - visit.fetched_at, 0.0) < max_age:
            return RequestOutcome.FRESH
        if self.policy.blocks(url, origin.name):
            return Exclusion.BLOCKLIST
        if origin.manners.skips and self._roster.notes(origin.name).mirror_of:
            return RequestOutcome.REFUSED
        priority = priority & -keys.ASKED | self._priority(origin, url, priority % keys.ASKED)
        if visit.state is State.FETCHED or visit.reason in _READ_FOR_LINKS:
            self._request(origin, path, value, priority)
            return RequestOutcome.AGAIN
        if visit.reason == Exclusion.PURGED:
            return Exclusion.PURGED
        if visit.state is State.EXCLUDED:
            seed = not visit.depth and visit.reason not in BY_FORM
            if reason := self.judge_again(origin, url, path, visit.depth, seed):
                return reason
        if visit.reason == Reason.ROBOTS:
            self._roster.ask_for_rules_again([origin])
        if visit.due:
            self._database.due[keys.due_key(visit.due, key)] = None
        self._counts.dead -= visit.state is State.DEAD
        self._counts.excluded -= visit.state is State.EXCLUDED
        self._changes[key] = keys.queued_visit(visit.depth)
        self._enqueue(origin, [keys.pack_entry(visit.depth, 0, 0, origin.scheme, path)], priority)
        return RequestOutcome.AGAIN

    def _priority(self, origin: Origin, url: str, otherwise: int) -> int:
        """As the operator has it, by the patterns of URLs and hosts."""
        by_url, fixed = self.policy.urls, origin.manners.priority
        if by_url is not None:
            fixed = by_url.priority(url, fixed)
        return fixed if fixed >= 0 else otherwise

    def _turn_away(self, origin: Origin, url: str, depth: int, priority: int, hops: int) -> None:
        """Nothing of this origin is queued here."""
        if origin.malformed and not self._roster.is_away(origin):
            self.exclude(url, Exclusion.HOST_NAME, depth)
        else:
            self._hand_over(origin, url, depth, priority, hops)

    def _hand_over(self, origin: Origin, url: str, depth: int, priority: int, hops: int) -> None:
        """To whom it belongs, unless that one would not want it either. Of its seeds nothing is known here."""
        if (depth and self._scope.judge(url, anywhere=True)) or hops & keys.HOPS > MOST_REDIRECTS:
            return
        self.foreign.add(origin.host_prefix[:2], url, depth, priority, hops)

    def is_away(self, url: str) -> bool:
        return self._roster.is_away(self._roster.origin(split(url)[0]))

    def hand_over(self, urls: Iterable[str], depth: int, priority: int, marks: int = 0) -> None:
        """To their owners, though they could be visited here."""
        for url in urls:
            self._hand_over(self._roster.origin(split(url)[0]), url, depth, priority, marks)

    def exclude(self, url: str, reason: Exclusion | Reason, depth: int = 0) -> bool:
        """It does not belong, and that is to be known. Whether nothing was known of it."""
        key = self._roster.key_of(url)
        if self._database.visit(key) is not None:
            return False
        self._counts.urls += 1
        self._counts.excluded += 1
        self._changes[key] = keys.excluded_visit(depth, reason)
        return True

    def unknown(self, urls: list[str], depth: int) -> int:
        """How many of these belong to the crawl and are new to it."""
        if self._max_depth is not None and depth > self._max_depth:
            return 0
        judge, changes = self._scope.judge, self._changes
        origin = self._roster.origin
        found = [self._roster.key_of(url) for url in urls if not judge(url) and not origin(split(url)[0]).away]
        if not found:
            return 0
        known = zip(found, self._database.known(found), strict=True)
        return sum([not (is_known or key in changes) for key, is_known in known])

    def send_source(self, url: str, depth: int, hops: int, listed: bool, hosts: set[str]) -> None:
        """A sitemap on another agent's host, which speaks for these."""
        if hops > MOST_REDIRECTS or self._scope.judge_source(url) or not self._recent.fresh([url]):
            return
        origin = self._roster.origin(split(url)[0])
        self.foreign.add_source(origin.host_prefix[:2], Sent(url, depth, hops, listed, tuple(sorted(hosts))))

    def add_source(self, url: str, depth: int, hops: int, listed: bool, again: bool) -> None:
        """It may be on any host. One that was left out as a page is visited after all, and one that was read is read
        `again` if there is a reason to.
        """
        if self._max_depth is not None and depth >= self._max_depth:
            return
        start, path = split(url)
        origin = self._roster.origin(start)
        key = origin.prefix + path.encode()
        known = self._database.visit(key)
        if known is None:
            self._counts.urls += 1
        elif keys.left_out(known) in (_LEFT_OUT_AS_PAGE | {Exclusion.SITEMAP} if again else _LEFT_OUT_AS_PAGE):
            self._counts.excluded -= 1
        else:
            return
        reason = Exclusion.REDIRECTS if hops > MOST_REDIRECTS else self._scope.judge_source(url)
        if origin.malformed:
            reason = Exclusion.HOST_NAME
        if reason:
            self._counts.excluded += 1
            self._changes[key] = keys.excluded_visit(depth, reason)
            return
        self._changes[key] = keys.queued_visit(depth)
        fixed = origin.manners.priority
        marks = hops | keys.SOURCE | (keys.LISTED if listed else 0)
        entry = keys.pack_entry(depth, 0, marks, origin.scheme, path)
        usual = _SOURCE_PRIORITY if self._max_depth is None else _FIRST_SOURCE_PRIORITY
        self._enqueue(origin, [entry], usual if fixed < 0 else fixed)
