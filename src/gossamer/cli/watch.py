"""`gossamer watch`: queries that stand, and what matched them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictGroup
from gossamer.cli.commanding import directory_option, json_option
from gossamer.cli.leash import Stopped
from gossamer.errors import ClusterError, ConfigError, CrawlDirError

if TYPE_CHECKING:
    from gossamer.agent.watching.book import WatchBook
    from gossamer.agent.watching.watch import Tally, Watch, WatchHit
    from gossamer.config import FetchConfig

_LOOK_EVERY = 0.5  # seconds, while nothing is due


@click.group(cls=StrictGroup)
def watch() -> None:
    """Remember queries, and say which pages match them as they are indexed.

    Watches are the whole crawl's, and kept in DIR/watches; agents on several machines each have all of them. The
    process that indexes matches them, a few seconds after a page was fetched; what is indexed already is looked at
    once.
    """


@watch.command
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--webhook", default="", show_default=False, metavar="URL", help="Call this address for each new page, signed."
)
@click.option("--name", default="", show_default=False, metavar="NAME", help="What to call it. [default: its words]")
@click.option("--notify-earlier", is_flag=True, help="Call also for pages that are in the index already.")
@click.option("--crawl", is_flag=True, help="Visit next what matching pages link to.")
@directory_option
@json_option
def add(
    query: tuple[str, ...],
    webhook: str,
    name: str,
    notify_earlier: bool,
    crawl: bool,
    directory: Path,
    as_json: bool,
) -> int:
    """Remember QUERY: words, "a phrase", OR, -word, site:, lang: and the rest, as in gossamer search."""
    from gossamer.agent.audit import this_user
    from gossamer.agent.watching.adding import add_watch

    made, secret = add_watch(directory, this_user(), " ".join(query), webhook, name, notify_earlier, crawl)
    if as_json:
        said = {"id": made.id, "name": made.name, "query": made.query, "webhook": made.webhook}
        _write(said | ({"secret": secret} if secret else {}))
        return 0
    print(f"{made.name} ({made.id}) watches: {made.query}")
    if secret:
        print(f"secret: {secret}")
        click.echo("This is the only time that the secret is shown; docs/watches.md says how to check calls.", err=True)
    return 0


@watch.command("list")
@directory_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each.")
def list_watches(directory: Path, as_json: bool) -> int:
    """List the watches, and how each fares."""
    from gossamer.agent.watching.book import WatchBook
    from gossamer.agent.watching.told import watch_fields

    if not _has_some(directory):
        if not (directory / "gossamer.toml").is_file():
            raise CrawlDirError(_none(directory))
        click.echo(_none(directory), err=True)
        return 0
    with WatchBook(directory) as book:
        found = book.all()
        if not found:
            click.echo(_none(directory), err=True)
        width = max([24, *(len(each.name) for each in found)])
        for each in found:
            tally = book.tally(each)
            if as_json:
                _write(watch_fields(each, tally))
            else:
                print(f"{each.name:<{width}} {_state(tally):<40} {each.query}")
    return 0


@watch.command
@click.argument("name", metavar="WATCH")
@click.option("-n", "limit", type=click.IntRange(1, 1000), default=20, metavar="N", help="Hits to show.")
@directory_option
@json_option
def show(name: str, limit: int, directory: Path, as_json: bool) -> int:
    """Show WATCH, by name or id, and the pages that matched it last."""
    from gossamer.agent.watching.told import hit_fields, watch_fields

    with _opened(directory) as book:
        found = book.known(name)
        tally, hits = book.tally(found), book.hits(found, limit=limit)
    if as_json:
        _write(watch_fields(found, tally) | {"newest": [hit_fields(hit) for hit in hits]})
    else:
        _show(found, tally, hits)
    return 0


@watch.command
@click.argument("name", metavar="WATCH")
@directory_option
def remove(name: str, directory: Path) -> int:
    """Forget WATCH and what matched it."""
    from gossamer.agent.audit import this_user
    from gossamer.agent.watching.adding import remove_watch

    found = remove_watch(directory, this_user(), name)
    print(f"{found.name} is removed.")
    return 0


@watch.command
@click.argument("name", metavar="WATCH")
@directory_option
def test(name: str, directory: Path) -> int:
    """Send a signed call that tells of no page to the webhook of WATCH, and say what came back."""
    from gossamer.agent.watching.delivery import Delivery

    with _opened(directory) as book:
        found = book.known(name)
    if not found.webhook:
        raise ConfigError(f"{found.name} has no webhook; add a watch with --webhook URL")
    delivery = Delivery(directory, _settings(directory))
    try:
        outcome = delivery.test(found)
    finally:
        delivery.close()
    if outcome.ok:
        print(f"{found.webhook} took it: {outcome.status}")
        return 0
    print(f"{found.webhook} did not take it: {outcome.why}", file=sys.stderr)
    return 1


@watch.command
@click.argument("name", metavar="WATCH")
@directory_option
def retry(name: str, directory: Path) -> int:
    """Try the calls of WATCH again that are dead or wait."""
    import random

    from gossamer.agent.watching.book import is_shared
    from gossamer.agent.watching.calls import Calls

    with _opened(directory) as book:
        found = book.known(name)
        calls = Calls(book, random.Random())  # noqa: S311
        if is_shared(directory):
            from gossamer.agent.watching.records import Revived
            from gossamer.agent.watching.sharing import say

            count = calls.left(found)
            say(directory, Revived(found.id, time.time()))
        else:
            count = calls.revive(found, time.time())
    print(f"{count:,} {'call is' if count == 1 else 'calls are'} tried again: by the crawl, or gossamer watch deliver")
    return 0


@watch.command
@click.option("--follow", is_flag=True, help="Go on until Ctrl-C, also with those to be tried later.")
@directory_option
def deliver(follow: bool, directory: Path) -> int:
    """Call the webhooks for what is due.

    A crawl, and gossamer index, do that by themselves. This is for calls that wait when neither runs.
    """
    from gossamer.agent.watching.book import is_shared
    from gossamer.agent.watching.delivery import Delivery

    _opened(directory).close()
    stopped = Stopped()
    if is_shared(directory):
        from gossamer.agent.watching.sharing import keep

        told, failed = keep(directory, stopped, lambda text: click.echo(text, err=True), forever=follow)
        print(f"{told:,} calls were taken, {failed:,} tries failed")
        return 0
    delivery = Delivery(directory, _settings(directory))
    try:
        while not stopped():
            if not delivery.step(_LOOK_EVERY):
                if not follow:
                    break
                time.sleep(_LOOK_EVERY)
        print(f"{delivery.told:,} calls were taken, {delivery.failed:,} tries failed")
    finally:
        delivery.close()
    return 0


def _opened(directory: Path) -> WatchBook:
    from gossamer.agent.watching.book import WatchBook

    if not _has_some(directory):
        raise CrawlDirError(_none(directory))
    return WatchBook(directory)


def _has_some(directory: Path) -> bool:
    """Among several agents, by what the others have said until now."""
    from gossamer.agent.watching.book import has_watches, is_shared

    if is_shared(directory):
        from gossamer.agent.watching.sharing import bring_up

        try:
            bring_up(directory)
        except ClusterError as error:
            click.echo(f"as this directory heard last: {error}", err=True)
    return has_watches(directory)


def _none(directory: Path) -> str:
    return f"{directory} has no watches yet: gossamer watch add QUERY --dir {directory}"


def _settings(directory: Path) -> FetchConfig:
    from gossamer.agent.watching.adding import fetch_settings

    return fetch_settings(directory)


def _write(fields: Mapping[str, object]) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.encode(fields).decode() + "\n")


def _state(tally: Tally) -> str:
    from gossamer.cli.numbers import count

    parts = [f"{count(tally.hits - tally.earlier)} new, {count(tally.earlier)} earlier"]
    for name in ("waiting", "dead"):
        if number := getattr(tally, name):
            parts.append(f"{count(number)} {name}")
    return ", ".join(parts) if tally.taken_up or tally.hits else "not looked at yet"


def _show(found: Watch, tally: Tally, hits: list[WatchHit]) -> None:
    from rich.console import Console
    from rich.text import Text

    from gossamer.agent.watching.watch import REMEMBERED_FOR
    from gossamer.cli.numbers import count, moment
    from gossamer.cli.search import marked, printable

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    console.print(Text(printable(f"{found.name} ({found.id})"), style="bold"))
    facts = [("query", found.query), ("since", moment(found.created_at)), ("hits", _state(tally))]
    if found.crawl:
        facts.append(("crawl", "what matching pages link to is visited next"))
    if found.remembered:
        facts.append(("until", f"{moment(found.created_at + REMEMBERED_FOR)}: a search found nothing"))
    if tally.seen > tally.hits:
        facts.append(("not listed", f"{count(tally.seen - tally.hits)} more pages that matched"))
    if found.webhook:
        facts.append(("webhook", found.webhook))
        facts.append(("told", f"{count(tally.done)} hits, {count(tally.waiting)} waiting, {count(tally.dead)} dead"))
    if tally.trouble:
        facts.append(("last call", f"{moment(tally.last_try_at)}: {tally.trouble}"))
    if tally.next_try_at:
        facts.append(("next call", moment(tally.next_try_at)))
    for name, value in facts:
        console.print(Text(f"{name:<10} {printable(value)}"), soft_wrap=True)
    for hit in hits:
        console.print()
        console.print(Text(printable(hit.title) or printable(hit.url), style="bold green"))
        notes = [printable(hit.url), f"found {moment(hit.found_at)}", "earlier" if hit.earlier else "", hit.told]
        console.print(Text(" · ".join(note for note in notes if note), style="dim"), soft_wrap=True)
        if hit.snippet:
            console.print(marked(hit.snippet))
