"""What goes over the wire: requests as they came, responses as bytes or as a script that misbehaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus


class Request:
    """One request. `head` is its request line and header lines, each ended by CRLF; `secure` says it came over TLS."""

    __slots__ = ("body", "head", "host", "method", "secure", "target")

    def __init__(
        self, method: bytes, host: bytes, target: bytes, head: bytes, body: bytes = b"", secure: bool = False
    ) -> None:
        self.method = method
        self.host = host
        self.target = target
        self.head = head
        self.body = body
        self.secure = secure

    def header(self, name: str) -> str | None:
        value = find_header(self.head, name.encode())
        return None if value is None else value.decode("latin-1")

    @property
    def is_http_1_0(self) -> bool:
        return self.head[: self.head.find(b"\r\n")].endswith(b"HTTP/1.0")


def find_header(head: bytes, name: bytes) -> bytes | None:
    """The value of a header. Names as clients mostly write them are found without folding the case of the head."""
    at = head.find(b"\r\n" + name + b": ")
    if at < 0:
        at = head.lower().find(b"\r\n" + name.lower() + b":")
        if at < 0:
            return None
    start = at + len(name) + 3
    return head[start : head.find(b"\r\n", start)].strip()


class End(Enum):
    """What happens to the connection after the last part of a `Reply`."""

    KEEP = "keep"
    CLOSE = "close"
    HANG = "hang"  # nothing more comes, and it stays open
    RESET = "reset"  # TCP RST


@dataclass(slots=True)
class Reply:
    """A response in parts: bytes are sent, numbers are seconds to wait before the next part; then `end`.

    `parts` may be endless; it is taken only as fast as the client reads. `status` is what the arrival log says, 0 for
    replies that are no HTTP response.
    """

    parts: Iterable[bytes | float]
    end: End = End.KEEP
    status: int = 200

    @property
    def size(self) -> int:
        """Bytes in all, 0 where the parts are made while they are sent."""
        return sum(len(part) for part in self.parts if isinstance(part, bytes)) if isinstance(self.parts, tuple) else 0


_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}


def response(status: int, content_type: str, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """A whole response with the right Content-Length."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    kind = f"Content-Type: {content_type}\r\n" if content_type else ""
    length = "" if status in (204, 304) else f"Content-Length: {len(body)}\r\n"
    head = b"HTTP/1.1 %d %b\r\n" % (status, _REASONS.get(status, b"Unknown"))
    return head + (kind + lines + length + "\r\n").encode("latin-1") + body


def simple_page(status: int, title: str, text: str) -> bytes:
    """A short page without links, for what is missing or broken."""
    body = f'<!DOCTYPE html>\n<html lang="en"><title>{title}</title>\n<h1>{title}</h1>\n<p>{text}</p>\n</html>\n'
    return response(status, "text/html; charset=utf-8", body.encode())
