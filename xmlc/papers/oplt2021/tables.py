"""Tables of oplt2021: datasets, precision and costs of online trees; and its appendices, from sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.papers.oplt2021.claims import claims as claims
from xmlc.papers.tables.table import (
    SUMMARY_KEYS,
    Panel,
    Published,
    Table,
    average_seeds,
    csv_frame,
    dataset_table,
    notes,
    papers_others,
    side_by_side,
    table,
)
from xmlc.papers.tables.titles import without_passes
from xmlc.records import statistics, sweep
from xmlc.records.ranking import RankingRecord
from xmlc.records.ranking import frame as ranking_frame
from xmlc.records.statistics import Statistics
from xmlc.records.sweep import SweepRecord
from xmlc.suites.needs import FEW_SHOT_RANKINGS, MULTI_LABEL_RANKINGS, RANKINGS, STATISTICS, sweeps_of

OPLT_KEYS = ("dataset", "model")
PRECISION, PROPENSITY_SCORED = ("p@1", "p@3", "p@5"), ("psp@1", "psp@3", "psp@5")
COSTS = ("predict_ms", "train_seconds", "model_mb", "train_peak_mb", "predict_peak_mb")
THREADS = ("train_threads", "predict_threads")
SYNTHETIC = "synthetic-"  # how names of made datasets begin
CPU = (
    "CPU times of training are those of all threads and of other programs' processes together, without reading and "
    "writing files."
)
BEST = (
    "Of each method that makes passes the better of 1 and 3 passes is shown, by the mean of {} on the test set, of "
    "equal ones the shorter; so does the paper, which does not say which it was."
)


@table("table1", SUMMARY_KEYS, STATISTICS)
def table1(paper: str, records: Sequence[Statistics], published: Published) -> Table:
    """Build Table 1 of oplt2021: numbers of instances, labels and features."""
    frame = statistics.frame(records)[["dataset", "n_train", "n_test", "m", "d"]]
    caption = "The datasets: training and test instances, labels, features."
    return dataset_table("table1", paper, records, published, frame, caption)


@table("table2", OPLT_KEYS, MULTI_LABEL_RANKINGS)
def table2(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build Table 2 of oplt2021: P@k and CPU time of training, beside the numbers of its Appendix D."""
    shown = (*PRECISION, "train_cpu_minutes")
    frame = _better_passes(records, (*shown, *PROPENSITY_SCORED, *COSTS, *THREADS), "p@1")
    panels = [
        _panel("Precision on the test set and training time", frame, published, ("passes", *shown)),
        _panel("Propensity-scored precision, prediction time per test instance, size and memory", frame, published,
               (*PROPENSITY_SCORED, *COSTS)),
        *papers_others(published, frame, shown),
    ]  # fmt: skip
    caption = f"Precision of offline and online label trees on the test set. {BEST.format('P@1')} {CPU}"
    return _table("table2", paper, records, frame, panels, caption)


@table("table3", OPLT_KEYS, FEW_SHOT_RANKINGS)
def table3(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build Table 3 of oplt2021: accuracy and CPU time of training on few-shot multi-class datasets.

    Raises
    ------
    XmlcError
        A dataset's instances have more or fewer labels than one.
    """
    for record in records:
        if record.dataset.labels_per_instance != 1:
            raise XmlcError(
                f"table3: {record.dataset.name} has {record.dataset.labels_per_instance:g} labels per "
                "instance, expected 1; take it out of few_shot"
            )
    shown = ("accuracy", "train_cpu_seconds")
    frame = _better_passes(records, (*shown, *COSTS, *THREADS), "accuracy")
    panels = [
        _panel("Accuracy on the test set and training time", frame, published, ("passes", *shown)),
        _panel("Prediction time per test instance, size and memory", frame, published, COSTS),
        *papers_others(published, frame, shown),
    ]
    caption = (
        "Accuracy on the test set of datasets with few examples of each class: the share of instances whose class is "
        f"ranked first. {BEST.format('the accuracy')} {CPU}"
    )
    return _table("table3", paper, records, frame, panels, caption)


@table("passes", OPLT_KEYS, RANKINGS)
def passes(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build the table of 1 and 3 passes side by side, as oplt2021's Appendices D and E have them.

    Where instances have one label each, P@1 is the accuracy.
    """
    shown = (*PRECISION, *PROPENSITY_SCORED, "train_cpu_seconds", "predict_ms", "model_mb", "train_peak_mb")
    frame = csv_frame(average_seeds(ranking_frame(records), OPLT_KEYS), OPLT_KEYS, (*shown, *THREADS))
    panels = [_panel("", frame, published, shown)]
    caption = f"Every method with 1 and with 3 passes over the training set. {CPU}"
    return _table("passes", paper, records, frame, panels, caption)


def _better_passes(records: Sequence[RankingRecord], wanted: Sequence[str], score: str) -> pd.DataFrame:
    """Return one row for each dataset and method: of the number of passes with the highest mean score."""
    found = ranking_frame(records)
    averaged = average_seeds(found.assign(accuracy=found["p@1"]), OPLT_KEYS)
    names = [without_passes(model) for model in averaged["model"]]
    averaged = averaged.assign(model=[name for name, _ in names], passes=[passes or pd.NA for _, passes in names])
    averaged["passes"] = averaged["passes"].astype("Int64")
    ordered = averaged.sort_values([score, "passes"], ascending=[False, True], kind="stable")
    best = ordered.drop_duplicates(list(OPLT_KEYS)).index
    # Rows keep the order of the records: that of each method's first variant.
    first = averaged.drop_duplicates(list(OPLT_KEYS))[list(OPLT_KEYS)]
    rows = first.merge(averaged.loc[best], on=list(OPLT_KEYS), how="left")
    return csv_frame(rows, OPLT_KEYS, ("passes", *wanted))


def _panel(title: str, frame: pd.DataFrame, published: Published, names: Sequence[str]) -> Panel:
    return Panel(title, frame, OPLT_KEYS, [side_by_side(frame, published, name) for name in names])


def _table(
    name: str, paper: str, records: Sequence[RankingRecord], frame: pd.DataFrame, panels: list[Panel], caption: str
) -> Table:
    given = {count for record in records for count in (record.costs.train_threads, record.costs.predict_threads)}
    counts = sorted(count for count in given if count)
    number = " or ".join(f"{count:g}" for count in counts)
    footnotes = notes(paper, records, (), panels)
    if counts:
        threads = f"{number} thread{'s' * (counts != [1])}"
        footnotes.append(f"Training and prediction had {threads}; times that are not called CPU are wall-clock times.")
    made = sorted(dataset for dataset in set(frame["dataset"]) if dataset.startswith(SYNTHETIC))
    if made:
        footnotes.append(
            f"{', '.join(made)}: made by `xmlc synth` where the paper's sets cannot be had; alike in numbers of "
            "classes, examples and features only, so that no number of the paper is about them."
        )
    return Table(name, paper, OPLT_KEYS, frame, caption, panels, footnotes)


ALPHAS, SAMPLES, POLICIES = sweeps_of("alpha"), sweeps_of("warm-start", "sample"), sweeps_of("policy")
SHOWN = (*PRECISION, "depth", "nodes", "train_seconds", "predict_ms")
ALPHA_KEYS = ("dataset", "alpha")
SAMPLE_KEYS = ("dataset", "sample", "model")
POLICY_KEYS = ("dataset", "policy")
SAMPLED = ("warm_start", "max_samples")  # the hyperparameters of OPLT-W and of IPLT that say how large the sample is


@table("alpha", ALPHA_KEYS, ALPHAS)
def alpha(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of Appendix F: P@k, times and depth by the balance's share in best-greedy's score."""
    about = "Best-greedy trees (OPLT-B) by alpha, the share of the tree's balance in the score of a child"
    return _swept("alpha", paper, records, sweep.frame(records), ALPHA_KEYS, published, about)


@table("warm-start", SAMPLE_KEYS, SAMPLES)
def warm_start(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of Appendix G: OPLT-W by the size of its warm start's sample, and IPLT on that sample alone."""
    about = (
        "OPLT-W, whose tree starts as one of 2-means over the labels of a sample and is extended by the other "
        "instances, and IPLT, which learns the same sample and nothing else"
    )
    return _swept("warm-start", paper, records, with_samples(records), SAMPLE_KEYS, published, about)


@table("policies", POLICY_KEYS, POLICIES)
def policies(paper: str, records: Sequence[SweepRecord], published: Published) -> Table:
    """Build the table of all policies that the paper names, most of which it does not measure."""
    about = (
        "Online trees by the policy that places new labels: best-greedy and random (Algorithm 8), a complete tree "
        "(Section 4.1), CPET's (Section 4.2), one level of all labels (Section 1)"
    )
    return _swept("policies", paper, records, sweep.frame(records), POLICY_KEYS, published, about)


def with_samples(records: Sequence[SweepRecord]) -> pd.DataFrame:
    """Return the rows of sweeps over the size of a sample, in percent, by dataset, then by size, then by model."""
    rows = [
        row | {"sample": percent}
        for record in records
        for row in sweep.frame([record]).to_dict("records")
        for percent in [_percent(row[record.hyperparameter])]
        if record.hyperparameter in SAMPLED
    ]
    frame = pd.DataFrame(rows).drop(columns=list(SAMPLED), errors="ignore")
    datasets = {name: place for place, name in enumerate(frame["dataset"].unique())}
    place = frame.assign(place=frame["dataset"].map(datasets))
    return place.sort_values(["place", "sample"], kind="stable").drop(columns="place")


def _percent(share: float) -> float | int:
    percent = round(100 * share, 6)
    return int(percent) if percent.is_integer() else percent


def _passes(records: Sequence[SweepRecord]) -> str:
    counts = sorted({record.setting("epochs") for record in records})
    return " or ".join(f"{count:g}" for count in counts) + (" pass" if counts == [1] else " passes")


def _swept(
    name: str,
    paper: str,
    records: Sequence[SweepRecord],
    rows: pd.DataFrame,
    keys: tuple[str, ...],
    published: Published,
    about: str,
) -> Table:
    caption = f"{about}; {_passes(records)}."
    frame = csv_frame(average_seeds(rows, keys), keys, SHOWN)
    panels = [Panel("", frame, keys, [side_by_side(frame, published, column) for column in SHOWN])]
    footnotes = notes(paper, records, {record.costs.threads for record in records}, panels)
    return Table(name, paper, keys, frame, caption, panels, footnotes)
