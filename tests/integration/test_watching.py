"""Watches beside a real crawl: what is indexed is matched, once, and told to a real receiver."""

from __future__ import annotations

import random
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from crawling import crawl
from indexing import append, caught_up
from msgspec import structs
from tls import tls_front

from gossamer.agent import batches
from gossamer.agent.follower import Follower, rebuild
from gossamer.agent.index_status import read_status
from gossamer.agent.spool import Spool
from gossamer.agent.watching import matching
from gossamer.agent.watching.adding import add_watch, remove_watch
from gossamer.agent.watching.book import WatchBook
from gossamer.agent.watching.calls import FIRST_REST
from gossamer.agent.watching.delivery import Delivery
from gossamer.agent.watching.matching import Matching
from gossamer.agent.watching.watch import WatchHit
from gossamer.config import load
from gossamer.testing import FakeClock, Receiver, TinyWeb

HOME = "http://a.test/"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("watches")
    with TinyWeb() as web:
        links = "".join(f"<a href='/{name}'>{name[0]}</a> " for name in ("silk", "wool", "target"))
        web.add_page(HOME, body=f"<title>Start</title>{links}")
        web.add_page(HOME + "silk", body="<html lang=en><title>Silk</title><p>Spiders make silk.")
        web.add_page(HOME + "wool", body="<title>Wool</title><p>Sheep <a href='/target'>a fine manual</a>")
        web.add_page(HOME + "target", body="<title>Target</title><p>Nothing of note.")
        crawl(tmp_path / "c", [HOME], web.connect)
    return tmp_path / "c"


@pytest.fixture(scope="module")
def ready(crawled: Path) -> Path:
    other = crawled.with_name("indexed")
    shutil.copytree(crawled, other)
    caught_up(other)
    return other


@pytest.fixture
def home(crawled: Path, tmp_path: Path) -> Path:
    """A crawl that is not indexed yet."""
    return shutil.copytree(crawled, tmp_path / "c")


@pytest.fixture
def indexed(ready: Path, tmp_path: Path) -> Path:
    """The same, indexed."""
    return shutil.copytree(ready, tmp_path / "c")


def hits(home: Path, name: str) -> list[WatchHit]:
    with WatchBook(home) as book:
        return book.hits(book.known(name))


def found(home: Path, name: str) -> list[tuple[str, bool]]:
    return sorted((hit.url, hit.earlier) for hit in hits(home, name))


def settings(home: Path) -> Path:
    return home / "gossamer.toml"


# -- matching ----------------------------------------------------------------------------------------------------------


def test_pages_indexed_from_then_on_match_once(home: Path) -> None:
    add_watch(home, "test", "spider silk")
    assert caught_up(home) == 4
    assert found(home, "spider-silk") == [(HOME + "silk", False)]
    [hit] = hits(home, "spider-silk")
    assert (hit.title, hit.language) == ("Silk", "en")
    assert "<mark>Spiders</mark> make <mark>silk</mark>" in hit.snippet
    assert hit.told == ""
    caught_up(home)
    rebuild(home, print, lambda _: None)
    caught_up(home)
    assert len(hits(home, "spider-silk")) == 1


def test_what_is_indexed_already_is_found_once_and_marked(indexed: Path) -> None:
    home = indexed
    add_watch(home, "test", "silk OR sheep")
    caught_up(home)
    assert found(home, "silk-or-sheep") == [(HOME + "silk", True), (HOME + "wool", True)]
    with WatchBook(home) as book:
        assert book.tally(book.all()[0]).taken_up
    caught_up(home)
    assert len(hits(home, "silk-or-sheep")) == 2


def test_a_page_that_is_fetched_again_fires_once_and_one_that_comes_to_match_fires_then(home: Path) -> None:
    add_watch(home, "test", "silk")
    caught_up(home)
    append(home, HOME + "silk", 200, "<title>Silk</title><p>More silk.", "changed")
    append(home, HOME + "wool", 200, "<title>Wool</title><p>Wool and silk.", "changed")
    caught_up(home)
    assert found(home, "silk") == [(HOME + "silk", False), (HOME + "wool", False)]
    append(home, HOME + "wool", 200, "<title>Wool</title><p>Wool.", "changed")
    caught_up(home)
    append(home, HOME + "wool", 200, "<title>Wool</title><p>Silk again.", "changed")
    caught_up(home)
    assert len(hits(home, "silk")) == 2


def test_words_of_links_match_when_the_page_is_written_again_for_them(home: Path) -> None:
    add_watch(home, "test", '"fine manual"', name="manual")
    caught_up(home)
    assert [url for url, _ in found(home, "manual")] == [HOME + "target", HOME + "wool"]
    add_watch(home, "test", '"fine manual" -sheep', name="later")
    caught_up(home)
    assert found(home, "later") == [(HOME + "target", True)]


def test_a_page_taken_out_before_the_commit_does_not_match(home: Path) -> None:
    add_watch(home, "test", "silk")
    append(home, HOME + "silk", 410, "", "gone")
    caught_up(home)
    assert found(home, "silk") == []


def starts(home: Path) -> list[tuple[str, list[str]]]:
    """What the crawl was told to go on from, and by whom."""
    given = [(command.who, command.about) for command in Spool(home).waiting() if command.kind == "seeds"]
    assert all(about["links"] and about["priority"] == 1 for _, about in given)
    return [(who, about["urls"]) for who, about in given]


def test_pages_that_match_are_where_the_crawl_goes_on(indexed: Path) -> None:
    add_watch(indexed, "test", "silk OR wool", name="cloth", crawl=True)
    add_watch(indexed, "test", "silk", name="listed only")
    caught_up(indexed)
    assert [(who, sorted(urls)) for who, urls in starts(indexed)] == [
        ("watch cloth", [HOME + "silk", HOME + "wool"]),
    ], "the best pages that are known"
    append(indexed, HOME + "new", 200, "<title>New</title><p>silk and wool", "new")
    caught_up(indexed)
    assert starts(indexed)[1:] == [("watch cloth", [HOME + "new"])]
    caught_up(indexed)
    assert len(starts(indexed)) == 2


def test_where_to_go_on_is_told_though_the_process_was_killed_before(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_watch(home, "test", "silk", crawl=True)
    with monkeypatch.context() as patched:
        patched.setattr(Matching, "lead_on", lambda self: None)
        caught_up(home)
    assert (found(home, "silk"), starts(home)) == ([(HOME + "silk", False)], [])
    caught_up(home)
    assert starts(home) == [("watch silk", [HOME + "silk"])]


def test_a_broad_watch_does_not_take_over_the_crawl(home: Path) -> None:
    add_watch(home, "test", "wool", crawl=True)
    with monkeypatched_starts(3):
        for number in range(6):
            append(home, f"{HOME}{number}", 200, f"<title>Wool {number}</title><p>wool {number}", "new")
            caught_up(home)
    assert sum(len(urls) for _, urls in starts(home)) == 3
    assert len(found(home, "wool")) == 7


@contextmanager
def monkeypatched_starts(most: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matching, "MOST_STARTS", most)
        yield


def test_without_watches_nothing_is_made(indexed: Path) -> None:
    home = indexed
    assert not (home / "watches").exists()


def test_a_watch_added_while_the_index_is_followed_is_taken_up(home: Path) -> None:
    follower = Follower(home, print)
    steps = iter(range(1000))
    done: list[str] = []

    def wait(_: float) -> bool:
        status = read_status(home / "index")
        if not done and status is not None and status.pages and status.done >= status.total:
            done.append(add_watch(home, "test", "silk")[0].name)
        elif len(done) == 1 and len(hits(home, "silk")) == 1:
            append(home, HOME + "wool", 200, "<title>Wool</title><p>Now with silk.", "changed")
            done.append("wool")
        return next(steps, None) is None or len(hits(home, "silk") if done else []) == 2

    try:
        follower.follow(wait)
    finally:
        follower.close()
    assert found(home, "silk") == [(HOME + "silk", True), (HOME + "wool", False)]


def test_a_watch_that_is_removed_finds_no_more(home: Path) -> None:
    follower = Follower(home, print)
    try:
        add_watch(home, "test", "silk")
        add_watch(home, "test", "wool")
        follower.catch_up()
        remove_watch(home, "test", "silk")
        append(home, HOME + "new", 200, "<title>New</title><p>silk and wool", "new")
        follower.catch_up()
    finally:
        follower.close()
    with WatchBook(home) as book:
        assert [watch.name for watch in book.all()] == ["wool"]
        assert book.rows("SELECT count(*) FROM seen WHERE watch NOT IN (SELECT number FROM watches)") == [(0,)]
    assert HOME + "new" in dict(found(home, "wool"))


class Stopped(BaseException):
    pass


@pytest.mark.parametrize("step", ["prepare", "match", "_matched", "_add"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_step_it_ends_at_a_page_is_found_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    add_watch(home, "test", "silk OR wool")
    caught_up(home)  # taken up
    append(home, HOME + "n1", 200, "<title>N1</title><p>silk", "new")
    original: Callable[..., object] = getattr(Matching, step)

    def ending(self: Matching, *arguments: object, **named: object) -> object:
        if when == "after":
            original(self, *arguments, **named)
        raise Stopped

    follower = Follower(home, print)
    with monkeypatch.context() as patched:
        patched.setattr(Matching, step, ending)
        with pytest.raises(Stopped):
            follower.catch_up()
        follower._indexer.watching.close()  # type: ignore[union-attr]
        follower.close()
    append(home, HOME + "n2", 200, "<title>N2</title><p>wool", "new")
    caught_up(home)
    expected = {HOME + "silk", HOME + "wool", HOME + "n1", HOME + "n2"}
    assert sorted(url for url, _ in found(home, "silk-or-wool")) == sorted(expected)


def test_a_book_that_cannot_be_read_stops_no_indexing(home: Path) -> None:
    add_watch(home, "test", "silk")
    (home / "watches" / "watches.db").write_bytes(b"no book" * 1000)
    notices: list[str] = []
    assert caught_up(home, notices) == 4
    assert any("pages are indexed all the same" in notice for notice in notices)


def test_an_index_made_anew_is_looked_at_again_and_tells_only_what_is_new(indexed: Path) -> None:
    home = indexed
    add_watch(home, "test", "silk OR wool")
    caught_up(home)
    append(home, HOME + "n1", 200, "<title>N1</title><p>silk", "new")  # fetched in the future, so after the watch
    rebuild(home, print, lambda _: None)
    assert len(hits(home, "silk-or-wool")) == 2
    caught_up(home)
    assert found(home, "silk-or-wool") == [(HOME + "n1", False), (HOME + "silk", True), (HOME + "wool", True)]


def test_what_is_listed_of_earlier_pages_is_bounded_and_none_of_the_rest_fires(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = indexed
    monkeypatch.setattr(matching, "MOST_EARLIER", 1)
    add_watch(home, "test", "silk OR wool")
    caught_up(home)
    append(home, HOME + "silk", 200, "<title>Silk</title><p>silk wool", "changed")
    append(home, HOME + "wool", 200, "<title>Wool</title><p>silk wool", "changed")
    caught_up(home)
    assert len(hits(home, "silk-or-wool")) == 1
    with WatchBook(home) as book:
        assert book.tally(book.all()[0]).seen == 2


def test_many_fresh_pages_are_committed_early(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = indexed
    monkeypatch.setattr(matching, "MOST_FRESH", 2)
    monkeypatch.setattr(batches, "_PAGES", 2)
    together: list[int] = []
    prepare = Matching.prepare

    def counted(self: Matching) -> None:
        together.append(len(self._fresh.urls))
        prepare(self)

    monkeypatch.setattr(Matching, "prepare", counted)
    add_watch(home, "test", "velvet")
    for number in range(10):
        append(home, f"{HOME}n{number}", 200, "<title>N</title><p>velvet", "new")
    caught_up(home)
    assert len(hits(home, "velvet")) == 10
    assert max(together[:5]) == 2  # then pages are written again for their links, all of them at once


def test_agents_of_one_machine_match_the_watches_of_the_whole_crawl(indexed: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    parts = [whole / "agents" / name for name in ("a1", "a2")]
    for part in parts:
        shutil.copytree(indexed, part)
    shutil.copy(settings(indexed), whole)
    add_watch(whole, "test", "silk OR velvet")
    for number, part in enumerate(parts):
        append(part, f"{HOME}velvet{number}", 200, "<title>V</title><p>velvet", "new")
        caught_up(part)
        assert not (part / "watches").exists()
    # Both have the page on silk, which is one hit.
    expected = [(HOME + "silk", True), (HOME + "velvet0", False), (HOME + "velvet1", False)]
    assert found(whole, "silk-or-velvet") == expected


# -- delivery ----------------------------------------------------------------------------------------------------------


def delivered(home: Path, clock: FakeClock) -> Delivery:
    return Delivery(home, load(settings(home)).fetch, clock, random.Random(5))


def run(delivery: Delivery) -> None:
    for _ in range(200):
        if not delivery.step(0.5):
            return
    raise AssertionError("it never ends")


def test_new_hits_are_told_signed_and_once(indexed: Path) -> None:
    home = indexed
    with Receiver() as receiver:
        made, secret = add_watch(home, "test", "silk OR wool OR velvet", receiver.url, "cloth")
        caught_up(home)  # silk and wool were there
        append(home, HOME + "velvet", 200, "<title>V</title><p>velvet", "new")
        caught_up(home)
        caught_up(home)
    [call] = receiver.calls
    assert call.is_signed_with(secret)
    assert not call.is_signed_with("whsec_" + "A" * 44)
    assert call.headers["content-type"] == "application/json"
    assert call.content["type"] == "watch.hits"
    assert call.content["id"] == call.id
    assert call.content["watch"] == {"id": made.id, "name": "cloth", "query": "silk OR wool OR velvet"}
    [hit] = call.hits
    assert (hit["url"], hit["title"], hit["earlier"]) == (HOME + "velvet", "V", False)
    assert hit["id"].startswith(made.id)
    assert set(hit) == {"id", "url", "title", "snippet", "fetched_at", "found_at", "language", "earlier"}
    assert sorted((each.url, each.told) for each in hits(home, "cloth")) == [
        (HOME + "silk", ""),
        (HOME + "velvet", "done"),
        (HOME + "wool", ""),
    ]


def test_earlier_hits_are_told_if_that_is_wished(indexed: Path) -> None:
    home = indexed
    with Receiver() as receiver:
        add_watch(home, "test", "silk OR wool", receiver.url, notify_earlier=True)
        caught_up(home)
    [call] = receiver.calls
    assert sorted((hit["url"], hit["earlier"]) for hit in call.hits) == [(HOME + "silk", True), (HOME + "wool", True)]


def test_a_receiver_that_fails_is_tried_again_later_with_the_same_id(home: Path) -> None:
    clock = FakeClock()
    with Receiver(500) as receiver:
        _, secret = add_watch(home, "test", "silk", receiver.url)
        caught_up(home)
        [first] = receiver.calls
        with WatchBook(home) as book:
            tally = book.tally(book.all()[0])
            assert (tally.waiting, tally.last_status, tally.trouble) == (1, 500, "it answers 500")
            clock.advance(max(0.0, tally.next_try_at - clock.now()) + FIRST_REST)
        receiver.status = 200
        delivery = delivered(home, clock)
        run(delivery)
        assert (delivery.told, delivery.failed) == (1, 0)
        delivery.close()
    assert len(receiver.calls) == 2
    assert receiver.calls[1].id == first.id
    assert receiver.calls[1].body == first.body
    assert receiver.calls[1].is_signed_with(secret)
    assert [hit.told for hit in hits(home, "silk")] == ["done"]


def test_redirects_are_not_followed(home: Path) -> None:
    with Receiver() as target, Receiver(307) as receiver:
        receiver.headers["Location"] = target.url
        add_watch(home, "test", "silk", receiver.url)
        caught_up(home)
        assert len(receiver.calls) == 1
        assert target.calls == []
    with WatchBook(home) as book:
        assert "redirects are not followed" in book.tally(book.all()[0]).trouble


def test_a_name_that_leads_to_a_private_address_is_not_called(tmp_path: Path, home: Path) -> None:
    """The name passes when the watch is added; the guard sees where it leads."""
    text = settings(home).read_text()
    settings(home).write_text(text.replace("allow_private = true", "allow_private = false"))
    with Receiver() as receiver:
        add_watch(home, "test", "silk", f"http://localhost:{receiver.port}/")
        caught_up(home)
        assert receiver.calls == []
    with WatchBook(home) as book:
        tally = book.tally(book.all()[0])
        assert "private or special address" in tally.trouble
        assert tally.waiting == 1


def test_an_endless_answer_is_cut_and_counts_by_its_status(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                try:
                    for _ in range(1000):
                        connection.sendall(b"x" * 65536)
                except OSError:
                    pass

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        add_watch(home, "test", "silk", f"http://127.0.0.1:{server.getsockname()[1]}/")
        caught_up(home)
        thread.join(20)
    assert [hit.told for hit in hits(home, "silk")] == ["done"]


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x00\xff nonsense\r\n\r\n",
        b"HTTP/1.1 999999 X\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 50,
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf",
    ],
    ids=["nothing", "nonsense", "status", "headers", "interim", "half"],
)
def test_whatever_a_receiver_says_it_is_tried_again(home: Path, said: bytes) -> None:
    with WatchBook(home) as book:
        made, _ = book.add("silk", "", "", False, 0.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(said)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        watch = structs.replace(made, webhook=f"http://127.0.0.1:{server.getsockname()[1]}/")
        delivery = delivered(home, FakeClock())
        outcome = delivery.test(watch)
        delivery.close()
        thread.join(20)
    assert not outcome.ok
    assert outcome.why


def test_certificates_are_verified(home: Path, tmp_path: Path) -> None:
    with Receiver() as receiver, tls_front(tmp_path, "127.0.0.1", receiver.port) as (port, authority):
        made, _ = add_watch(home, "test", "silk", f"https://127.0.0.1:{port}/")
        delivery = delivered(home, FakeClock())
        assert "certificate" in delivery.test(made).why
        delivery.close()
        assert receiver.calls == []
        trusting = Delivery(home, replace(load(settings(home)).fetch, ca_file=str(authority)))
        assert trusting.test(made).ok
        trusting.close()


def test_one_receiver_that_hangs_does_not_keep_others_waiting(home: Path) -> None:
    free = threading.Event()

    def hang(_: object) -> int:
        free.wait(30)
        return 200

    with Receiver() as slow, Receiver() as quick:
        slow.answer = hang
        for number in range(12):
            add_watch(home, "test", "silk", f"{slow.url}/{number}")
        add_watch(home, "test", "silk", quick.url)
        thread = threading.Thread(target=caught_up, args=(home,))
        thread.start()
        try:
            assert quick.wait(lambda calls: len(calls) == 1)
            assert len(slow.calls) <= 2
        finally:
            free.set()
            thread.join(60)


def test_one_process_delivers_at_a_time(home: Path) -> None:
    clock = FakeClock(2_000_000_000.0)
    with Receiver(500) as receiver:
        add_watch(home, "test", "silk", receiver.url)
        caught_up(home)
        first, second = delivered(home, clock), delivered(home, clock)
        receiver.status = 200
        run(first)
        assert not second.step(0.1)
        assert (first.told, second.told) == (1, 0)
        first.close()
        assert not second.step(0.1)
        second.close()


def test_a_test_call_tells_of_nothing(home: Path) -> None:
    with Receiver() as receiver:
        made, secret = add_watch(home, "test", "silk", receiver.url)
        delivery = delivered(home, FakeClock())
        outcome = delivery.test(made)
        assert outcome.ok
        receiver.status = 403
        assert delivery.test(made).why == "it answers 403"
        delivery.close()
    assert [call.content["type"] for call in receiver.calls] == ["watch.test"] * 2
    assert receiver.calls[0].hits == []
    assert receiver.calls[0].is_signed_with(secret)
