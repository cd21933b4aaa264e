"""`xmlc labels`: label sets by the probability estimates of any model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse
from tabulate import tabulate

from xmlc.cli.options import out_option, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, write_json
from xmlc.data.formats.npz import read_matrix
from xmlc.inference.methods import METHODS as INFERENCE
from xmlc.inference.sizes import fit_size_weights
from xmlc.kernels.csr import as_estimates, as_labels
from xmlc.kernels.elementwise import mean
from xmlc.metrics.classification import classification_metrics
from xmlc.metrics.measures import UNLABELLED_METHODS
from xmlc.suite.options import file_option
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.methods import apply_thresholds
from xmlc.thresholds.sweeps import METHODS as TUNED
from xmlc.thresholds.sweeps import fit_unlabelled, tune

# Printed scores, in percent
SHOWN = ("macro_f", "macro_f_zero", "macro_f_present", "micro_f", "instance_f")


@click.command()
@click.option("--method", "methods", type=click.Choice([*TUNED, *INFERENCE]), multiple=True,
    required=True,
              help="Threshold method or inference method; repeatable.")  # fmt: skip
@file_option("--test", "Estimates for the instances to label.", required=True)
@file_option("--test-truth", "True label sets of the instances of --test.")
@file_option(
    "--validation", "Estimates for validation instances, which the model was not trained on."
)
@file_option("--truth", "True label sets of the instances of --validation.")
@file_option(
    "--training-truth",
    "True label sets of the training data, which give the label frequencies.  [default: --truth]",
)
@click.option(
    "--measure",
    help="Measure that thresholds maximise, such as macro_f_present.  [default: from --method]",
)
@threads_option
@out_option(
    "Folder to write, with label sets (<method>.npz), thresholds (<method>.thresholds.npy) and "
    "measures.json."
)
def command(
    methods: tuple[str, ...],
    test: Path,
    test_truth: Path | None,
    validation: Path | None,
    truth: Path | None,
    training_truth: Path | None,
    measure: str | None,
    threads: int,
    out: Path,
) -> None:
    """Choose label sets for the instances of --test.

    If you add --test-truth, the command also scores the label sets. Each matrix is a file that
    scipy.sparse.save_npz wrote, with a column for each label.
    """
    for method in methods:
        learns = method not in UNLABELLED_METHODS and (
            method in TUNED or INFERENCE[method].takes_sizes
        )
        if learns and not (validation and truth):
            raise click.UsageError(
                f"--method {method}: found no validation set. Add --validation and --truth"
            )
    spe_test = read_matrix(test, as_estimates)
    n, m = spe_test.shape
    Y_test = _fitting(test_truth, as_labels, n, m)
    spe = _fitting(validation, as_estimates, None, m)
    Y = _fitting(truth, as_labels, None if spe is None else spe.shape[0], m)
    Y_train = _fitting(training_truth or truth, as_labels, None, m)
    prior = None if Y_train is None else priors(Y_train)
    with atomic_folder(out) as folder:
        scores: dict[str, dict[str, Any]] = {}
        rows = []
        for method in methods:
            scores[method] = {}
            if method in TUNED:
                if method in UNLABELLED_METHODS:
                    fitted = fit_unlabelled(method, spe_test, prior)
                    thresholds = fitted.thresholds_
                    scores[method]["expected_macro_f"] = mean(fitted.expected_)
                else:
                    tuned = tune(method, spe, Y, prior, measure=measure)
                    thresholds = tuned.thresholds
                    scores[method] = tuned.grid[tuned.best]._asdict()
                np.save(folder / f"{method}.thresholds.npy", thresholds)
                sets = apply_thresholds(spe_test, thresholds)
            else:
                sizes = {}
                if INFERENCE[method].takes_sizes:
                    sizes = {"size_weights": fit_size_weights(spe, Y)}
                sets, _ = INFERENCE[method].infer(spe_test, n_jobs=threads, **sizes)
            sparse.save_npz(folder / f"{method}.npz", sets)
            if Y_test is not None:
                measures = classification_metrics(Y_test, sets)
                scores[method]["test"] = measures
                rows.append([method, *(f"{100 * measures[name]:.2f}" for name in SHOWN)])
        write_json(folder / "measures.json", scores)
    if rows:
        click.echo(tabulate(rows, ["", *SHOWN], stralign="right", disable_numparse=True))
    click.echo(f"label sets: {out}")


def _fitting(
    path: Path | None, gate: Callable[[Any], sparse.csr_array], n: int | None, m: int
) -> Any:
    if path is None:
        return None
    found = read_matrix(path, gate)
    if found.shape[1] != m or n not in (None, found.shape[0]):
        raise XmlcError(
            f"{path}: found shape {found.shape}, expected ({'any' if n is None else n}, {m}): a "
            "row for each instance, a column for each label, as in the other files"
        )
    return found
