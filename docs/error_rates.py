"""Simulate how often verdicts are right, and write both tables of the page "How a published number
is judged".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from xmlc.suite.papers import table_of
from xmlc.suite.papers.outcome import Effect, outcome_of, verdict
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.verdicts import ClaimVerdict, Verdict

PAGE = Path(__file__).parent / "claims.md"
RUNS = 10_000  # The standard error of a percentage is at most half a point.
DATASETS = 5
SUBJECTS = 2
SEEDS = 5

# Published number, standard deviation of one run, and shift.
NUMBERS = [(64, 0.6, 0), (64, 0.6, 2), (64, 0.6, 3), (10, 1.0, 0), (10, 1.0, 6)]
PAPER = "ldsm2020"
TABLE = "table7"
DATASET = "delicious"
MODEL = "ldsm"
COLUMN = "p@1"
EFFECTS = (2, 1, 0, -1, -2)
# Standard deviation of the true effect over datasets, and share of the noise variance that both
# subjects share.
KINDS = {"simple": (0.0, 0.0), "effects vary": (1.0, 0.0), "noise is shared": (0.0, 0.5)}


def number_verdicts(level: float, deviation: float, shift: float, runs: int = RUNS) -> Counter[str]:
    """Count the verdicts on a number that the paper has from one run, and xmlc from five runs on
    the same split.
    """
    judge = Judge(splits={(PAPER, DATASET): {"same": True}})
    drawn = level + deviation * np.random.default_rng(0).standard_normal((runs, 1 + SEEDS))
    means = shift + drawn[:, 1:].mean(axis=1)
    deviations = drawn[:, 1:].std(axis=1, ddof=1)
    spec = table_of(TABLE, PAPER)
    verdicts: Counter[str] = Counter()
    for published, mean, over_seeds in zip(
        drawn[:, 0].tolist(), means.tolist(), deviations.tolist(), strict=True
    ):
        number = {
            "dataset": DATASET,
            "model": MODEL,
            "quantity": COLUMN,
            "published": f"{published:.2f}",
            "value": mean,
            "deviation": over_seeds,
            "seeds": SEEDS,
        }
        verdicts[str(judge.judgement(PAPER, spec, number).verdict)] += 1
    return verdicts


def simulated(effect: float, kind: str, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the true effects of datasets, and the effects of all runs, datasets, subjects and
    seeds.
    """
    over_datasets, shared = KINDS[kind]
    rng = np.random.default_rng(0)
    true = effect + over_datasets * rng.standard_normal((runs, DATASETS))
    common = rng.standard_normal((runs, DATASETS, 1, SEEDS))
    own = rng.standard_normal((runs, DATASETS, SUBJECTS, SEEDS))
    noise = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
    return true, true[:, :, None, None] + noise


def claim_verdicts(effects: np.ndarray) -> Iterator[tuple[ClaimVerdict, ClaimVerdict]]:
    """Yield the verdict on a statement with margin 0, and the verdict if the statement is
    universal.
    """
    for values in effects:
        outcome = outcome_of(
            [Effect(f"d{d}", f"s{s}", k, float(v)) for (d, s, k), v in np.ndenumerate(values)], 0
        )
        overall = outcome.effect.side_of(0)
        universal, _ = verdict(outcome.sides, len(outcome.cases), overall, every=True)
        yield outcome.word, universal


def percent(count: int, runs: int) -> str:
    """Return a percentage without decimals.

    Only 0 of all runs are "0", and only all runs are "100".
    """
    share = 100 * count / runs
    if 0 < share < 1:
        return "< 1"
    if 99 < share < 100:
        return "> 99"
    return f"{share:.0f}"


def numbers(runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of the table of published numbers."""
    yield (
        "| published number | deviation of one run | shift | equal or inside | above or below | "
        "undecided |"
    )
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for level, deviation, shift in NUMBERS:
        found = number_verdicts(level, deviation, shift, runs)
        pairs = (
            (Verdict.EQUAL, Verdict.INSIDE),
            (Verdict.ABOVE, Verdict.BELOW),
            (Verdict.UNDECIDED,),
        )
        shares = []
        for words in pairs:
            shares.append(percent(sum(found[word] for word in words), runs))
        yield f"| {level} | {deviation} | {shift} | {' | '.join(shares)} |"


def statements(runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of the table of statements."""
    yield "| simulation | true effect | holds | does not hold | undecided |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind in KINDS:
        for effect in EFFECTS:
            yield statement(kind, effect, runs)


def statement(kind: str, effect: int, runs: int = RUNS) -> str:
    """Return one row of the table of statements."""
    _, effects = simulated(effect, kind, runs)
    words, universal = (Counter(found) for found in zip(*claim_verdicts(effects), strict=True))
    shares = [
        f"{percent(words[word], runs)} ({percent(universal[word], runs)})"
        for word in (ClaimVerdict.HOLDS, ClaimVerdict.DOES_NOT_HOLD, ClaimVerdict.UNDECIDED)
    ]
    return f"| {kind} | {effect} | {' | '.join(shares)} |"


def page(text: str) -> str:
    """Return the page with both tables."""
    for table in (list(numbers()), list(statements())):
        old = re.escape(table[0]) + r"\n(\|.*\n)+"
        text, found = re.subn(old, "\n".join(table) + "\n", text)
        if found != 1:
            raise ValueError(f"docs/claims.md: found {found} tables with the heading {table[0]}")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
