"""A URL that is asked about, and all of its crawl that bears on it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from gossamer.agent.crawl_dir import SEED_HOST, CrawlDir
from gossamer.agent.findings import FINDING
from gossamer.agent.parts import progress_of, whole_of
from gossamer.agent.progress import Progress
from gossamer.config import Config, load
from gossamer.errors import SeedError
from gossamer.frontier.outlook import Outlook
from gossamer.frontier.reader import FrontierReader, HostView, Waiting
from gossamer.model import VisitRecord
from gossamer.model.domain import registered_domain
from gossamer.model.post import known_as, plain
from gossamer.model.url import host_of, seed_url, split, why_not
from gossamer.rules.blocklist import Blocklist
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope


@dataclass(frozen=True, slots=True)
class Case:
    """As of the crawl's last commit, and of the settings as they are now: what excluded a URL may be gone from them."""

    url: str
    name: str  # of its host
    path: str
    visit: VisitRecord | None
    outlook: Outlook | None  # when it is visited again, and why then
    host: HostView | None
    rules: Robots | None  # of its host's robots.txt
    waiting: Waiting | None
    config: Config
    policy: Policy
    scope: Scope
    pattern_pages: dict[str, int]
    endless: bool  # the hosts of its domain are
    judged_by: dict[str, int]  # the rules by which its exclusion was judged, by reason
    progress: Progress
    now: float
    directory: CrawlDir  # of the whole crawl

    @property
    def go_on(self) -> str:
        """The command that goes on with the crawl."""
        command = "agent" if self.directory.is_one_of_several else "crawl"
        return f"gossamer {command} --dir {shlex.quote(str(self.directory.home))}"

    @property
    def blocked_by(self) -> str:
        """The pattern of the blocklist that has it, or all of its host."""
        for pattern in self.config.policy.blocklist:
            listed = Blocklist((pattern,))
            if listed.blocks(self.name) or any(path.match(self.path) for path in listed.paths(self.name)):
                return pattern
        return ""

    @property
    def line(self) -> str:
        """What robots.txt says of it: the line that decides."""
        return "" if self.rules is None else self.rules.line(self.path)


def gather(reader: FrontierReader, directory: CrawlDir, text: str, now: float) -> Case:
    url = known_as(text, seed_url)
    if url is None:
        raise SeedError(f"{text!r} is not a URL that can be crawled: {why_not(text)}")
    config = load(directory.settings, resumed=True)
    policy = Policy(config.policy, config.hosts, config.urls)
    if "://" not in text and reader.visit(url) is None:  # a bare name is read as https; perhaps it was not
        other = url.replace("https://", "http://", 1)
        url = other if reader.visit(other) is not None else url
    name = host_of(url)
    host, rules, waiting = reader.host_with(name, policy.manners(name), url)
    scope = Scope.of(config.scope, now)
    scope.load(reader.meta_names(SEED_HOST))
    progress = progress_of(directory, reader)
    return Case(
        url,
        name,
        split(plain(url))[1],
        reader.visit(url),
        None if host is None else reader.outlook(url, host, config.fresh, policy, now),
        host,
        rules,
        waiting,
        config,
        policy,
        scope,
        reader.counts().pattern_pages,
        reader.meta(f"{FINDING}endless:{registered_domain(name)}") is not None,
        reader.judged_by(name),
        progress,
        now,
        CrawlDir(whole_of(directory.home)),
    )
