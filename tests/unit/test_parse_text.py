"""The main text of a page: what its author wrote, without what stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import parse
from gossamer.parse.text import MAX_LENGTH

URL = "http://h.example/"
FIRST = "The first paragraph says what the page is about, and it is long enough to be a paragraph of its own."
SECOND = "The second one has <a href=/x>a link</a> in its middle, which does not make it navigation at all."
MENU = "<ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/about>About us</a></ul>"


def main_text(html: str) -> str:
    return parse(html.encode(), URL, "text/html; charset=utf-8").main_text


ARTICLE = f"<h1>The title</h1><p>{FIRST}</p><p>{SECOND}</p>"
LINES = ["The title", FIRST, "The second one has a link in its middle, which does not make it navigation at all."]


@pytest.mark.parametrize(
    "page",
    [
        f"{ARTICLE}",
        f"{MENU}{ARTICLE}<p><a href=/terms>Terms</a> | <a href=/privacy>Privacy</a></p>",
        f"<nav>Please choose: {MENU}</nav>{ARTICLE}<footer><p>Written by nobody in particular.</p></footer>",
        f"<header>{MENU}<p>The best site</p></header><main>{ARTICLE}</main><aside><p>Buy now!</p></aside>",
        f"<div class='top-nav'>Go to {MENU}</div><article>{ARTICLE}</article><div id=footer>© 2024 somebody</div>",
        f"<div role=banner>Our site</div><div role=main>{ARTICLE}</div><div role=contentinfo>Imprint of us</div>",
        f"<div class='page has-sidebar menu-open'>{ARTICLE}</div>",
        f"<div style='display: none'>You cannot see this.</div><p hidden>Nor this.</p>{ARTICLE}",
        f"{ARTICLE}<h2>Related</h2>{MENU}",
        f"<h3>Navigation</h3>{MENU}{ARTICLE}",
        ARTICLE.replace("</h1>", "</h1><p>by <a href=/me>Somebody</a></p>"),
        ARTICLE.replace("a link", "\n\t\t\t\t\t\t\t\t\ta\n\t\t\t\t\t\t\t\t\t\t\tlink\n\t\t\t\t\t\t\t\t\t\t"),
        f"<table><tr><td>{MENU}<td>{ARTICLE}</table>",
        f"<div class=breadcrumbs><a href=/>Home</a> » here</div>{ARTICLE}<script>var x = 'not text'</script>",
        f"<form action=/>{ARTICLE}<select><option>One<option>Two</select><button>Send</button></form>",
        f"<a name=top>{ARTICLE}",
        f"<article>{ARTICLE}</article><p>{MENU}</p>",
    ],
)
def test_navigation_is_left_out(page: str) -> None:
    assert main_text(page).splitlines() == LINES


def test_a_box_of_text_is_text_whatever_its_name() -> None:
    box = f"<div class=sidebar><h3>A note</h3><p>{FIRST}</p></div>"
    assert main_text(f"{ARTICLE}{box}{ARTICLE}").splitlines() == [*LINES, "A note", FIRST, *LINES]


def test_lists_and_tables_of_text_are_text() -> None:
    page = f"<p>{FIRST}</p><ul><li>milk<li>bread and <a href=/b>butter</a></ul><table><tr><td>1<td>2</table>"
    assert main_text(page).splitlines() == [FIRST, "milk", "bread and butter", "1", "2"]


def test_lines_inside_a_block_are_one() -> None:
    assert main_text(f"<p>{FIRST}<br>and <b>bo</b>ld<img src=i>text</p>") == f"{FIRST} and bold text"


def test_a_page_of_links_is_its_links() -> None:
    links = "".join(f"<li><a href=/{number}>The chapter with the number {number}</a>" for number in range(20))
    assert main_text(f"<nav>{MENU}</nav><ul>{links}</ul>").splitlines()[-1] == "The chapter with the number 19"
    assert "About us" not in main_text(f"<nav>{MENU}</nav><ul>{links}</ul>")


def test_a_page_that_is_all_navigation_is_taken_whole() -> None:
    assert main_text(f"<nav>{MENU}</nav>") == "Home News About us"


def test_an_empty_main_element_is_not_the_page() -> None:
    assert main_text(f"<main></main>{ARTICLE}").splitlines() == LINES


def test_of_several_articles_all_are_read() -> None:
    assert main_text(f"<article>{ARTICLE}</article>" * 3).splitlines() == LINES * 3


@pytest.mark.parametrize(
    ("text", "menu"),
    [
        ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗い所で泣いていた。", "ホーム"),
        ("我是猫。还没有名字。哪里出生的，一点也不知道。只记得在昏暗潮湿的地方喵喵地哭过。", "首页"),
        ("โปรแกรมจะถามกฎของแต่ละเซิร์ฟเวอร์ก่อนหน้าแรก และรอหนึ่งวินาทีระหว่างการเยี่ยมชมสองครั้ง", "หน้าแรก"),
        ("이 프로그램은 첫 페이지 전에 각 서버의 규칙을 묻고, 두 방문 사이에 일 초를 기다리며 기록합니다.", "홈"),
        ("يسأل البرنامج كل خادم عن قواعده قبل الصفحة الأولى، وينتظر ثانية واحدة بين زيارتين.", "الرئيسية"),
    ],
)
def test_every_script(text: str, menu: str) -> None:
    bar = f"<ul><li><a href=/>{menu}</a></ul>"
    assert main_text(f"{bar}<div><p>{text}</p><p>{text}</p></div>{bar}") == f"{text}\n{text}"


def test_what_is_not_html() -> None:
    assert parse(b"plain\n text", URL, "text/plain").main_text == "plain text"
    assert parse(b"\x89PNG\r\n", URL, "image/png").main_text == ""
    assert main_text("") == ""
    assert main_text("<frameset><frame src=x></frameset>") == ""


def test_the_length_is_capped() -> None:
    assert len(main_text("<p>" + "word " * 100_000)) == MAX_LENGTH
    assert len(main_text("<p>word word</p>" * 60_000)) <= MAX_LENGTH
    assert len(parse(b"word " * 100_000, URL, "text/plain").main_text) == MAX_LENGTH


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 15_000 + "x",
        "<div class=nav>" * 15_000 + "x",
        "<div class=sidebar>" * 200 + "<p>some words in a box</p>" * 5_000,
        "<a href=x><div>" * 5_000 + "x",
        "<div class='" + "nav " * 100_000 + "'>x</div>",
        "<div style='" + "display" + " " * 300_000 + "'>x</div>",
        "<div id='" + "side-" * 100_000 + "'>x</div>",
        "<header>" * 5_000 + "x",
        "<p></p>" * 150_000,
        "<article>" * 5_000 + "x" + "<main>" * 5_000,
        "<table><tr><td>" * 5_000 + "x",
    ],
    ids=range(11),
)
def test_hostile_pages_come_to_an_end(page: str) -> None:
    assert len(main_text(page)) <= MAX_LENGTH


_TAGS = st.sampled_from(
    "div p a span nav main article header footer ul li table td h1 pre br svg select template form section".split()
)
_PIECES = st.one_of(
    _TAGS.map(lambda tag: f"<{tag}>"),
    _TAGS.map(lambda tag: f"</{tag}>"),
    st.sampled_from(
        "<a href=x>|<div class=menu>|<div id=sidebar>|<p hidden>|<div role=navigation>|<p style>|<body class=nav>|"
        "<div role>|<frameset>|some words of text. ".split("|")
    ),
    st.text(max_size=8),
)


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_no_markup_raises(page: str) -> None:
    document = parse(page.encode("utf-8", "surrogatepass"), URL, "text/html; charset=utf-8")
    # Nothing is made up: every word stands in the page's text, too.
    assert set("".join(document.main_text.split())) <= set("".join(document.text.split()))
    assert bool(document.main_text) == bool(document.text)
