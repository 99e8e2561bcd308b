"""What a crawl loads: what takes long to load is loaded by those who need it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from gossamer.parse.scan import compiled
from gossamer.testing import TinyWeb

CODE = """
import json, sys
from gossamer.cli import run
status = run(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]))
"""


def loaded_by_a_crawl_of(body: str, home: Path) -> set[str]:
    with TinyWeb() as web:
        web.add_page("http://a.test/", body=body)
        arguments = ["crawl", "http://a.test/", "--dir", str(home), "--connect", web.connect, "--allow-private"]
        arguments += ["--no-index"]
        done = subprocess.run(
            [sys.executable, "-c", CODE, *arguments, "--delay", "0"], capture_output=True, text=True, check=True
        )
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return set(modules)


def test_an_ordinary_crawl_loads_what_it_needs(tmp_path: Path) -> None:
    loaded = loaded_by_a_crawl_of('<p>plain <a href="/">text</a>', tmp_path / "c")
    assert "gossamer.parse.scan" in loaded
    assert not {"aiodns", "brotli", "gossamer.parse.html", "resiliparse", "rich", "tomllib"} & loaded
    # The pattern takes long to make, and is only for what the compiled module does not know.
    assert ("gossamer.parse.grammar" in loaded) is (compiled is None)


def test_the_first_page_that_the_scanner_gives_up_loads_the_parser(tmp_path: Path) -> None:
    loaded = loaded_by_a_crawl_of('<a href="page">in a base</a><base href="/sub/">', tmp_path / "c")
    assert {"gossamer.parse.html", "resiliparse"} <= loaded


def test_help_and_commands_of_one_agent_do_not_load_the_broker() -> None:
    """Nor does the command line of a crawl: whoever has one agent need not have the extra `cluster`."""
    for arguments in (["--help"], ["crawl", "--help"], ["cluster", "--help"], ["agent", "--help"]):
        done = subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True)
        status, modules = json.loads(done.stdout.splitlines()[-1])
        assert status == 0
        assert "gossamer.cli" in modules
        assert not [name for name in modules if name.partition(".")[0] == "nats" or name.startswith("gossamer.cluster")]
