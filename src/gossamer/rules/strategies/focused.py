"""Pages about a topic first. What leads to them is learned while the crawl runs."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

import msgspec

from gossamer.config.kinds import Decimal, Many, Switch
from gossamer.errors import ConfigError
from gossamer.model.url import host_of, normalize
from gossamer.rules.strategies.learner import Learner, hashed
from gossamer.rules.strategies.ranks import Ranks
from gossamer.rules.strategies.topic import Topic, words_in
from gossamer.rules.strategy import Anchor, Pick, SeenPage, Strategy, StrategyOption

_REMEMBERED: Final = 50_000  # links whose pages have not come yet
_RAISED: Final = 5_000
_LINKS: Final = 1_000  # of a page that are judged; the others come last
_LAST: Final = 9
_BETTER: Final = 2  # steps by which a link must have gained to be queued again
_CONVINCED: Final = 200  # examples after which what was learned counts as much as what was thought before
_LATELY: Final = 1_000  # pages of the second harvest rate
_SAVE_EVERY: Final = 1_000  # pages
_tags = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]{0,5000}>", re.S | re.I)


def _text(text: str) -> None:
    if not text.strip():
        raise ValueError("a text that is not empty")


class _Kept(msgspec.Struct):
    """What is kept now and then, besides the weights."""

    pages: int  # judged by then
    ranks: list[float]
    topic: tuple[int, dict[str, int], dict[str, float]]


class _Harvest(msgspec.Struct, array_like=True):
    """What each commit has: people are shown it."""

    pages: int
    relevant: int
    lately: list[bool]


class Focused(Strategy):
    """A page is relevant if its words are close enough to the topic's. A link is worth what its own words, those around
    it, its URL and the page that it stands on promise; and what these promise is learned from the pages that come.

    Invariant: what is remembered is bounded. Nothing is dropped: what promises little comes late.
    """

    raises: ClassVar[bool] = True
    options: ClassVar = {
        "words": StrategyOption(Many(_text), (), "Words of the topic, with commas."),
        "query": StrategyOption(
            Many(_text, comma=False), (), "The topic as one would search for it; pages with a -word are not relevant."
        ),
        "examples": StrategyOption(
            Many(_text),
            (),
            "Pages about the topic: files, or URLs, which count when they are visited.",
            files=True,
        ),
        "threshold": StrategyOption(
            Decimal(0.001, 1), 0.1, "How close to the topic a page must be to be relevant: 0 is not at all, 1 equal."
        ),
        "learn": StrategyOption(Switch(), True, "Learn from the pages that come; needs gossamer[focused]."),
    }

    def __init__(
        self,
        words: Iterable[str] = (),
        query: Iterable[str] = (),
        examples: Iterable[str] = (),
        threshold: float = 0.1,
        learn: bool = True,
    ) -> None:
        asked = " ".join(query)
        unwanted = [word for text in re.findall(r"(?<!\S)-(\S+)", asked) for word in words_in(text)]
        wanted = [word for text in (*words, re.sub(r"(?<!\S)-\S+", " ", asked)) for word in words_in(text)]
        examples = list(examples)
        self._example_urls = {url for text in examples if (url := _as_url(text))}
        files = [_tags.sub(" ", text) for text in examples if not _as_url(text)]
        self._topic = Topic(wanted, files, unwanted)
        if self._topic.empty and not self._example_urls:
            raise ConfigError(
                "--strategy focused: needs a topic: --strategy-option words=solar,panel or query=... or examples=FILE"
            )
        self._threshold = threshold
        self._learner = Learner() if learn else None
        self._ranks = Ranks()
        self._links: OrderedDict[str, tuple[int, tuple[int, ...]]] = OrderedDict()  # priority and features
        self._raised: dict[str, Pick] = {}
        self._pages = self._relevant = self._saved = 0
        self._lately: deque[bool] = deque(maxlen=_LATELY)

    # -- a page ------------------------------------------------------------------------------------------------------

    def order(self, page: SeenPage) -> list[int | None]:
        if page.redirects:
            return self._redirected(page)
        score = self._judged(page) if page.ok and page.body else 0.0
        if not page.links:
            return []
        promise = min(1.0, score / (2 * self._threshold))
        found: list[int | None] = [
            self._link(url, anchor, promise, page.depth + 1)
            for url, anchor in zip(page.links[:_LINKS], page.anchors, strict=False)
        ]
        return found + [_LAST] * (len(page.links) - len(found))

    def _redirected(self, page: SeenPage) -> list[int | None]:
        """Its target is what the link promised."""
        known = self._links.pop(page.url, None)
        for url in page.links:
            if known is not None:
                self._links.setdefault(url, known)
            if page.url in self._example_urls:
                self._example_urls.add(url)
        return [page.priority] * len(page.links)

    def _judged(self, page: SeenPage) -> float:
        """How close a page is to the topic; what led to it has shown its worth."""
        words = words_in(f"{page.title} {page.text}")
        if page.url in self._example_urls:
            self._topic.add_example(f"{page.title} {page.text}")
        score = self._topic.score(words)
        relevant = score >= self._threshold
        features = self._links.pop(page.url, None)
        if page.again:
            return score
        self._topic.saw(words)
        self._pages += 1
        self._relevant += relevant
        self._lately.append(relevant)
        if features is not None and self._learner is not None:
            self._learner.learn(features[1], relevant)
        return score

    def _link(self, url: str, anchor: Anchor, promise: float, depth: int) -> int:
        said, around, named = words_in(anchor.text), words_in(anchor.around), _words_of(url)
        topic = self._topic
        about, near = topic.share(said), max(topic.share(around), topic.share(named))
        score = 0.5 * about + 0.2 * near + 0.3 * promise
        features: tuple[int, ...] = ()
        if self._learner is not None:
            steps = (
                f"p{int(promise * 5)}",
                f"a{int(about * 4)}",
                f"n{int(near * 4)}",
                f"ap{int(about * 4)}{int(promise * 5)}",
            )
            features = hashed(
                (
                    *steps,
                    *(f"a:{word}" for word in said[:20]),
                    *(f"c:{word}" for word in around[:40]),
                    *(f"u:{word}" for word in named),
                    f"h:{host_of(url)}",
                )
            )
            learned = self._learner.examples / (self._learner.examples + _CONVINCED)
            score = (1 - learned) * score + learned * self._learner.probability(features)
        priority = self._ranks.priority(score)
        known = self._links.get(url)
        if known is None:
            self._links[url] = priority, features
            if len(self._links) > _REMEMBERED:
                self._links.popitem(last=False)
        elif priority < known[0]:
            self._links[url] = priority, features
            if priority <= known[0] - _BETTER and len(self._raised) < _RAISED:
                self._raised[url] = Pick(url, priority, depth)
        return priority

    def requests(self, now: float, idle: bool) -> Iterable[Pick]:
        """Links that promise more than when they were found."""
        raised, self._raised = self._raised, {}
        return [] if idle else raised.values()

    # -- what is kept and shown --------------------------------------------------------------------------------------

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        """What it has learned now and then: after a crash it has forgotten what the last pages taught it."""
        encode = msgspec.msgpack.encode
        found = {"harvest": encode(_Harvest(self._pages, self._relevant, list(self._lately)))}
        if not (last or self._pages - self._saved >= _SAVE_EVERY):
            return found
        self._saved = self._pages
        pages, seen, examples = self._topic.kept()
        found["focused"] = encode(_Kept(self._pages, self._ranks.kept(), (pages, dict(seen), dict(examples))))
        if self._learner is not None:
            found["weights"] = self._learner.kept()
        return found

    def restore(self, saved: Mapping[str, bytes]) -> None:
        if "focused" in saved:
            kept = msgspec.msgpack.decode(saved["focused"], type=_Kept)
            self._pages = self._saved = kept.pages
            self._ranks.take(kept.ranks)
            self._topic.take(*kept.topic)
        if "harvest" in saved:
            harvest = msgspec.msgpack.decode(saved["harvest"], type=_Harvest)
            self._pages, self._relevant = harvest.pages, harvest.relevant
            self._lately.extend(harvest.lately)
        if "weights" in saved and self._learner is not None:
            self._learner.take(saved["weights"])

    def figures(self) -> Mapping[str, float]:
        return {
            "relevant": self._relevant,
            "harvest": round(self._relevant / max(1, self._pages), 4),
            "harvest_last_1000": round(sum(self._lately) / max(1, len(self._lately)), 4),
        }


def _words_of(url: str) -> list[str]:
    return words_in(url[url.find("//") + 2 :][:300])[:30]


def _as_url(text: str) -> str | None:
    return normalize(text) if text[:8].startswith(("http://", "https://")) else None
