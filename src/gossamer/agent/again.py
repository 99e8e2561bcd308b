"""When a URL is visited again and why then, in words; how often it changes, and whether its server can be believed."""

from __future__ import annotations

from typing import Final, Literal

from gossamer.agent.case import Case
from gossamer.agent.left_out import left_out
from gossamer.agent.numbers import about, share, span
from gossamer.agent.waiting import crawl_waits, others, soon_left_out, tried
from gossamer.frontier.outlook import Outlook
from gossamer.model import Exclusion, Reason, State

_MANY: Final = 100  # visits in a row: there may have been more
_CLOSE: Final = 0.1  # of an interval

NOT_NOW: Final = "It is not visited again for now"
"""The words for a URL that may not be visited."""

_VALIDATORS: Final = {
    "constant": "{} of its host {} the same though pages change: it is not asked for with {}.",
    "ignored": "To ask with its {} is no use, as the page comes all the same: that is tried only now and then.",
    "unproven": "Whether its {} can be believed is not known yet.",
    "believed": "Its {} can be believed: where the page has not changed, it is not sent again.",
}


def visited_again(case: Case) -> str:
    """Of a URL that was visited; empty where there is nothing to say."""
    visit, outlook = case.visit, case.outlook
    if visit is None or visit.state is State.QUEUED:
        return ""
    keeps = case.config.fresh.keep_fresh
    if outlook is None:
        taken_up = "When it is visited again is not known yet: pages of earlier runs are taken up one after the other."
        return taken_up if keeps and visit.state is State.FETCHED else ""
    said = [_changes(outlook), _copy(outlook)] if outlook.is_page else []
    if not keeps:
        return " ".join(filter(None, (*said, _off(case))))
    said.append(_when(case, outlook))
    if outlook.is_page and not outlook.missing:
        said.append(_asked(outlook))
    if case.host is not None and not case.host.queued:  # else the sentence of its host says it
        said.append(crawl_waits(case))
    return " ".join(filter(None, said))


# -- how it changes ----------------------------------------------------------------------------------------------------


def _changes(outlook: Outlook) -> str:
    every = f"about every {about(outlook.changes_every)}"
    if outlook.visited_once:
        return f"It was visited once; pages like it change {every}, by estimate."
    more = " or more" if outlook.unchanged >= _MANY else ""
    last = "at its last visit" if outlook.unchanged == 1 else f"at its last {outlook.unchanged}{more} visits"
    if outlook.changes:
        times = "once" if outlook.changes == 1 else f"{outlook.changes:,} times"
        seen = f"It was seen changed {times}" + (f", not {last}" if outlook.unchanged else "")
    else:
        seen = f"It was found unchanged {last}" if outlook.unchanged else "It was gone, and is there again"
    return f"{seen}; by estimate it changes {every}."


def _copy(outlook: Outlook) -> str:
    likely = share(outlook.freshness, 1)
    return "" if outlook.missing else f"The copy is {likely} likely to be what its server still shows."


# -- when --------------------------------------------------------------------------------------------------------------


def _off(case: Case) -> str:
    how = "keep_fresh is off" + ("" if case.directory.is_one_of_several else f" ({case.go_on} --keep-fresh)")
    if case.waiting is not None:
        asked = ", as somebody has asked for it" if case.waiting.requested else ""
        return f"It is queued to be visited again{asked}, and after that is not: {how}."
    return _not_now(case) or f"It is not visited again: {how}."


def _not_now(case: Case) -> str:
    reason = soon_left_out(case)
    if reason in (Exclusion.BLOCKLIST, Reason.ROBOTS):  # limits of pages are none of those that are there
        return f"{NOT_NOW}: {left_out(reason, case)}."
    return ""


def _when(case: Case, outlook: Outlook) -> str:
    if not_now := _not_now(case):
        return not_now
    if not outlook.due:
        requested = case.waiting is not None and case.waiting.requested
        why = "It was asked for" if requested else "It is due"
        waits = f"{why}, and waits in the queue of its host to be visited again."
        before = "" if case.host is None else others(case, case.host)
        return " ".join(filter(None, (waits, before, tried(case))))
    late = case.now - outlook.due
    when = f"in {span(-late)}" if late < 0 else f"{span(late)} ago"
    is_ = "is" if late < 0 else "was to be"
    if outlook.missing:
        visits = "visit" if outlook.missing == 1 else f"{outlook.missing} visits"
        return f"It was not to be had at its last {visits}, and {is_} looked for again {when}; its copy stays so long."
    assert case.visit is not None
    if case.visit.state is State.DEAD:
        return f"It {is_} tried again {when}: every {span(outlook.max_interval)} ({_setting(case, 'max_interval')})."
    if late >= 0:
        first = ", and other visits come first" if case.progress.running else ""
        return f"It has been due for {span(late)}{first}: {_why(case, outlook)}."
    return f"It is due {when}: {_why(case, outlook)}{_unusual(case, outlook)}."


def _why(case: Case, outlook: Outlook) -> str:
    """The interval between visits to it, and what that follows from."""
    like = "pages like it are" if outlook.is_page else "what is no page is"
    every = about(outlook.interval)
    if outlook.cause == "min_interval":
        return f"{like} visited not sooner than every {span(outlook.min_interval)} ({_setting(case, 'min_interval')})"
    if outlook.cause == "max_interval":
        return f"{like} visited at least every {span(outlook.max_interval)} ({_setting(case, 'max_interval')})"
    if outlook.cause == "chance":
        return f"{like} visited about every {every}, when a change is {share(outlook.chance, 1)} likely"
    if outlook.cause == "host":
        rest = 0.0 if case.host is None else case.host.delay
        return f"its host rests {rest:.3g} s between visits, so that {like} visited about every {every}"
    return f"with the speed there is, {like} visited about every {every}"


def _setting(case: Case, name: Literal["min_interval", "max_interval"]) -> str:
    rule = case.policy.urls.of(case.url) if case.policy.urls is not None else None
    if rule is not None and getattr(rule, name):
        return f'{name} of [urls."{rule.pattern}"]'
    if getattr(case.policy.manners(case.name), name):
        return f"{name} of its table in [hosts]"
    scarce = case.outlook is not None and case.outlook.max_interval > case.config.fresh.max_interval
    return "visits are too few for fresh.max_interval" if scarce and name == "max_interval" else f"fresh.{name}"


def _unusual(case: Case, outlook: Outlook) -> str:
    """Why it is visited sooner or later than that, this time."""
    assert case.visit is not None
    wait = outlook.due - case.visit.fetched_at
    if wait < (1 - _CLOSE) * outlook.interval:
        if outlook.visited_once:
            return "; the first time sooner, so that pages that were found together are not visited together"
        return "; this time sooner, by what was known at its last visit, or as a sitemap says that it has changed"
    if wait > (1 + _CLOSE) * outlook.interval:
        return "; this time later, by what was known at its last visit, or as it could not be visited"
    return ""


# -- what its host is believed -----------------------------------------------------------------------------------------


def _asked(outlook: Outlook) -> str:
    named = (("ETag", outlook.etag), ("Last-Modified", outlook.last_modified))
    said = []
    for standing, words in _VALIDATORS.items():
        names = [name for name, found in named if found == standing]
        stays, them = ("stay", "them") if len(names) > 1 else ("stays", "it")
        if names:
            said.append(words.format(" and ".join(names), stays, them))
    return " ".join(said) or "It has neither ETag nor Last-Modified, and is always fetched as a whole."
