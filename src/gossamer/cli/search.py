"""`gossamer search`: ask the index of a crawl."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.everywhere import asked_everywhere, is_one_of_several
from gossamer.errors import CrawlDirError, GossamerError, QueryError

if TYPE_CHECKING:
    from rich.text import Text

    from gossamer.index import Answer, Hit

_MOST = 1000
_MARK = re.compile(r"<mark>(.*?)</mark>", re.S)


@click.command(cls=StrictCommand)
@click.argument("query", nargs=-1, required=True)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("-n", "limit", type=click.IntRange(1, _MOST), default=10, metavar="N", help="Results to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as the API does.")
def search(query: tuple[str, ...], directory: Path, limit: int, as_json: bool) -> int:
    """Search the pages of a crawl.

    Words stand for pages that have all of them; "a phrase", OR, -word, site:, domain:, lang:, title:, after: and
    before: are understood. Put the whole query in single quotes, so that the shell leaves it alone. Works while a
    crawl runs.
    """
    text = " ".join(query)
    with closing(answers(directory, text, limit)) as found:
        answer = next(found)
    if not answer.total:
        _remember(directory, text)
    if as_json:
        sys.stdout.write(json_line(answer))
    else:
        _show(answer)
    return 0


def _remember(directory: Path, text: str) -> None:
    """Have a query that found nothing remembered, and say so. Who may not write there has searched all the same."""
    from gossamer.agent.crawl_dir import CrawlDir
    from gossamer.agent.watching.adding import remember
    from gossamer.config import load

    try:
        watch = remember(directory, text) if load(CrawlDir(directory).settings, resumed=True).agent.remember else None
    except GossamerError:
        return
    if watch is not None:
        onward = ": when a page for it turns up, what it links to is visited next" if watch.crawl else ""
        click.echo(f"It is remembered as the watch {printable(watch.name)}{onward}.", err=True)


def answers(directory: Path, text: str, limit: int) -> Generator[Answer, None, None]:
    """The answer of a crawl's index, and those that follow it; of all agents where there are several."""
    from gossamer.agent.parts import readable_parts
    from gossamer.index import Search

    indexes = [part.index for part in readable_parts(directory)]
    if not any((index / "meta.json").is_file() for index in indexes) and not is_one_of_several(directory):
        raise CrawlDirError(f"{directory} has no index yet: gossamer index --dir {directory} makes one.")
    index = Search(indexes)
    try:
        with asked_everywhere(directory) as view:
            search = index if view is None else view.search
            answer = search.answer(text, limit=limit)
            yield answer
            while answer.next:
                answer = search.answer(text, limit=limit, cursor=answer.next)
                yield answer
    except QueryError as error:
        raise QueryError(error.position, f"query, from character {error.position + 1} on: {error.why}") from None
    finally:
        index.close()


def json_line(answer: Answer) -> str:
    import msgspec

    found = {
        "total": answer.total,
        "results": [_fields(hit) for hit in answer.results],
        "next": answer.next,
        "query": answer.query,
        "seconds": round(answer.seconds, 4),
    }
    return msgspec.json.encode(found).decode() + "\n"


def _fields(hit: Hit) -> dict[str, object]:
    return {
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet,
        "score": round(hit.score, 4),
        "fetched_at": datetime.fromtimestamp(hit.fetched_at, UTC) if hit.fetched_at else None,
        "language": hit.language,
        "type": hit.type,
        "host": hit.host,
        "description": hit.description,
        "same": hit.same,
    }


def _show(answer: Answer) -> None:
    from rich.console import Console
    from rich.text import Text

    from gossamer.cli.numbers import count

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    results = "1 result" if answer.total == 1 else f"{count(answer.total)} results"
    console.print(Text(f"{results}, {answer.seconds * 1000:,.0f} ms", style="dim"))
    if not answer.total:
        console.print(Text(f"Nothing was found for: {printable(answer.query)}"))
    for hit in answer.results:
        console.print()
        console.print(Text(printable(hit.title) or printable(hit.url), style="bold green"))
        where = printable(hit.url) + (f" · {printable(hit.language)}" if hit.language else "")
        console.print(Text(where, style="dim"), soft_wrap=True)
        if hit.snippet:
            console.print(marked(hit.snippet))


def marked(snippet: str) -> Text:
    """What the index marks, in bold."""
    from rich.text import Text

    text = Text()
    for number, part in enumerate(_MARK.split(snippet)):
        text.append(printable(html.unescape(part)), style="bold" if number % 2 else "")
    return text


def printable(text: str) -> str:
    """What a page says must not be a command to the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
