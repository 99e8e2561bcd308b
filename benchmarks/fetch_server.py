"""One page behind any number of names, over HTTP and HTTPS, with and without connections that stay open.

The names end in `.bench.test` and are nowhere: whoever fetches sends them to `address`. The certificate is made for the
run and is its own authority; `certificate` is what a client has to trust.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nginx
from static_web import StaticWeb

INSTALL = "openssl is not installed: apt-get install openssl (Debian, Ubuntu), then run this again."
DOMAIN = "bench.test"
KINDS = ("http", "http-close", "https", "https-close", "https-close-no-sessions")

_CONFIG = """
daemon off;
pid {work}/nginx.pid;
worker_processes 1;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  log_format session $ssl_session_reused;
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  open_file_cache max=16;
  default_type text/html;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_certificate {work}/certificate.pem;
  ssl_certificate_key {work}/key.pem;
  client_body_temp_path {work}/body;
  proxy_temp_path {work}/proxy;
  fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi;
  scgi_temp_path {work}/scgi;
{servers}
}}
"""


class FetchServer:
    """Invariant: `address(kind)` answers every path of every name while `serving` lasts, and only then."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._ports = dict(zip(KINDS, _free_ports(len(KINDS)), strict=True))
        self.page = StaticWeb(2, 200, 80).page(0, 0).encode()

    @property
    def certificate(self) -> Path:
        return self._work / "certificate.pem"

    def address(self, kind: str) -> str:
        return f"127.0.0.1:{self._ports[kind]}"

    def resumed(self, kind: str) -> list[str]:
        """Of each request so far that came on a resumed TLS session `r`, of each other `.`; only for `https-close`."""
        log = self._log(kind)
        return log.read_text().split() if log.exists() else []

    def config(self) -> str:
        servers = "\n".join(self._server(kind) for kind in KINDS)
        return _CONFIG.format(work=self._work, servers=servers)

    def _server(self, kind: str) -> str:
        tls = kind.startswith("https")
        lines = [
            f"listen {self.address(kind)}{' ssl' if tls else ''} backlog=4096;",
            f"keepalive_timeout {'0' if 'close' in kind else '120s'};",
            f"location ~ ^/ {{ alias {self._work}/page.html; }}",
        ]
        if tls and kind.endswith("no-sessions"):
            lines += ["ssl_session_tickets off;", "ssl_session_cache off;"]
        if kind == "https-close":
            lines += [f"access_log {self._log(kind)} session;", "ssl_session_cache shared:sessions:16m;"]
        return "  server {\n" + "".join(f"    {line}\n" for line in lines) + "  }"

    def _log(self, kind: str) -> Path:
        return self._work / f"{kind}.log"

    @contextmanager
    def serving(self, core: int | None) -> Iterator[None]:
        (self._work / "page.html").write_bytes(self.page)
        make_certificate(self.certificate, self._work / "key.pem")
        with nginx.running(self.config(), ("127.0.0.1", self._ports["http"]), self._work, core):
            yield


def make_certificate(certificate: Path, key: Path, names: Sequence[str] = (f"*.{DOMAIN}",)) -> None:
    """A throwaway one for these names, good for a day; as it is, for every name below the domain."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise FileNotFoundError(INSTALL)
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days",
            "1", "-subj", f"/CN={DOMAIN}", "-addext", f"subjectAltName={','.join(f'DNS:{name}' for name in names)}",
            "-keyout", str(key), "-out", str(certificate),
        ],
        check=True, capture_output=True,
    )  # fmt: skip


def _free_ports(number: int) -> list[int]:
    ports: set[int] = set()
    while len(ports) < number:
        ports.add(nginx.free_port())
    return sorted(ports)
