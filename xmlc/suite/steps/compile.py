"""Run `xmlc compile`: compile the kernels of a suite before its first run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
from tqdm import tqdm

from xmlc import compiling
from xmlc.cli._options import FILE

LOOK_UP = ("oracle", "estimates")  # These estimators look up stored values, so they need no kernels.


def parts_of(suite: Path) -> list[compiling.CompiledPart]:
    """Return the groups of kernels that the steps of a suite need.

    The kernels of models come first, because they take longest.

    Raises
    ------
    XmlcError
        The file cannot be read, or is not a suite.
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

    To this end, generate, write, read and prepare a small synthetic dataset.
    """
    from xmlc.suite.config.catalogue import Dataset
    from xmlc.suite.steps.prepare import prepare
    from xmlc.suite.steps.synth import make_dataset

    sizes = {"n_train": compiling.N_TRAIN, "n_features": compiling.N_FEATURES, "n_labels": compiling.N_LABELS}
    sizes |= {"n_test": 20, "nonzeros": 10}
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset("few", "labels", {"labels_per_instance": 1.0, **sizes}, folder / "made", n_jobs=1)
        prepare(Dataset("few"), folder / "made", folder / "data")


def compile_ranking() -> None:
    """Compile the kernels that score rankings. These kernels are the same for every model."""
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
    "--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Number of parts to compile at once."
)
def command(suite: Path, cores: int) -> None:
    """Compile the kernels that the steps of SUITE call.

    Once for a machine and version. Without this command each step compiles its missing kernels on one core.
    """
    """Compile the kernels that the steps of SUITE call.

    Once for a machine and version. Without this command each step compiles its missing kernels on one core.
    """
    # The compilation takes about a minute, so a line is printed first.
    if parts := compiling.missing(parts_of(suite)):
        click.echo(f"compiling {len(parts)} groups of kernels, once for this machine and version")
    compiled = compiling.compile_parts(parts, cores)
    for _ in tqdm(compiled, total=len(parts), disable=None if parts else True, leave=False):
        pass
