"""Wrap omikuji's Parabel as an estimator (PyPI ``omikuji``, extra ``baselines``)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from benchmarks.baselines.program import Answers, ProgramModel, flattened, imported, silenced_output
from xmlc.core.errors import XmlcError
from xmlc.core.threads import resolve_threads
from xmlc.data.writer import save_repository
from xmlc.kernels.csr import Matrix, without_zeros
from xmlc.kernels.estimator import hyperparameters


@hyperparameters
class OmikujiParabel(ProgramModel):
    """Train and predict with omikuji's Parabel: trees by balanced 2-means over label centroids, and
    beam search.

    Classifiers of nodes are trained by liblinear. All hyperparameters that are not listed here have
    omikuji's defaults. By default, omikuji scales instances to Euclidean length 1. omikuji accepts
    no seed, so two trainings have different random initial centroids.

    omikuji reads its training data from a file in the repository format. Training times include
    writing and reading the file, as in any use of omikuji from Python. Instances without features
    and labels are left out, because omikuji cannot read empty lines. The Python interface predicts
    one instance per call. Prediction times include converting each instance to omikuji's types.
    With one tree and one thread, the file and the conversion take these parts of the measured time:

    - On tib-core-26k, the file takes 2.4 of 19.3 s in training, and the conversion 0.06 of 0.89 ms
      per instance in prediction.
    - On bibtex, the file takes 0.02 of 0.63 s in training, and the conversion 0.024 of 0.055 ms per
      instance in prediction.

    In training, the nodes of a tree are divided among the threads. In prediction, each tree uses
    only one thread, and several trees can use several threads.

    Parameters
    ----------
    n_trees : int
        Number of trees. The scores of the trees are averaged.
    loss : {"hinge", "log"}
        The squared hinge loss gives a tree the score exp(-sum of max(0, 1 - margin)^2) along the
        path. The score is between 0 and 1, but is not an estimate of a probability. With the
        logistic loss, the score is a product of probabilities, as in a PLT.
    beam_size : int
        Number of nodes kept on each level. Labels that the beam search does not reach have no
        score.
    min_branch_size : int
        A node with fewer labels than this number is a leaf.
    n_jobs : int or None
        Number of threads.
    """

    n_trees: int = 3
    loss: str = "hinge"
    beam_size: int = 10
    min_branch_size: int = 100
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Train on a temporary file with the data, and return the estimator.

        Raises
        ------
        XmlcError
            omikuji is not installed, the loss is unknown, or the data has no features or no labels.
        """
        program = imported("omikuji")
        X, Y = self._training_data(X, Y)
        X = without_zeros(X)
        if X.nnz == 0 or Y.nnz == 0:
            raise XmlcError(
                "found no instance with features and a label, expected at least one for omikuji"
            )
        known = (np.diff(X.indptr) > 0) | (np.diff(Y.indptr) > 0)
        with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
            file = Path(folder) / "train.txt"
            save_repository(file, X[known], Y[known])
            threads = resolve_threads(self.n_jobs)
            hyperparameters = self._hyperparameters(program)
            # Discard output, because omikuji redraws a progress bar for every instance.
            with silenced_output():
                self.model_ = program.Model.train_on_data(str(file), hyperparameters, threads)
        return self

    def _write_files(self, folder: Path) -> None:
        with silenced_output():
            self.model_.save(str(folder))

    def _load_program(self) -> None:
        with silenced_output():
            self.model_ = imported("omikuji").Model.load(str(self._files))
            # Make the weights dense, as omikuji's command line does.
            self.model_.densify_weights(0.1)

    def _hyperparameters(self, program: Any) -> Any:
        losses = {"hinge": program.LossType.HINGE, "log": program.LossType.LOG}
        if self.loss not in losses:
            raise XmlcError(f"loss: found {self.loss!r}, expected one of {', '.join(losses)}")
        hyperparameters = program.Model.default_hyper_param()
        hyperparameters.n_trees = self.n_trees
        hyperparameters.min_branch_size = self.min_branch_size
        hyperparameters.linear_loss_type = losses[self.loss].value
        return hyperparameters

    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        self.model_.init_prediction_thread_pool(resolve_threads(self.n_jobs))
        rows = []
        for start, end in zip(X.indptr[:-1], X.indptr[1:]):
            pairs = list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist()))
            rows.append(self.model_.predict(pairs, self.beam_size, k))
        return flattened(rows)
