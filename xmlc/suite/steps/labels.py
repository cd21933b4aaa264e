"""Run `xmlc labels`: choose label sets by estimates of any model. The matrices are files of `scipy.sparse.save_npz`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse
from tabulate import tabulate

from xmlc.cli._options import out_option, threads_option
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

SHOWN = ("macro_f", "macro_f_zero", "macro_f_present", "micro_f", "instance_f")  # These scores are printed in percent.


@click.command()
@click.option("--method", "methods", type=click.Choice([*TUNED, *INFERENCE]), multiple=True, required=True,
              help="Method for thresholds (tuned, or expected-f) or for inference; repeatable.")  # fmt: skip
@file_option("--test", "Estimates for the instances to label.", required=True)
@file_option("--test-truth", "True label sets of the instances of --test.")
@file_option("--validation", "Estimates for instances outside the model's training data.")
@file_option("--truth", "True label sets of the instances of --validation.")
@file_option("--training-truth", "Label sets of the training data, for label frequencies.  [default: --truth]")
@click.option("--measure", help="Measure to tune for, such as macro_f_present.  [default: from the method]")
@threads_option
@out_option("Folder for <method>.npz, <method>.thresholds.npy and measures.json.")
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

    The label sets are scored if you add --test-truth. All matrices are files from scipy.sparse.save_npz with a column
    for each label.
    """
    for method in methods:
        learns = method not in UNLABELLED_METHODS and (method in TUNED or INFERENCE[method].takes_sizes)
        if learns and not (validation and truth):
            raise click.UsageError(f"--method {method}: found no validation set. Add --validation and --truth")
    spe_test = read_matrix(test, as_estimates)
    m = spe_test.shape[1]
    Y_test = _fitting(test_truth, as_labels, spe_test.shape[0], m)
    spe = _fitting(validation, as_estimates, None, m)
    Y = _fitting(truth, as_labels, None if spe is None else spe.shape[0], m)
    Y_train = Y if training_truth is None else _fitting(training_truth, as_labels, None, m)
    prior: Any = None if Y_train is None else priors(Y_train)
    with atomic_folder(out) as folder:
        scores: dict[str, dict[str, Any]] = {method: {} for method in methods}
        for method in methods:
            thresholds = None
            if method in UNLABELLED_METHODS:
                fitted = fit_unlabelled(method, spe_test, prior)
                thresholds, scores[method]["expected_macro_f"] = fitted.thresholds_, mean(fitted.expected_)
            elif method in TUNED:
                tuned = tune(method, spe, Y, prior, measure=measure)
                thresholds, scores[method] = tuned.thresholds, tuned.grid[tuned.best]._asdict()
            if thresholds is not None:
                np.save(folder / f"{method}.thresholds.npy", thresholds)
                sets = apply_thresholds(spe_test, thresholds)
            else:
                sizes = {"size_weights": fit_size_weights(spe, Y)} if INFERENCE[method].takes_sizes else {}
                sets, _ = INFERENCE[method].infer(spe_test, n_jobs=threads, **sizes)
            sparse.save_npz(folder / f"{method}.npz", sets)
            if Y_test is not None:
                scores[method]["test"] = classification_metrics(Y_test, sets)
        write_json(folder / "measures.json", scores)
    if Y_test is not None:
        rows = [[method, *(f"{100 * scores[method]['test'][name]:.2f}" for name in SHOWN)] for method in methods]
        click.echo(tabulate(rows, ["", *SHOWN], stralign="right", disable_numparse=True))
    click.echo(f"label sets: {out}")


def _fitting(path: Path | None, gate: Callable[[Any], sparse.csr_array], n: int | None, m: int) -> Any:
    """Check the shape of the matrix in a file and return the matrix.

    Return None if ``path`` is None. If n is None, the matrix may have any number of rows.
    """
    if path is None:
        return None
    found = read_matrix(path, gate)
    if found.shape[1] != m or n not in (None, found.shape[0]):
        expected = f"({'any' if n is None else n}, {m}): a row for each instance, a column for each label"
        raise XmlcError(f"{path}: found shape {found.shape}, expected {expected}, as in the other files")
    return found
