"""Where a cluster's broker is and how one is let in: from the command line, or as kept in a directory."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.cluster.nats_coordinator import NatsCoordinator
    from gossamer.cluster.nats_link import Link

PASSWORD: Final = "GOSSAMER_CLUSTER_PASSWORD"  # noqa: S105 - in the environment: all see words of a command line
BUCKET: Final = "crawl"  # of the keys that all agents agree on
_PORT: Final = 4222
_MANY: Final = 3  # servers that make up one broker: then everything is kept three times


class Broker(msgspec.Struct, frozen=True, kw_only=True):
    """`addresses` are without user and password. `name` is that of the agent whose directory this is kept in."""

    addresses: tuple[str, ...] = ()
    user: str = ""
    password: str = ""
    ca: str = ""  # files: certificates that the broker's must be signed by; our own certificate and its key
    cert: str = ""
    key: str = ""
    name: str = ""

    def __repr__(self) -> str:
        return f"Broker({', '.join(self.addresses)})"  # without what is secret

    async def connect(self, name: str = "") -> Link:
        """`name` is shown in the broker's list of connections. UnavailableError if it does not answer."""
        from gossamer.cluster.nats_link import Credentials, Link, check_addresses

        credentials = Credentials(self.user, self.password) if self.user else None
        check_addresses(self.addresses, credentials)
        return await Link.open(self.addresses, credentials, tls=self._tls(), name=f"gossamer {name}".strip())

    def _tls(self) -> ssl.SSLContext | None:
        if not self.ca and not self.cert and not any(each.startswith("tls:") for each in self.addresses):
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca or None)
        except (OSError, ValueError) as error:
            raise ConfigError(f"--cluster-ca: {self.ca} holds no certificates that can be read ({error})") from None
        if self.cert:
            try:
                context.load_cert_chain(self.cert, self.key or None)
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"--cluster-cert: {self.cert} and its key cannot be read ({error}): give the certificate with"
                    " --cluster-cert and its key with --cluster-key, both PEM"
                ) from None
        return context


def parse_broker(text: str, ca: str = "", cert: str = "", key: str = "") -> Broker:
    """`nats://user:password@host:port`, several with commas between; the password may be in the environment."""
    found = [_address(part.strip()) for part in text.split(",") if part.strip()]
    if not found:
        raise ConfigError("--cluster: give the broker's address: nats://USER@HOST:PORT, or tls://")
    logins = {(parts.username, parts.password) for parts in found if parts.username}
    if len(logins) > 1:
        raise ConfigError("--cluster: several users are given: all servers of one broker know the same one")
    user, password = next(iter(logins), (None, None))
    if key and not cert:
        raise ConfigError("--cluster-key: give the certificate, too, with --cluster-cert")
    broker = Broker(
        addresses=tuple(_without_login(parts) for parts in found),
        user=unquote(user or ""),
        password=unquote(password or "") or (os.environ.get(PASSWORD, "") if user else ""),
        ca=ca,
        cert=cert,
        key=key,
    )
    if broker.user and not broker.password:
        raise ConfigError(f"--cluster: the user {broker.user} has no password: set {PASSWORD} in the environment")
    return broker


async def open_keys(link: Link) -> NatsCoordinator:
    """What all agents agree on; made if it is not there."""
    from gossamer.cluster.nats_coordinator import NatsCoordinator

    return await NatsCoordinator.open(link, BUCKET, replicas_of(link))


def replicas_of(link: Link) -> int:
    """How often a broker of so many servers is to keep everything."""
    return _MANY if len(link.client.servers) >= _MANY else 1


def _address(text: str) -> SplitResult:
    try:
        parts = urlsplit(text if "://" in text else f"nats://{text}")
        if parts.scheme not in ("nats", "tls") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError
        _ = parts.port
    except ValueError:
        # What stands before the @ may be a password.
        shown = text.rpartition("@")[2]
        raise ConfigError(
            f"--cluster: {shown!r} is no address of a broker: write nats://USER@HOST:PORT or tls://USER@HOST:PORT"
        ) from None
    return parts


def _without_login(parts: SplitResult) -> str:
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{parts.port or _PORT}"
