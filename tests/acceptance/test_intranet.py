"""A site behind a proxy and a login, crawled as its users would: settings in a file, and nothing secret said."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from test_command_line import gossamer

from gossamer.testing import TinyWeb
from gossamer.testing.web import Request

LOGIN = "Basic " + base64.b64encode(b"me:hush-1").decode()
SETTINGS = """
[policy]
delay = 0
[fetch]
contact = "me@example.org"
allow_private = true
proxy = "http://crawler:hush-2@127.0.0.1:{port}"
[hosts."wiki.corp"]
user = "me:hush-1"
headers = ["X-Token: hush-3"]
cookies = true
"""


def test_a_site_behind_a_proxy_and_a_login(tmp_path: Path) -> None:
    home, settings = tmp_path / "c", tmp_path / "crawl.toml"

    def members(request: Request, *links: str) -> bytes:
        given = [request.header(name) for name in ("Authorization", "X-Token", "Proxy-Authorization")]
        if given != [LOGIN, "hush-3", "Basic " + base64.b64encode(b"crawler:hush-2").decode()]:
            return b"HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n"
        body = "".join(f'<a href="{link}">{link}</a>' for link in links).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: seen=hush-4; Path=/\r\n"
        return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    with TinyWeb() as web:
        web.add_handler("http://wiki.corp/", lambda request: members(request, "/page", "/last"))
        web.add_handler("http://wiki.corp/page", members)
        web.add_handler("http://wiki.corp/last", members)
        settings.write_text(SETTINGS.format(port=web.port))
        said = gossamer(
            "crawl",
            "http://wiki.corp/",
            "--dir",
            str(home),
            "--config",
            str(settings),
            "--max-pages",
            "2",
            "--no-index",
            "--json",
        )
        assert json.loads(said[0].splitlines()[-1])["ok"] == 2
        # The next run takes everything from the directory.
        said += gossamer("crawl", "--dir", str(home), "--json")
        assert json.loads(said[2].splitlines()[-1])["ok"] == 3
        said += gossamer("status", "--dir", str(home))
        said += gossamer("explain", "http://wiki.corp/", "--dir", str(home), "--json")
        said += gossamer("urls", "--dir", str(home))
    assert (home / "gossamer.toml").stat().st_mode & 0o777 == 0o600
    assert "hush-1" in (home / "gossamer.toml").read_text()
    for secret in ("hush-", LOGIN[6:]):
        assert secret not in "".join(said)


def test_a_wrong_proxy_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    settings = tmp_path / "crawl.toml"
    settings.write_text('[fetch]\nproxy = "me:hush@proxy.example:3128"\n')
    _, err = gossamer("crawl", "http://a.test/", "--dir", str(tmp_path / "c"), "--config", str(settings), status=2)
    assert "fetch.proxy: 'proxy.example:3128' is not the URL of a proxy with its port, such as http://" in err
    assert "hush" not in err
    assert not (tmp_path / "c").exists()
