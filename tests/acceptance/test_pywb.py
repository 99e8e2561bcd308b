"""pywb replays a WACZ file of ours and the files of a crawl as they are, with our index: docs/report.md."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import pytest

from gossamer.testing import TinyWeb

PYWB = ("pywb==2.10.0", "setuptools<81")  # it needs pkg_resources; its other needs do not fit those of our own tests
PAGES = ("/en-US/", "/a//b?b=2&a=1", "/%7Euser/", "/Plain.html")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def replaying(binaries: Path, home: Path) -> Iterator[str]:
    port = free_port()
    command = [binaries / "wayback", "--bind", "127.0.0.1", "--port", str(port)]
    with (home / "wayback.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=home, stdout=log, stderr=log)
    try:
        while True:  # until it listens
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None, (home / "wayback.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pywb_replays_every_page_of_a_wacz_and_of_a_directory(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    subprocess.run([binaries / "python", "-m", "pip", "install", "--quiet", *PYWB], check=True)
    gossamer = [sys.executable, "-m", "gossamer"]
    with TinyWeb() as web:
        web.add_page("http://www.site.test/", PAGES)
        for path in PAGES:
            web.add_page(f"http://www.site.test{path.replace('%7E', '~')}")
        options = ["--dir", tmp_path / "c", "--connect", web.connect, "--allow-private", "--delay", "0"]
        subprocess.run([*gossamer, "crawl", "http://www.site.test/", *options], check=True, capture_output=True)
    wacz = tmp_path / "c.wacz"
    subprocess.run([*gossamer, "export", "--dir", tmp_path / "c", "--wacz", "--out", wacz], check=True)
    environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}
    for arguments in (["init", "mine"], ["add", "--unpack-wacz", "mine", wacz], ["init", "linked"]):
        subprocess.run([binaries / "wb-manager", *arguments], check=True, cwd=tmp_path, env=environment)
    linked, stored = tmp_path / "collections" / "linked", tmp_path / "c" / "warc"
    for path in stored.glob("*.warc.gz"):
        (linked / "archive" / path.name).symlink_to(path)
    lines = sorted(line for path in stored.glob("*.cdxj") for line in path.read_bytes().splitlines(keepends=True))
    (linked / "indexes" / "index.cdxj").write_bytes(b"".join(lines))
    with replaying(binaries, tmp_path) as service:
        for prefix in (f"{service}/mine/mp_/", f"{service}/linked/mp_/"):
            assert status_of(f"{prefix}http://www.site.test/") == 200
            assert {path: status_of(f"{prefix}http://www.site.test{path}") for path in PAGES} == dict.fromkeys(
                PAGES, 200
            )
            assert status_of(f"{prefix}http://www.site.test/absent") == 404
