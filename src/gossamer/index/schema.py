"""The fields of the index, and how an entry fills them."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Final
from urllib.parse import unquote

from tantivy import Document, Filter, Index, Schema, SchemaBuilder, TextAnalyzerBuilder, Tokenizer
from xxhash import xxh3_64_intdigest

from gossamer.index.entry import Entry
from gossamer.index.stems import primary, stems_of
from gossamer.index.words import MAX_WORD, searched
from gossamer.model.domain import reversed_host, without_port
from gossamer.model.url import host_of

VERSION: Final = 2
POSITION: Final = "position"
"""The tag of the one document that is no page: it holds the version and the position of the last commit."""
_MAX_ANCHORS: Final = 4096
"""Characters of anchor texts that are searched."""
_MAX_ADDRESS: Final = 512
_MAX_TAG: Final = 2083
_MAX_LABELS: Final = 10
_LINKS: Final = 0.06
"""Twice as many links to a page raise its score by so much: 1,000 by 0.6."""
_KEY: Final = (1 << 56) - 1
_NEAR: Final = {0: 0.1, 1: 0.04}


@cache
def schema() -> Schema:
    build = SchemaBuilder()
    for name in ("body", "title", "anchors", "address"):
        build.add_text_field(name, tokenizer_name="words", index_option="position")
    build.add_text_field("stems", tokenizer_name="words", index_option="freq")
    build.add_text_field("url", tokenizer_name="raw", index_option="basic")
    build.add_text_field("tags", tokenizer_name="raw", index_option="basic")
    build.add_text_field("host", tokenizer_name="raw", index_option="basic", fast=True)
    build.add_text_field("language", tokenizer_name="raw", index_option="basic", fast=True)
    build.add_integer_field("fetched", fast=True)
    build.add_unsigned_field("rank", fast=True, indexed=True)
    build.add_unsigned_field("digest", fast=True, indexed=True)
    build.add_float_field("weight", fast=True)
    build.add_bytes_field("entry", stored=True)
    return build.build()


def prepared(index: Index) -> Index:
    """Each process that opens an index must say what its tokenizers are."""
    index.register_tokenizer(
        "words", TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.remove_long(MAX_WORD + 1)).build()
    )
    return index


def document_of(entry: Entry, packed: bytes) -> Document:
    """Nothing in an entry makes this raise: texts are cut, and what is no Unicode text is replaced."""
    stems = stems_of(entry.language)
    document = Document()

    def add(field: str, text: str) -> list[str]:
        spelled, chunks = searched(text)
        if not chunks:
            return []
        endings = [stem for chunk in chunks if (stem := stems[chunk])] if stems is not None else []
        if field not in ("body", "address") and endings:
            spelled = " ".join([spelled, *endings])  # no phrase goes across: it has no signed word
        document.add_text(field, spelled)
        return endings

    endings = add("body", entry.body or entry.main)
    if entry.description and entry.description not in entry.body:
        endings += add("body", entry.description)
    if endings:
        document.add_text("stems", " ".join(endings))
    add("title", entry.title)
    room = _MAX_ANCHORS
    for anchor in entry.anchors:
        add("anchors", anchor[:room])
        room -= len(anchor)
        if room <= 0:
            break
    host = host_in(entry.url)
    add("address", address_of(entry.url))
    document.add_text("url", url_term(entry.url))
    for tag in tags_of(host, entry.language, entry.type):
        document.add_text("tags", tag)
    document.add_text("host", reversed_host(host))
    document.add_text("language", primary(entry.language)[:_MAX_TAG])
    document.add_integer("fetched", int(entry.fetched_at))
    key = _hash_of(entry.url)
    weight = weight_of(entry.url, entry.inlinks)
    document.add_float("weight", 2**weight - 2)  # tantivy multiplies by log2(2 + this)
    document.add_unsigned("rank", rank_of(key, weight))
    document.add_unsigned("digest", xxh3_64_intdigest(entry.digest) if entry.digest else key)
    document.add_bytes("entry", packed)
    return document


def rank_of(key: int, weight: float) -> int:
    """The order of pages that match equally well: by weight, then at random, but always the same. No two are equal."""
    return min(255, int((weight - 1) * 128)) << 56 | key >> 8


def key_in(rank: int) -> int:
    """What two pages have in common only if they have the same URL."""
    return rank & _KEY


def key_of(url: str) -> int:
    """The same, of the URL itself."""
    return _hash_of(url) >> 8


def _hash_of(url: str) -> int:
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def position_document(position: bytes) -> Document:
    document = Document()
    document.add_text("tags", POSITION)
    document.add_bytes("entry", position)
    return document


def host_in(url: str) -> str:
    """As `host_of`, but nothing in what should be a URL makes it raise."""
    return host_of(url) if "://" in url else ""


def url_term(url: str) -> str:
    return url[:_MAX_TAG].encode("utf-8", "replace").decode()


def address_of(url: str) -> str:
    """The words of a URL, without those that every URL has."""
    rest = url.partition("://")[2][:_MAX_ADDRESS]
    host, _, path = rest.partition("/")
    if host.startswith("www."):
        host = host[4:]
    return f"{without_port(host)} {unquote(path)}"


@lru_cache(4096)
def tags_of(host: str, language: str, media_type: str) -> tuple[str, ...]:
    """What filters ask for: the host alone, the domains it is in, language and type, each with its sign in front."""
    name = without_port(host)
    tags = [f"h {host}"]
    if name != host:
        tags.append(f"h {name}")
    if name[:1] == "[" or name.replace(".", "").isdigit():
        tags.append(f"d {name}")
    else:
        labels = name.split(".")
        tags += [f"d {'.'.join(labels[at:])}" for at in range(max(0, len(labels) - _MAX_LABELS), len(labels))]
    if language:
        tag = language.lower().replace("_", "-")[:_MAX_TAG]
        tags.append(f"l {primary(tag)}")
        if "-" in tag:
            tags.append(f"l {tag}")
    if media_type:
        whole = media_type.lower()[:_MAX_TAG]
        tags.append(f"t {whole}")
        main, slash, sub = whole.partition("/")
        if slash:
            tags += [f"t {main}", f"t {sub}"]
    return tuple(tag.encode("utf-8", "replace").decode() for tag in tags)


def weight_of(url: str, inlinks: int) -> float:
    """By what the score of the words is multiplied: pages that many link to, and those near the root, are preferred."""
    path = url.partition("://")[2].partition("/")[2]
    depth = path.rstrip("/").count("/") + 1 if path.strip("/") else 0
    near = _NEAR.get(depth, 0.0) if "?" not in path else 0.0
    return 1.0 + min(_LINKS * math.log2(1 + max(0, inlinks)), 1.0) + near
