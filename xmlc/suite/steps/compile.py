"""Run `xmlc compile`: compile the kernels of a suite before its first run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
from tqdm import tqdm

from xmlc import compiling
from xmlc.cli.options import FILE

LOOK_UP = ("oracle", "estimates")  # Estimators that look up stored values, and therefore need no kernels.


def parts_of(suite: Path) -> list[compiling.CompiledPart]:
    """Return the groups of kernels that the steps of a suite need.

    The groups for models come first, because they take longest to compile.

    Raises
    ------
    XmlcError
        The file cannot be read, or does not describe a suite.
    """
    from xmlc.suite.config.suite import read_suite

    configured = read_suite(suite)
    models = {name: model for name, model in configured.models.items() if model.estimator not in LOOK_UP}
    inferring = {method for model in configured.models for method in configured.inferred(model)}
    return [
        *(compiling.model_of(name, model.estimator, model.hyperparameters) for name, model in models.items()),
        compiling.CompiledPart("data", compile_data, {}),
        compiling.CompiledPart("ranking", compile_ranking, {}),
        *compiling.methods_of([*configured.methods, *configured.measure_methods], sorted(inferring)),
    ]


def compile_data() -> None:
    """Compile the kernels that handle data.

    The kernels are compiled by generating, writing, reading and preparing a small synthetic dataset.
    """
    from xmlc.suite.config.catalogue import Dataset
    from xmlc.suite.steps.prepare import prepare
    from xmlc.suite.steps.synth import make_dataset

    sizes = {"n_train": compiling.N_TRAIN, "n_features": compiling.N_FEATURES, "n_labels": compiling.N_LABELS}
    sizes |= {"n_test": 20, "nonzeros": 10, "labels_per_instance": 1}
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset("few", "subjects", sizes, folder / "made", n_jobs=1)
        prepare(Dataset("few"), folder / "made", folder / "data")


def compile_ranking() -> None:
    """Compile the kernels that score rankings. All models share the kernels that score rankings."""
    import numpy as np

    from xmlc.metrics.propensity import propensities, propensity_parameters
    from xmlc.metrics.ranking import K, ranking_metrics
    from xmlc.metrics.resampling import resampled_ranking

    _, Y, _ = compiling.few()
    labels = np.tile(np.arange(max(K), dtype=np.int32), (compiling.N_TRAIN, 1))
    resampled_ranking(Y, labels, ranking_metrics(Y, labels, propensities(Y, *propensity_parameters("few"))))


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

    You need this command only once for each machine and version of xmlc. If you do not run this command, each step
    compiles the kernels that it needs on one core.
    """
    # A line is printed first, because the compilation takes about a minute.
    parts = compiling.missing(parts_of(suite))
    if parts:
        click.echo(f"compiling {len(parts)} groups of kernels, once for this machine and version")
    compiled = compiling.compile_parts(parts, cores)
    for _ in tqdm(compiled, total=len(parts), disable=None if parts else True, leave=False):
        pass
