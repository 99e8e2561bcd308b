"""What the owners of sites list comes before what is found on their pages."""

from __future__ import annotations

from gossamer.rules.strategy import SeenPage, Strategy

_LATER = 7  # after all that sitemaps list, whose owners move it between 3 and 5


class SitemapFirst(Strategy):
    """Links of pages wait until nothing that a sitemap lists is left; hosts without one are visited breadth-first."""

    def order(self, page: SeenPage) -> list[int | None]:
        later = page.priority if page.redirects else _LATER
        return [later] * len(page.links)
