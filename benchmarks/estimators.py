"""How well is the rate of a page's changes estimated after a few visits, beside Cho and Garcia-Molina's estimators?

Pages change by a power law of rates, and are visited a few times, at intervals of one to nineteen days. Every estimator
sees the same visits. An error is the factor between the estimate and the truth, as a power of two; where an estimator
says never or always, the slowest and the fastest rate that there is are taken for that.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from math import exp, expm1, log, log2
from statistics import fmean, median

from tables import table

from gossamer.rules.census import USUAL, Census, Known
from gossamer.rules.change_rate import DAY, RATES, Seen

SLOWEST, FASTEST, EXPONENT = 1 / 365 / DAY, 24 / DAY, 0.3
Visits = list[tuple[float, bool]]  # seconds since the one before, and whether the page had changed


def rates(pages: int, dice: random.Random) -> list[float]:
    low, high = SLOWEST**-EXPONENT, FASTEST**-EXPONENT
    return [(low + dice.random() * (high - low)) ** (-1 / EXPONENT) for _ in range(pages)]


def visited(rate: float, visits: int, dice: random.Random) -> Visits:
    intervals = [dice.uniform(1, 19) * DAY for _ in range(visits)]
    return [(interval, dice.random() > exp(-rate * interval)) for interval in intervals]


def naive(visits: Visits) -> float:
    """Changes seen, over time."""
    return sum(changed for _, changed in visits) / sum(seconds for seconds, _ in visits)


def corrected(visits: Visits) -> float:
    """Cho and Garcia-Molina's, corrected for its bias; it takes intervals for their mean."""
    changes = sum(changed for _, changed in visits)
    mean = fmean(seconds for seconds, _ in visits)
    return -log((len(visits) - changes + 0.5) / (len(visits) + 0.5)) / mean


def likeliest(visits: Visits) -> float:
    """Their maximum likelihood for intervals that differ, by bisection."""
    unchanged = sum(seconds for seconds, changed in visits if not changed)
    changes = [seconds for seconds, changed in visits if changed]
    if not changes or not unchanged:
        return 0.0 if not changes else float("inf")
    low, high = log(SLOWEST / 100), log(FASTEST * 100)
    for _ in range(60):
        middle = (low + high) / 2
        rate = exp(middle)
        slope = sum(seconds * exp(-rate * seconds) / -expm1(-rate * seconds) for seconds in changes) - unchanged
        low, high = (middle, high) if slope > 0 else (low, middle)
    return exp((low + high) / 2)


def believed(all_visits: Sequence[Visits], dice: random.Random) -> Callable[[Visits], float]:
    """Ours: by a prior that was learned from a sample of the same pages, as a crawl has it."""
    census = Census(400)
    for visits in all_visits:
        census.tell(dice.getrandbits(32), Known(0, seen(visits), 0.0))
    prior = USUAL
    for _ in range(10):
        prior = census.prior(prior)

    def estimate(visits: Visits) -> float:
        weights = seen(visits).likely(prior).weights
        return exp(sum(weight * log(rate) for weight, rate in zip(weights, RATES, strict=True)))

    return estimate


def seen(visits: Visits) -> Seen:
    found = Seen()
    for seconds, changed in visits:
        found = found.after(seconds, changed)
    return Seen.unpack(found.pack())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    truth = rates(options.pages, dice)
    rows = []
    for count in (1, 3, 6, 12, 24):
        all_visits = [visited(rate, count, dice) for rate in truth]
        estimators = {
            "changes over time": naive,
            "Cho and Garcia-Molina, corrected": corrected,
            "the same, likelihood": likeliest,
            "belief (ours)": believed(all_visits, dice),
        }
        for name, estimate in estimators.items():
            errors = [
                log2(min(max(estimate(visits), SLOWEST), FASTEST) / rate)
                for visits, rate in zip(all_visits, truth, strict=True)
            ]
            absolute = [abs(error) for error in errors]
            rows.append(
                [str(count), name, f"{fmean(absolute):.2f}", f"{median(absolute):.2f}", f"{fmean(errors):+.2f}"]
            )
    print(table(["visits", "estimator", "mean error", "median error", "bias"], rows))
    print(f"{options.pages:,} pages; errors in powers of two")
    return 0


if __name__ == "__main__":
    sys.exit(main())
