"""Why a URL is not fetched though it is known."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Exclusion(StrEnum):
    """The closed list of rules that exclude a URL, kept in its visit and put into words by `explain`. A few reasons of
    faults exclude, too: see `Reason`.
    """

    SCOPE = "scope"  # on no host or registered domain of the seeds
    LENGTH = "length"  # the URL is too long
    HOST_NAME = "host_name"  # no server can have the name of its host
    EXCLUDE = "exclude"  # matches a pattern
    INCLUDE = "include"  # matches none
    REPEATED = "trap-repeated"  # the same directories again and again
    DEEP = "trap-depth"  # too many directories
    CALENDAR = "trap-calendar"  # a page of a year in which there is nothing
    PARAMETERS = "trap-parameters"  # a query that repeats itself, or has too many parameters
    DEPTH = "depth"  # deeper than the limit, which was lowered since it was found
    REDIRECTS = "redirects"  # too many in a row led to it
    DOMAIN_HOSTS = "domain_hosts"  # its registered domain has as many hosts as it may
    HOST_PAGES = "host_pages"  # its host has as many pages as it may
    PATTERN_PAGES = "pattern_pages"  # a pattern that it matches has
    BLOCKLIST = "blocklist"
    PURGED = "purged"  # it was fetched, and its host purged since
    SITEMAP = "sitemap"  # it was read for links, or could not be
    FEED = "feed"  # it was read for links


Judgement = Exclusion | Literal[""]
"""What a rule says of a URL: empty where nothing speaks against it."""
