"""Vowpal Wabbit's PLT (PyPI ``vowpalwabbit``, extra ``peers``) as an estimator of this package."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.models.peers.rankings import estimates_above, ranking_of
from xmlc.models.peers.vw_program import VowpalWabbitModel, vw_lines, vw_pairs, vw_program

OPTIMIZERS = {"adaptive": [], "sgd": ["--sgd"]}
RESOLUTION = 1e-6  # estimates come with six decimals
ROWS_PER_BLOCK = 1024


@hyperparameters
class VowpalWabbitPLT(VowpalWabbitModel):
    """The PLT of Vowpal Wabbit (option ``--plt``): a complete tree, weights hashed by feature and node, online updates.

    What is not a parameter here has the program's default. Labels sit in its tree in the order of their numbers. It
    draws nothing at random, so there is no seed, and it trains on the instances in their order; those without labels
    are test instances to it, from which it does not learn. It reports no inner products, so ``inner_products_`` is None
    after a prediction.

    Its training reads a file and keeps a binary copy of it for the passes after the first. Writing that file, in its
    text format, is part of the training time, as in any use of it from Python with data in memory; so is writing the
    model, because it has no other way to keep it. Its Python interface predicts one instance per call: turning each
    instance into its types, and reading its output, are part of the prediction time, while loading the model is not,
    once a first prediction has had the same threshold or k. It uses one thread; in training a second one reads the file
    ahead, which takes hardly any time: on bibtex and delicious processor time and wall time were equal.

    Its estimates come with six decimals: two that differ by less than 1e-6 are the same.

    Parameters
    ----------
    arity : int
        Children of an inner node.
    passes : int
        Over the training set; none of it is held out.
    eta : float
        Learning rate.
    optimizer : {"adaptive", "sgd"}
        The program's own: adaptive, normalised and invariant updates; or plain SGD.
    hash_bits : int
        2 to this power are the weights, of 16 bytes each in training (4 with SGD), that all nodes share.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    """

    arity: int = 16
    passes: int = 3
    eta: float = 0.5
    optimizer: str = "adaptive"
    hash_bits: int = 24
    unit_norm: bool = True

    def fit(self, X: object, Y: object) -> Self:
        """Train; the program keeps its model in a temporary folder that lives as long as this object.

        Raises
        ------
        XmlcError
            The program is not installed, the optimizer is none of its own, or there is one label only.
        """
        program = vw_program()
        X, Y = self._training_data(X, Y)
        if self.optimizer not in OPTIMIZERS:
            raise XmlcError(f"optimizer {self.optimizer!r} is unknown; expected one of {', '.join(OPTIMIZERS)}")
        if self.n_labels_ < 2:
            raise XmlcError("Vowpal Wabbit's tree needs two labels or more; there is one")
        self._scratch()
        with tempfile.TemporaryDirectory(prefix="vw-") as folder:
            data = Path(folder) / "train.vw"
            with data.open("w", encoding="ascii") as file:
                file.writelines(vw_lines(self._scaled(X), Y))
            self._model = Path(self._folder.name) / "model.vw"
            # Constructed with data it trains at once.
            program.Workspace(arg_list=self._training_options(data, self._model)).finish()
        return self

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above ``threshold``, float32 CSR of shape (n, m).

        The program takes one threshold for all labels: it is given the smallest, and the others are applied here.
        """
        X, limits = self._instances(X), self._label_thresholds(threshold)
        # Its estimates are compared before they are rounded, ours behind that.
        smallest = min(max(float(limits.min()) - RESOLUTION, 0.0), 1.0)
        return estimates_above(*self._estimates(X, "--threshold", f"{smallest:.9f}"), limits)

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k labels that the program ranks first and their estimates, best first; -1 = none."""
        X = self._instances(X)
        n_wanted = min(k, self.n_labels_) + self._phantoms()
        return ranking_of(*self._estimates(X, "--top_k", str(n_wanted)), k)

    def _phantoms(self) -> int:
        """Return how many labels the program may answer that do not exist.

        Its complete tree has room for more leaves than labels, and its search visits those too; their weights are
        those of no node, so that they may come before true labels.
        """
        inner = -(-(self.n_labels_ - 1) // (self.arity - 1))
        return inner * (self.arity - 1) + 1 - self.n_labels_

    def _training_options(self, data: Path, model: Path) -> list[str]:
        options = ["--quiet", "--holdout_off", "--loss_function", "logistic", "--plt", str(self.n_labels_)]
        options += ["--kary_tree", str(self.arity), "--passes", str(self.passes), "--learning_rate", str(self.eta)]
        options += ["--bit_precision", str(self.hash_bits), *OPTIMIZERS[self.optimizer]]
        return [*options, "--data", str(data), "--cache_file", f"{data}.cache", "--final_regressor", str(model)]

    def _workspace(self, *options: str) -> tuple[Any, Any]:
        """Return the program with the model loaded for prediction with some options, and its open output file."""
        if self._loaded is None or self._loaded[0] != options:
            answers = Path(self._folder.name) / "answers.txt"
            common = ["--quiet", "--testonly", "--loss_function", "logistic", "--initial_regressor", str(self._model)]
            common += ["--probabilities", "--predictions", str(answers)]
            if self._loaded is not None:
                self._loaded[1].finish()
                self._loaded[2].close()
            self._loaded = (options, vw_program().Workspace(arg_list=[*common, *options]), answers.open("rb"))
        return self._loaded[1:]

    def _estimates(self, X: sparse.csr_array, *options: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return for each instance how many labels the program gave, then all labels and estimates in its order."""
        self.inner_products_ = None
        workspace, answers = self._workspace(*options)
        X = self._scaled(X)
        blocks = []
        for start in range(0, X.shape[0], ROWS_PER_BLOCK):
            for pairs in vw_pairs(X[start : start + ROWS_PER_BLOCK]):
                _answer(workspace, pairs)
            blocks.append(_parsed(answers.read(), self.n_labels_))
        if not blocks:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        counts, labels, scores = (np.concatenate(part) for part in zip(*blocks))
        return counts, labels, scores


def _answer(workspace: Any, pairs: list[tuple[int, float]]) -> None:
    """Predict one instance; finishing the instance writes the labels and estimates to the program's output file.

    They are not taken from the interface: it writes a label's estimate at the label's index into a list that is only
    as long as the number of labels found, and so beyond its end.
    """
    program = vw_program()
    example = program.Example(workspace, {" ": pairs})
    example.setup_example()
    program.pyvw.pylibvw.vw.predict(workspace, example)
    workspace.finish_example(example)


def _parsed(text: bytes, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read lines ``label:estimate,label:estimate`` and leave out labels that do not exist.

    Returns
    -------
    counts : ndarray of int64, shape (lines,)
    labels : ndarray of int32
    estimates : ndarray of float32
    """
    lines = text.split(b"\n")[:-1]
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    numbers = np.array(text.translate(bytes.maketrans(b":,", b"  ")).split(), dtype=np.float64)
    labels, estimates = numbers[0::2].astype(np.int32), numbers[1::2].astype(np.float32)
    real = labels < n_labels
    rows = np.repeat(np.arange(counts.size), counts)
    return np.bincount(rows[real], minlength=counts.size), labels[real], estimates[real]
