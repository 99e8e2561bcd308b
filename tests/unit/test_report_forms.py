"""The forms of the report: what the web says never becomes markup, a command to the terminal, or a formula."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.report import svg
from gossamer.report.engine import Engine
from gossamer.report.html import report_page, site_page
from gossamer.report.page_tables import TOP, crosstab_json, suffix_links
from gossamer.report.report import _GROUPS, Report
from gossamer.report.site import Site
from gossamer.report.table import Chart, Field, Table
from gossamer.report.text import report_text, site_text
from gossamer.report.writing import harmless, short, written

HOSTILE = "\x1b]0;owned\x07</td></table><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\r\n=cmd()\"'"
TOTALS = dict.fromkeys(
    "pages ok urls queued dead excluded hosts_with_pages domains addresses body_bytes received_bytes median_size links "
    "median_links robots_requests robots_excluded failed_tries duplicate_pages fetched findings".split(),
    7,
) | {"first_fetched_at": 1.7e9, "last_fetched_at": 1.7e9 + 60}
_CHARTS: dict[str, Chart] = {"link_matrix": "matrix", "suffix_links": "crosstab"}


def table(name: str, label: str) -> Table:
    fields: tuple[Field, ...]
    if name in ("link_matrix", "suffix_links"):
        fields = (Field("source", "From", "text"), Field(label, label), Field("b", "b"))
        return Table(name, "Links", "", fields, [(label, 90_000, 1), ("b", 0, 5)], _CHARTS[name])
    if name == "speed":
        fields = (Field("at", "From", "moment"), Field("pages_per_s", "Pages/s", "rate"))
        return Table(name, "Speed", "", fields, [(1.7e9, 3.0), (1.7e9 + 1, 0.0)], "series", "pages_per_s")
    if name in ("links_per_page", "sizes", "depths", "url_lengths"):
        fields = (Field("from", "From"), Field("pages", "Pages"))
        return Table(name, name, "", fields, [(0, 5), (1, 90_000), (2, 1)], "histogram", "pages")
    fields = (Field("name", "Name", "text"), Field("pages", "Pages"), Field("urls", "URLs"), Field("hosts", "Hosts"))
    measure = {"states": "urls", "findings": ""}.get(name, "pages")
    return Table(name, name, HOSTILE, fields, [(label, 30, 30, 2), ("plain", 1, 1, 1)], "bars", measure, 31)


def report(label: str = HOSTILE) -> Report:
    names = [name for names in _GROUPS.values() for name in names]
    return Report(f"/tmp/{label}", 1.7e9, False, "", TOTALS, {name: table(name, label) for name in names})


class Seen(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()


def shape(page: str) -> list[str]:
    return [tag for tag, _ in Seen(page).tags]


def test_a_hostile_web_changes_no_element() -> None:
    page = report_page(report())
    assert shape(page) == shape(report_page(report("harmless")))
    assert "<script>alert" not in page
    assert "onerror=alert(2)>" not in page
    assert "\x1b" not in page
    assert "\x07" not in page
    assert "\u202e" not in page
    assert page.count("<script>") == 1


def test_nothing_leaves_the_page() -> None:
    page = report_page(report())
    seen = Seen(page)
    assert not [tag for tag, _ in seen.tags if tag in ("link", "img", "iframe", "object", "form", "video", "source")]
    for _, attributes in seen.tags:
        assert not attributes.keys() & {"src", "srcset", "action", "data", "background"}
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    policy = next(found["content"] for tag, found in seen.tags if (found.get("http-equiv") or "").startswith("Content"))
    assert (policy or "").startswith("default-src 'none';")
    assert not re.search(r"url\(|@import", page)


def test_only_our_script_is_allowed() -> None:
    from base64 import b64encode
    from hashlib import sha256

    page = report_page(report())
    script = page.split("<script>")[1].split("</script>")[0]
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page


def test_every_table_is_there_and_can_be_copied() -> None:
    seen = Seen(report_page(report()))
    tables = {found["id"] for tag, found in seen.tags if tag == "table"}
    buttons = {found["data-table"] for tag, found in seen.tags if tag == "button"}
    assert tables == buttons == {f"t-{name}" for names in _GROUPS.values() for name in names}


def test_numbers_are_kept_beside_what_people_read() -> None:
    page = report_page(report())
    assert 'data-v="90000"' in page
    assert "90,000" in page
    assert ">90k<" in page


@given(st.text())
def test_the_terminal_gets_no_commands(text: str) -> None:
    assert all(letter.isprintable() for letter in harmless(text))
    assert "\n" not in written(Field("x", "X", "text"), text)


def test_text_form() -> None:
    said = report_text(report())
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\x1b]0;owned" in said
    assert all(line.isprintable() for line in said.splitlines())


def test_links_between_suffixes_lose_none() -> None:
    """More suffixes than there are columns, addresses, names without a dot, and links of a page beyond its fact's."""
    pairs = [(f"a.s{number}.test", f"b.s{number + 1}.test", 100 - number) for number in range(30)]
    pairs += [("u.ac.th", "c.co.th", 5000), ("u.ac.th", "v.ac.th", 300), ("192.0.2.1", "[2001:db8::1]", 7000)]
    pairs += [("intranet", "u.ac.th", 6000), ("u.ac.th", "x.rare.test", 1)]
    with Engine() as engine:
        values = ", ".join(f"('{source}', '{target}', {links})" for source, target, links in pairs)
        engine.rows(f"CREATE TABLE domain_links AS SELECT * FROM (VALUES {values}) AS v(source, target, links)")
        engine.rows("CREATE TABLE pages AS SELECT 'ac.th' AS suffix, 900 AS links, [400, 450] AS to_counts")
        table = suffix_links(engine)
    found = crosstab_json(table)
    names = found["suffixes"]
    assert len(names) == TOP + 1
    assert names[:4] == ["ac.th", "address", "intranet", "co.th"]
    assert names[-1] == "(others)"
    cells = {(source, target): links for source, row in zip(names, found["links"], strict=True)
             for target, links in zip(names, row, strict=True)}  # fmt: skip
    assert cells["ac.th", "co.th"] == 5000
    assert cells["ac.th", "ac.th"] == 300
    assert cells["address", "address"] == 7000
    assert cells["intranet", "ac.th"] == 6000
    assert cells["ac.th", "(others)"] == 51, "one to a rare suffix, 50 that lead nobody knows where"
    assert found["total"] == sum(links for *_, links in pairs) + 50 == sum(found["from"]) == sum(found["to"])
    assert found["from"] == [sum(row) for row in found["links"]]
    whole = report()
    whole.tables["suffix_links"] = table
    page = report_page(whole)
    assert f'<td class="sum" data-v="{found["total"]}"' in page
    grid = report_text(whole).partition("rows link to columns")[2].splitlines()
    assert grid[1].split()[:3] == ["ac.th", "address", "intranet"]
    assert grid[2].split()[:4] == ["ac.th", "300", "0", "0"]
    assert [line.split()[0] for line in grid[9:11]] == ["(others)", "Sum"]
    assert grid[10].split()[-1] == short(found["total"])


def test_site_forms() -> None:
    totals = dict.fromkeys("pages ok bytes inside_links out_links out_hosts in_links in_hosts depth".split(), 3) | {
        "title": HOSTILE, "server": HOSTILE, "address": "192.0.2.1", "first_fetched_at": 1.7e9,
        "last_fetched_at": 1.7e9, "crawl_delay": 2.0,
    }  # fmt: skip
    site = Site("a.test", 1.7e9, totals, {"terms": table("terms", HOSTILE)})
    assert "\x1b" not in site_text(site)
    assert "<script>alert" not in site_page(site)
    assert Seen(site_page(site)).open == []


def test_script_and_style_are_small_and_plain() -> None:
    import gossamer.report

    home = Path(gossamer.report.__file__).parent
    assert len((home / "page.css").read_bytes()) < 10_000
    script = (home / "page.js").read_text()
    assert "</" not in script
    assert "fetch(" not in script
    assert "innerHTML" not in script


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1000, "1.0k"), (9960, "10k"), (35_300, "35k"), (4_100_000, "4.1M")]
)
def test_short_numbers(number: int, text: str) -> None:
    assert short(number) == text


def heights(chart: str) -> list[float]:
    return [float(height) for height in re.findall(r'<rect [^>]*height="([0-9.]+)"', chart)]


def test_uneven_values_get_a_log_axis() -> None:
    even, uneven = svg.histogram(["a", "b"], [50, 100], "t"), svg.histogram(["a", "b", "c"], [1, 1000, 1_000_000], "t")
    assert "log scale" not in even
    assert "log scale" in uneven
    one, two = heights(even)
    assert two == pytest.approx(2 * one, abs=0.2)
    one, two, three = heights(uneven)
    assert 0 < one < two < three
    assert three - two == pytest.approx(two - one, abs=0.2)


@given(st.lists(st.floats(0, 1e12), max_size=40))
def test_charts_of_any_values(values: list[float]) -> None:
    labels = [f"<{number}>" for number in range(len(values))]
    for chart in (svg.histogram(labels, values, "<t>"), svg.series(labels, values, "<t>")):
        assert "nan" not in chart
        assert "inf" not in chart
        assert "<t>" not in chart
        assert all(0 <= height <= 220 for height in heights(chart))
