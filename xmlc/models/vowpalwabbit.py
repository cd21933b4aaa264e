"""Wrap Vowpal Wabbit's contextual memory tree, CMT (PyPI ``vowpalwabbit``, extra ``baselines``), as
an estimator.
"""

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

# The code in `TRAINING` runs in the training process. The limits of time and memory are set first,
# so that they include the import.
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
# This is the largest number of characters of the program's output in an error message.
SHOWN = 2000


@hyperparameters
class VowpalWabbitCMT(SparseProbabilityEstimator):
    """Train the contextual memory tree of Vowpal Wabbit (Sun et al., ICML 2019), option
    ``--memory_tree``.

    A binary tree of online classifiers routes an instance to a leaf. A leaf stores the training
    instances that reach the leaf. The prediction for an instance is the class of the most similar
    instance in the reached leaf. The similarity is the cosine, with a learned correction if
    ``learn_at_leaf`` is true. The program predicts one class without a probability, so
    `predict_proba` returns 1 for the predicted class. Instances are scaled to Euclidean length 1.
    The default hyperparameters are from the authors' script for the dataset ALOI
    (``demo/memory_tree``). An option of the program that is not a hyperparameter has the program's
    default value.

    In training, xmlc writes the data in the program's text format. The program reads the data in a
    separate process, and writes the model to a file. The training time includes all reading and
    writing of files. The model contains every training instance. xmlc does not use the option
    ``--testonly``. With this option, version 9.11.9 reads the weights wrongly unless plain SGD
    trained them. Without ``--testonly``, a loaded model still learns nothing from the instances
    that it predicts. The Python interface of the program predicts one instance per call. Prediction
    times include the conversion of the data to the program's types. The program uses one thread.

    Parameters
    ----------
    leaf_multiplier : int
        A leaf is split when it has leaf_multiplier * log2(N) instances. N is the maximum number of
        nodes of the tree. As in the authors' scripts, N is 2 * passes * n / (leaf_multiplier *
        log2(n)). The program needs N and the number of labels before training begins.
    dream_repeats : int
        Number of stored instances that are removed from the tree and inserted again for each
        learned instance.
    dream_at_update : bool
        Whether, after the first pass, inserting a removed instance again also trains the
        classifiers of inner nodes.
    learn_at_leaf : bool
        Whether to learn a correction of the similarity between instances.
    online : bool
        Whether to learn from rewards also in the first pass. The authors learn from rewards in the
        first pass if it is the only pass.
    passes : int
        Number of passes over the training set. The program learns from rewards in all passes after
        the first.
    eta : float
        Learning rate of the program's adaptive updates.
    hash_bits : int
        All nodes share ``2**hash_bits`` weights of 16 bytes each. The authors' scripts use
        ``hash_bits=29``, which reserves 8.6 GB. The operating system provides reserved memory only
        when the program writes to it. On the dataset ALOI, the program uses 3.2 GB, instances
        included.
    time_limit : float or None
        Maximum CPU time of training in seconds. With None, the time is not limited.
    memory_limit : float or None
        Maximum address space of the program in GB (10^9 bytes). With None, memory is not limited.
        Each training instance takes about 35 kB.
    random_state : int
        Seed of the order of the instances in `fit`, and of the program's random numbers.

    Attributes
    ----------
    program_ : ndarray of uint8
        Content of the program's model file.
    """

    MODEL_FORMAT = 3
    FIELDS = (Field("program_", np.uint8, (None,)),)
    _workspace = cast("Any", None)  # This is the workspace of the program, with the loaded model.

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
        """Shuffle the instances at random with the seed, and train on them.

        Raises
        ------
        XmlcError
            The program is not installed, an instance does not have exactly one class, or training
            exceeded ``time_limit`` or ``memory_limit``. After an error, the estimator is in the
            same state as before the call.
        """
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.MEMORY_TREE_ORDER)
        self._train(X[order], Y[order], self.passes)
        return self

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn a stream in one pass, beginning with an empty model.

        Return the class that the model predicts for each instance before it learns the instance.

        Parameters
        ----------
        X : sparse array, shape (n, d)
            Instances.
        Y : boolean sparse array, shape (n, m)
            Label sets with exactly one label (the class) for each instance.
        k : int
            Number of columns of the result.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            The first column is the predicted class, or -1 for the first instance, for which nothing
            is predicted. All columns after the first are -1.
        scores : ndarray of float32, shape (n, k)
            The score is 1 for a predicted class, and 0 for a missing label.

        Raises
        ------
        XmlcError
            As in `fit`.
        """
        return top_k_of(
            self._estimates(self._train(*self._training_data(X, Y), passes=1)), self._check_k(k)
        )

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimate 1 for each predicted class whose threshold is below 1, float32 CSR
        (n, m).
        """
        X = self._instances(X)
        limits = self._label_thresholds(threshold)
        classes = list[int]()
        for pairs in _pairs(X):
            example = _program().Example(self._workspace, {" ": pairs})
            classes.append(self._workspace.predict(example))
            self._workspace.finish_example(example)
        return entries_above(self._estimates(classes), limits)

    def _estimates(self, classes: list[int]) -> sparse.csr_array:
        """Return a matrix with the estimate 1 for each predicted class.

        Class numbers in ``classes`` start at 1, and 0 means that no class was predicted.
        """
        found = np.array(classes, dtype=np.int32)
        labels = found[found > 0] - 1
        return stack_estimates(
            found > 0, labels, np.ones(labels.size, dtype=np.float32), self.n_labels_
        )

    def _train(self, X: sparse.csr_array, Y: sparse.csr_array, passes: int) -> list[int]:
        """Train on the instances in the given order.

        Return the program's predictions in each pass, one pass after another.
        """
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
        """Load the model into the program for predictions."""
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
        """Return the program's options for training on n instances."""
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

        An option with the value True is passed without the value. An option with the value False is
        left out.
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
    """Return the program's module, and raise `XmlcError` if it is not installed."""
    try:
        return importlib.import_module("vowpalwabbit")
    except ImportError as error:
        raise needs_extra("vowpalwabbit is not installed", "baselines") from error


def _lines(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[str]:
    """Yield instances in the program's format ``class | feature:value ...``, in which class numbers
    start at 1.
    """
    write = "%d:%.9g".__mod__
    for label, pairs in zip(Y.indices.tolist(), _pairs(X)):
        yield f"{label + 1} | {' '.join(map(write, pairs))}\n"


def _pairs(X: sparse.csr_array) -> Iterator[list[tuple[int, float]]]:
    """Yield the pairs (feature, value) of each instance, scaled to unit length."""
    X = without_zeros(unit_rows(X))
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist()))
