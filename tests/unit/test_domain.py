from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from gossamer.model.domain import partition_of, registered_domain, reversed_host, unreversed_host, wrong_name
from gossamer.model.url import host_of, normalize


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("www.example.org", "example.org"),
        ("a.b.c.example.org:8080", "example.org"),
        ("www.example.co.uk", "example.co.uk"),
        ("someone.github.io", "someone.github.io"),
        ("deep.someone.github.io", "someone.github.io"),
        ("co.uk", "co.uk"),
        ("github.io", "github.io"),
        ("org", "org"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost"),
        ("a.b.notatoplevel", "b.notatoplevel"),
        ("www.xn--bcher-kva.xn--p1ai", "xn--bcher-kva.xn--p1ai"),
        ("x.www.ck", "www.ck"),
        ("a.b.c.ck", "b.c.ck"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("[2001:db8::1]:8000", "[2001:db8::1]"),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain
    assert registered_domain(domain) == domain


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("example.org", "org.example"),
        ("www.example.org:8080", "org.example.www:8080"),
        ("localhost", "localhost"),
        ("localhost:1", "localhost:1"),
        ("10.0.0.127", "10.0.0.127"),
        ("10.0.0.127:8080", "10.0.0.127:8080"),
        ("[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("[::1]", "[::1]"),
        ("1.2.3.example", "example.3.2.1"),
    ],
)
def test_reversed_host(host: str, key: str) -> None:
    assert reversed_host(host) == key
    assert unreversed_host(key) == host


def test_every_rule_of_the_list_holds() -> None:
    """The list is handed over in punycode only: that must lose no rule, in no script."""
    whole = PublicSuffixList(accept_unknown=True, only_icann=False)
    rules = [line for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines() if line and line[:2] != "//"]
    assert len(rules) > 9000
    assert any(not rule.isascii() for rule in rules)
    for rule in rules:
        suffix = rule.lstrip("!").replace("*", "star").encode("idna").decode()
        for host in (suffix, f"owner.{suffix}", f"www.owner.{suffix}"):
            assert registered_domain(host) == (whole.privatesuffix(host) or host), host


# Whatever survives `normalize`, with empty labels and other oddities that no registry would have.
_HOSTS = (
    st.text(st.sampled_from("ab1.-_:%[]üx"), min_size=1, max_size=16)
    .map(lambda text: normalize(f"http://{text}/"))
    .filter(lambda url: url is not None)
    .map(lambda url: host_of(str(url)))
)


@given(_HOSTS)
def test_every_host_has_a_domain_and_a_key(host: str) -> None:
    domain = registered_domain(host)
    assert domain
    assert domain in host
    assert registered_domain(domain) == domain
    assert unreversed_host(reversed_host(host)) == host


@given(st.text(st.characters(codec="ascii")), st.integers(1, 5000))
def test_partitions_are_slices_of_the_hash_space(domain: str, partitions: int) -> None:
    assert 0 <= partition_of(domain, partitions) < partitions
    assert partition_of(domain, 2 * partitions) // 2 == partition_of(domain, partitions)


@pytest.mark.parametrize("partitions", [1, 7, 256])
def test_partitions_are_even(partitions: int) -> None:
    sizes = Counter(partition_of(f"site{number}.example", partitions) for number in range(200 * partitions))
    assert len(sizes) == partitions
    assert max(sizes.values()) < 300


def test_partitions_never_change() -> None:
    """A frontier on disk relies on it."""
    assert [partition_of(domain, 256) for domain in ("example.org", "example.com", "localhost")] == [64, 139, 22]


LONG = "a" * 63


@pytest.mark.parametrize(
    "host",
    [
        "example.org", "localhost", "a.b:8080", "my_host.example.org", "_dmarc.example.org", "my_host", "*.example.org",
        "-cat-.example.org", "r3---sn-x.example.org", "xn--bcher-kva.example", "1.example.org", "x", f"{LONG}.org",
        "192.0.2.1", "192.0.2.1:81", "[::1]", "[::1]:81", ".".join([LONG, LONG, LONG, "a" * 61]),
    ],
)  # fmt: skip
def test_names_that_a_server_may_have(host: str) -> None:
    assert wrong_name(host) == ""


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("a..b", "the host name a..b has an empty part: a dot stands where a letter should"),
        (".a", "the host name .a has an empty part: a dot stands where a letter should"),
        ("a..:81", "the host name a.. has an empty part: a dot stands where a letter should"),
        (".", "the host name . has an empty part: a dot stands where a letter should"),
        (f"{LONG}a.org", f"a part of its host name has 64 characters, more than 63: {LONG}a"),
        (
            ".".join([LONG, LONG, LONG, "a" * 62]),
            f"its host name has 254 characters, more than 253: {LONG}.{LONG[:16]}",
        ),
        ("-", "the last part of the host name - begins or ends with a hyphen"),
        ("-:8080", "the last part of the host name - begins or ends with a hyphen"),
        ("example.-org", "the last part of the host name example.-org begins or ends with a hyphen"),
        ("example.org-", "the last part of the host name example.org- begins or ends with a hyphen"),
    ],
)
def test_names_that_no_server_can_have(host: str, why: str) -> None:
    assert wrong_name(host) == why


@given(st.text(st.sampled_from("ab-_.1"), min_size=1, max_size=9))
def test_a_name_of_a_url_is_wrong_by_its_parts_alone(text: str) -> None:
    url = normalize(f"http://{text}/")
    if url is not None:
        labels = host_of(url).split(".")
        ends = labels[-1][:1] + labels[-1][-1:]
        assert bool(wrong_name(host_of(url))) == ("" in labels or "-" in ends)
