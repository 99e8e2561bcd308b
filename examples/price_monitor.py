"""A price monitor: what products cost, what they did cost, and what has changed since you last asked.

gossamer crawl https://www.shop.example/ --config price_monitor.toml --dir shop
python price_monitor.py shop
"""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import gossamer
from gossamer.errors import GossamerError

LONGEST = 1_000_000  # characters of a page that are read
MOST = 50_000  # products that are remembered; others are left out


class Prices(gossamer.Application):
    """A record for each product that is new, costs something else, or is gone."""

    # `same`: where only a price in JSON-LD differs, the crawl sees no change, as nobody who reads the page does.
    wants = gossamer.Wants(statuses=(200, 404, 410), same=True)

    def __init__(self) -> None:
        self.known: dict[str, tuple[float, str]] = {}  # price and name, by URL

    def pages(self, pages: Sequence[gossamer.AppPage]) -> Iterator[dict[str, Any]]:
        for page in pages:
            was, name = self.known.get(page.url, (None, ""))
            price, currency = None, ""
            if page.status == 200:
                name, price, currency = offer_on(page)
            if price is None and (was is None or page.change != "gone"):
                continue  # no product, or one that may be back in a moment
            if was is None and len(self.known) >= MOST:
                continue
            if price != was:
                yield {
                    "url": page.url,
                    "name": name,
                    "price": price,
                    "was": was,
                    "currency": currency,
                    "at": page.fetched_at,
                }
            if price is None:
                del self.known[page.url]
            else:
                self.known[page.url] = price, name

    def state(self) -> Any:
        return self.known

    def restore(self, state: Any) -> None:
        self.known = state


class Said(HTMLParser):
    """What a page says of itself for programs: JSON-LD, microdata (itemprop) and meta elements."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.values: dict[str, str] = {}
        self._in_script, self._property = False, ""
        with suppress(AssertionError):  # how it says that it does not understand a page; what was read so far counts
            self.feed(source[:LONGEST])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._in_script = tag == "script" and given.get("type") == "application/ld+json"
        if self._in_script:
            self.scripts.append("")
        self._property = given.get("itemprop") or given.get("property") or ""
        if self._property and given.get("content"):
            self.values.setdefault(self._property, given["content"] or "")

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        elif self._property and data.strip():
            self.values.setdefault(self._property, data.strip())

    def handle_endtag(self, tag: str) -> None:
        self._in_script, self._property = False, ""


def offer_on(page: gossamer.AppPage) -> tuple[str, float | None, str]:
    """Name, price and currency of the product that a page is about; the price is None if it is about none."""
    said = Said(page.source)
    for script in said.scripts:
        try:
            name, price, currency = offer_in(json.loads(script))
        except (ValueError, RecursionError):
            continue  # written by hand, it seems
        if price is not None:
            return printable(name or page.document.title), price, printable(currency)[:3]
    given = said.values
    price = number(given.get("price") or given.get("product:price:amount"))
    currency = given.get("priceCurrency") or given.get("product:price:currency") or ""
    return printable(given.get("og:title") or page.document.title), price, printable(currency)[:3]


def offer_in(data: Any) -> tuple[str, float | None, str]:
    """Of the first product in JSON-LD, however it is nested."""
    left = deque([data])
    for _ in range(1000):
        if not left:
            break
        here = left.popleft()
        if isinstance(here, list):
            left.extend(here)
        elif isinstance(here, dict):
            offers = here.get("offers") if "Product" in str(here.get("@type")) else None
            offer = offers[0] if isinstance(offers, list) and offers else offers
            if isinstance(offer, dict):
                price = number(offer.get("price", offer.get("lowPrice")))
                return str(here.get("name") or ""), price, str(offer.get("priceCurrency") or "")
            left.extend(here.values())
    return "", None, ""


def number(text: Any) -> float | None:
    """Of 1299, "1,299.00", "1.299,00 €" or "1 299"; None if it is no number."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text) if 0 <= text < 1e12 else None
    found = re.search(r"\d[\d.,' \u00a0\u202f]*", text[:40]) if isinstance(text, str) else None
    if found is None:
        return None
    digits = re.sub(r"[^\d.,]", "", found[0]).rstrip(".,")
    cents = re.search(r"[.,](\d{1,2})$", digits)
    whole = re.sub(r"\D", "", digits[: cents.start()] if cents else digits)
    return float(f"{whole or 0}.{cents[1] if cents else 0}")


def printable(text: str) -> str:
    """Whatever a page says, a terminal is not told what to do."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:200]).strip()


def main(directory: str) -> None:
    """Tell what was recorded since the last time."""
    note = Path(directory, "prices-told.txt")
    told = int(note.read_text()) if note.exists() else 0
    records = list(gossamer.records(directory, "prices"))
    for each in records[told:]:
        price, was = each["price"], each["was"]
        if price is None:
            change = f"gone, was {was:.2f}"
        else:
            change = (f"{was:.2f} -> " if was is not None else "new at ") + f"{price:.2f} {each['currency']}"
        print(f"{change:25}  {each['name']}  {each['url']}")
    print(f"{len(records) - told} changes since you last asked, {len(records)} in all")
    note.write_text(str(len(records)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} DIR")
    try:
        main(sys.argv[1])
    except GossamerError as error:
        sys.exit(str(error))
