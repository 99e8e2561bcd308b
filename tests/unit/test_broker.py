"""Where the broker is: what a command line says, and what is kept of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gossamer.agent.broker_file import read_broker, save_broker
from gossamer.cli import run
from gossamer.cluster.broker import PASSWORD, Broker, parse_broker
from gossamer.errors import ConfigError, CrawlDirError


def test_addresses_of_one_broker() -> None:
    broker = parse_broker("nats://me:s%40y@10.0.0.1:4333, tls://b.example,c.example:1,nats://[::1]:7")
    assert broker.addresses == (
        "nats://10.0.0.1:4333", "tls://b.example:4222", "nats://c.example:1", "nats://[::1]:7",
    )  # fmt: skip
    assert (broker.user, broker.password) == ("me", "s@y")
    assert "s@y" not in repr(broker)


def test_a_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, "hush")
    assert parse_broker("nats://me@h:1").password == "hush"
    assert parse_broker("nats://me:own@h:1").password == "own"
    assert parse_broker("nats://127.0.0.1").password == ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "give the broker's address"),
        ("http://h", "no address of a broker"),
        ("nats://h:99999", "no address of a broker"),
        ("nats://h/path", "no address of a broker"),
        ("nats://a:x@h,nats://b:x@i", "several users"),
        ("nats://me@h", "GOSSAMER_CLUSTER_PASSWORD"),
    ],
)
def test_what_is_wrong_is_said(given: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD, raising=False)
    with pytest.raises(ConfigError, match=message):
        parse_broker(given)


def test_a_password_is_in_no_message() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_broker("ftp://me:secret@h:1")
    assert "secret" not in str(caught.value)


def test_a_key_without_its_certificate() -> None:
    with pytest.raises(ConfigError, match="--cluster-cert"):
        parse_broker("nats://h", key="key.pem")


@pytest.mark.parametrize(("ca", "cert", "flag"), [("none.pem", "", "--cluster-ca"), ("", "none.pem", "--cluster-cert")])
def test_certificates_that_cannot_be_read(ca: str, cert: str, flag: str) -> None:
    broker = Broker(addresses=("tls://10.0.0.1:4222",), user="a", password="b", ca=ca, cert=cert)
    with pytest.raises(ConfigError, match=flag):
        asyncio.run(broker.connect())


def test_another_machine_without_a_password_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"10\.0\.0\.1 is another machine"):
        asyncio.run(parse_broker("nats://10.0.0.1:4222").connect())


def test_it_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    broker = Broker(addresses=("nats://h:1",), user="me", password="hush", name="a1")
    save_broker(broker, tmp_path)
    assert read_broker(tmp_path) == broker
    assert (tmp_path / "cluster.json").stat().st_mode & 0o777 == 0o600


def test_a_directory_without_one_and_one_that_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match="not a crawl of several agents"):
        read_broker(tmp_path)
    (tmp_path / "cluster.json").write_text("{")
    with pytest.raises(CrawlDirError, match=r"cluster\.json cannot be read"):
        read_broker(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["crawl", "http://a.test/", "--dir", "DIR", "--agents", "2"],
        ["agent", "--cluster", "nats://127.0.0.1:9", "--name", "a", "--dir", "DIR"],
        ["cluster", "status", "--cluster", "nats://127.0.0.1:9"],
    ],
)
def test_without_the_extra_it_is_said_what_to_install(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.cluster.engine.find_spec", lambda name: None)
    assert run([str(tmp_path / "c") if word == "DIR" else word for word in words]) == 1
    assert "pip install 'gossamer[cluster]'" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
