"""The pages that people see: search, copies, domains, hosts, dashboard and controls, changes, the report, watches,
the API, login.

Rendered here; a browser needs no script.
"""

from __future__ import annotations

from gossamer.service.pages import (
    assets,
    changed,
    controls,
    copies,
    dashboard,
    docs,
    domains,
    hosts,
    login,
    report,
    search,
    urls,
    watches,
)

_PAGES = (assets, search, copies, domains, hosts, urls, controls, dashboard, changed, report, watches, docs, login)
ROUTERS = tuple(page.router for page in _PAGES)
