"""What the benchmarks of online label trees measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Mapping

from xmlc.bench.oplt.classes import Classes, ClassesModel
from xmlc.bench.oplt.stream import Prefix, Stream
from xmlc.bench.oplt.variants import Beside, Trainings, Variant, Variants
from xmlc.bench.text import Claim, claims_table, machine_text, shape_text, table, with_deviations

TRAIN_RATIO = 0.15  # to napkinXC's time for an OPLT, at most
MEMORY_RATIO = 1.0
POINTS = 0.5  # of P@k below napkinXC's, at most
FACTOR = 2.0  # of time and memory to those when the tree is known, at most: a node has two classifiers at most
GROWTH = 2.0  # of the time for a classifier's update, last portion to second, at most
ONLINE = ("OPLT-R", "OPLT-B", "OPLT-W")


def comparison_text(result: Variants) -> str:
    """Return what `compare_oplt` measured, and what of it was asked for."""
    head = (
        f"{result.dataset}: {shape_text(result.shape)}; passes: {result.epochs}; P@k the "
        f"mean of {result.seeds} shuffles, times and memory the best of them; one thread, a process for each "
        f"training; {machine_text(result.passport)}"
    )
    rows = []
    for name, variant in result.variants.items():
        rows += [_row(name, program, trainings) for program, trainings in variant.trainings.items()]
        if variant.beside:
            rows.append(_ratio_row(name, variant.beside))
    headings = ["", "training s", "CPU s", "memory MB", "top 5, ms", "P@1 %", "P@3 %", "P@5 %"]
    return "\n\n".join([head, table(headings, rows), *claims_table(_comparison_claims(result.variants))])


def _row(variant: str, program: str, trainings: Trainings) -> list[str]:
    return [
        f"{variant}, {program}",
        f"{trainings.seconds:.2f}",
        f"{trainings.cpu_seconds:.2f}",
        f"{trainings.peak_bytes / 1e6:.0f}",
        f"{trainings.ms:.3f}",
        *with_deviations(trainings.precision, trainings.precision_std),
    ]


def _ratio_row(variant: str, beside: Beside) -> list[str]:
    ratios = (beside.ratios.seconds, beside.ratios.cpu_seconds, beside.ratios.peak_bytes)
    differences = (f"{value:+.2f}" for value in beside.difference)
    return [f"{variant}, ratio", *(f"{ratio:.3f}" for ratio in ratios), "", *differences]


def _comparison_claims(variants: Mapping[str, Variant]) -> list[Claim]:
    claims = []
    for name, variant in variants.items():
        if variant.beside is None:
            continue
        if name in ONLINE:
            found = variant.beside.ratios.seconds
            reached = found <= TRAIN_RATIO
            claims.append(Claim(f"{name}: training", f"at most {TRAIN_RATIO:g}", f"{found:.3f}", reached))
            found = variant.beside.ratios.peak_bytes
            reached = found <= MEMORY_RATIO
            claims.append(Claim(f"{name}: memory", f"at most {MEMORY_RATIO:g}", f"{found:.2f}", reached))
        least = min(variant.beside.difference)
        what = f"{name}: P@k above napkinXC's"
        claims.append(Claim(what, f"at least -{POINTS:g}", f"{least:+.2f}", least >= -POINTS))
    return claims


def stream_text(result: Stream) -> str:
    """Return what `measure_stream` measured, and what of it was asked for."""
    setting = ", ".join(f"{key} {value}" for key, value in result.hyperparameters.items()) or "default settings"
    head = (
        f"a growing stream of {result.instances} instances, {setting}; processor seconds of one thread; "
        f"{machine_text(result.passport)}; peak of the process, "
        f"with all that is trained anew in it, {result.peak_bytes / 1e6:.0f} MB"
    )
    rows = [
        [
            *map(str, (portion.end, portion.labels, portion.features, portion.nodes, portion.depth)),
            f"{portion.seconds:.2f}",
            f"{portion.us:.1f}",
            f"{portion.updates:.0f}",
            f"{portion.ns:.2f}",
            f"{portion.model_bytes / 1e6:.0f}",
        ]
        for portion in result.portions
    ]
    headings = ["instances", "labels", "features", "nodes", "depth", "s", "µs each", "updates each"]
    body = table([*headings, "ns per update and non-zero", "model MB"], rows)
    headings = ["first instances", "s", "known tree, s", "ratio", "node by node, s", "MB", "known tree, MB", "ratio"]
    anew = table(headings, map(_anew_row, result.prefixes))
    return "\n\n".join([head, body, anew, *claims_table(_stream_claims(result))])


def _anew_row(prefix: Prefix) -> list[str]:
    return [
        str(prefix.end),
        f"{prefix.seconds:.2f}",
        f"{prefix.known_seconds:.2f}",
        f"{prefix.seconds / prefix.known_seconds:.2f}",
        f"{prefix.node_seconds:.2f}",
        f"{prefix.model_bytes / 1e6:.0f}",
        f"{prefix.known_bytes / 1e6:.0f}",
        f"{prefix.model_bytes / prefix.known_bytes:.2f}",
    ]


def _stream_claims(result: Stream) -> list[Claim]:
    portions, prefixes = result.portions, result.prefixes
    growth = portions[-1].ns / portions[min(1, len(portions) - 1)].ns
    known = {array for prefix in prefixes for array in prefix.known_differing}
    by_node = {array for prefix in prefixes for array in prefix.node_differing}
    slowest = max(prefix.seconds / prefix.known_seconds for prefix in prefixes)
    largest = max(prefix.model_bytes / prefix.known_bytes for prefix in prefixes)
    asked = f"at most {FACTOR:g}"
    return [
        Claim("an update, last portion to second", f"at most {GROWTH:g}", f"{growth:.2f}", growth <= GROWTH),
        _none_differs("arrays that differ after saving, loading and going on", result.differing),
        _none_differs("weights that differ from those of the known tree", sorted(known)),
        _none_differs("weights that differ from those of training node by node", sorted(by_node)),
        Claim("time to that of the known tree", asked, f"{slowest:.2f}", slowest <= FACTOR),
        Claim("memory to that of the known tree", asked, f"{largest:.2f}", largest <= FACTOR),
    ]


def _none_differs(what: str, differing: list[str]) -> Claim:
    return Claim(what, "none", ", ".join(differing) or "none", not differing)


def classes_text(result: Classes) -> str:
    """Return what `compare_classes` measured."""
    head = (
        f"{result.dataset}: {shape_text(result.shape, 'classes')}; accuracies the mean of "
        f"{result.seeds} shuffles, costs the best of them; the constant predictor is right in "
        f"{100 * result.constant:.2f} %; one thread; {machine_text(result.passport)}"
    )
    headings = ["", "stream %", "bits", "then test %", "CPU s", "several passes, test %", "CPU s", "test, ms", "MB"]
    return "\n\n".join([head, table(headings, [_class_row(*item) for item in result.models.items()])])


def _class_row(name: str, model: ClassesModel) -> list[str]:
    numbers = [model.progressive, model.reduction, model.test_online, model.cpu_online]
    numbers += [model.test_several, model.cpu_several]
    return [name, *(f"{number:.2f}" for number in numbers), f"{model.ms:.4f}", f"{model.peak_bytes / 1e6:.0f}"]
