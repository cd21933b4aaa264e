"""Another program's estimates as a dataset, half training set and half test set, and scores.

From such files, the suite `neural` evaluates models without their programs (docs/estimates.md).
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from scipy import sparse

from benchmarks.commands import group
from xmlc.cli.options import FOLDER
from xmlc.core.files import atomic_folder
from xmlc.data import load
from xmlc.kernels.counter_random import random_permutation
from xmlc.suite.steps.prepared import fit_mask

# Seed and random stream of the split into halves
SPLIT = 0
HALVES = 1
HELP = (
    "Convert SOURCE to a dataset and to the scores of a model.\n\nSOURCE has estimates.txt.xz and "
    "labels.txt.xz."
)
# Held out for validation, as in `xmlc prepare`
VALIDATION_SHARE = 0.2
SEEDS = 5  # each seed holds out other instances


@group.command(help=HELP)
@click.argument("source", type=FOLDER)
def halves(source: Path) -> None:
    """Write resources/manual/NAME and scores/NAME from a source folder NAME."""
    name = source.resolve().name
    spe, _ = load(source / "estimates.txt.xz", "svmlight")
    _, Y = load(source / "labels.txt.xz", "svmlight", n_labels=spe.shape[1])
    train, test = np.split(random_permutation(Y.shape[0], SPLIT, HALVES), [Y.shape[0] // 2])
    with atomic_folder(Path("resources/manual", name)) as folder:
        for part, rows in (("trn", train), ("tst", test)):
            # One constant feature is enough, because no model is trained on the data
            sparse.save_npz(
                folder / f"X.{part}.npz",
                sparse.csr_array(np.ones((rows.size, 1), dtype=np.float32)),
            )
            sparse.save_npz(folder / f"Y.{part}.npz", Y[rows])
    with atomic_folder(Path("scores", name)) as folder:
        for seed in range(SEEDS):
            held_out = train[~fit_mask(train.size, VALIDATION_SHARE, seed)]
            sparse.save_npz(folder / f"validation-{seed}.npz", spe[held_out])
            sparse.save_npz(folder / f"test-{seed}.npz", spe[test])
    click.echo(
        f"wrote the dataset resources/manual/{name} and scores/{name}. Run: snakemake --cores 2 "
        "neural"
    )
