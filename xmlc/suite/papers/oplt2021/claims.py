"""Test the statements of oplt2021. Page numbers begin with 1 at the paper's first page.

Models are compared on each dataset and seed at equal numbers of passes. Parabel has no passes, and
is compared with the models with the most passes. The claims are about trees that grow by the rule
of the authors' program, as in the paper. Claims on CMT have a second version, about trees that grow
by Algorithm 8 as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.claims import claims_of
from xmlc.suite.papers.effects import about, fact, lead, least, ratio, scores, union
from xmlc.suite.results.titles import model_title, without_passes

WIKI10 = 30_938  # Number of labels of Wiki10. The paper calls datasets with more labels "larger".
SINGLE = 1.0  # Mean number of labels per instance in few-shot datasets.
# Trees grow by the rule of the authors' program.
ONLINE = ("oplt-r-program", "oplt-b-program")
# The two scores of the best-greedy policy.
PROGRAM = "balance=ratio"
PRINTED = "balance=printed"
BALANCES = Where("sweep", "full", sweeps=("balance",))


def larger_than_wiki10(numbers: pd.DataFrame) -> pd.Series:
    """Return whether the dataset of each number has more labels than Wiki10."""
    return fact(numbers, "m") > WIKI10


def _has_levels(numbers: pd.DataFrame) -> pd.Series:
    """Return whether the tree of each record has levels: all labels may fit below one node."""
    return ~(fact(numbers, "m") <= fact(numbers, "max_leaf"))


def _multi_label(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers on multi-label datasets, of trees on which the policy has an effect."""
    return numbers[_has_levels(numbers) & (fact(numbers, "labels_per_instance") != SINGLE)]


def _pairs(
    numbers: pd.DataFrame, quantity: str, models: Sequence[str], rivals: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield the title of a model, the quantity of its runs, and that of a rival's runs.

    Both have the same number of passes. A rival without passes is paired with the most passes.
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
    """Compare P@1 of models and their rivals on multi-label datasets.

    The effect for a dataset, subject and seed is the smallest of the differences, each multiplied
    by ``sign``.
    """
    pairs = _pairs(_multi_label(numbers), "p@1", models, rivals)
    return least(*(about(sign * (ours - other), title) for title, ours, other in pairs))


def trains_slower_than_offline(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare the CPU times of training between each online policy and IPLT."""
    pairs = _pairs(_multi_label(numbers), "train_cpu_seconds", ONLINE, ["iplt"])
    return union(*(about(ratio(ours, other), title) for title, ours, other in pairs))


def accuracy_above_memory_tree(numbers: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """Compare the accuracy of both policies and of CMT, on the test set and over a stream.

    A model predicts each instance of the stream before learning from this instance.
    """
    effects = []
    # P@1 equals the accuracy, because instances have one label.
    for title, ours, other in _pairs(numbers, "p@1", policies, ["cmt"]):
        effects.append(about(ours - other, title))
    for base in policies:
        model = f"{base}-1-pass"
        on_stream = lead(numbers, "accuracy", model, "cmt-1-pass")
        effects.append(about(on_stream, f"{model_title(model)}, online"))
    return union(*effects)


def balance_helps(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare P@1 of trees that are built with the score of the authors' program or the printed
    score.

    Records are left out if the score printed in the paper does not give deeper trees. The paper
    varies alpha instead of the score.
    """
    numbers = numbers[_has_levels(numbers)]
    apart = scores(numbers, "p@1", PROGRAM) - scores(numbers, "p@1", PRINTED)
    depth = scores(numbers, "depth", PROGRAM) - scores(numbers, "depth", PRINTED)
    return apart.where(depth < 0).droplevel("model")


claims = claims_of("oplt2021", globals())
