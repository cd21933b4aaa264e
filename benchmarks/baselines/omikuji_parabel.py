"""omikuji's Parabel as an estimator (PyPI ``omikuji``, extra ``baselines``)."""

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
    """omikuji's Parabel: trees by balanced 2-means over label centroids, and beam search.

    Liblinear trains the classifiers of nodes on instances of Euclidean length 1, and all
    hyperparameters that are not listed here have omikuji's defaults. omikuji accepts no seed, so
    two trainings differ in their initial centroids.

    Because omikuji reads its training data from a file in the repository format and predicts one
    instance per call from Python, times include writing and reading this file and converting each
    instance. With one tree and one thread, the file takes 2.4 of 19.3 s in training on tib-core-26k
    (0.02 of 0.63 s on bibtex), and the conversion 0.06 of 0.89 ms per instance in prediction (0.024
    of 0.055 ms). Instances without features and labels are left out, because omikuji cannot read
    empty lines.

    In training, the threads divide the nodes of a tree. In prediction, each tree can use one.

    Parameters
    ----------
    n_trees : int
        Trees, whose scores are averaged.
    loss : {"hinge", "log"}
        With the squared hinge loss, a tree's score is exp(-sum of max(0, 1 - margin)^2) along the
        path, which is between 0 and 1 but no estimate of a probability. With the logistic loss, it
        is a product of probabilities, as in a PLT.
    beam_size : int
        Nodes kept on each level. Labels that the search does not reach have no score.
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
        """Train on a temporary file with the data, and return the estimator.

        Raises
        ------
        XmlcError
            If omikuji is missing, the loss is unknown, or the data has no features or no labels.
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
            # omikuji redraws a progress bar for every instance
            with silenced_output():
                self.model_ = program.Model.train_on_data(str(file), hyperparameters, threads)
        return self

    def _write_files(self, folder: Path) -> None:
        with silenced_output():
            self.model_.save(str(folder))

    def _load_program(self) -> None:
        with silenced_output():
            self.model_ = imported("omikuji").Model.load(str(self._files))
            # As omikuji's command line does
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
