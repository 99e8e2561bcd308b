"""The pages that people see: search, stored copies, domains, hosts, the dashboard and its controls, the report, login.

Rendered here; a browser needs no script.
"""

from __future__ import annotations

from gossamer.service.pages import assets, controls, copies, dashboard, domains, hosts, login, report, search, urls

_PAGES = (assets, search, copies, domains, hosts, urls, controls, dashboard, report, login)
ROUTERS = tuple(page.router for page in _PAGES)
