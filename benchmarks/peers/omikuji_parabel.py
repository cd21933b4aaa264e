"""omikuji's Parabel (PyPI ``omikuji``, extra ``peers``) as an estimator of this package."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from benchmarks.peers.program import Answers, ProgramModel, flattened, imported, silenced_output
from xmlc.core.errors import XmlcError
from xmlc.core.threads import resolve_threads
from xmlc.data.writer import save_repository
from xmlc.kernels.csr import Matrix, without_zeros
from xmlc.kernels.estimator import hyperparameters


@hyperparameters
class OmikujiParabel(ProgramModel):
    """The Parabel of omikuji: trees by balanced 2-means over label centroids, liblinear in the nodes, beam search.

    What is not a parameter here has the program's default, so its instances are scaled to Euclidean length 1. It takes
    no seed: two trainings differ by its random initial centroids.

    Its training reads a file. Writing that file, in the repository format, and the program's reading of it are part of
    the training time, as in any use of it from Python with data in memory; instances with neither features nor
    labels are left out, because it cannot read their lines. Its Python interface predicts one instance per call, and
    turning each instance into its types is part of the prediction time. For one tree and one thread that made 2.4 of
    19.3 s and 0.06 of 0.89 ms on tib-core-26k, 0.02 of 0.63 s and 0.024 of 0.055 ms on bibtex. Threads share its nodes
    in training but only the trees of an instance in prediction, so one tree predicts on one thread.

    Parameters
    ----------
    n_trees : int
    loss : {"hinge", "log"}
        Squared hinge loss gives ranking scores exp(-sum of max(0, 1 - margin)^2) along the path, between 0 and 1 but no
        estimates of probabilities; logistic loss gives the PLT's products of probabilities. Both are means over trees.
    beam_size : int
        Nodes kept on each level: labels outside the beam have no score.
    min_branch_size : int
        A node with fewer labels is a leaf.
    n_jobs : int or None
    """

    n_trees: int = 3
    loss: str = "hinge"
    beam_size: int = 10
    min_branch_size: int = 100
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Write the data to a temporary file and train on it.

        Raises
        ------
        XmlcError
            The program is not installed, the loss is none of its own, or there are no features or no labels at all.
        """
        program = imported("omikuji")
        X, Y = self._training_data(X, Y)
        X = without_zeros(X)
        if X.nnz == 0 or Y.nnz == 0:
            raise XmlcError("omikuji has nothing to learn from: no instance has features, or none has a label")
        known = (np.diff(X.indptr) > 0) | (np.diff(Y.indptr) > 0)
        with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
            file = Path(folder) / "train.txt"
            save_repository(file, X[known], Y[known])
            threads = resolve_threads(self.n_jobs)
            hyperparameters = self._hyperparameters(program)
            with silenced_output():  # it redraws a progress bar for every instance
                self.model_ = program.Model.train_on_data(str(file), hyperparameters, threads)
        return self

    def _write_files(self, folder: Path) -> None:
        with silenced_output():
            self.model_.save(str(folder))

    def _load_program(self) -> None:
        with silenced_output():
            self.model_ = imported("omikuji").Model.load(str(self._files))
            self.model_.densify_weights(0.1)  # as the program's command line does

    def _hyperparameters(self, program: Any) -> Any:
        losses = {"hinge": program.LossType.HINGE, "log": program.LossType.LOG}
        if self.loss not in losses:
            raise XmlcError(f"loss {self.loss!r} is unknown; expected one of {', '.join(losses)}")
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
