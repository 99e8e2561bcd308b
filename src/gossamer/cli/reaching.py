"""How commands are told where the broker is: `--cluster` with an address, or `--dir` with a directory that knows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.cluster.broker import Broker

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--cluster",
        envvar="GOSSAMER_CLUSTER",
        metavar="URL",
        help="The broker: nats://USER@HOST:PORT or tls://, several with commas. The password is read from"
        " GOSSAMER_CLUSTER_PASSWORD.",
    ),
    click.option(
        "--cluster-ca",
        default="",
        show_default=False,
        envvar="GOSSAMER_CLUSTER_CA",
        metavar="FILE",
        help="Certificates that the broker's is signed by.",
    ),
    click.option(
        "--cluster-cert",
        default="",
        show_default=False,
        metavar="FILE",
        help="Our certificate, where the broker asks for one.",
    ),
    click.option("--cluster-key", default="", show_default=False, metavar="FILE", help="Its key."),
)


def broker_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def broker_of(
    cluster: str | None, directory: Path | None, cluster_ca: str, cluster_cert: str, cluster_key: str
) -> Broker:
    from gossamer.cluster.engine import need_client

    need_client()
    if cluster is not None:
        from gossamer.cluster.broker import parse_broker

        return parse_broker(cluster, *(_whole(file) for file in (cluster_ca, cluster_cert, cluster_key)))
    if directory is None:
        raise ConfigError("--cluster: give the broker's address, or --dir with the directory of a crawl or an agent")
    from gossamer.agent.broker_file import read_broker
    from gossamer.agent.crawl_dir import CrawlDir
    from gossamer.agent.warc_links import agent_homes

    broker = read_broker(directory)
    if agent_homes(directory) and not CrawlDir(directory).in_use():
        raise ConfigError(
            f"no crawl runs in {directory}, and its broker runs with it: gossamer crawl --dir {directory} goes on with"
            f" it, gossamer status --dir {directory} says what was reached"
        )
    return broker


def _whole(file: str) -> str:
    """As it is kept: another command may be started elsewhere."""
    return str(Path(file).absolute()) if file else ""
