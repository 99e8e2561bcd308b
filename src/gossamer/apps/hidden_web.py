"""The hidden web: pages that no link leads to, found by filling in forms (P16).

A form is asked one word after the other. The next one is that from which the most new pages are expected: it is on many
of the pages found so far, and words that were as frequent when they were asked have brought much. Pages of results are
followed by the crawl's own links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs
from zlib import crc32

import msgspec

from gossamer.agent.application import Application, AppPage, Request, Wants, Yielded
from gossamer.apps.form_rules import refusal, text_of
from gossamer.config.checks import check_regex
from gossamer.errors import ConfigError
from gossamer.model.post import body_of, plain, posted
from gossamer.model.url import host_of
from gossamer.parse.forms import Form, forms_of

TAG: Final = "hidden-web"
_MOST_FORMS: Final = 200
_MOST_WORDS: Final = 100_000  # that are counted of one host
_MOST_MET: Final = 1_000_000  # pages of one host that are known again
_WORDS_OF_PAGE: Final = 2000
_GIVEN_UP: Final = 120.0  # seconds after which no answer to a query is awaited any more
_FRUITLESS: Final = 20  # queries in a row that bring nothing new, after which a form is left
_word = re.compile(r"[^\W\d_]{3,30}").findall


class _Asked(msgspec.Struct):
    """A query. `frequency` is how many pages had the word when it was asked."""

    frequency: int
    at: float
    new: int = 0
    answered: bool = False


class _Site(msgspec.Struct):
    """What is known of the pages of a host."""

    pages: int = 0
    words: dict[str, int] = {}  # on how many of its pages each is
    met: set[int] = set()  # hashes of URLs that pages have led to


class _Asking(msgspec.Struct):
    """A form, and what came of it."""

    form: Form
    field: str
    asked: dict[str, _Asked] = {}
    # By the bits of frequency: what was expected, and what came.
    tried: list[int] = msgspec.field(default_factory=lambda: [0] * 32)
    came: list[int] = msgspec.field(default_factory=lambda: [0] * 32)
    fruitless: int = 0


class HiddenWeb(Application):
    """Options: `forms`, a regular expression that the address of a form must have (empty: all); `queries` for each
    form (100); `at_once`, queries whose answers are awaited (4); `words`, the only ones to ask (empty: those of pages
    found); `dry_run`, which asks nothing and records what would be asked, and which forms need to be allowed; `post`,
    where forms may be sent with POST, a regular expression for the whole address (empty: nowhere); `tokens`, whether
    those may that have hidden fields that look like tokens.

    Only forms that have one field for a text, and none for a password or a file (`form_rules`).
    """

    wants = Wants(statuses=range(200, 600))

    def __init__(
        self,
        *,
        forms: str = "",
        queries: int = 100,
        at_once: int = 4,
        words: Sequence[str] | str = (),
        dry_run: bool = False,
        post: str = "",
        tokens: bool = False,
    ) -> None:
        for name, pattern in (("forms", forms), ("post", post)):
            try:
                check_regex(pattern)
            except ValueError as error:
                raise ConfigError(f"{name} {pattern!r} is not {error}") from None
        if not (isinstance(queries, int) and isinstance(at_once, int) and queries >= 1 and at_once >= 1):
            raise ConfigError("queries and at_once are whole numbers of at least 1")
        self._wanted = re.compile(forms)
        self.post, self._tokens = post, tokens
        self._queries, self._at_once, self._dry_run = queries, at_once, dry_run
        self._given = tuple(dict.fromkeys(words.split() if isinstance(words, str) else map(str, words)))
        self._sites: dict[str, _Site] = {}
        self._asking: dict[str, _Asking] = {}
        self._left: dict[str, str] = {}  # forms that are sent with POST and are not asked, and why

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        now = 0.0
        for page in pages:
            now = max(now, page.fetched_at)
            for form in forms_of(page.body, page.url, page.content_type):
                yield from self._enter(form, page.url)
            self._learn(page)
        for asking in self._asking.values():
            yield from self._ask(asking, now)

    def resume(self) -> Iterator[Yielded]:
        """Answers that were awaited may never come: a form that was on its way at a kill is not sent again."""
        for asking in self._asking.values():
            now = max((each.at for each in asking.asked.values()), default=0.0)
            for each in asking.asked.values():
                each.at = each.at if each.answered else 0.0
            yield from self._ask(asking, now)

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self, page: AppPage) -> None:
        host = host_of(page.url)
        site = self._sites.get(host)
        if site is None:
            return
        links = {
            crc32(link.url.encode()) for link in page.document.links if link.kind == "a" and host_of(link.url) == host
        }
        new = len(links - site.met)
        if len(site.met) < _MOST_MET:
            site.met |= links
        answered = self._answered(page.url)
        if answered is not None:
            _note(*answered, new)
        elif 200 <= page.status < 300:
            site.pages += 1
            text = f"{page.document.title} {page.document.main_text or page.document.text}".lower()
            for word in dict.fromkeys(_word(text)[:_WORDS_OF_PAGE]):
                site.words[word] = site.words.get(word, 0) + 1
            if len(site.words) > _MOST_WORDS:  # rare ones are worth least
                site.words = {word: count for word, count in site.words.items() if count > 1}

    def _enter(self, form: Form, page: str) -> Iterator[Yielded]:
        """Take a form up, if it is one that may be asked; a dry run tells of others that are sent with POST."""
        key = f"{form.method} {form.action} {' '.join(sorted(each.name for each in form.fields))}"
        if key in self._asking or len(self._asking) >= _MOST_FORMS or not self._wanted.search(form.action):
            return
        why = refusal(form, page, self.post, self._tokens) if form.method == "post" else ""
        if why:
            if self._dry_run and key not in self._left and len(self._left) < _MOST_FORMS:
                self._left[key] = why
                yield {"form": form.action, "method": "post", "page": page, "left": why}
        elif text := text_of(form):
            self._asking[key] = _Asking(form, text)
            self._sites.setdefault(host_of(form.action), _Site())

    def _answered(self, url: str) -> tuple[_Asking, _Asked] | None:
        """The form and the query that a page is an answer to."""
        address, _, query = plain(url).partition("?")
        given = parse_qs(body_of(url) or query)
        for asking in self._asking.values():
            if asking.form.action.partition("?")[0] == address:
                values = given.get(asking.field, [""])
                asked = asking.asked.get(values[0])
                if asked is not None:
                    return asking, asked
        return None

    # -- asking --------------------------------------------------------------------------------------------------------

    def _ask(self, asking: _Asking, now: float) -> Iterator[Yielded]:
        most = min(self._at_once - self._awaited(asking, now), self._queries - len(asking.asked))
        if most <= 0 or asking.fruitless >= _FRUITLESS:
            return
        site = self._sites[host_of(asking.form.action)]
        for word, expected in self._best(asking, site, self._queries if self._dry_run else most):
            request = _request(asking, word)
            asking.asked[word] = _Asked(site.words.get(word, 0), now)
            if request is None:
                asking.asked[word].answered = True
            elif self._dry_run:
                sent = {} if request.body is None else {"method": "post", "body": request.body}
                about = {"form": asking.form.action, "query": word, "url": request.url, **sent}
                yield {**about, "expected": round(expected, 1)}
            else:
                yield request

    def _awaited(self, asking: _Asking, now: float) -> int:
        """Queries whose answers may come: they are visited in the order of asking, so that one that many later ones
        have overtaken has failed.
        """
        waiting = overtaking = 0
        for each in reversed(asking.asked.values()):
            overtaking += each.answered
            waiting += not each.answered and overtaking < self._at_once and now - each.at < _GIVEN_UP
        return waiting

    def _best(self, asking: _Asking, site: _Site, most: int) -> list[tuple[str, float]]:
        """Words that were not asked, with what is expected of each; the best first."""
        words: Mapping[str, int] = site.words
        if self._given:
            words = {word: site.words.get(word.lower(), 0) for word in self._given}
        left = [(self.expected(asking, count), word) for word, count in words.items() if word not in asking.asked]
        left.sort(key=lambda each: (-each[0], each[1]))
        return [(word, expected) for expected, word in left[:most]]

    def expected(self, asking: _Asking, frequency: int) -> float:
        """New pages from a word that so many of the pages found have: as many again, until queries have shown how much
        of that comes for words of about this frequency.
        """
        bits = frequency.bit_length()
        return (frequency or 0.5) * (asking.came[bits] + 1) / (asking.tried[bits] + 1)

    # -- going on in another process -----------------------------------------------------------------------------------

    def state(self) -> Any:
        return msgspec.to_builtins({"sites": self._sites, "asking": self._asking, "left": self._left})

    def restore(self, state: Any) -> None:
        self._sites = msgspec.convert(state["sites"], dict[str, _Site])
        self._asking = msgspec.convert(state["asking"], dict[str, _Asking])
        self._left = msgspec.convert(state.get("left", {}), dict[str, str])


def _request(asking: _Asking, word: str) -> Request | None:
    """None where what is to be sent is too long."""
    form, given = asking.form, {asking.field: word}
    if form.method == "post":
        body = form.filled(given)
        return None if posted(form.action, body) is None else Request(form.action, priority=2, tag=TAG, body=body)
    url = form.url(given)
    return None if url is None else Request(url, priority=2, tag=TAG)


def _note(asking: _Asking, asked: _Asked, new: int) -> None:
    """An answer to a query, or a further page of it, has led to new pages."""
    bits = asked.frequency.bit_length()
    if not asked.answered:
        asked.answered = True
        asking.tried[bits] += max(asked.frequency, 1)
        asking.fruitless += 1
    if new:
        asking.fruitless = 0
    asked.new += new
    asking.came[bits] += new
