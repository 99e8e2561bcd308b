"""nginx on a web of plain files, on a core of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from machine import program_version
from processes import pinned
from static_web import Hosts

INSTALL = "nginx is not installed: apt-get install nginx-light (Debian, Ubuntu), then run this again."
_PATIENCE = 10.0  # seconds for nginx to answer

_CONFIG = """
daemon off;
pid {work}/nginx.pid;
worker_processes 1;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 120s;
  keepalive_requests 1000000;
  types {{ text/html html; text/css css; text/plain txt; }}
  client_body_temp_path {work}/body;
  proxy_temp_path {work}/proxy;
  fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi;
  scgi_temp_path {work}/scgi;
  server {{
{server}
  }}
}}
"""


def program() -> str | None:
    """Debian keeps nginx where an ordinary user's PATH does not look."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/sbin")


def version() -> str:
    return program_version(program() or "nginx", "-v").rpartition("/")[2]


def config(web: Hosts, files: Path, work: Path) -> str:
    """Listens on the web's loopback addresses only: nothing is offered to the network."""
    listen = "\n".join(f"    listen {web.address(host)}:{web.port} backlog=1024;" for host in range(web.hosts))
    return config_of(f"{listen}\n    root {files}/$server_addr;", work)


def config_of(server: str, work: Path) -> str:
    """The whole configuration around the lines of one server."""
    return _CONFIG.format(work=work, server=server)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.1.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(web: Hosts, files: Path, work: Path, core: int | None) -> Iterator[None]:
    """nginx serves `files` until the block ends; its own files are in `work`."""
    with running(config(web, files, work), (web.address(web.hosts - 1), web.port), work, core):
        yield


@contextmanager
def running(text: str, address: tuple[str, int], work: Path, core: int | None) -> Iterator[None]:
    """nginx with this configuration until the block ends; it is ready when it answers at `address`."""
    nginx = program()
    if nginx is None:
        raise FileNotFoundError(INSTALL)
    (work / "nginx.conf").write_text(text)
    errors = work / "nginx.log"
    command = [nginx, "-e", str(errors), "-c", str(work / "nginx.conf")]
    process = subprocess.Popen(pinned(command, core), stderr=subprocess.DEVNULL)
    try:
        _await(address, process, errors)
        yield
    finally:
        process.terminate()
        process.wait()


def _await(address: tuple[str, int], process: subprocess.Popen[bytes], errors: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(address, timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                said = errors.read_text(errors="replace") if errors.exists() else ""
                raise RuntimeError(f"nginx does not serve the web: {said.strip() or 'it says nothing'}") from None
            time.sleep(0.02)
