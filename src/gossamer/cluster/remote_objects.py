"""Objects in a bucket: S3 and what speaks like it, Google's and Microsoft's. obstore is used in this file only."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import from_url

from gossamer.cluster.objects import MOST_NAMES, check_name
from gossamer.errors import ConfigError, ObjectsError

if TYPE_CHECKING:  # obstore has these for type checkers only
    from obstore.store import ClientConfig, RetryConfig

_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PART: Final = 8 << 20  # bytes of an upload's part: at most 10,000 of them, 80 GB
_AT_ONCE: Final = 2  # parts on their way
_PIECE: Final = 1 << 20
_RETRIES: Final = 5
_LONGEST_WHY: Final = 300


class RemoteObjects:
    """Credentials, region and endpoint come from the environment, or from the role of a machine in a cloud.

    At most about `_PART * (_AT_ONCE + 2)` bytes are in memory for an upload, whatever its size.
    """

    def __init__(self, place: str, retries: int = _RETRIES) -> None:
        parts = urlsplit(place)
        if not parts.netloc or "@" in parts.netloc or parts.query or parts.fragment:
            raise ConfigError(
                f"{parts.scheme}:// needs a bucket and a prefix only, as in {parts.scheme}://BUCKET/PREFIX: "
                "credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the like)"
            )
        self._place = place
        plain = any(os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS)
        # Long downloads are no failure while something comes; a connection on which nothing comes is one.
        client: ClientConfig = {"connect_timeout": "5s", "read_timeout": "60s", "timeout": "6h", "allow_http": plain}
        retry: RetryConfig = {"max_retries": retries, "retry_timeout": timedelta(seconds=60)}
        try:
            self._store = from_url(place, client_options=client, retry_config=retry)
        except (BaseError, ValueError) as error:
            raise ConfigError(f"{place} cannot be used as a place for checkpoints: {_why(error)}") from error

    async def put(self, name: str, pieces: AsyncIterator[bytes]) -> None:
        check_name(name)
        start, size = [], 0
        async for piece in pieces:
            start.append(piece)
            size += len(piece)
            if size >= _PART:
                break
        with self._ours(name):
            if size < _PART:
                await obstore.put_async(self._store, name, b"".join(start), use_multipart=False)
                return
            chain = _Chain(start, pieces)
            try:
                whole = chain.pieces()
                await obstore.put_async(self._store, name, whole, chunk_size=_PART, max_concurrency=_AT_ONCE)
                return
            except Exception:
                if chain.failed is None:
                    raise
        raise chain.failed

    async def get(self, name: str) -> AsyncIterator[bytes]:
        check_name(name)
        with self._ours(name):
            stream = (await obstore.get_async(self._store, name)).stream(_PIECE)
        while True:
            with self._ours(name):
                try:
                    piece = await anext(stream)
                except StopAsyncIteration:
                    return
            yield bytes(piece)

    async def delete(self, name: str) -> None:
        check_name(name)
        with self._ours(name), suppress(FileNotFoundError):
            await obstore.delete_async(self._store, name)

    async def names(self, prefix: str) -> list[str]:
        check_name(prefix)
        found: list[str] = []
        with self._ours(prefix):
            async for several in obstore.list(self._store, prefix):
                found += [one["path"] for one in several]
                if len(found) >= MOST_NAMES:
                    break
        return sorted(found[:MOST_NAMES])

    @contextmanager
    def _ours(self, name: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            if isinstance(error, PermissionDeniedError | UnauthenticatedError):
                todo = "Give this process credentials that may read, write, list and delete there (environment)"
            elif isinstance(error, FileNotFoundError) or "NoSuchBucket" in str(error):
                todo = "Is it the bucket that all agents of this crawl use, and is it there?"
            else:
                todo = "Is the store up, and are its address (AWS_ENDPOINT_URL), region and credentials right?"
            raise ObjectsError(f"{name} in {self._place}: {_why(error)}. {todo}") from error


class _Chain:
    """What was read ahead, then the rest. Keeps its error apart from those of the store."""

    def __init__(self, start: list[bytes], rest: AsyncIterator[bytes]) -> None:
        self.failed: Exception | None = None
        self._start = start
        self._rest = rest

    async def pieces(self) -> AsyncIterator[bytes]:
        while self._start:
            yield self._start.pop(0)
        try:
            async for piece in self._rest:
                yield piece
        except Exception as error:
            self.failed = error
            raise


def _why(error: Exception) -> str:
    """The sentence; what follows it is for those who debug the library."""
    return " ".join(str(error).partition("\n\nDebug source:")[0].split())[:_LONGEST_WHY].rstrip(".")
