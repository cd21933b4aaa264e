"""`xmlc bench`: measured speed, as a ratio within one run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, threads_option


@click.group(help="Measure speed against a baseline in one run, without compilation.")
def command() -> None:
    """Hold the benchmarks; each imports what it needs when it is called."""


@command.command(help="Reading of the repository format, beside scikit-learn's reader.")
@click.argument("file", type=FILE, required=False)
@click.option("--instances", default=220_000, show_default=True, help="Size of the synthetic file, without FILE.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Readings of each reader.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def read(file: Path | None, instances: int, rounds: int, out: Path | None) -> None:
    """Print speed, memory and the ratio."""
    from xmlc.bench.read import READERS, compare_readers
    from xmlc.files import write_json

    result = compare_readers(file, instances, rounds)
    click.echo(f"{result['file']}: {result['megabytes']:.1f} MB of text, {result['instances']} instances")
    click.echo(f"1 thread, page cache, median of {rounds} alternating rounds; {result['passport']['cpu']}")
    click.echo(f"{'reader':<14}{'MB/s':>8}{'MB/CPU s':>10}{'arrays MB':>11}{'peak MB':>9}")
    for reader in READERS:
        measured = result[reader]
        speeds = f"{measured['megabytes_per_second']:8.1f}{measured['megabytes_per_cpu_second']:10.1f}"
        click.echo(f"{reader:<14}{speeds}{measured['array_bytes'] / 1e6:11.0f}{measured['peak_bytes'] / 1e6:9.0f}")
    click.echo(f"ratio {result['ratio']:.2f}; both give the same arrays")
    if out:
        write_json(out, result)


@command.command(help="Growing and asking a FastXML forest, beside the authors' program and on several threads.")
@data_option
@click.option("--trees", type=click.IntRange(min=1), help="Size of the forest; that of the program's measurement.")
@click.option("--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread.")
@click.option("--rounds", default=2, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def fastxml(data: Path, trees: int | None, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, memory and ratios."""
    from xmlc.bench.calibration import calibration_text
    from xmlc.bench.forests.fastxml import compare_with_program
    from xmlc.files import write_json
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    result = compare_with_program(data, trees, threads, rounds)
    precision = " ".join(f"{100 * value:.2f}" for value in result["p@k"])
    click.echo(f"{result['dataset']}: {result['n_trees']} trees, rows of unit length; P@1/3/5 {precision} %")
    click.echo(f"median of {rounds} rounds; peak of the process {result['peak_bytes'] / 1e6:.0f} MB; "
               f"{result['passport']['cpu']}")  # fmt: skip
    click.echo(f"{'':<30}{'training s':>12}{'top 5, ms':>12}")
    for n in (1, threads):
        name = f"xmlc, {n} thread{'s' * (n > 1)}"
        click.echo(f"{name:<30}{result['seconds'][n]:12.2f}{result['ms'][n]:12.4f}")
    if "program" in result:
        program = result["program"]
        click.echo(f"{'C++, 1 thread, scaled':<30}{program['train_seconds']:12.2f}{program['predict_ms']:12.4f}")
        click.echo(f"{'ratio on 1 thread':<30}{result['train_ratio']:12.3f}{result['predict_ratio']:12.3f}")
        elsewhere = result["measured_elsewhere"]
        scaled = calibration_text(result["calibration"])
        click.echo(f"{scaled}, where the C++ program took {elsewhere['train_seconds']} s")
    click.echo(f"speed-up of {threads} threads: {result['speedup']:.2f}")
    if out:
        write_json(out, result)


@command.command(help="Maximising the expected F of each instance, method beside method, and how times grow.")
@data_option
@click.option("--model", "model_folder", type=FOLDER, help="Trained model; without it one is trained here.")
@click.option("--estimator", default="pcc", show_default=True, help="The model's; it must be able to draw samples.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1), help="For each instance.")
@click.option("--growth/--no-growth", default=True, show_default=True, help="Whether to time other numbers of labels.")
@threads_option
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
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
    from xmlc.files import write_json

    result = compare_inference(data, model_folder, estimator, samples, threads, rounds, growth=growth)
    click.echo(to_text(result))
    if out:
        write_json(out, result)


@command.command(help="Training and asking LdSM's trees: beside the authors' program, and on several threads.")
@data_option
@click.option("--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=1), help="P@k is the mean over them.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def ldsm(data: Path, threads: int, rounds: int, seeds: int, out: Path | None) -> None:
    """Print times, precision, ratios and what was asked for."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.forests.ldsm import compare_ldsm
    from xmlc.bench.forests.ldsm_tables import to_text
    from xmlc.files import write_json

    result = compare_ldsm(data, threads, rounds, seeds)
    click.echo(to_text(result))
    if out:
        write_json(out, result)


@command.command(help="Asking nearest neighbours: beside the times of the authors' program, and on several threads.")
@data_option
@click.option("--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--calibration/--no-calibration", default=True, show_default=True, help="Whether to scale others' times.")
@click.option("--calibration-data", type=FOLDER, help="Dataset to scale by, where --data has no known calibration.")
@click.option("--instances", type=click.IntRange(min=1), help="Ask for so many of the test instances; all by default.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
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
    from xmlc.files import write_json

    result = compare_nearest(data, threads, rounds, calibration, calibration_data, instances)
    click.echo(to_text(result))
    if out:
        write_json(out, result)


@command.command(help="Training BR and PCC: beside scikit-learn's logistic regression, and on several threads.")
@data_option
@click.option("--estimator", default="br", show_default=True, type=click.Choice(["br", "pcc"]))
@click.option("--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def logistic(data: Path, estimator: str, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, the ratio, how close the solutions are, and nanoseconds."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.logistic.comparison import compare_logistic, to_text
    from xmlc.files import write_json

    result = compare_logistic(data, estimator, threads, rounds)
    click.echo(to_text(result))
    if out:
        write_json(out, result)


@command.command(help="Training and asking a PLT: beside napkinXC and omikuji, on several threads, and its limit.")
@data_option
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to run the programs of others.")
@click.option("--threads", default=2, show_default=True, type=click.IntRange(min=2), help="Compared with one thread.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
@click.option("--out", "--json", "out", type=FILE, help="JSON file for everything that was measured.")
def plt(data: Path, peers: bool, threads: int, rounds: int, out: Path | None) -> None:
    """Print times, ratios, speed-ups and nanoseconds as tables."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(threads)
    from xmlc.bench.plt.comparison import compare_plt
    from xmlc.bench.plt.tables import to_text
    from xmlc.files import write_json

    result = compare_plt(data, peers, threads, rounds)
    click.echo(to_text(result))
    if out:
        write_json(out, result)


@command.command(help="Online label trees: training, memory and P@k beside napkinXC's, shuffle after shuffle.")
@data_option
@click.option("--variant", "variants", multiple=True, help="OPLT-R, OPLT-B, OPLT-W or IPLT, repeatable; else all.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=1), help="Shuffles of the training set.")
@click.option("--epochs", default=1, show_default=True, type=click.IntRange(min=1), help="Passes over it.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to train napkinXC's too.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def oplt(data: Path, variants: tuple[str, ...], seeds: int, epochs: int, peers: bool, out: Path | None) -> None:
    """Print times, memory, precision, ratios and what was asked for."""
    from xmlc.bench.oplt.tables import comparison_text
    from xmlc.bench.oplt.variants import VARIANTS, compare_oplt
    from xmlc.files import write_json

    result = compare_oplt(data, variants or tuple(VARIANTS), seeds, epochs, peers)
    click.echo(comparison_text(result))
    if out:
        write_json(out, result)


@command.command("oplt-stream", help="An online label tree on a synthetic stream whose labels and features grow.")
@click.option("--instances", default=1_000_000, show_default=True, type=click.IntRange(min=100), help="Of the stream.")
@click.option("--portions", default=10, show_default=True, type=click.IntRange(min=2), help="That are measured.")
@click.option("--parameters", default="{}", help="Hyperparameters of OPLT as a JSON object.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def oplt_stream(instances: int, portions: int, parameters: str, out: Path | None) -> None:
    """Print what an instance costs, beside training when the tree is known, and whether a saved model goes on alike."""
    from xmlc.runtime.threads import set_process_threads

    set_process_threads(1)
    from xmlc.bench.oplt.stream import measure_stream
    from xmlc.bench.oplt.tables import stream_text
    from xmlc.files import write_json

    result = measure_stream(instances, portions, **json.loads(parameters))
    click.echo(stream_text(result))
    if out:
        write_json(out, result)


@command.command("oplt-classes", help="Online label trees on classes with few examples, beside a memory tree (CMT).")
@data_option
@click.option("--seeds", default=1, show_default=True, type=click.IntRange(min=1), help="Shuffles of the training set.")
@click.option("--hash-bits", default=24, show_default=True, type=click.IntRange(10, 32), help="Of the memory tree.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Whether to run the memory tree.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def oplt_classes(data: Path, seeds: int, hash_bits: int, peers: bool, out: Path | None) -> None:
    """Print accuracies on the stream and on the test set, and what they cost."""
    from xmlc.bench.oplt.classes import compare_classes
    from xmlc.bench.oplt.tables import classes_text
    from xmlc.files import write_json

    result = compare_classes(data, seeds, hash_bits, peers)
    click.echo(classes_text(result))
    if out:
        write_json(out, result)


@command.command("compile", help="Compilation of the kernels that the steps of SUITE call, into an empty folder.")
@click.argument("suite", type=FILE)
@click.option("--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Parts compiled side by side.")
@click.option("--out", type=FILE, help="JSON file for every function that was compiled.")
def compilation(suite: Path, cores: int, out: Path | None) -> None:
    """Print seconds by part and by function, and what is compiled more than once."""
    from xmlc.bench.compilation import measure_compilation, to_text
    from xmlc.files import write_json

    result = measure_compilation(suite, cores)
    click.echo(to_text(result))
    if out:
        write_json(out, result)
