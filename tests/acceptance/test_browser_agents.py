"""The dashboard of a crawl of two agents in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import gossamer, serving
from playwright.sync_api import Browser, expect

from gossamer.testing import TinyWeb


@pytest.fixture(scope="module")
def together(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("together") / "crawl"
    with TinyWeb() as web:
        for name in ("a1", "a2"):
            web.add_page(f"http://{name}.test/")
            gossamer(
                "crawl", f"http://{name}.test/", "--dir", str(home / "agents" / name), "--allow-private",
                "--connect", web.connect, "--no-index", "--delay", "0",
            )  # fmt: skip
    (home / "gossamer.toml").write_bytes((home / "agents" / "a1" / "gossamer.toml").read_bytes())
    with serving(home) as found:
        yield found


@pytest.mark.parametrize("width", [360, 1200])
def test_agents_have_a_table(browser: Browser, together: str, width: int) -> None:
    context = browser.new_context(base_url=together, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto("/dashboard")
    table = page.locator("table", has=page.get_by_text("Process"))
    rows = table.locator("tbody tr:visible")
    expect(rows).to_have_count(3)  # both, and the service: there is no index
    expect(rows.nth(0)).to_contain_text("a1")
    expect(rows.nth(1)).to_contain_text("a2")
    expect(rows.nth(1)).to_contain_text("not running")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Memory").click()
    expect(rows.nth(0)).to_contain_text("service")
    context.close()
