"""TLS and HTTP/2 against a real server: certificates are verified, sessions taken up again, heads stored readably."""

from __future__ import annotations

import asyncio
import datetime
import time
from pathlib import Path

import pytest
import trustme
from crawling import crawl
from fastwarc.warc import ArchiveIterator, WarcRecordType
from tls_web import TlsWeb
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from gossamer.config import OPTIONS, FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Method, Page, Reason, Visit
from gossamer.model.post import posted


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(ca: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    ca.cert_pem.write_to_path(str(path))
    return str(path)


def fetch(web: TlsWeb, count: int = 1, **options: object) -> list[Page | Fault]:
    """Pages of one host, one after the other."""
    config = FetchConfig(allow_private=True, connect=(web.connect,), timeout=10.0, **options)  # type: ignore[arg-type]
    found: list[Page | Fault] = []

    async def run() -> None:
        fetcher = Fetcher(config, "gossamer", ("text/html",), (), Resolver(config.connect, (), time.time), time.time)
        for number in range(count):
            fetcher.start(Visit(f"https://a.test/{number}", "a.test", 0, 0, 1))
            while not (done := await fetcher.wait(1.0)):
                pass
            found.append(done[0][1])
        await fetcher.close()

    asyncio.run(run())
    return found


def pages(outcomes: list[Page | Fault]) -> list[Page]:
    assert all(isinstance(outcome, Page) for outcome in outcomes), outcomes
    return [outcome for outcome in outcomes if isinstance(outcome, Page)]


def test_http_2_is_spoken_when_it_is_wanted(ca: trustme.CA, ca_file: str) -> None:
    with TlsWeb(ca.issue_cert("a.test")) as web:
        for wanted, protocol in ((False, "http/1.1"), (True, "h2")):
            web.seen.clear()
            got = pages(fetch(web, 3, http2=wanted, ca_file=ca_file))
            assert [page.body for page in got] == [b"<p>hello"] * 3
            assert [(seen.protocol, seen.path) for seen in web.seen] == [(protocol, f"/{n}") for n in range(3)]
            assert len({seen.connection for seen in web.seen}) == 1


def test_http_2_falls_back_when_it_is_not_offered(ca: trustme.CA, ca_file: str) -> None:
    with TlsWeb(ca.issue_cert("a.test"), http2=False) as web:
        (got,) = pages(fetch(web, http2=True, ca_file=ca_file))
        assert (got.head[:15], got.protocol, web.seen[0].protocol) == (b"HTTP/1.1 200 OK", b"", "http/1.1")


def test_the_head_of_http_2_is_written_as_http_1(ca: trustme.CA, ca_file: str) -> None:
    with TlsWeb(ca.issue_cert("a.test")) as web:
        (got,) = pages(fetch(web, http2=True, ca_file=ca_file))
    assert got.head == (
        b"HTTP/1.1 200 \r\ncontent-type: text/html\r\nx-twice: a\r\nx-twice: b\r\ncontent-length: 8\r\n\r\n"
    )
    assert (got.status, got.protocol, got.content_type, got.truncated) == (200, b"h2", "text/html", "")


def test_warc_readers_read_http_2(ca: trustme.CA, ca_file: str, tmp_path: Path) -> None:
    with TlsWeb(ca.issue_cert("a.test")) as web:
        summary = crawl(tmp_path / "c", ["https://a.test/"], web.connect, http2=True, ca_file=ca_file)
    assert (summary.pages, summary.ok) == (1, 1)
    (file,) = (tmp_path / "c" / "warc").glob("*.warc.gz")
    with file.open("rb") as stream:
        records = [
            (record.rec_headers["WARC-Protocol"], record.http_headers.get_statuscode(), record.content_stream().read())
            for record in WarcioIterator(stream, verify_http=True, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert records == [("h2", "200", b"<p>hello")] * 2  # robots.txt first
    with file.open("rb") as stream:
        read = [
            (record.http_headers.status_code, record.http_content_type, record.reader.read())
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True)
        ]
    assert read == [(200, "text/html", b"<p>hello")] * 2


def test_limits_hold_for_http_2(ca: trustme.CA, ca_file: str) -> None:
    with TlsWeb(ca.issue_cert("a.test")) as web:
        web.body = b"x" * 60_000
        (got,) = pages(fetch(web, http2=True, ca_file=ca_file, max_body=1_000))
        assert (len(got.body), got.truncated) == (1_000, "length")
        web.headers = [("content-type", "image/png")]
        (fault,) = fetch(web, http2=True, ca_file=ca_file)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.status) == (Reason.UNWANTED_TYPE, 200)
        web.headers = [("content-type", "text/html"), ("x", "y" * 70_000)]
        (fault,) = fetch(web, http2=True, ca_file=ca_file)
        assert isinstance(fault, Fault)
        assert not fault.status


def test_a_refused_stream_is_asked_for_once(ca: trustme.CA, ca_file: str) -> None:
    with TlsWeb(ca.issue_cert("a.test"), refuse=True) as web:
        (fault,) = fetch(web, http2=True, ca_file=ca_file)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.retry, fault.stale) == (Reason.CLOSED, True, False)
        assert len(web.seen) == 1


def test_a_server_that_refuses_every_stream_is_given_up(ca: trustme.CA, ca_file: str, tmp_path: Path) -> None:
    with TlsWeb(ca.issue_cert("a.test"), refuse=True) as web:
        crawl(tmp_path / "c", ["https://a.test/"], web.connect, http2=True, ca_file=ca_file, max_tries=2)
        assert 2 <= len(web.seen) <= 4


@pytest.mark.parametrize("http2", [False, True])
def test_sessions_are_taken_up_again(ca: trustme.CA, ca_file: str, http2: bool) -> None:
    with TlsWeb(ca.issue_cert("a.test"), closing=True) as web:
        pages(fetch(web, 4, http2=http2, ca_file=ca_file))
        assert [seen.connection for seen in web.seen] == [1, 2, 3, 4]
        assert [seen.resumed for seen in web.seen] == [False, True, True, True]


@pytest.mark.parametrize("kind", ["self-signed", "expired", "other host", "not yet"])
def test_a_bad_certificate_is_a_fault(ca: trustme.CA, ca_file: str, kind: str) -> None:
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    certificate = {
        "self-signed": lambda: trustme.CA().issue_cert("a.test"),
        "expired": lambda: ca.issue_cert("a.test", not_before=now - 9 * day, not_after=now - day),
        "other host": lambda: ca.issue_cert("b.test"),
        "not yet": lambda: ca.issue_cert("a.test", not_before=now + day, not_after=now + 9 * day),
    }[kind]()
    with TlsWeb(certificate) as web:
        (fault,) = fetch(web, ca_file=ca_file)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.retry) == (Reason.TLS, False)
        assert web.seen == []


def test_without_a_file_the_systems_certificates_hold(ca: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CURL_CA_BUNDLE", "CURL_INSECURE", "PYTHONHTTPSVERIFY"):
        monkeypatch.setenv(name, "0")
    with TlsWeb(ca.issue_cert("a.test")) as web:
        (fault,) = fetch(web)
        assert isinstance(fault, Fault)
        assert fault.reason is Reason.TLS


def test_no_option_turns_verification_off() -> None:
    assert not [name for name in OPTIONS if "verify" in name or "insecure" in name]


def test_a_file_without_certificates_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing\n")
    for path in (tmp_path / "missing.pem", tmp_path / "empty.pem"):
        with pytest.raises(ConfigError, match=r"fetch\.ca_file"):
            crawl(tmp_path / path.stem, ["https://a.test/"], "*=127.0.0.1:1", ca_file=str(path))


def test_plain_http_on_a_tls_port(ca: trustme.CA, ca_file: str) -> None:
    async def run(connect: str, url: str) -> Page | Fault:
        config = FetchConfig(allow_private=True, connect=(connect,), ca_file=ca_file, timeout=5.0)
        fetcher = Fetcher(config, "gossamer", ("*/*",), (), Resolver(config.connect, (), time.time), time.time)
        fetcher.start(Visit(url, "a.test", 0, 0, 1))
        while not (done := await fetcher.wait(1.0)):
            pass
        await fetcher.close()
        return done[0][1]

    with TlsWeb(ca.issue_cert("a.test")) as web:
        fault = asyncio.run(run(web.connect, "http://a.test/"))
    assert isinstance(fault, Fault)
    assert fault.reason in (Reason.CLOSED, Reason.PROTOCOL)


def test_forms_are_sent_over_http_2(ca: trustme.CA, ca_file: str) -> None:
    asked: list[str] = []
    with TlsWeb(ca.issue_cert("a.test")) as web:
        config = FetchConfig(allow_private=True, connect=(web.connect,), timeout=10.0, http2=True, ca_file=ca_file)

        async def run() -> list[Page | Fault]:
            fetcher = Fetcher(
                config, "gossamer", ("text/html",), (), Resolver(config.connect, (), time.time), time.time
            )

            def may_post(visit: Visit) -> None:
                asked.append(visit.url)

            fetcher.may_post = may_post
            found: list[Page | Fault] = []
            for body in ("q=1", "q=2", ""):
                visit = Visit(posted("https://a.test/find", body) or "", "a.test", 0, 0, 1, method=Method.POST)
                fetcher.start(visit if body else Visit("https://a.test/", "a.test", 0, 0, 1))
                found += [outcome for _, outcome in await _outcomes(fetcher)]
            await fetcher.close()
            return found

        got = pages(asyncio.run(run()))
        assert web.sent == [b"q=1", b"q=2"]
        assert [seen.path for seen in web.seen] == ["/find", "/find", "/"]
        # A form has a connection of its own; what comes after it may use that.
        assert len({seen.connection for seen in web.seen[:2]}) == 2
        assert web.seen[2].connection in {seen.connection for seen in web.seen[:2]}
    assert asked == ["https://a.test/find#__wb_method=POST&q=1", "https://a.test/find#__wb_method=POST&q=2"]
    assert [page.protocol for page in got] == [b"h2"] * 3
    assert got[1].request.startswith(b"POST /find HTTP/1.1\r\nHost: a.test\r\n")
    assert got[1].request.endswith(b"\r\n\r\nq=2")


async def _outcomes(fetcher: Fetcher) -> list[tuple[Visit, Page | Fault]]:
    for _ in range(20):
        if done := await fetcher.wait(1.0):
            return done
    raise AssertionError("nothing came")
