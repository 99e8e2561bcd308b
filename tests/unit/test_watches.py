"""Watches as they are kept: names, limits, secrets, and the queue of calls."""

from __future__ import annotations

import random
import stat
import threading
import time
from base64 import b64decode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.audit import read_changes
from gossamer.agent.watching import watch as rules
from gossamer.agent.watching.adding import add_watch, remember, remove_watch
from gossamer.agent.watching.book import WatchBook, folder_of, has_watches
from gossamer.agent.watching.calls import FIRST_REST, GIVEN_UP_AFTER, LONGEST_REST, MOST_TOGETHER, Calls, rest_after
from gossamer.agent.watching.signing import signature
from gossamer.agent.watching.watch import MOST_AN_HOUR, MOST_REMEMBERED, REMEMBERED_FOR, Watch
from gossamer.errors import ConfigError, CrawlDirError, DamagedError, QueryError
from gossamer.fetch.webhook import Outcome

NOW = 1_800_000_000.0


def hit(book: WatchBook, watch: Watch, url: str, tell: bool = True) -> None:
    with book.changing() as base:
        base.execute(
            "INSERT INTO hits (watch, url, title, snippet, language, fetched, found, earlier, tell) "
            "VALUES (?, ?, 'T', 's', 'en', ?, ?, 0, ?)",
            (watch.number, url, NOW, NOW, tell),
        )


def test_a_watch_is_kept_and_its_secret_given_once(tmp_path: Path) -> None:
    with WatchBook(tmp_path) as book:
        made, secret = book.add('silk "spider web"', "https://example.org/hook", "", False, NOW)
        assert len(b64decode(secret.removeprefix("whsec_"))) == 32
    with WatchBook(tmp_path) as book:
        assert book.all() == [made]
        assert book.known(made.id) == book.known(made.name) == made
        assert book.secret(made) == secret
        assert secret not in repr(made)
    assert made.name == "silk-spider-web"


def test_its_owner_alone_can_read_it(tmp_path: Path) -> None:
    with WatchBook(tmp_path) as book:
        book.add("silk", "https://example.org/", "", False, NOW)
        for path in (book.folder, *book.folder.iterdir()):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_without_a_webhook_there_is_no_secret(tmp_path: Path) -> None:
    with WatchBook(tmp_path) as book:
        made, secret = book.add("silk", "", "fabric", False, NOW)
        assert (made.name, made.webhook, secret) == ("fabric", "", "")


def test_names_are_one_watch_each(tmp_path: Path) -> None:
    with WatchBook(tmp_path) as book:
        names = [book.add("silk", "", "", False, NOW)[0].name for _ in range(3)]
        assert names == ["silk", "silk-2", "silk-3"]
        with pytest.raises(ConfigError, match="already"):
            book.add("wool", "", "silk", False, NOW)
        with pytest.raises(ConfigError, match="is not a name"):
            book.add("wool", "", "../x\n", False, NOW)
        assert book.add("…猫", "", "", False, NOW)[0].name == "猫"


@given(st.text(max_size=60))
def test_whatever_the_query_its_name_can_be_used(query: str) -> None:
    name = rules.checked_name("", query, 7)
    assert 0 < len(name) <= rules.LONGEST_NAME
    assert name.isprintable()


def test_bad_queries_are_refused_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="from character 6 on"):
        add_watch(tmp_path / "c", "test", "silk OR")
    with pytest.raises(QueryError):
        add_watch(tmp_path / "c", "test", "")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/", "https://"),
        ("example", "https://"),
        ("https://", "https://"),
        ("https://me:secret@example.org/", "password"),
        ("http://127.0.0.1:8000/", "private"),
        ("http://[::1]/", "private"),
        ("http://169.254.169.254/latest", "private"),
        ("http://0x7f.1/", "private"),
        ("http://example.org:25/", "port 25"),
        ("https://example.org/" + "x" * 3000, "longer"),
    ],
)
def test_webhooks_that_may_not_be_called_are_refused(tmp_path: Path, url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        add_watch(tmp_path / "c", "test", "silk", url)
    assert not (tmp_path / "c").exists()


def test_there_are_only_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.agent.watching.book.MOST_WATCHES", 2)
    with WatchBook(tmp_path) as book:
        for _ in range(2):
            book.add("silk", "", "", False, NOW)
        with pytest.raises(ConfigError, match="as many as there may be"):
            book.add("silk", "", "", False, NOW)


def test_what_is_remembered_is_bounded_and_ends(tmp_path: Path) -> None:
    home = tmp_path / "c"
    home.mkdir()
    assert remember(home, "silk") is None, "there is no crawl"
    (home / "gossamer.toml").write_text("")
    now = time.time()
    with WatchBook(home) as book:
        for number in range(MOST_REMEMBERED):
            book.add(f"old {number}", "", "", False, now - 86400 + number, crawl=True, remembered=True)
        own, _ = book.add("kept", "", "", False, now - 10 * REMEMBERED_FOR)
    made = remember(home, "Copper  harbour")
    assert made is not None
    assert (made.query, made.crawl, made.remembered, made.webhook) == ("Copper harbour", True, True, "")
    again = remember(home, "copper harbour")
    assert again is not None
    assert again.id == made.id
    assert remember(home, "kept") == own, "somebody watches it already"
    for nothing in ("", "site:a.test", "x after:2024-01-01", '"open', "w " * 150, "-x"):
        assert remember(home, nothing) is None, nothing
    for number in range(2 * MOST_AN_HOUR):
        remember(home, f"nonsense {number}")
    with WatchBook(home) as book:
        remembered = [watch for watch in book.all() if watch.remembered]
        assert len(remembered) == MOST_REMEMBERED
        assert len([watch for watch in remembered if watch.created_at >= now]) == MOST_AN_HOUR
        assert remembered[0].query == f"old {MOST_AN_HOUR}", "the oldest is forgotten first"
        book.forget_old(now + REMEMBERED_FOR - 3600)
        assert {watch.query for watch in book.all() if watch.created_at < now} == {"kept"}
    assert read_changes(home) == [], "nobody has changed anything"


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    with WatchBook(tmp_path) as book:
        book.add("silk", "", "cloth", True, 1.0)
        book.rows("ALTER TABLE watches DROP COLUMN crawl")
        book.rows("ALTER TABLE watches DROP COLUMN remembered")
        book.rows("DROP TABLE onward")
    with WatchBook(tmp_path) as book:
        [watch] = book.all()
        assert (watch.name, watch.notify_earlier, watch.crawl, watch.remembered) == ("cloth", True, False, False)
        assert book.add("wool", "", "", False, 2.0, crawl=True)[0].crawl


def test_removing_leaves_nothing_of_it(tmp_path: Path) -> None:
    made, _ = add_watch(tmp_path, "test", "silk", "https://example.org/")
    other, _ = add_watch(tmp_path, "test", "wool")
    with WatchBook(tmp_path) as book:
        hit(book, made, "http://a.test/")
        hit(book, other, "http://a.test/", tell=False)
        Calls(book, random.Random(1)).make(NOW)
    assert remove_watch(tmp_path, "test", "silk").id == made.id
    with WatchBook(tmp_path) as book:
        counts = [book.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("watches", "hits", "calls", "seen")]
        assert counts == [1, 1, 0, 0]
    with pytest.raises(ConfigError, match="no watch"):
        remove_watch(tmp_path, "test", "silk")


def test_agents_of_one_machine_share_those_of_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("")
    part = tmp_path / "agents" / "a1"
    part.mkdir(parents=True)
    add_watch(tmp_path, "test", "silk")
    assert folder_of(part) == tmp_path / "watches"
    assert has_watches(part)


def test_a_file_that_is_no_book_says_what_to_do(tmp_path: Path) -> None:
    add_watch(tmp_path, "test", "silk")
    (tmp_path / "watches" / "watches.db").write_bytes(b"x" * 5000)
    with pytest.raises(DamagedError, match="add the watches again"):
        WatchBook(tmp_path)
    other = tmp_path / "other"
    with WatchBook(other) as book, book.changing() as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(CrawlDirError, match="another version"):
        WatchBook(other)


def test_many_add_at_the_same_time_and_none_undoes_another(tmp_path: Path) -> None:
    wrong: list[BaseException] = []

    def add() -> None:
        try:
            for _ in range(5):
                add_watch(tmp_path, "test", "silk", "https://example.org/")
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    with WatchBook(tmp_path) as book:
        names = [watch.name for watch in book.all()]
        assert len(names) == len(set(names)) == 30


# -- calls -------------------------------------------------------------------------------------------------------------


def queue(home: Path, hits: int) -> tuple[WatchBook, Calls]:
    book = WatchBook(home)
    made, _ = book.add("silk", "https://example.org/", "", False, NOW)
    for number in range(hits):
        hit(book, made, f"http://a.test/{number}")
    return book, Calls(book, random.Random(3))


def test_hits_are_told_together_and_each_once(tmp_path: Path) -> None:
    book, calls = queue(tmp_path, MOST_TOGETHER + 5)
    assert calls.make(NOW) == 1
    assert calls.make(NOW) == 0, "one is on its way"
    [first] = calls.due(NOW, 10, [])
    assert first.body.count(b'"url"') == MOST_TOGETHER
    assert calls.due(NOW, 10, [first.number]) == []
    [again] = Calls(book, random.Random(4)).due(NOW, 10, [])
    assert (again.id, again.body) == (first.id, first.body), "also after a restart"
    calls.settle(first, Outcome(500, "it answers 500"), NOW)
    hit(book, first.watch, "http://a.test/more")
    assert calls.make(NOW) == 0, "what comes while a receiver is down waits for the first"
    [again] = calls.due(NOW + FIRST_REST, 10, [])
    calls.settle(again, Outcome(204), NOW)
    assert calls.make(NOW) == 1
    [second] = calls.due(NOW, 10, [])
    assert second.id != first.id
    assert second.body.count(b'"url"') == 6
    book.close()


def test_a_call_is_tried_for_a_day_and_is_dead_then(tmp_path: Path) -> None:
    book, calls = queue(tmp_path, 1)
    calls.make(NOW)
    now, tries = NOW, 0
    for _ in range(1000):
        due = calls.due(now, 1, [])
        if not due:
            following = calls.next_due()
            assert following is not None
            assert 0 < following - now <= LONGEST_REST
            now = following
            continue
        tries += 1
        if calls.settle(due[0], Outcome(500, "it answers 500"), now) == "dead":
            break
    assert GIVEN_UP_AFTER <= now - NOW <= GIVEN_UP_AFTER + LONGEST_REST
    assert 25 < tries < 60
    tally = book.tally(book.all()[0])
    assert (tally.dead, tally.waiting, tally.done, tally.trouble) == (1, 0, 0, "it answers 500")
    assert calls.next_due() is None
    assert calls.revive(book.all()[0], now) == 1
    [call] = calls.due(now, 5, [])
    assert calls.settle(call, Outcome(204), now) == "done"
    assert book.tally(book.all()[0]).done == 1
    assert book.hits(book.all()[0])[0].told == "done"
    book.close()


def test_who_says_gone_is_not_asked_again(tmp_path: Path) -> None:
    book, calls = queue(tmp_path, 1)
    calls.make(NOW)
    assert calls.settle(calls.due(NOW, 1, [])[0], Outcome(410, "it answers 410"), NOW) == "dead"
    book.close()


def test_rests_grow_and_are_spread() -> None:
    assert rest_after(1, 1.0) == FIRST_REST
    assert rest_after(1, 0.0) == FIRST_REST / 2
    assert rest_after(3, 1.0) == 4 * FIRST_REST
    assert rest_after(500, 1.0) == LONGEST_REST


def test_the_signature_is_that_of_the_standard() -> None:
    """The example of standardwebhooks.com."""
    secret = "whsec_plJ3nmyCDGBKInavdOK15jsl"
    body = b'{"event_type":"ping","data":{"success":true}}'
    assert (
        signature(secret, "msg_loFOjxBNrRLzqYUf", 1731705121, body) == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="
    )
