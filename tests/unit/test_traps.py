"""What looks like a trap, and what must not: URLs of real sites, in shapes that come near."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.url import normalize
from gossamer.rules.parameters import MAX_PARAMETERS, explodes
from gossamer.rules.scope import Scope

NOW = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
judge = Scope("any", now=NOW).judge
at = partial(str.__add__, "https://www.example.org")

# Each is a shape that some rule looks at, as it is found on real sites.
REAL = """
/django/django/blob/main/django/db/models/base.py
/scala/scala/tree/2.13.x/src/library/scala/collection/immutable
/gradle/gradle/blob/master/platforms/jvm/plugins-java/src/main/java/org/gradle/api/plugins/JavaPlugin.java
/numpy/numpy/tree/main/numpy/core/tests
/torvalds/linux/tree/master/tools/include/linux
/gtk/gtk/-/tree/main/gtk/a11y
/maven2/org/apache/maven/plugins/maven-plugin-plugin/maven-metadata.xml
/maven2/org/codehaus/groovy/groovy/groovy-all/2.4/
/repos/asf/commons/lang/trunk/src/main/java/org/apache/commons/lang/builder/
/apidocs/org/apache/log4j/log4j/Logger.html
/en/java/javase/17/docs/api/java.base/java/util/concurrent/atomic/package-summary.html
/api/java.xml/org/w3c/dom/css/CSSRule.html
/wiki/User_talk:Example/Archive/2019/Archive/3
/w/index.php?title=Special:Log&type=delete&page=A&year=2019&month=5
/wiki/2031
/wiki/2050_in_film
/2026/05/31/a-title/
/2028/12/
/news/2019/2019-05-03/2019-05-03-a-title.html
/archive/1863/05/06/page/4/
/lccn/sn83030214/1912-05-03/ed-1/seq-1/
/tiles/12/2031/5
/tiles/12/2031/1365.png
/products/2031/
/product/2045/7
/node/2031/5
/node/2031/12
/item/20310503
/parts/1756-05
/catalog/2040-12
/issues/2199
/questions/20310503/how-to
/RFC2031/10/
/cars?year=1965&make=ford
/cars?year=2027
/movies?year=2031
/search?from=2020-01-01&to=2099-12-31
/export?end_date=2099-12-31&page=2
/search?q=2031-05-03
/board?id=2031&m=5
/a/b/a/b/
/1/1/1/
/2024/1/1/
/maps/@52.5,13.4,12z/52/13/12/52/13/12
/login?next=%2Flogin%3Fnext%3D%252Fhome
/share?u=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D2
/buglist.cgi?bug_status=NEW&bug_status=ASSIGNED&bug_status=REOPENED&product=A&product=B&component=x&component=y
/shop?f[]=1&f[]=2&f[]=3&f[]=4&f[]=5&f[]=6&f[]=7&f[]=8
/form?a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=&q=&r=&s=&t=&u=&v=&w=&x=&y=&z=
/q?what???
/x?a=1&&&&b=2
/search?q=a+%26+b+%3F+c+%3F
/events/2026/11/
/events/2028-12-24/
/calendar/month/2027-01/
/calendar?month=5&year=2028
/agenda/1999/12/
/events/1024
/schedule/2031
""".split()

TRAPS = {
    "trap-repeated": """
/a/a/a
/images/images/images/logo.png
/news/x/news/y/news/
/en/about/en/contact/en/imprint
/docs/en/a/docs/en/b/docs/en/c
/a/x/b/a/c/d/a/e/f/a/
""",
    "trap-calendar": """
/calendar/2031/5/
/calendar/2031/05/03
/calendar/2031/12/
/calendar/2031-05-03/
/calendar/20310503
/calendar/1969/12/
/calendar/1815/6/18/
/events/2031-05/
/events/month/2031-05/
/2031/05/
/2031/5/
/2031/12/
/2031/5/3/
/blog/2031/05/03/
/2031-05-03
/x/2031-05-03/list
/?m=203105
/?m=20310503
/cal.php?date=2031-05-03
/x?date=2031-05-03&view=list
/x?date=20310503
/x?date=2031%2F5%2F3
/x?month=2031-05
/x?start_date=2031-05-03T00:00
/x?tribe-bar-date=2031-05-03
/x?year=2031&month=5
/x?month=05&yr=2031
/x?a=b&y=2031&m=5&d=3
/cal/?cal_year=2031&cal_month=5
/calendar?year=1950&month=5
/calendar?view=week&year=2031
""",
    "trap-parameters": """
/x?a=1&a=1&a=1
/x?a=1&b=2&a=1&c=3&a=1
/login?return=/x?return=/x?return=/x
/login?return=%2Flogin%3Freturn%3D%252Flogin%253Freturn%253D
/x?u=%252525
/x?a=1&amp;amp;amp;b=2
""",
}


@pytest.mark.parametrize("path", REAL)
def test_real_pages_are_let_in(path: str) -> None:
    assert judge(at(path)) == ""


@pytest.mark.parametrize(
    ("reason", "path"), [(reason, path) for reason, paths in TRAPS.items() for path in paths.split()]
)
def test_traps_are_seen(reason: str, path: str) -> None:
    assert normalize(at(path)) == at(path), "this is not how the crawl writes it"
    assert judge(at(path)) == reason


def test_the_years_of_a_calendar_move_with_time() -> None:
    url = "https://www.example.org/calendar/2029/1/"
    assert judge(url) == "trap-calendar"
    assert Scope("any", now=NOW + 365.25 * 86_400).judge(url) == ""
    assert Scope("any").judge(url) == ""  # time is not known


def test_a_calendar_ends() -> None:
    """Month by month, forwards and backwards, from where a crawl meets it."""
    months = [month for month in range(12 * 3000) if not judge(at(f"/calendar/{month // 12:04d}/{month % 12 + 1}/"))]
    assert set(range(12 * 1970, 12 * 2029)) <= set(months)
    assert not set(months) & (set(range(12 * 1900, 12 * 1970)) | set(range(12 * 2029, 12 * 2200)))


def test_numbers_of_parameters_that_are_too_many() -> None:
    assert not explodes("&".join(f"p{number}={number}" for number in range(MAX_PARAMETERS)))
    assert explodes("&".join(f"p{number}={number}" for number in range(MAX_PARAMETERS + 1)))
    assert not explodes("&".join(f"p={number}" for number in range(16)))
    assert explodes("&".join(f"p={number}" for number in range(17)))


@given(st.text(st.sampled_from("/?&=%25F3D;amp.2031-05calend_y"), max_size=200))
def test_nothing_raises(rest: str) -> None:
    assert judge(at("/" + rest)) in ("", *TRAPS, "trap-depth")
