"""What `compare_plt` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xmlc.bench.plt.comparison import Comparison
from xmlc.bench.plt.contenders import (
    NAPKINXC_ADAGRAD,
    NAPKINXC_LIBLINEAR,
    OMIKUJI,
    OMIKUJI_DENSE,
    SEARCHES,
    name_of,
)
from xmlc.bench.plt.cost import PHASE_NAMES
from xmlc.bench.plt.limits import PLACES
from xmlc.bench.text import same_bits, table, turns_text

LIMIT_OF = {"adagrad": "read, AdaGrad", "batch": "read, add"}  # what a pass of each solver does at the least
GOALS = {  # what this suite asks of itself, by dataset: ratios of time
    "tib-core-26k": {
        ("training", f"{name_of('adagrad', 1)} / {NAPKINXC_ADAGRAD}"): 0.15,
        ("training", f"{name_of('batch', 1)} / {OMIKUJI}"): 0.5,
        ("prediction", f"{name_of('batch', 1, 'beam 10')} / {OMIKUJI}"): 0.03,
        ("prediction", f"{name_of('batch', 1, 'beam 10')} / {OMIKUJI_DENSE}"): 0.03,
    },
    "delicious": {
        ("training", f"{name_of('adagrad', 1)} / {NAPKINXC_ADAGRAD}"): 0.4,
        ("training", f"{name_of('batch', 1)} / {NAPKINXC_LIBLINEAR}"): 0.3,
        ("prediction", f"{name_of('batch', 1, 'exact')} / {NAPKINXC_LIBLINEAR}"): 1,
    },
}
LIMITS = """\
The limit is measured by kernels that touch a row of siblings for each non-zero of the training set, block by block, and
compute nothing that could be left out: with rows that fit the first cache, with blocks of the sizes of this data, and
with rows scattered over half a gigabyte. The solver "batch" leaves alone siblings that need no step, and stores no
weights below its cut, so that it may need less."""


def to_text(result: Comparison) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), *_contenders(result)]
    if result.ratios:
        parts.append(_ratios(result))
    return "\n\n".join([*parts, _threads(result), _latency(result), _phases(result), _pairs(result), LIMITS])


def _head(result: Comparison) -> str:
    n, d, m = result.shape
    settings = "\n".join(
        f"- {solver}: " + ", ".join(f"{key}={value!r}" for key, value in values.items())
        for solver, values in result.settings.items()
    )
    return f"{result.dataset}: {n} instances to train on, {d} features, {m} labels; {turns_text(result)}\n\n{settings}"


def _percents(precision: Iterable[float]) -> list[str]:
    return [f"{100 * value:.2f}" for value in precision]


def _contenders(result: Comparison) -> list[str]:
    measures = ["P@1", "P@3", "P@5"]
    training = [[name, f"{min(one.seconds):.3f}", *_percents(one.precision)] for name, one in result.training.items()]
    prediction = [[name, f"{min(one.ms):.4f}", *_percents(one.precision)] for name, one in result.prediction.items()]
    parts = [
        table(["", "seconds", *measures], training, "Training, tree included; peers on 1 thread"),
        table(["", "ms per instance", *measures], prediction, "Prediction of the best 5; peers on 1 thread"),
    ]
    if result.conversion:
        written, converted = result.conversion["train_seconds"], result.conversion["predict_ms"]
        parts.append(
            f"Of {OMIKUJI}: {written:.2f} s of the training is writing the file that it reads, and "
            f"{converted:.4f} ms of the prediction is turning instances into its types."
        )
    return parts


def _ratios(result: Comparison) -> str:
    goals = GOALS.get(result.dataset, {})
    rows = [
        [what, pair, f"{ratio:.4f}", str(goals.get((what, pair), ""))]
        for what, pairs in result.ratios.items()
        for pair, ratio in pairs.items()
    ]
    return table(["", "ours / peer", "ratio", "asked: at most"], rows, "Ratios of time on 1 thread")


def _threads(result: Comparison) -> str:
    rows = []
    for solver, measured in result.threads_of.items():
        times = (measured.training, *(measured.prediction[search] for search in SEARCHES))
        rows.append([solver, *(f"{ratio:.2f}" for ratio in times), same_bits(measured.differing_arrays)])
    headings = ["", "training", *(f"top 5, {search}" for search in SEARCHES), "same bits"]
    return table(headings, rows, f"Speed-up of {result.threads} threads")


def _latency(result: Comparison) -> str:
    rows = [
        [solver, search, f"{measured.median_ms:.4f}", f"{measured.p99_ms:.4f}"]
        for solver, searches in result.latency.items()
        for search, measured in searches.items()
    ]
    return table(["", "search", "median ms", "99 % ms"], rows, "One instance at a time, from Python, 1 thread")


def _phases(result: Comparison) -> str:
    costs = result.cost
    names = [name for name in PHASE_NAMES if any(name in cost.phases for cost in costs.values())]
    rows = [[name, *(_seconds(cost.phases.get(name)) for cost in costs.values())] for name in names]
    rows.append(["all", *(_seconds(sum(cost.phases.values())) for cost in costs.values())])
    beside = [_seconds(max(cost.beside_seconds, 0.0)) for cost in costs.values()]
    rows.append(["of the training: beside its passes", *beside])
    rows.append(["passes that the training amounts to", *(f"{cost.passes:.1f}" for cost in costs.values())])
    return table(["", *costs], rows, "Where the seconds of a training go, 1 thread")


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _pairs(result: Comparison) -> str:
    rows = []
    for solver, cost in result.cost.items():
        line = [f"{cost.pairs / 1e6:.1f} M per pass", f"{cost.train_ns:.3f}"]
        rows.append([f"{solver}: training", *line, *_nanoseconds(cost.limits[LIMIT_OF[solver]])])
        for search in SEARCHES:
            line = [f"{cost.predict_pairs[search]:.0f} per instance", f"{cost.predict_ns[search]:.3f}"]
            rows.append([f"{solver}: top 5, {search}", *line, *_nanoseconds(cost.limits["read"])])
    headings = ["", "pairs (non-zero, node)", "ours", *(f"limit, {place}" for place in PLACES)]
    title = "Nanoseconds per pair (non-zero, node) reached, 1 thread, and the machine's limit"
    return table(headings, rows, title)


def _nanoseconds(limits: Mapping[str, float]) -> list[str]:
    return [f"{limits[place]:.3f}" for place in PLACES]
