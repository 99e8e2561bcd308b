"""A simulated web with topics: its words, its links, and the truth about both."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gossamer.testing import World, reachable
from gossamer.testing.web.paths import page_path
from gossamer.testing.web.profile import PROFILES, Topics
from gossamer.testing.web.render import Renderer


def world(hosts: int = 60, pages: int = 40, **topics: float) -> World:
    made = Topics(**{"number": 6, **topics})  # type: ignore[arg-type]
    return World(3, hosts, pages, replace(PROFILES["topical"], topics=made))


@pytest.mark.parametrize("locality", [0.0, 0.5, 0.9])
def test_links_lead_to_the_same_topic_as_often_as_stated(locality: float) -> None:
    web = world(locality=locality)
    same = total = 0
    for index in range(web.hosts):
        host = web.host(index)
        for page in range(1, host.size):
            targets = web.graph.links(index, page, host.size)[1]
            same += sum(web.topic(web.host(other), there) == web.topic(host, page) for other, there in targets)
            total += len(targets)
    assert total > 10_000
    assert same / total == pytest.approx(locality, abs=0.02)


def test_most_pages_are_about_what_their_host_is_about() -> None:
    web = world(purity=0.7)
    own = [web.topic(web.host(index), page) == index % 6 for index in range(60) for page in range(1, 40)]
    assert sum(own) / len(own) == pytest.approx(0.7 + 0.3 / 6, abs=0.03)
    assert all(web.topic(web.host(index), 0) == index % 6 for index in range(60))


def test_texts_show_their_topic_and_no_words_are_shared() -> None:
    web = world()
    words = [set(web.topic_words(topic)) for topic in range(6)]
    assert all(len(each) == 24 for each in words)
    assert not set.intersection(*words)
    assert len(set.union(*words)) == 6 * 24
    renderer = Renderer(web)
    for page in range(1, 20):
        host = web.host(7)
        body = renderer.page(host, page).decode().partition("<ul>")[0]
        found = re.findall(r"[a-z]+", body.lower())
        shares = [sum(word in each for word in found) / len(found) for each in words]
        assert shares.index(max(shares)) == web.topic(host, page)
        assert 0.05 < max(shares) < 0.4


def test_what_a_page_shows_is_what_the_truth_says() -> None:
    web = world(hosts=12, pages=15)
    renderer = Renderer(web)
    for index in (0, 5, 11):
        host = web.host(index)
        for page in (0, 3, 14):
            found = web.resource(host, page_path(page))
            assert found is not None
            shown = re.findall(r'href="([^"]+)"', renderer.page(host, page).decode())
            assert [link if "//" in link else web.url(index, link) for link in shown] == [
                web.url(other, path) for other, path in web.links(host, found)
            ]
    truth = reachable(web, [web.url(0)])
    assert len(truth) == 12 * 15


def test_links_tell_as_often_as_stated() -> None:
    silent, telling = world(telling=0.0), world(telling=1.0)
    words = {word for topic in range(6) for word in telling.topic_words(topic)}
    for web, least, most in ((silent, 0.0, 0.0), (telling, 0.6, 1.0)):
        body = Renderer(web).page(web.host(1), 2).decode()
        said = [set(text.lower().split()) for text in re.findall(r"<li>(.*?)</a>", re.sub(r"<a [^>]*>", "", body))]
        assert least <= sum(not words.isdisjoint(each) for each in said) / len(said) <= most


def test_a_web_without_topics_has_none() -> None:
    web = World(hosts=3, pages=3)
    assert web.topic(web.host(1), 2) == -1
    assert web.topic_words(0) == ()
