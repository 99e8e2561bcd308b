from collections.abc import Callable

import pycurl

from gossamer.fetch.route import Route
from gossamer.fetch.transfer import Limits, Transfer
from gossamer.model import Fault, Page, Visit

def announcer(transfer: Transfer, /) -> Callable[..., int]: ...
def bind(
    transfer: type[Transfer],
    limits: type[Limits],
    route: type[Route],
    visit: type[Visit],
    page: type[Page],
    url: int,
    address: int,
    /,
) -> None: ...
def body_taker(transfer: Transfer, /) -> Callable[[bytes], int | None]: ...
def finish(
    finished: list[pycurl.Curl],
    busy: dict[pycurl.Curl, Transfer],
    multi: pycurl.CurlMulti,
    free: list[Transfer],
    tail: bytes,
    otherwise: Callable[[Transfer, int, str, float], tuple[Visit, Page | Fault]],
    now: float,
    /,
) -> list[tuple[Visit, Page | Fault]]: ...
def start(
    visit: Visit,
    routes: dict[str, Route],
    now: float,
    free: list[Transfer],
    busy: dict[pycurl.Curl, Transfer],
    multi: pycurl.CurlMulti,
    /,
) -> bool: ...
