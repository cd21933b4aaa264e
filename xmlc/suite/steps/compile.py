"""`xmlc compile`: the kernels of a suite, compiled before its first run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from tqdm import tqdm

from xmlc import compiling
from xmlc.cli.options import FILE
from xmlc.core.threads import set_process_threads
from xmlc.suite.config.suite import Suite, read_suite

Compile = Callable[[], None]


def kernels_of(suite: Suite, models: Collection[str] | None = None) -> dict[str, Compile]:
    """Return functions that compile kernels of models, the slowest first."""
    groups: dict[str, Compile] = {}
    inferring: set[str] = set()
    for name, model in suite.models.items():
        inferring |= set(suite.inferred(name))
        if models is None or name in models:
            groups[name] = partial(compiling.compile_model, model.estimator, model.hyperparameters)
    groups["data"] = compile_data
    groups["ranking"] = compile_ranking
    if inferring:
        groups["inference"] = partial(compiling.compile_inference, sorted(inferring))
    methods = [*suite.methods, *suite.measure_methods]
    if methods:
        groups["thresholds"] = partial(compiling.compile_thresholds, methods)
    return groups


def compile_groups(groups: Collection[Compile], cores: int) -> None:
    """Call functions in processes, because numba compiles on one core."""
    with ProcessPoolExecutor(cores, get_context("spawn"), set_process_threads, (1,)) as pool:
        # Cancels the other groups after an error or Ctrl-C.
        compiled = pool.map(compile_quietly, groups)
        for _ in tqdm(compiled, total=len(groups), disable=None, leave=False):
            pass


def compile_quietly(group: Compile) -> None:
    """Call a function without progress bars."""
    with redirect_stderr(StringIO()):
        group()


def compile_data() -> None:
    """Compile the kernels for data with a small dataset."""
    from xmlc.suite.config.catalogue import Dataset
    from xmlc.suite.steps.prepare import prepare
    from xmlc.suite.steps.synth import make_dataset

    sizes = {
        "n_train": compiling.N_TRAIN,
        "n_features": compiling.N_FEATURES,
        "n_labels": compiling.N_LABELS,
        "n_test": 20,
        "nonzeros": 10,
        "labels_per_instance": 1,
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset("few", "subjects", sizes, folder / "made", n_jobs=1)
        prepare(Dataset("few"), folder / "made", folder / "data")


def compile_ranking() -> None:
    """Compile the kernels that score rankings of any model."""
    import numpy as np

    from xmlc.metrics.propensity import propensities, propensity_parameters
    from xmlc.metrics.ranking import K, ranking_metrics
    from xmlc.metrics.resampling import resampled_ranking

    _, Y, _ = compiling.few()
    labels = np.tile(np.arange(max(K), dtype=np.int32), (compiling.N_TRAIN, 1))
    resampled_ranking(
        Y, labels, ranking_metrics(Y, labels, propensities(Y, *propensity_parameters("few")))
    )


@click.command()
@click.argument("suite", type=FILE)
@click.option(
    "--cores",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of groups of kernels to compile in parallel.",
)
def command(suite: Path, cores: int) -> None:
    """Compile the kernels that the steps of SUITE call, before the first run of the suite.

    You need this command only once for each machine and version of xmlc. If you do not run this
    command, each step compiles the kernels that it needs on one core.
    """
    groups = kernels_of(read_suite(suite))
    click.echo(f"compiling {len(groups)} groups of kernels, unless they are on disk")
    compile_groups(groups.values(), cores)
