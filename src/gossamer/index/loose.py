"""Japanese and Chinese queries as they are typed: without spaces, in words that a page may have apart.

`文字コード` is looked for as it stands, and also as its words, which the change of script shows: a page on
`文字を表すコード` is what was meant. A row of Han letters alone shows no words; it may be two, parted anywhere:
`日本語入力` finds a page on `日本語の入力`. Between quotation marks it is looked for as it stands.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.index.query import And, Node, Or, Word
from gossamer.index.words import UNSPACED

_HIRAGANA: Final = "\u3041-\u3096"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff"
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MOST_PARTS: Final = 8
# A single Han letter means something only with what follows it: 扱い, 使う. Hiragana alone joins words.
_parts = re.compile(rf"[{_KATAKANA}]{{2,}}|[{_HAN}]{{2,}}|[{_HAN}][{_HIRAGANA}]|[^\W{UNSPACED}]+").findall
_LEAST_WORD: Final = 2  # Han letters
_is_row = re.compile(rf"[{_HAN}]{{{2 * _LEAST_WORD},8}}").fullmatch
_is_japanese = re.compile(rf"[{_HIRAGANA}{_KATAKANA}]").search


def loosened(tree: And) -> And:
    """The same, but a row of Japanese words may also be matched by all of its words."""
    return And(tuple(map(_loosened, tree.parts)))


def _loosened(node: Node) -> Node:
    if isinstance(node, Word):
        if node.quoted or node.field:
            return node
        if _is_row(node.text):
            return _row(node.text)
        parts = list(dict.fromkeys(_parts(node.text)))
        if not 2 <= len(parts) <= _MOST_PARTS or not _is_japanese(node.text):
            return node
        return Or((node, And(tuple(map(_row, parts)))))
    if isinstance(node, And):
        return loosened(node)
    if isinstance(node, Or):
        return Or(tuple(map(_loosened, node.parts)))
    return node  # what is not wanted is meant as it stands


def _row(text: str) -> Node:
    if not _is_row(text):
        return Word(text)
    places = range(_LEAST_WORD, len(text) - _LEAST_WORD + 1)
    return Or((Word(text), *(And((Word(text[:at]), Word(text[at:]))) for at in places)))
