"""The pages that people see: search, stored copies, domains, login. Rendered here; a browser needs no script."""

from __future__ import annotations

from gossamer.service.pages import assets, controls, copies, dashboard, domains, login, search

ROUTERS = (assets.router, search.router, copies.router, domains.router, controls.router, dashboard.router, login.router)
