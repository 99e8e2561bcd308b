"""What an admin may send, as JSON. Shapes are checked here, values by those who take them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

MOST_REQUESTS = 1000
_Text = Annotated[str, Field(min_length=1, max_length=2000)]
_MaxAge = Annotated[
    float | None,
    Field(
        ge=0,
        le=10**10,
        description="Seconds: a known URL whose copy is older is visited again, with 0 in any case; null: none is.",
    ),
]


class _Order(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SeedsOrder(_Order):
    urls: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(min_length=1, max_length=1000)]
    priority: Annotated[int, Field(ge=0, le=9, description="0 comes first, 9 last.")] = 4
    links: Annotated[bool, Field(description="Of pages stored already, visit next what they link to.")] = False


class RequestOrder(_Order):
    url: Annotated[str, Field(max_length=4096)]
    priority: Annotated[int, Field(ge=0, le=9, description="0 comes first, 9 last.")] = 4
    tag: Annotated[str, Field(max_length=100, description="By which its result is found; empty: by none.")] = ""
    max_age: _MaxAge = None


class RequestsOrder(_Order):
    """`priority`, `tag` and `max_age` are those of `urls`; each of `requests` has its own."""

    urls: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=MOST_REQUESTS)] = []
    priority: Annotated[int, Field(ge=0, le=9, description="0 comes first, 9 last.")] = 4
    tag: Annotated[str, Field(max_length=100, description="By which results are found; empty: by none.")] = ""
    max_age: _MaxAge = None
    requests: Annotated[list[RequestOrder], Field(max_length=MOST_REQUESTS)] = []
    app: Annotated[str, Field(max_length=40, description="On whose share; empty: the crawl's own links.")] = ""

    def given(self) -> list[RequestOrder]:
        named = [RequestOrder(url=url, priority=self.priority, tag=self.tag, max_age=self.max_age) for url in self.urls]
        return [*named, *self.requests]


class PatternOrder(_Order):
    pattern: Annotated[_Text, Field(description="example.org, *.example.org or example.org/forum/.")]


class WatchOrder(_Order):
    query: Annotated[str, Field(min_length=1, max_length=1000, description="As for a search.")]
    webhook: Annotated[str, Field(max_length=2000, description="Called for each new page; empty: none is.")] = ""
    name: Annotated[str, Field(max_length=64, description="Empty: the words of the query.")] = ""
    notify_earlier: Annotated[bool, Field(description="Call also for pages that are in the index already.")] = False
    crawl: Annotated[bool, Field(description="Visit next what matching pages link to.")] = False


class HostOrder(_Order):
    host: _Text


class PriorityOrder(_Order):
    host: _Text
    priority: Annotated[int | None, Field(ge=0, le=9, description="0 comes first, 9 last; null is usual.")]


class SpanOrder(_Order):
    """Other caps from one time of the day to another; a cap that is not given is the crawl's own."""

    start: Annotated[str, Field(alias="from", max_length=5, description="08:00, of local time.")] = "00:00"
    end: Annotated[str, Field(alias="to", max_length=5, description="18:00; over midnight if earlier.")] = "24:00"
    rate: Annotated[float | None, Field(ge=0, description="Pages a second; 0 is no cap.")] = None
    bandwidth: Annotated[int | None, Field(ge=0, description="Bytes a second; 0 is no cap.")] = None
    days: Annotated[str, Field(max_length=60, description="Mon-Fri or Sat,Sun; empty is every day.")] = ""
    pause: Annotated[bool, Field(description="Visit nobody then.")] = False


class LimitsOrder(_Order):
    """Those not given stay as they are."""

    rate: Annotated[float | None, Field(ge=0, description="Pages a second; 0 is no cap.")] = None
    bandwidth: Annotated[int | None, Field(ge=0, description="Bytes a second; 0 is no cap.")] = None
    delay: Annotated[float | None, Field(ge=0, description="Seconds between two visits to a host.")] = None
    connections: Annotated[int | None, Field(ge=1, le=20_000, description="In all.")] = None
    schedule: Annotated[list[SpanOrder] | None, Field(max_length=100, description="The first match holds.")] = None

    def given(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True)
