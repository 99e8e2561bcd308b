"""`gossamer explain`: what is known of a URL, what it waits for, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.everywhere import asked_everywhere

if TYPE_CHECKING:
    from gossamer.agent import Explanation


@click.command(cls=StrictCommand)
@click.argument("url", metavar="URL")
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(url: str, directory: Path, as_json: bool) -> int:
    """Say what is known of a URL or host, what it waits for, and why.

    Works while the crawl runs.
    """
    from gossamer.agent.explain import explain as explained

    with asked_everywhere(directory) as view:
        explanation = explained(directory, url) if view is None else view.explain(url)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(explanation).decode() + "\n")
    else:
        print("\n".join(_lines(explanation)))
    return 0


def _lines(explanation: Explanation) -> list[str]:
    from gossamer.cli.numbers import count, moment
    from gossamer.model import State

    rows = []
    visit, host = explanation.visit, explanation.host
    if visit is not None:
        rows += [("state", visit.state.name.lower()), ("depth", f"{visit.depth} links from a seed")]
        if visit.fetched_at:
            rows.append(
                ("visited", f"{moment(visit.fetched_at)}, tries {visit.tries}, status {visit.status or 'none'}")
            )
        if explanation.due:
            rows.append(("due", moment(explanation.due)))
        if visit.stored is not None:
            place = visit.stored
            rows.append(("stored", f"WARC file {place.file}, offset {place.offset:,}, {place.length:,} bytes"))
        validators = [value for value in (visit.etag, visit.last_modified) if value]
        if validators:
            rows.append(("version", ", ".join(validators)))
    if host is not None:
        again = f", {count(host.revisits)} of them to be visited again" if host.revisits else ""
        rows.append(("host", f"{host.name}: {count(host.pages)} pages, {count(host.queued)} URLs queued{again}"))
        asked = f", of which robots.txt asks {host.crawl_delay:g} s" if host.crawl_delay else ""
        busy = f", {host.added_delay:.1f} s of it because it said that it is busy" if host.added_delay else ""
        rows.append(("delay", f"{host.delay:.3g} s between visits{asked}{busy}"))
        robots = f"known until {moment(host.robots_until)}" if host.robots_known else "not asked for yet"
        rows.append(("robots", robots))
        if host.failures:
            rows.append(("failures", f"{host.failures} in a row; rests until {moment(host.due)}"))
    said = [explanation.sentence, explanation.again] if explanation.again else [explanation.sentence]
    if explanation.host_sentence and not (visit is not None and visit.state is State.QUEUED):  # which tells it already
        said.append(explanation.host_sentence)
    return [explanation.url, *said, "", *(f"{label:<9} {text}" for label, text in rows)]
