"""`xmlc compile`: the kernels of a suite, compiled before its first run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from xmlc import compiling
from xmlc.cli.options import FILE
from xmlc.suite.config.suite import Suite, read_suite


def compile_suite(suite: Suite, models: Collection[str]) -> None:
    """Compile the kernels that a suite's steps call with some of its models."""
    inferring: set[str] = set()
    for name in models:
        model = suite.models[name]
        compiling.compile_model(model.estimator, model.hyperparameters)
        inferring |= set(suite.inferred(name))
    compile_data()
    compile_ranking()
    methods = [*suite.methods, *suite.measure_methods]
    if methods:
        compiling.compile_thresholds(methods)
    if inferring:
        compiling.compile_inference(sorted(inferring))


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
def command(suite: Path) -> None:
    """Compile the kernels that the steps of SUITE call, before its first run.

    Each job otherwise compiles the kernels that it needs and stores them for later jobs. Compile
    ahead if the jobs cannot write into the installed package, or into the folder NUMBA_CACHE_DIR.
    """
    configured = read_suite(suite)
    compile_suite(configured, configured.models)
