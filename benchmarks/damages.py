"""A crawl's directory of which one file is damaged: what happens then, and what the way back is.

A crawl is stopped in the middle, and for each trial a copy of its directory is damaged in one file: deleted, emptied,
cut, one bit, a block of noise, or an older copy of the same file. Then the same command goes on. Either the crawl ends
with the pages that an undamaged one has, or it says what is wrong, and `gossamer repair` makes it whole. What is lost
without a word is told apart, and makes the exit status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from machine import description
from processes import tidy_when_terminated
from simulated_web import GOSSAMER, SimulatedWeb
from tables import table

_OLDER, _PAGES = 40, 120  # pages of the older copy, and of the one that is damaged
_BLOCK: Final = 512  # bytes of noise
_PATIENCE: Final = 300.0  # seconds that a command may take
_KINDS: Final = (
    (r"frontier/.*\.sst", "frontier/*.sst"),
    (r"frontier/.*\.log", "frontier/*.log"),
    (r"frontier/MANIFEST.*", "frontier/MANIFEST"),
    (r"frontier/OPTIONS.*", "frontier/OPTIONS"),
    (r"frontier/LOG.*", "frontier/LOG"),
    (r"warc/.*\.warc\.gz", "warc/*.warc.gz"),
    (r"warc/.*\.cdxj", "warc/*.cdxj"),
    (r"index/[0-9a-f.]+\.(\w+)", "index/*.SEGMENT"),
    (r"logs/.*", "logs/*"),
    (r"control/.*", "control/*"),
)
FINE, SAID, LATER, LOST = "nothing", "stops, says it", "goes on, repair --check says it", "LOST"


class Outcome(NamedTuple):
    happened: str  # one of those above
    back: bool  # there is a way: the crawl ends with all pages
    text: str  # what was said


def deleted(file: Path, older: Path, chance: random.Random) -> None:
    file.unlink()


def emptied(file: Path, older: Path, chance: random.Random) -> None:
    file.write_bytes(b"")


def cut(file: Path, older: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def one_bit(file: Path, older: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def noise(file: Path, older: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    data[at : at + _BLOCK] = chance.randbytes(min(_BLOCK, len(data) - at))
    file.write_bytes(data)


def older_copy(file: Path, older: Path, chance: random.Random) -> None:
    shutil.copyfile(older, file)


DAMAGES: Final[dict[str, Callable[[Path, Path, random.Random], None]]] = {
    "deleted": deleted,
    "emptied": emptied,
    "cut": cut,
    "one bit": one_bit,
    "noise": noise,
    "older copy": older_copy,
}


def kind_of(name: str) -> str:
    """What files of a directory are called together."""
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, name)), name)


class Trials:
    """Invariant: every trial begins with a copy of the same directory."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._chance = random.Random(options.seed)
        self._work = options.work / "damages"
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(parents=True)
        self._web = SimulatedWeb(options.hosts, options.pages, self._work / "arrivals.jsonl")
        self._base, self._older = self._work / "base", self._work / "older"
        self._whole: set[str] = set()

    def run(self, count: int) -> dict[tuple[str, str], list[Outcome]]:
        """So many damages, first each kind of file in each way, then by chance; what came of them."""
        found: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
        with self._web.served():
            self._prepare()
            for file, damage in self._chosen(count):
                outcome = self._trial(file, damage)
                found[kind_of(file), damage].append(outcome)
                if outcome.happened == LOST or not outcome.back:
                    print(f"{file}, {damage}: {outcome.happened}: {outcome.text}", file=sys.stderr)
        return found

    def _prepare(self) -> None:
        whole = self._work / "whole"
        self._crawl(whole)
        self._whole = self._fetched(whole)
        self._crawl(self._base, "--max-pages", str(_OLDER))
        shutil.copytree(self._base, self._older)
        self._crawl(self._base, "--max-pages", str(_PAGES))

    def _chosen(self, count: int) -> list[tuple[str, str]]:
        files = sorted(
            str(file.relative_to(self._base))
            for file in self._base.rglob("*")
            if file.is_file() and file.stat().st_size
        )
        each = {kind_of(file): file for file in files}
        chosen = [(file, damage) for file in each.values() for damage in DAMAGES if self._is_possible(file, damage)]
        while len(chosen) < count:
            file, damage = self._chance.choice(files), self._chance.choice(list(DAMAGES))
            if self._is_possible(file, damage):
                chosen.append((file, damage))
        return chosen[:count]

    def _is_possible(self, file: str, damage: str) -> bool:
        return damage != "older copy" or (self._older / file).is_file()

    def _trial(self, file: str, damage: str) -> Outcome:
        home = self._work / "trial"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self._base, home)
        DAMAGES[damage](home / file, self._older / file, self._chance)
        ended = self._crawl(home)
        if ended.returncode == 0:
            if self._fetched(home) != self._whole:
                return Outcome(LOST, False, _last(ended))
            looked = self._say("repair", "--check", "--dir", str(home))
            return Outcome(FINE if looked.returncode == 0 else LATER, True, looked.stdout)
        said = _last(ended)
        self._say("repair", "--dir", str(home))
        again = self._crawl(home)
        return Outcome(SAID, again.returncode == 0 and self._fetched(home) == self._whole, f"{said} / {_last(again)}")

    def _crawl(self, home: Path, *more: str) -> subprocess.CompletedProcess[str]:
        connect = ("--connect", f"*={self._web.address}")
        return self._say(
            "crawl", self._web.seed, "--dir", str(home), "--scope", "any", *connect, "--allow-private", "--delay", "0",
            *(more or ("--max-pages", "0")),
        )  # fmt: skip

    def _fetched(self, home: Path) -> set[str]:
        said = self._say("urls", "--dir", str(home), "--state", "fetched")
        return {json.loads(line)["url"] for line in said.stdout.splitlines()}

    @staticmethod
    def _say(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*GOSSAMER, *words], capture_output=True, text=True, timeout=_PATIENCE, check=False)


def _last(ended: subprocess.CompletedProcess[str]) -> str:
    lines = ended.stderr.strip().splitlines()
    return lines[-1] if lines else ""


def rows_of(found: dict[tuple[str, str], list[Outcome]]) -> list[list[str]]:
    """A line for each kind of file, a column for each damage."""
    kinds = sorted({kind for kind, _ in found})

    def cell(kind: str, damage: str) -> str:
        outcomes = Counter(
            each.happened if each.back else f"{each.happened}, NO WAY BACK" for each in found.get((kind, damage), [])
        )
        return "; ".join(f"{name} ({count})" if len(outcomes) > 1 else name for name, count in outcomes.items())

    return [[f"`{kind}`", *(cell(kind, damage) for damage in DAMAGES)] for kind in kinds]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="damages (200)")
    parser.add_argument("--hosts", type=int, default=6, help="of the simulated web (6)")
    parser.add_argument("--pages", type=int, default=50, help="of a host (50)")
    parser.add_argument("--seed", type=int, default=1, help="of what is damaged, and where (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes to this file")
    options = parser.parse_args(arguments)
    tidy_when_terminated()
    print(description())
    found = Trials(options).run(options.count)
    print(table(["file", *DAMAGES], rows_of(found)))
    outcomes = [outcome for some in found.values() for outcome in some]
    lost = sum(outcome.happened == LOST for outcome in outcomes)
    stuck = sum(not outcome.back for outcome in outcomes) - lost
    print(f"{len(outcomes)} damages: {lost} lost pages without a word, {stuck} had no way back")
    if options.json:
        told = [[kind, damage, *outcome] for (kind, damage), some in found.items() for outcome in some]
        options.json.write_text(json.dumps(told, indent=1))
    return 1 if lost or stuck else 0


if __name__ == "__main__":
    sys.exit(main())
