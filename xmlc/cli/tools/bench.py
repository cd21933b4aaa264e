"""`xmlc bench`: measured speed, as a ratio within one run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, threads_option

out_option = click.option("--out", type=FILE, help="JSON file for everything that was measured.")
several_threads = click.option(
    "--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread."
)
three_rounds = click.option(
    "--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each."
)


@click.group(help="Measure speed against a baseline in one run, without compilation.")
def command() -> None:
    """Hold the benchmarks; each imports what it needs when it is called."""


def _report(result: object, text: str, out: Path | None) -> None:
    """Print what was measured, and write it as JSON if a file is named."""
    from xmlc.bench.results import as_json
    from xmlc.files import write_json

    click.echo(text)
    if out:
        write_json(out, as_json(result))


@command.command(help="Reading of the repository format, beside scikit-learn's reader.")
@click.argument("file", type=FILE, required=False)
@click.option("--instances", default=220_000, show_default=True, help="Size of the synthetic file, without FILE.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Readings of each reader.")
@out_option
def read(file: Path | None, instances: int, rounds: int, out: Path | None) -> None:
    """Print speed, memory and the ratio."""
    from xmlc.bench.read import compare_readers, to_text

    result = compare_readers(file, instances, rounds)
    _report(result, to_text(result), out)


@command.command(help="Growing and asking a FastXML forest, beside the authors' program and on several threads.")
@data_option
@click.option("--trees", type=click.IntRange(min=1), help="Size of the forest; that of the program's measurement.")
@several_threads
@click.option("--rounds", default=2, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@out_option
def fastxml(data: Path, trees: int | None, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, memory and ratios."""
    from xmlc.bench.forests.fastxml import compare_with_program, to_text
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    result = compare_with_program(data, trees, threads, rounds)
    _report(result, to_text(result, rounds), out)


@command.command(help="Maximising the expected F of each instance, method beside method, and how times grow.")
@data_option
@click.option("--model", "model_folder", type=FOLDER, help="Trained model; without it one is trained here.")
@click.option("--estimator", default="pcc", show_default=True, help="The model's; it must be able to draw samples.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1), help="For each instance.")
@click.option("--growth/--no-growth", default=True, show_default=True, help="Whether to time other numbers of labels.")
@threads_option
@three_rounds
@out_option
def inference(
    data: Path,
    model_folder: Path | None,
    estimator: str,
    samples: int,
    growth: bool,
    threads: int,
    rounds: int,
    out: Path | None,
) -> None:
    """Print times, ratios, the machine's limit and fitted powers."""
    from xmlc.bench.inference.comparison import compare_inference
    from xmlc.bench.inference.tables import to_text

    result = compare_inference(data, model_folder, estimator, samples, threads, rounds, growth=growth)
    _report(result, to_text(result), out)


@command.command(help="Training and asking LdSM's trees: beside the authors' program, and on several threads.")
@data_option
@several_threads
@three_rounds
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=1), help="P@k is the mean over them.")
@out_option
def ldsm(data: Path, threads: int, rounds: int, seeds: int, out: Path | None) -> None:
    """Print times, precision, ratios and what was asked for."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.forests.ldsm import compare_ldsm
    from xmlc.bench.forests.ldsm_tables import to_text

    result = compare_ldsm(data, threads, rounds, seeds)
    _report(result, to_text(result), out)


@command.command(help="Asking nearest neighbours: beside the times of the authors' program, and on several threads.")
@data_option
@several_threads
@three_rounds
@click.option("--calibration/--no-calibration", default=True, show_default=True, help="Whether to scale others' times.")
@click.option("--calibration-data", type=FOLDER, help="Dataset to scale by, where --data has no known calibration.")
@click.option("--instances", type=click.IntRange(min=1), help="Ask for so many of the test instances; all by default.")
@out_option
def nearest(
    data: Path,
    threads: int,
    rounds: int,
    calibration: bool,
    calibration_data: Path | None,
    instances: int | None,
    out: Path | None,
) -> None:
    """Print times, speed-ups, precision, and ratios to the times of others."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.nearest.comparison import compare_nearest
    from xmlc.bench.nearest.tables import to_text

    result = compare_nearest(data, threads, rounds, calibration, calibration_data, instances)
    _report(result, to_text(result), out)


@command.command(help="Training BR and PCC: beside scikit-learn's logistic regression, and on several threads.")
@data_option
@click.option("--estimator", default="br", show_default=True, type=click.Choice(["br", "pcc"]))
@several_threads
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@out_option
def logistic(data: Path, estimator: str, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, the ratio, how close the solutions are, and nanoseconds."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.logistic.comparison import compare_logistic
    from xmlc.bench.logistic.tables import to_text

    result = compare_logistic(data, estimator, threads, rounds)
    _report(result, to_text(result), out)


@command.command(help="Training and asking a PLT: beside napkinXC and omikuji, on several threads, and its limit.")
@data_option
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to run the programs of others.")
@several_threads
@three_rounds
@click.option("--out", "--json", "out", type=FILE, help="JSON file for everything that was measured.")
def plt(data: Path, peers: bool, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, ratios, speed-ups and nanoseconds as tables."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.plt.comparison import compare_plt
    from xmlc.bench.plt.tables import to_text

    result = compare_plt(data, peers, threads, rounds)
    _report(result, to_text(result), out)


@command.command(help="Online label trees: training, memory and P@k beside napkinXC's, shuffle after shuffle.")
@data_option
@click.option("--variant", "variants", multiple=True, help="OPLT-R, OPLT-B, OPLT-W or IPLT, repeatable; else all.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=1), help="Shuffles of the training set.")
@click.option("--epochs", default=1, show_default=True, type=click.IntRange(min=1), help="Passes over it.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to train napkinXC's too.")
@out_option
def oplt(data: Path, variants: tuple[str, ...], seeds: int, epochs: int, peers: bool, out: Path | None) -> None:
    """Print times, memory, precision, ratios and what was asked for."""
    from xmlc.bench.oplt.tables import comparison_text
    from xmlc.bench.oplt.variants import VARIANTS, compare_oplt

    result = compare_oplt(data, variants or tuple(VARIANTS), seeds, epochs, peers)
    _report(result, comparison_text(result), out)


@command.command("oplt-stream", help="An online label tree on a synthetic stream whose labels and features grow.")
@click.option("--instances", default=1_000_000, show_default=True, type=click.IntRange(min=100), help="Of the stream.")
@click.option("--portions", default=10, show_default=True, type=click.IntRange(min=2), help="That are measured.")
@click.option("--parameters", default="{}", help="Hyperparameters of OPLT as a JSON object.")
@out_option
def oplt_stream(instances: int, portions: int, parameters: str, out: Path | None) -> None:
    """Print what an instance costs, beside training when the tree is known, and whether a saved model goes on alike."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(1)
    from xmlc.bench.oplt.stream import measure_stream
    from xmlc.bench.oplt.tables import stream_text

    result = measure_stream(instances, portions, **json.loads(parameters))
    _report(result, stream_text(result), out)


@command.command("oplt-classes", help="Online label trees on classes with few examples, beside a memory tree (CMT).")
@data_option
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(min=1), help="Shuffles of the training set.")
@click.option("--hash-bits", default=24, show_default=True, type=click.IntRange(10, 32), help="Of the memory tree.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to run the memory tree.")
@out_option
def oplt_classes(data: Path, seeds: int, hash_bits: int, peers: bool, out: Path | None) -> None:
    """Print accuracies on the stream and on the test set, and what they cost."""
    from xmlc.bench.oplt.classes import compare_classes
    from xmlc.bench.oplt.tables import classes_text

    result = compare_classes(data, seeds, hash_bits, peers)
    _report(result, classes_text(result), out)


@command.command("compile", help="Compilation of the kernels that the steps of SUITE call, into an empty folder.")
@click.argument("suite", type=FILE)
@click.option("--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Parts compiled side by side.")
@click.option("--out", type=FILE, help="JSON file for every function that was compiled.")
def compilation(suite: Path, cores: int, out: Path | None) -> None:
    """Print seconds by part and by function, and what is compiled more than once."""
    from xmlc.bench.compilation import measure_compilation, to_text

    result = measure_compilation(suite, cores)
    _report(result, to_text(result), out)
