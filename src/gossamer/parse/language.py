"""Which language a page is in: what it declares, held against what its text shows.

Scripts that one language has to itself decide at once. For the others there is a model, which takes most of a second to
load: so it is loaded by the first text that needs it, and never by the link scanner. Where a quick detector agrees with
what the page declares, it is not asked at all.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any, Final

from gossamer.parse.directives import language_tag

_SAMPLE: Final = 800
"""Characters that are looked at, from the middle of the text."""
_ENOUGH: Final = 40
"""Letters below which a text shows nothing."""
_LONG: Final = 200
"""Letters of a text that may overrule the page's declaration."""
_LIKELY: Final = 0.5
"""Below it a detection is a guess, and not told."""
_HARDLY: Final = 0.05
"""What the text must leave the declared language at most, to overrule it."""
_UNCHECKED: Final = 0.5
_AGREED: Final = 0.95
_GUESSES: Final = 5
_RANKED: Final = 8
"""How many of the model's languages are looked at; the others have no part of the probability worth the name."""

# In scripts of their own. Those of others (Latin, Cyrillic, Arabic, Devanagari, Bengali) need the model.
_OWN_SCRIPT: Final = {
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hy": "\u0530-\u058f",
    "he": "\u0590-\u05ff",
    "dv": "\u0780-\u07bf",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "or": "\u0b00-\u0b7f",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "bo": "\u0f00-\u0fff",
    "my": "\u1000-\u109f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "km": "\u1780-\u17ff",
    "ja": "\u3041-\u30ff\uff66-\uff9f",
    "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "zh": "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}
# Greek and what comes behind it, without punctuation and symbols.
_beyond = re.compile("[\u0370-\u1fff\u2c00-\u2dff\u3041-\U0003ffff]+")
# First what most texts beyond Latin letters are in: Cyrillic, Arabic, Devanagari and Bengali.
_runs = re.compile(
    "(?P<shared>[\u0400-\u052f\u0600-\u077f\u0900-\u09ff]+)|"
    + "|".join(f"(?P<{name}>[{letters}]+)" for name, letters in _OWN_SCRIPT.items())
)
_DENSE: Final = frozenset(("ja", "ko", "zh"))
_KANA: Final = 0.1
"""The share of kana in Japanese text; Chinese has none but in names."""
_ALSO: Final = {"nb": "no", "nn": "no", "arz": "ar", "ary": "ar", "iw": "he", "in": "id", "ji": "yi", "cmn": "zh"}
_NO_LANGUAGE: Final = frozenset(("und", "mul", "mis", "zxx"))
# A declaration of one of these is not overruled by the detection of another: they are too close to tell.
_CLOSE: Final = tuple(
    frozenset(names.split())
    for names in (
        "no da",
        "hr sr bs sh me cnr",
        "id ms jv su",
        "gl pt",
        "cs sk",
        "he yi",
        "am ti",
        "bo dz",
        "zh yue wuu",
    )
)


def language_of(declared: str, text: str) -> tuple[str, float]:
    """The tag of the language and how sure it is, from 0 to 1; ("", 0.0) where nothing is known.

    Declared, and the text agrees: at least 0.95. Declared only, or against a doubtful detection: 0.5. Detected: the
    detector's probability, or the share of the letters that are in the language's script.
    """
    sample = _middle(text)
    named = _primary(declared)
    if not 2 <= len(named) <= 3 or named in _NO_LANGUAGE:
        found, confidence = detect(sample)
        return (found, confidence) if confidence >= _LIKELY else ("", 0.0)
    shown = _by_script(sample)
    guesses: list[str] = []
    if not shown and len(sample) >= _ENOUGH:
        guesses = _guesses(sample)
        if guesses[:1] == [named]:
            return declared, _AGREED
        shown = _by_model(sample)
    found, confidence = _best(shown)
    if found == named:
        return declared, max(confidence, _AGREED)
    sure = confidence >= _LIKELY and shown.get(named, 0.0) <= _HARDLY and len(sample) * _weight(found) >= _LONG
    # Words that mean nothing are taken for some language, too; but the other detector does not think of the same.
    if not sure or _are_close(found, named) or (guesses and found not in guesses):
        return declared, _UNCHECKED
    return found, confidence


def detect(text: str) -> tuple[str, float]:
    """The language that the text itself shows, however unsure it is."""
    return _best(_by_script(text) or _by_model(text))


def _best(shown: dict[str, float]) -> tuple[str, float]:
    return max(shown.items(), key=lambda item: item[1], default=("", 0.0))


def _middle(text: str) -> str:
    start = max(0, (len(text) - _SAMPLE) // 2)
    return text[start : start + _SAMPLE]


def _by_script(sample: str) -> dict[str, float]:
    """The language whose script most of the letters are in, with their share; empty where several share it."""
    beyond = "" if sample.isascii() else "".join(_beyond.findall(sample))
    if not beyond:
        return {}
    letters = Counter(shared=sum(map(str.isalpha, _beyond.sub("", sample))))
    for run in _runs.finditer(beyond):
        name = run.lastgroup or "shared"
        letters[name] += (run.end() - run.start()) * _weight(name)
    if letters["ja"] >= (letters["ja"] + letters["zh"]) * _KANA:
        letters["ja"] += letters.pop("zh", 0)
    else:
        letters["zh"] += letters.pop("ja", 0)
    name, count = letters.most_common(1)[0]
    if name == "shared" or count < _ENOUGH or count * 2 < letters.total():
        return {}
    return {name: round(min(0.99, count / letters.total()), 3)}


def _by_model(sample: str) -> dict[str, float]:
    """What the model takes the text for, with probabilities; empty where there is too little of it."""
    if sum(map(str.isalpha, sample)) < _ENOUGH:
        return {}
    try:
        ranked = _model().rank(sample)
    except OSError:
        # The model is unpacked in a temporary file, and there is no room for one: languages are as declared.
        return {}
    shown: dict[str, float] = {}
    for name, probability in ranked[:_RANKED]:
        # zxx: no language, but numbers or a program.
        language = "" if name == "zxx" else _primary(name)
        shown[language] = round(shown.get(language, 0.0) + float(probability), 3)
    return shown


def _weight(name: str) -> int:
    """A letter of some scripts says as much as three of an alphabet."""
    return 3 if name in _DENSE else 1


def _guesses(sample: str) -> list[str]:
    """Of the quick detector, which is often wrong, but seldom far from right."""
    from resiliparse.parse.lang import detect_fast

    return [name for name, _ in detect_fast(sample, n_results=_GUESSES)]


@cache
def _model() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _primary(tag: str) -> str:
    first = language_tag(tag).partition("-")[0]
    return _ALSO.get(first, first)


def _are_close(one: str, other: str) -> bool:
    return any(one in group and other in group for group in _CLOSE)
