"""Classes of applications by name: `package.module:Class`, or the name of an entry point `gossamer.apps`."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final

from gossamer.agent.application import Application, made
from gossamer.config import AppRule
from gossamer.errors import ConfigError

ENTRY_POINTS: Final = "gossamer.apps"


def installed() -> dict[str, str]:
    """Names of applications that packages brought, and where each is."""
    return {point.name: point.value for point in sorted(entry_points(group=ENTRY_POINTS))}


def find(run: str) -> object:
    """The class; raises ConfigError that says what is wrong."""
    if ":" not in run:
        known = installed()
        if run not in known:
            names = ", ".join(known) or "none"
            raise ConfigError(f"--app: no application {run!r} is installed (there are: {names}); or give module:Class")
        run = known[run]
    module, _, name = run.partition(":")
    here = os.getcwd()  # as with `python -m`: an application may stand beside the one who starts it
    if here not in sys.path:
        sys.path.append(here)
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise ConfigError(f"--app {run}: {error}; install it, or start in the folder that it is in") from None
    except AttributeError:
        raise ConfigError(f"--app {run}: the module {module} has no {name}") from None
    except Exception as error:  # whatever a user's module does when it is loaded
        raise ConfigError(f"--app {run}: it cannot be loaded: {type(error).__name__}: {error}") from error


def application_of(rule: AppRule) -> Application:
    application = made(find(rule.run), json.loads(rule.options), f"[apps.{rule.name}] {rule.run}")
    if application.post and application.post != rule.post:
        raise ConfigError(f"[apps.{rule.name}] post stands beside run, not in options: the crawl must know it, too")
    application.post = rule.post
    return application
