"""The pages that people see: search, stored copies, domains, login. Rendered here; a browser needs no script."""

from __future__ import annotations

from gossamer.service.pages import assets, controls, copies, domains, login, search

ROUTERS = (assets.router, search.router, copies.router, domains.router, controls.router, login.router)
