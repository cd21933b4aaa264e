"""Vowpal Wabbit's contextual memory tree, CMT (PyPI ``vowpalwabbit``, extra ``baselines``)."""

from __future__ import annotations

import importlib
import json
import math
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError, needs_extra
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import Matrix, entries_above, stack_estimates, top_k_of, without_zeros
from xmlc.kernels.estimator import hyperparameters
from xmlc.kernels.stored import Field
from xmlc.kernels.unit_length import unit_rows
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing

# Runs in the training process. The limits are set first, so that they include the import.
TRAINING = """
import json, resource, sys
options, seconds, size = json.loads(sys.argv[1])
if seconds is not None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
if size is not None:
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
import vowpalwabbit
vowpalwabbit.Workspace(arg_list=options).finish()  # constructed with data it trains at once
"""
# characters of the program's output in an error message
SHOWN = 2000


@hyperparameters
class VowpalWabbitCMT(SparseProbabilityEstimator):
    """The contextual memory tree of Vowpal Wabbit (Sun et al., ICML 2019), option
    ``--memory_tree``.

    A binary tree of online classifiers routes an instance, scaled to Euclidean length 1, to a leaf,
    which stores the training instances that reached it. The prediction is the class of the most
    similar one by the cosine, to which ``learn_at_leaf`` adds a correction. It has no probability,
    so `predict_proba` returns 1. Default hyperparameters are from the authors' script for the
    dataset ALOI (``demo/memory_tree``), and other options keep the program's defaults.

    A separate process with one thread reads the training data as text and writes the model, with
    every training instance, to a file. Training times include these files, and prediction times the
    conversion to the program's types, one instance per call. The option
    ``--testonly`` is not set, because version 9.11.9 then reads the weights wrongly unless plain
    SGD trained them. Even without it, a loaded model learns nothing from predictions.

    Parameters
    ----------
    leaf_multiplier : int
        A leaf is split at leaf_multiplier * log2(N) instances. The largest number of nodes N is, as
        in the authors' scripts, 2 * passes * n / (leaf_multiplier * log2(n)).
    dream_repeats : int
        Stored instances that are removed and inserted again for each learned one.
    dream_at_update : bool
        Let this insertion train the classifiers of inner nodes, too, after the first pass.
    learn_at_leaf : bool
        Learn a correction of the similarity.
    online : bool
        Learn from rewards in the first pass, too, as the authors do if it is the only one.
    passes : int
        Number of passes over the training set.
    eta : float
        Learning rate of the program's adaptive updates.
    hash_bits : int
        All nodes share ``2**hash_bits`` weights of 16 bytes. The authors' 29 reserve 8.6 GB, of
        which the program uses 3.2 GB on ALOI, instances included.
    time_limit : float or None
        Maximum CPU time of training in seconds.
    memory_limit : float or None
        Maximum address space in GB (10^9 bytes), of which a training instance takes about 35 kB.
    random_state : int
        Seed of the order of instances in `fit`, and of the program.

    Attributes
    ----------
    program_ : ndarray of uint8
        Content of the program's model file.
    """

    MODEL_FORMAT = 3
    FIELDS = (Field("program_", np.uint8, (None,)),)
    _workspace = cast("Any", None)  # the program with the loaded model

    leaf_multiplier: int = 4
    dream_repeats: int = 3
    dream_at_update: bool = False
    learn_at_leaf: bool = True
    online: bool = False
    passes: int = 3
    eta: float = 0.001
    hash_bits: int = 24
    time_limit: float | None = None
    memory_limit: float | None = None
    random_state: int = 0

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Train on the instances, shuffled with the seed.

        Raises
        ------
        XmlcError
            The program is not installed, an instance does not have exactly one class, or training
            exceeded a limit. After an error, the estimator is as before the call.
        """
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.MEMORY_TREE_ORDER)
        self._train(X[order], Y[order], self.passes)
        return self

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn a stream in one pass, and return the class predicted for each instance before that.

        Parameters
        ----------
        X : sparse array, shape (n, d)
        Y : boolean sparse array, shape (n, m)
            Exactly one label (the class) for each instance.
        k : int
            Number of columns of the result, of which only the first is used.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            -1 for the first instance.
        scores : ndarray of float32, shape (n, k)
            1 for a predicted class.

        Raises
        ------
        XmlcError
            As in `fit`.
        """
        return top_k_of(
            self._estimates(self._train(*self._training_data(X, Y), passes=1)), self._check_k(k)
        )

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return estimate 1 of predicted classes if ``threshold`` is less, float32 CSR (n, m)."""
        X = self._instances(X)
        limits = self._label_thresholds(threshold)
        classes = list[int]()
        for pairs in _pairs(X):
            example = _program().Example(self._workspace, {" ": pairs})
            classes.append(self._workspace.predict(example))
            self._workspace.finish_example(example)
        return entries_above(self._estimates(classes), limits)

    def _estimates(self, classes: list[int]) -> sparse.csr_array:
        found = np.array(classes, dtype=np.int32)
        labels = found[found > 0] - 1
        return stack_estimates(
            found > 0, labels, np.ones(labels.size, dtype=np.float32), self.n_labels_
        )

    def _train(self, X: sparse.csr_array, Y: sparse.csr_array, passes: int) -> list[int]:
        _program()
        sizes = np.diff(Y.indptr)
        wrong = np.flatnonzero(sizes != 1)
        if wrong.size:
            found = (
                f"{sizes[wrong[0]]} labels for instance {wrong[0]}, the first of {wrong.size} "
                "such instances"
            )
            raise InvalidDataError(
                f"Y: found {found}, expected one label per instance for a memory tree"
            )
        with tempfile.TemporaryDirectory(prefix="vw-") as folder:
            data, answers, model = (
                Path(folder) / name for name in ("train.vw", "answers.txt", "model.vw")
            )
            with data.open("w", encoding="ascii") as file:
                file.writelines(_lines(X, Y))
            files = {
                "data": data,
                "cache_file": f"{data}.cache",
                "predictions": answers,
                "final_regressor": model,
            }
            self._run_program(self._options(X.shape[0], passes) | files)
            self.program_ = np.fromfile(model, dtype=np.uint8)
            self._open()
            return [int(float(answer)) for answer in answers.read_text().split()]

    def _open(self) -> None:
        with tempfile.NamedTemporaryFile(prefix="vw-") as file:
            self.program_.tofile(file)
            file.flush()
            self._workspace = _program().Workspace(
                arg_list=["--quiet", "--initial_regressor", file.name]
            )

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        super()._restore(arrays, meta)
        self._open()

    def _options(self, n: int, passes: int) -> dict[str, object]:
        nodes = 2 * passes * n / (self.leaf_multiplier * max(math.log2(n), 1.0))
        return {
            "memory_tree": max(int(nodes), 3),
            "max_number_of_labels": self.n_labels_,
            "leaf_example_multiplier": self.leaf_multiplier,
            "dream_repeats": self.dream_repeats,
            "dream_at_update": int(self.dream_at_update),
            "learn_at_leaf": self.learn_at_leaf,
            "online": self.online,
            "passes": passes,
            "learning_rate": self.eta,
            "bit_precision": self.hash_bits,
            "random_seed": self.random_state + 1,
            "loss_function": "squared",
            "holdout_off": True,
            "quiet": True,
        }

    def _run_program(self, options: dict[str, object]) -> None:
        """Train the program's model within the limits of time and memory.

        An option that is True has no value, and one that is False is left out.
        """
        words = []
        for name, value in options.items():
            if value is True:
                words.append(f"--{name}")
            elif value is not False:
                words += [f"--{name}", str(value)]
        seconds = None
        if self.time_limit is not None:
            seconds = math.ceil(self.time_limit)
        size = None
        if self.memory_limit is not None:
            size = int(1e9 * self.memory_limit)
        command = [sys.executable, "-c", TRAINING, json.dumps([words, seconds, size])]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            said = (done.stdout + done.stderr)[-SHOWN:] or f"status {done.returncode}"
            if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                said = "the system stopped it"
            limits = (
                f"time_limit={self.time_limit} (CPU seconds) or memory_limit={self.memory_limit} "
                "(GB)"
            )
            raise XmlcError(f"Vowpal Wabbit failed. Raise {limits}, or fix this error: {said}")


def _program() -> Any:
    try:
        return importlib.import_module("vowpalwabbit")
    except ImportError as error:
        raise needs_extra("vowpalwabbit is not installed", "baselines") from error


def _lines(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[str]:
    """Yield instances as ``class | feature:value ...``, with classes from 1 on."""
    write = "%d:%.9g".__mod__
    for label, pairs in zip(Y.indices.tolist(), _pairs(X)):
        yield f"{label + 1} | {' '.join(map(write, pairs))}\n"


def _pairs(X: sparse.csr_array) -> Iterator[list[tuple[int, float]]]:
    X = without_zeros(unit_rows(X))
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist()))
