"""Test the statements of oplt2021, whose page 1 is the paper's first.

Models are compared on each dataset and seed at equal numbers of passes, and Parabel, which has
none, with the most passes. Trees grow by the rule of the authors' program, as in the paper, but
claims on CMT have a second version with Algorithm 8 as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.effects import about, fact, lead, least, ratio, scores, union
from xmlc.suite.results.titles import model_title, without_passes

WIKI10 = 30_938  # Labels of Wiki10. The paper calls datasets "larger" if they have more.
SINGLE = 1.0  # Mean number of labels per instance in few-shot datasets.
# Trees grow by the rule of the authors' program.
ONLINE = ("oplt-r-program", "oplt-b-program")
# The two scores of the best-greedy policy.
PROGRAM = "balance=ratio"
PRINTED = "balance=printed"
BALANCES = Where("sweep", "full", sweeps=("balance",))


def larger_than_wiki10(numbers: pd.DataFrame) -> pd.Series:
    """Return whether a number's dataset has more labels than Wiki10."""
    return fact(numbers, "m") > WIKI10


def _has_levels(numbers: pd.DataFrame) -> pd.Series:
    """Return whether a record's tree has levels, unlike one with all labels below one node."""
    return ~(fact(numbers, "m") <= fact(numbers, "max_leaf"))


def _multi_label(numbers: pd.DataFrame) -> pd.DataFrame:
    return numbers[_has_levels(numbers) & (fact(numbers, "labels_per_instance") != SINGLE)]


def _pairs(
    numbers: pd.DataFrame, quantity: str, models: Sequence[str], rivals: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield the title of a model, and the quantity of its runs and of a rival's at equal passes.

    A rival without passes is paired with the most.
    """
    values = {name: scores(numbers, quantity, model=name) for name in numbers["model"].unique()}
    for model, ours in values.items():
        base, passes = without_passes(model)
        if base not in models:
            continue
        for rival in rivals:
            same_passes = rival + model.removeprefix(base)
            if same_passes in values:
                yield model_title(model), ours, values[same_passes]
            elif rival in values:
                longest = pd.Series(True, index=ours.index)
                for name, others in values.items():
                    other_base, more = without_passes(name)
                    if other_base == base and (more or 0) > (passes or 0):
                        longest &= ~ours.index.isin(others.index)
                yield model_title(model), ours[longest], values[rival]


def leads(
    numbers: pd.DataFrame, models: Sequence[str], rivals: Sequence[str], sign: int = 1
) -> pd.DataFrame:
    """Compare P@1 of models and rivals on multi-label datasets, by the smallest difference times
    ``sign``.
    """
    pairs = _pairs(_multi_label(numbers), "p@1", models, rivals)
    return least(*(about(sign * (ours - other), title) for title, ours, other in pairs))


def trains_slower_than_offline(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare CPU times of training each online policy and IPLT."""
    pairs = _pairs(_multi_label(numbers), "train_cpu_seconds", ONLINE, ["iplt"])
    return union(*(about(ratio(ours, other), title) for title, ours, other in pairs))


def accuracy_above_memory_tree(numbers: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """Compare the accuracy of policies and of CMT, on the test set and in progressive
    validation.
    """
    effects = []
    # P@1 is the accuracy, because instances have one label.
    for title, ours, other in _pairs(numbers, "p@1", policies, ["cmt"]):
        effects.append(about(ours - other, title))
    for base in policies:
        model = f"{base}-1-pass"
        on_stream = lead(numbers, "accuracy", model, "cmt-1-pass")
        effects.append(about(on_stream, f"{model_title(model)}, online"))
    return union(*effects)


def balance_helps(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare P@1 of trees built with the score of the authors' program and with the printed one.

    Records count only if the printed score gives deeper trees. The paper varies alpha instead.
    """
    numbers = numbers[_has_levels(numbers)]
    apart = scores(numbers, "p@1", PROGRAM) - scores(numbers, "p@1", PRINTED)
    depth = scores(numbers, "depth", PROGRAM) - scores(numbers, "depth", PRINTED)
    return apart.where(depth < 0).droplevel("model")
