from __future__ import annotations

import pytest

from gossamer.config import ScopeConfig
from gossamer.errors import ConfigError
from gossamer.rules.scope import Scope
from gossamer.rules.traps import MAX_DIRECTORIES, looks_like_trap


def _scope(mode: str, *seeds: str) -> Scope:
    scope = Scope(mode)
    for seed in seeds:
        scope.admit_seed(seed)
    return scope


@pytest.mark.parametrize(
    ("mode", "inside", "outside"),
    [
        (
            "host",
            "http://www.example.co.uk/ https://www.example.co.uk/a",
            "http://example.co.uk/ http://www.example.co.uk:8080/ http://other.co.uk/",
        ),
        (
            "domain",
            "http://www.example.co.uk/ https://example.co.uk/ http://a.b.example.co.uk:8080/a?b",
            "http://other.co.uk/ http://co.uk/ http://notexample.co.uk/ http://example.co.uk.evil.org/",
        ),
        ("any", "http://www.example.co.uk/ https://other.org/ http://127.0.0.1/", ""),
    ],
)
def test_modes(mode: str, inside: str, outside: str) -> None:
    scope = _scope(mode, "http://www.example.co.uk/start")
    for _ in range(2):  # the second time from memory
        assert [scope.judge(url) for url in inside.split()] == [""] * len(inside.split())
        assert [scope.judge(url) for url in outside.split()] == ["scope"] * len(outside.split())


@pytest.mark.parametrize("mode", ["host", "domain", "any"])
def test_domains_take_the_place_of_seeds(mode: str) -> None:
    scope = Scope(mode, domains=(".th", "Example.org", "ไทย"))
    scope.admit_seed("http://seed.com/")
    inside = "http://a.th/ https://b.ac.th:8443/x http://example.org/ http://www.example.org/ http://a.xn--o3cw4h/"
    outside = "http://seed.com/ http://th.com/ http://ath/ http://notexample.org/ http://example.org.evil.com/ http://1.2.3.4/"
    for _ in range(2):  # the second time from memory
        assert {scope.judge(url) for url in inside.split()} == {""}
        assert {scope.judge(url) for url in outside.split()} == {"scope"}
    assert scope.has_host("b.ac.th:8443")
    assert not scope.has_host("seed.com")


def test_with_networks_besides_domains_the_address_is_to_be_judged_later() -> None:
    scope = Scope("host", exclude=("/private/",), domains=(".th",), networks=True)
    assert scope.judge("http://anywhere.com/") == ""
    assert scope.has_host("anywhere.com")
    assert scope.judge("http://anywhere.com/private/x") == "exclude"


def test_seeds_are_kept_though_domains_hold() -> None:
    """The settings may be changed: then the seeds' hosts count again."""
    assert Scope("domain", domains=(".th",), networks=True).admit_seed("http://seed.com/") == "seed.com"


def test_addresses_and_ports() -> None:
    scope = _scope("host", "http://127.0.0.1:8000/")
    assert scope.judge("http://127.0.0.1:8000/a") == ""
    assert scope.judge("http://127.0.0.1:8001/a") == "scope"
    scope = _scope("domain", "http://127.0.0.1:8000/")
    assert scope.judge("http://127.0.0.1:8001/a") == ""
    assert scope.judge("http://127.0.0.2:8000/a") == "scope"


def test_private_suffixes_keep_owners_apart() -> None:
    scope = _scope("domain", "https://someone.github.io/")
    assert scope.judge("https://other.github.io/") == "scope"
    assert scope.judge("https://www.someone.github.io/") == ""


def test_a_new_seed_changes_what_was_remembered() -> None:
    scope = _scope("domain", "http://one.example/")
    assert scope.judge("http://two.example/") == "scope"
    scope.admit_seed("http://www.two.example/")
    assert scope.judge("http://two.example/") == ""


def test_seeds_are_saved_and_loaded() -> None:
    scope = Scope("domain")
    seeds = ["http://www.one.example/", "https://two.example:8080/", "https://www.one.example/again"]
    saved = [scope.admit_seed(seed) for seed in seeds]
    assert saved == ["www.one.example", "two.example:8080", ""]
    again = Scope("host")
    assert again.judge("http://www.one.example/") == "scope"
    again.load(filter(None, saved))
    assert again.judge("http://www.one.example/") == ""
    assert again.judge("http://one.example/") == "scope"


def test_patterns() -> None:
    scope = Scope("any", include=[r"/docs/", r"\.html$"], exclude=[r"[?&]print=", r"/docs/old"])
    assert scope.judge("http://a.example/docs/x") == ""
    assert scope.judge("http://a.example/x.html") == ""
    assert scope.judge("http://a.example/x") == "include"
    assert scope.judge("http://a.example/docs/old/x") == "exclude"
    assert scope.judge("http://a.example/docs/?a&print=1") == "exclude"


@pytest.mark.parametrize("option", ["include", "exclude"])
@pytest.mark.parametrize("pattern", ["*.html", "(", "[a", "a{99999999999999999999}"])
def test_a_bad_pattern_is_named(option: str, pattern: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Scope("any", **{option: ["fine", pattern]})  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{option}: {pattern!r} is not a regular expression")


def test_an_unknown_mode_is_named() -> None:
    with pytest.raises(ConfigError, match="scope is 'site': it must be one of host, domain, any"):
        Scope("site")


def test_length() -> None:
    scope = Scope("any", max_url_length=30)
    assert scope.judge("http://a.example/" + "x" * 13) == ""
    assert scope.judge("http://a.example/" + "x" * 14) == "length"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.rules.scope._MAX_REMEMBERED", 100)
    scope = _scope("host", "http://h7.example/")
    for number in range(1000):
        assert scope.judge(f"http://h{number}.example/") == ("" if number == 7 else "scope")
    assert len(scope._inside) <= 100


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/", ""),
        ("/a/b/c", ""),
        ("/a/a", ""),
        ("/a/a/a", "trap-repeated"),
        ("/a/b/a/b", ""),
        ("/a/b/a/b/a", "trap-repeated"),
        ("/a/b/a/b/a/b", "trap-repeated"),
        ("/x/a/b/a/b/a/b/y", "trap-repeated"),
        ("/a/b/c/a/b/c/a/b/c/", "trap-repeated"),
        ("/a/b/a/c/a/d/a/e", "trap-repeated"),
        ("/?a/a/a/a/a/a", ""),
        ("/x?next=/a/a/a/a/a/a", ""),
        ("/tiles/0/0/0", ""),
        ("/2001/1/1/1/", ""),
        ("/page/2/page/2/page/2/", "trap-repeated"),
        ("/1/2/1/2/1/2/", "trap-repeated"),
        ("/a//////b", "trap-repeated"),
        ("/" + "/".join(map(str, range(20))) + "/", ""),
        ("/" + "/".join(map(str, range(20))) + "/x", ""),
        ("/" + "/".join(map(str, range(21))) + "/", "trap-depth"),
    ],
)
def test_traps(path: str, reason: str) -> None:
    assert looks_like_trap(path) == reason
    assert Scope("any").judge("http://a.example" + path) == reason


def test_the_depth_of_directories_can_be_set() -> None:
    assert ScopeConfig().max_directories == MAX_DIRECTORIES
    assert Scope.of(ScopeConfig(scope="any", max_directories=1), 0.0).judge("http://a.example/1/2/") == "trap-depth"
    scope = Scope("any", max_directories=3)
    assert scope.judge("http://a.example/1/2/3/x") == ""
    assert scope.judge("http://a.example/1/2/3/4/x") == "trap-depth"
    assert looks_like_trap("/1/2/3/4/", 3) == "trap-depth"
    assert Scope("any", max_directories=0).judge("http://a.example/1/x") == "trap-depth"
