"""docs/configuration.md, made from the options themselves so that it cannot lie."""

from __future__ import annotations

from gossamer.config.apps import APP_OPTIONS
from gossamer.config.hosts import HOST_OPTIONS
from gossamer.config.option import Option
from gossamer.config.options import OPTIONS, SECTIONS
from gossamer.config.tables import Options
from gossamer.config.urls import URL_OPTIONS

_INTRODUCTION = """\
# Configuration

<!-- Made by `python -m gossamer.config > docs/configuration.md`; a test compares them. -->

Every option has a default that a newcomer never needs to touch. Options stand in a TOML file given with
`--config FILE`, and those with a flag on the command line, which wins over the file. A crawl's directory keeps what it
runs with in `gossamer.toml`; going on with a crawl starts from there, unless another file is given. Only the limits of
a run (marked *this run*) are not taken over. Options marked *live*, and the tables of hosts and URLs, may be changed in
`gossamer.toml` while the crawl runs: it takes them up within two seconds, and says so. Those marked *machine* may be
given to an agent of a [cluster](cluster.md) for itself; all others hold for all agents of a crawl.

```toml
[policy]
delay = "2s"

[fetch]
contact = "https://example.org/our-crawler"
connections = 64
```

Durations: `250ms`, `10s`, `1.5m`, `2h`, `1d`, `1h30m`; a plain number is seconds. Sizes: `2MB`, `5M` and `1G` count in
thousands, `512KiB` and `1Gi` in 1024s; a plain number is bytes. List options take several values on the command line by
repeating the flag or with commas; `--include` and `--exclude` only by repeating, since a regular expression may contain
a comma. An unknown section or option is an error that names the nearest known one.
"""


_HOSTS = """\
## [hosts."PATTERN"]

Settings for some hosts. The pattern (`*.example.org`) is compared with the host's name; the first that matches holds.

```toml
[hosts."*.example.org"]
delay = "5s"
max_pages = 1000
```
"""

_URLS = """\
## [urls."PATTERN"]

Settings for some URLs. The pattern is a regular expression, searched for in the URL as `--include` is; the first that
is found holds. Between single quotes a backslash need not be doubled.

```toml
[urls.'/forum/|[?&]print=']
priority = 8
max_pages = 500
```
"""


_PARTITIONS = """\
## [partitions]

Domains that are pinned to agents of a [cluster](cluster.md#partitions): a rule and the name of an agent. Fixed when a
crawl is made.

```toml
[partitions]
".edu" = "agent-a"
"example.org" = "agent-b"
```
"""


_APPS = """\
## [apps.NAME]

[Applications](applications.md) that run on the crawl, and their shares of its speed. `links` and `recrawl` are what the
crawl does by itself: of these only the share is said. Taken up when a crawl is started.

```toml
[apps.prices]
run = "shop.prices:Prices"
share = 2

[apps.links]
share = 1
```
"""


def markdown() -> str:
    parts = [_INTRODUCTION]
    for section, cls in SECTIONS.items():
        parts.append(f"## [{section}]\n\n{cls.__doc__}\n")
        rows = ["| option | flag | default | meaning | cost |", "|---|---|---|---|---|"]
        rows += [_row(option) for option in OPTIONS.values() if option.section == section]
        parts.append("\n".join(rows) + "\n")
    parts += [
        _HOSTS,
        _meanings(HOST_OPTIONS),
        _URLS,
        _meanings(URL_OPTIONS),
        _PARTITIONS,
        _APPS,
        _meanings(APP_OPTIONS),
    ]
    return "\n".join(parts)


def _meanings(options: Options) -> str:
    rows = ["| option | meaning |", "|---|---|", *(f"| `{key}` | {meaning} |" for key, (_, meaning) in options.items())]
    return "\n".join(rows) + "\n"


def _row(option: Option) -> str:
    flag = " ".join(filter(None, [option.flag, option.metavar]))
    default = option.kind.show(option.default) or "empty"
    cells = [
        f"`{option.key}`",
        f"`{flag}`" if flag else "",
        default if default in ("none", "empty") else f"`{default}`",
        option.help
        + (" *This run.*" if option.once else "")
        + (" *Live.*" if option.live else "")
        + (" *Machine.*" if option.local else ""),
        option.cost,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
