from __future__ import annotations

import dataclasses
import re
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.config import (
    OPTIONS,
    AppRule,
    Config,
    HostRule,
    Pause,
    Pin,
    UrlRule,
    app_of,
    connect_rule,
    default_contact,
    dns_server,
    has_contact,
    has_secrets,
    live_changes,
    load,
    local_values,
    user_agent,
)
from gossamer.config.apps import APP_OPTIONS
from gossamer.config.hosts import HOST_OPTIONS
from gossamer.config.kinds import (
    Choice,
    Decimal,
    Duration,
    DurationOrPart,
    Kind,
    Many,
    Size,
    Switch,
    Text,
    Whole,
    WholeOrNone,
)
from gossamer.config.options import SECTIONS
from gossamer.config.secrets import ProxyUrl
from gossamer.config.sections import FetchConfig
from gossamer.config.urls import URL_OPTIONS
from gossamer.errors import ConfigError


def written(path: Path, text: str) -> Path:
    file = path / "settings.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_nothing_given_gives_the_defaults() -> None:
    assert load() == Config()
    assert load().policy.delay == 1.0
    assert load().fetch.connections == 256
    assert load().scope.max_depth is None


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, '[policy]\ndelay = "3s"\nmax_tries = 2\n')
    config = load(file, {"policy.delay": "250ms"})
    assert (config.policy.delay, config.policy.max_tries) == (0.25, 2)


def test_what_is_not_given_on_the_command_line_stays(tmp_path: Path) -> None:
    assert load(written(tmp_path, "[fetch]\nconnections = 9"), {"fetch.connections": None}).fetch.connections == 9


def test_units_and_plain_numbers_in_a_file(tmp_path: Path) -> None:
    config = load(written(tmp_path, '[fetch]\ntimeout = 7\nmax_body = "2MB"\nbandwidth = 5000000\nrate = 3\n'))
    assert config.fetch.timeout == 7.0
    assert config.fetch.max_body == 2_000_000
    assert config.fetch.bandwidth == 5_000_000
    assert config.fetch.rate == 3.0


def test_lists_by_comma_and_by_repetition() -> None:
    config = load(None, {"scope.types": ["text/html, text/plain", "image/*"], "fetch.dns": "9.9.9.9,1.1.1.1:5353"})
    assert config.scope.types == ("text/html", "text/plain", "image/*")
    assert config.fetch.dns == ("9.9.9.9", "1.1.1.1:5353")


def test_a_comma_in_a_regular_expression_is_part_of_it() -> None:
    assert load(None, {"scope.include": [r"/\d{1,3}$", "b"]}).scope.include == (r"/\d{1,3}$", "b")


def test_a_limit_holds_for_one_run(tmp_path: Path) -> None:
    kept = written(tmp_path, Config().to_toml().replace("max_pages = 0", "max_pages = 10").replace('"1s"', '"2s"'))
    assert load(kept).agent.max_pages == 10
    resumed = load(kept, resumed=True)
    assert (resumed.agent.max_pages, resumed.policy.delay) == (0, 2.0)
    assert load(kept, {"agent.max_pages": "20"}, resumed=True).agent.max_pages == 20


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"policy.delay": "5x"}, "--delay: '5x' is not a duration such as 10s"),
        ({"policy.delay": "-1"}, "--delay: '-1' is not a duration of at least 0s and at most 1d"),
        ({"fetch.connections": "0"}, "--connections: '0' is not a whole number of at least 1 and at most 20,000"),
        ({"fetch.connections": "many"}, "--connections: 'many' is not a whole number"),
        ({"fetch.connections": 1.5}, "--connections: 1.5 is not a whole number"),
        (
            {"scope.max_depth": "-3"},
            "--max-depth: '-3' is not a whole number of at least 0 and at most 1,000,000,000,000, or none",
        ),
        ({"scope.include": ["a", "("]}, "--include: '(' is not a regular expression (missing )"),
        ({"scope.types": "text/html,html"}, "--types: 'html' is not a media type such as text/html"),
        ({"scope.networks": ["192.0.2.1/24"]}, "--networks: '192.0.2.1/24' is not a network such as"),
        ({"scope.domains": "example.org,10.0.0.0/8"}, "--domains: '10.0.0.0/8' is not a domain such as example.org or"),
        ({"scope.domains": "192.0.2.1"}, "--domains: '192.0.2.1' is not a domain such as"),
        ({"scope.domains": "*.example.org"}, "--domains: '*.example.org' is not a domain such as"),
        ({"scope.domains": "http://example.org/"}, "--domains: 'http://example.org/' is not a domain such as"),
        ({"scope.scope": "hosts"}, "--scope: 'hosts' is not one of host, domain, any; did you mean 'host'?"),
        ({"fetch.connect": "x=1"}, "--connect: 'x=1' is not PATTERN=IP:PORT"),
        ({"fetch.dns": ["dns.example"]}, "--dns: 'dns.example' is not the address of a DNS server"),
        ({"fetch.user_agent": "a\r\nX: y"}, r"--user-agent: 'a\r\nX: y' is not text of printable ASCII"),
        ({"fetch.user_agent": " "}, "--user-agent: ' ' is not text that is not empty"),
        ({"fetch.max_body": "1x"}, "fetch.max_body: '1x' is not a size such as"),
        ({"fetch.rate": "nan"}, "--rate: 'nan' is not a number"),
        ({"parse.follow": ["imgg"]}, "parse.follow: 'imgg' is not a kind of link; known are a, applet"),
        ({"policy.dealy": "1"}, "unknown option 'policy.dealy'; did you mean 'policy.delay'?"),
        ({"policy.host_connections": 50, "fetch.connections": 4}, "--host-connections (50) is more than --connections"),
        ({"fresh.min_interval": "2d", "fresh.max_interval": "1d"}, "[fresh] min_interval is longer than max_interval"),
        ({"scope.networks": "10.0.0.0/8"}, "--networks 10.0.0.0/8: private"),
        ({"scope.networks": "8.8.0.0/16,fd00::/8"}, "--networks fd00::/8: private"),
        ({"scope.networks": "100.64.0.0/10"}, "--networks 100.64.0.0/10: private"),
        ({"scope.reserved": ["fine", "  "]}, "scope.reserved: '  ' is not a text to look for in pages"),
        ({"scope.include": ["\udcff"]}, "is not text in UTF-8"),
        ({"fetch.proxy": "proxy:3128"}, "fetch.proxy: 'proxy:3128' is not the URL of a proxy with its port, such as"),
        ({"fetch.proxy": "http://me:secret@proxy"}, "fetch.proxy: 'http://proxy' is not the URL of a proxy"),
        ({"fetch.proxy": "me:secret@proxy:99999"}, "fetch.proxy: 'proxy:99999' is not the URL of a proxy"),
        ({"fetch.proxy": "ftp://me:sec@ret@proxy:21"}, "fetch.proxy: 'ftp://proxy:21' is not the URL of a proxy"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_expected(given_: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(None, given_)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[polcy]", "settings.toml: unknown section 'polcy'; did you mean 'policy'?"),
        ("[zzz]", "settings.toml: unknown section 'zzz'; known are scope, policy"),
        ("[policy]\ndealy = 1", "settings.toml: [policy] unknown option 'dealy'; did you mean 'delay'?"),
        ("[policy]\nmax_pages = 1", "settings.toml: [policy] 'max_pages' belongs in section [agent]"),
        ("delay = 1", "settings.toml: 'delay' belongs in section [policy]"),
        ("scope = 'host'", "settings.toml: scope is a section"),
        ("[policy]\ndelay = true", "settings.toml: policy.delay: True is not a duration"),
        ("[fetch]\nconnections = '12'", "settings.toml: fetch.connections: '12' is not a whole number"),
        ("[fetch]\nallow_private = 1", "settings.toml: fetch.allow_private: 1 is not true or false"),
        ("[scope]\ninclude = [1]", "settings.toml: scope.include: [1] is not a list of texts"),
        (
            "[hosts.'a.example']\nmin_interval = '2h'\nmax_interval = '1h'",
            'settings.toml: [hosts."a.example"] min_interval is longer than max_interval',
        ),
        ("[urls.'/a']\nmin_interval = '2h'\nmax_interval = '1h'", 'settings.toml: [urls."/a"] min_interval is longer'),
        ("x = [", "settings.toml: is not TOML"),
    ],
)
def test_a_wrong_file_is_named_with_the_option(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read \(No such file"):
        load(tmp_path / "nowhere.toml")


def test_private_networks_are_fine_when_allowed() -> None:
    overrides = {"scope.networks": "10.0.0.0/8", "fetch.allow_private": True}
    assert load(None, overrides).scope.networks == ("10.0.0.0/8",)


_TEXTS: dict[str, st.SearchStrategy[str]] = {
    "directories": st.sampled_from(["/disk2=3", "warc=0.5", "/a b/ü"]),
    "types": st.sampled_from(["text/html", "text/*", "*/*", "image/svg+xml"]),
    "domains": st.sampled_from([".th", "www.example.org", "ไทย"]),
    "networks": st.sampled_from(["8.8.0.0/16", "2001:4860::/32"]),
    "connect": st.sampled_from(["*=127.0.0.1:80", "*.a.example=[::1]:8080"]),
    "dns": st.sampled_from(["9.9.9.9", "127.0.0.1:5353", "[::1]:53"]),
    "blocklist": st.sampled_from(["example.org", "*.example.org", "example.org/forum/"]),
    "schedule": st.sampled_from(["Mon-Fri 08:00-18:00 rate=5", "22:00-06:00 bandwidth=1MB", "Sun pause"]),
    "ports": st.sampled_from(["80", "1024-65535", "6379"]),
    "follow": st.sampled_from(["a", "img", "link:next"]),
    "strategy_option": st.sampled_from(["words=solar panel", "hosts=3", "examples=/a b/ü.html"]),
    "reserved": st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip),
    "include": st.text(st.characters(exclude_categories=["Cs"])).map(re.escape),
    "exclude": st.text(st.characters(exclude_categories=["Cs"])).map(re.escape),
}


def values(key: str, kind: Kind[Any]) -> st.SearchStrategy[Any]:
    match kind:
        case Choice():
            return st.sampled_from(kind.names)
        case WholeOrNone():
            return st.none() | st.integers(0, int(kind.whole.maximum))
        case Whole() | Size():
            return st.integers(int(kind.minimum), int(kind.maximum))
        case Duration() | Decimal():
            return st.floats(kind.minimum, kind.maximum)
        case DurationOrPart():
            part = st.integers(1, 999_999).map(lambda number: Pause(parts=float(number)))
            return part | st.floats(0, kind.duration.maximum).map(Pause)
        case Switch():
            return st.booleans()
        case Text():
            return st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
        case ProxyUrl():
            return st.sampled_from(["", "http://proxy.example:3128", 'socks5h://na"me:p%40ss@[::1]:1080'])
        case Many():
            return st.lists(_TEXTS[key], max_size=3).map(tuple)
    raise AssertionError(f"no strategy for {key}")


_RULES = [
    HostRule("*.example.org", delay=0.0, priority=0),
    HostRule('say "hello"', connections=2, max_pages=10),
    HostRule("back\\slash", burst=20, delay=2.5, priority=9),
    HostRule("in.example", proxy="", user='me:"pä ss\\', headers=('X-Token: a"b\\c', "Cookie: id=1"), cookies=False),
    HostRule("news.example", min_interval=60.0, max_interval=3600.0),
    HostRule("out.example", proxy="socks5://n:p@127.0.0.1:1080", cookies=True),
    HostRule("slow.example", timeout=120.0, by="prices"),
]


_URL_RULES = [
    UrlRule("/forum/", priority=9, max_pages=500),
    UrlRule(r'\.pdf$|"\?\d{1,3}', priority=0),
    UrlRule("ü\t\x7f", max_pages=1),
    UrlRule("", priority=5),
    UrlRule("/archive/", min_interval=604800.0),
]


_APPS = [
    AppRule("links", share=2.5),
    AppRule("monitor", share=0.001),
    AppRule("prices", "shop.prices:Prices", 3.0, "parquet", 90.0, 2 * 10**9, '{"limit": 10, "words": ["a", "é"]}'),
    AppRule("web", "hidden-web", options='{"deep": {"er": true}}'),
]
_PINS = [Pin(".edu", "agent-a"), Pin("example.org", "b"), Pin("a_b.example", "a")]


@st.composite
def configs(draw: st.DrawFn) -> Config:
    sections = {
        section: cls(
            **{
                field.name: draw(values(field.name, OPTIONS[f"{section}.{field.name}"].kind))
                for field in dataclasses.fields(cls)
            }
        )
        for section, cls in SECTIONS.items()
    }
    fetch = sections["fetch"]
    fetch = dataclasses.replace(fetch, least_connections=min(fetch.least_connections, fetch.connections))
    sections["fetch"] = fetch
    sections["policy"] = dataclasses.replace(
        sections["policy"], host_connections=min(fetch.connections, sections["policy"].host_connections)
    )
    fresh = sections["fresh"]
    sections["fresh"] = dataclasses.replace(fresh, min_interval=min(fresh.min_interval, fresh.max_interval))
    rules = draw(st.lists(st.sampled_from(_RULES), max_size=3, unique_by=lambda rule: rule.pattern))
    urls = draw(st.lists(st.sampled_from(_URL_RULES), max_size=3, unique_by=lambda rule: rule.pattern))
    pins = draw(st.lists(st.sampled_from(_PINS), max_size=3, unique_by=lambda pin: pin.pattern))
    apps = draw(st.lists(st.sampled_from(_APPS), max_size=3, unique_by=lambda rule: rule.name))
    return Config(**sections, hosts=tuple(rules), urls=tuple(urls), partitions=tuple(pins), apps=tuple(apps))


@given(configs())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_what_is_written_reads_back_equal(tmp_path: Path, config: Config) -> None:
    assert load(written(tmp_path, config.to_toml())) == config


def test_the_written_file_explains_every_option() -> None:
    text = Config().to_toml()
    for option in OPTIONS.values():
        live = " (live)" if option.live else ""
        assert f"# {option.help}{live}\n{option.key} = " in text


@pytest.mark.parametrize(
    ("name", "contact", "header"),
    [
        ("gossamer/0.1", "me@example.org", "gossamer/0.1 (+mailto:me@example.org)"),
        ("gossamer/0.1", "mailto:me@example.org", "gossamer/0.1 (+mailto:me@example.org)"),
        ("gossamer/0.1", "https://example.org/bot", "gossamer/0.1 (+https://example.org/bot)"),
        ("mybot (+https://example.org/bot)", "https://example.org/bot", "mybot (+https://example.org/bot)"),
        ("mybot (+https://example.org/bot)", "", "mybot (+https://example.org/bot)"),
    ],
)
def test_the_user_agent_contains_the_contact(name: str, contact: str, header: str) -> None:
    fetch = FetchConfig(user_agent=name, contact=contact)
    assert user_agent(fetch) == header
    assert has_contact(fetch)


def test_without_a_contact_the_user_and_host_are_named() -> None:
    fetch = FetchConfig()
    assert not has_contact(fetch)
    assert re.fullmatch(r"[\w.+-]+@[\w.-]+", default_contact())
    assert user_agent(fetch) == f"gossamer/0.1 (+mailto:{default_contact()})"


def test_the_default_user_agent_carries_the_version_of_the_project() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(\d+\.\d+)', project, re.M)
    assert found
    assert FetchConfig().user_agent == f"gossamer/{found[1]}"


def test_connect_rules_and_dns_servers() -> None:
    assert connect_rule("*.Example.org=127.0.0.1:8080") == ("*.example.org", "127.0.0.1", 8080)
    assert connect_rule("*=[::1]:80") == ("*", "::1", 80)
    assert dns_server("9.9.9.9") == ("9.9.9.9", 53)
    assert dns_server("::1") == ("::1", 53)
    assert dns_server("[::1]:5353") == ("::1", 5353)
    for wrong in ["=1.2.3.4:80", "*=1.2.3.4", "*=host:80", "*=1.2.3.4:0", "*=1.2.3.4:65536", "a b=1.2.3.4:80"]:
        with pytest.raises(ValueError, match="PATTERN=IP:PORT"):
            connect_rule(wrong)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().policy.delay = 0.0  # type: ignore[misc]


def test_host_rules_are_read_and_mistakes_named(tmp_path: Path) -> None:
    text = '[hosts."*.Example.org"]\ndelay = "5s"\nmax_pages = 10\n[hosts."*"]\npriority = 7\n'
    assert load(written(tmp_path, text)).hosts == (
        HostRule("*.example.org", delay=5.0, max_pages=10),
        HostRule("*", priority=7),
    )
    for wrong, words in [
        ('[hosts."a"]\ndelya = 1\n', r'\[hosts."a"\] unknown option .delya.; did you mean .delay.'),
        ('[hosts."a"]\npriority = 12\n', r'\[hosts."a"\] priority: 12 is not'),
        ("[hosts]\na = 1\n", "is a table"),
        ("hosts = 1\n", "hosts"),
        ('[hosts."a"]\nproxy = "x"\n', r'\[hosts."a"\] proxy: .x. is not the URL of a proxy'),
        ('[hosts."a"]\nuser = "a:b"\nheaders = ["authorization: x"]\n', "both user and an Authorization header"),
        ('[hosts."a"]\ncookies = 1\n', r'\[hosts."a"\] cookies: 1 is not true or false'),
    ]:
        with pytest.raises(ConfigError, match=words):
            load(written(tmp_path, wrong))


def test_url_rules_are_read_and_mistakes_named(tmp_path: Path) -> None:
    text = """[urls.'\\.PDF$']\npriority = 9\n[urls."/forum/"]\nmax_pages = 10\npriority = 0\n"""
    assert load(written(tmp_path, text)).urls == (
        UrlRule(r"\.PDF$", priority=9),
        UrlRule("/forum/", priority=0, max_pages=10),
    )
    for wrong, words in [
        ('[urls."a"]\npriorty = 1\n', r'\[urls."a"\] unknown option .priorty.; did you mean .priority.'),
        ('[urls."a"]\npriority = 12\n', r'\[urls."a"\] priority: 12 is not a whole number of at least 0 and at most 9'),
        ('[urls."a"]\nmax_pages = 0\n', r'\[urls."a"\] max_pages: 0 is not a whole number of at least 1'),
        ('[urls."*.pdf"]\npriority = 1\n', r"'\*\.pdf' is not a regular expression \(nothing to repeat"),
        ('[urls."a{99999999999999999999}"]\npriority = 1\n', "is not a regular expression"),
        ('[urls."a"]\n', r'\[urls."a"\] says nothing: give it priority or max_pages'),
        ("[urls]\na = 1\n", "is a table"),
        ("urls = 1\n", "urls is a section: write"),
    ]:
        with pytest.raises(ConfigError, match=words):
            load(written(tmp_path, wrong))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('user = "hush-hush"', r"user: '…' is not name:password"),
        ('user = "me:hush\\nX: y"', r"user: '…' is not name:password"),
        ("user = ['hush']", r"user: '…' is not name:password"),
        ('headers = ["hush hush"]', "headers: '…' is not a header such as"),
        ('headers = ["X-Token: hush\\r\\nX: y"]', "headers: 'X-Token' is not a header such as"),
        ('headers = ["X-Token:"]', "headers: 'X-Token' is not a header such as"),
        ('headers = ["Host: hush"]', "headers: 'Host' is not a header that can be set here"),
        ('headers = ["user-agent: hush"]', "headers: 'user-agent' is not a header that can be set here"),
        ('headers = ["If-None-Match: hush"]', "headers: 'If-None-Match' is not a header that can be set here"),
        ('headers = ["If-Range: hush"]', "headers: 'If-Range' is not a header that can be set here"),
    ],
)
def test_what_is_wrong_with_a_secret_is_said_without_it(tmp_path: Path, setting: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load(written(tmp_path, f'[hosts."a"]\n{setting}\n'))
    assert "hush" not in str(caught.value)


def test_secrets_are_not_printed_with_the_settings(tmp_path: Path) -> None:
    text = '[fetch]\nproxy = "http://me:hush@p:1"\n[hosts."a"]\nuser = "me:hush"\nheaders = ["X: hush"]\nproxy = "http://:hush@p:1"\n'
    config = load(written(tmp_path, text))
    assert "hush" in config.to_toml()
    assert "hush" not in repr(config)
    assert has_secrets(config)
    assert not has_secrets(load(None, {"fetch.proxy": "http://p:1"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partitions = 3", r"write \[partitions\]"),
        ('[partitions]\n"no domain" = "a"', "is no domain"),
        ('[partitions]\n".edu" = "Agent A"', "is no name of an agent"),
        ('[partitions]\n".edu" = 3', "is no name of an agent"),
        ("[partitions]\n" + "\n".join(f'"d{n}.example" = "a"' for n in range(1001)), "more than 1000 pins"),
        ('[cluster]\nforeign = "firewal"', "did you mean 'firewall'"),
        ("[cluster]\nagents = 0", "of at least 1"),
    ],
)
def test_mistakes_about_agents_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(written(tmp_path, text))


def test_pins_do_not_change_while_a_crawl_runs(tmp_path: Path) -> None:
    pinned = load(written(tmp_path, '[partitions]\n".edu" = "a"'))
    taken, live, others = live_changes(Config(), pinned)
    assert (taken.partitions, live, others) == ((), [], ["partitions"])


def test_a_machine_has_its_own_options_and_no_others(tmp_path: Path) -> None:
    file = written(tmp_path, '[fetch]\nconnections = 9\n[frontier]\nmemory = "1GiB"')
    assert local_values(file) == {"fetch.connections": 9, "frontier.memory": 1024**3}
    for text, name in (("[policy]\ndelay = 3", "policy.delay"), ('[partitions]\n".edu" = "a"', r"\[partitions\]")):
        with pytest.raises(ConfigError, match=f"{name} is the same for all agents"):
            local_values(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[apps]\na = 1\n", "is a table"),
        ("apps = 1\n", "apps is a section"),
        ('[apps."Big Name"]\nshare = 1\n', "is no name"),
        ("[apps.a]\nrun = 'no colon here'\n", r"run: 'no colon here' is not package.module:Class"),
        ("[apps.a]\nshare = 0\n", "share: 0 is not a number of at least 0.001"),
        ("[apps.a]\nshaer = 1\n", "unknown option 'shaer'; did you mean 'share'"),
        ("[apps.links]\nrun = 'a:B'\n", "unknown option 'run'"),
        ("[apps.a]\noptions = 3\n", "is not a table"),
        ("".join(f"[apps.a{number}]\n" for number in range(15)), "more than 14 applications"),
    ],
)
def test_a_table_of_an_application_that_is_none_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        load(written(tmp_path, text))


def test_an_application_on_the_command_line() -> None:
    assert app_of("shop.prices:Prices") == AppRule("prices", "shop.prices:Prices")
    assert app_of("p=shop:Prices,share=2,format=parquet,words=10,deep=true,name=x") == AppRule(
        "p", "shop:Prices", 2.0, "parquet", options='{"deep": true, "name": "x", "words": 10}'
    )
    assert app_of("hidden-web") == AppRule("hidden-web", "hidden-web")
    for wrong in ("links=a:B", "a:B,share=none", "a:B,share", "no colon", "A=a:B"):
        with pytest.raises(ValueError, match=r"\w"):
            app_of(wrong)


def test_every_number_has_two_bounds() -> None:
    kinds = [option.kind for option in OPTIONS.values()]
    for options in (HOST_OPTIONS, URL_OPTIONS, APP_OPTIONS):
        kinds += [kind for kind, _ in options.values()]
    numbers = [getattr(kind, "whole", getattr(kind, "duration", kind)) for kind in kinds]
    bounds = [(kind.minimum, kind.maximum) for kind in numbers if isinstance(kind, Whole | Decimal | Size)]
    assert len(bounds) > 40
    assert all(isfinite(least) and isfinite(most) for least, most in bounds)


@pytest.mark.parametrize(
    ("option", "value", "most"),
    [
        ("policy.delay", "3153600000", "1d"),
        ("policy.delay", "1e18", "1d"),
        ("policy.domain_delay", "2d", "1d"),
        ("fetch.timeout", "36h", "1d"),
        ("fresh.max_interval", "11000d", "3650d"),
        ("fetch.rate", "1e9", "1,000,000"),
        ("agent.max_pages", "9999999999999", "1,000,000,000,000"),
        ("fetch.bandwidth", "99999TB", ""),
    ],
)
def test_what_nobody_can_mean_is_refused(option: str, value: str, most: str) -> None:
    with pytest.raises(ConfigError, match=f"is not .* and at most {most}"):
        load(None, {option: value})
