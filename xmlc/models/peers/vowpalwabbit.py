"""Vowpal Wabbit's PLT and its contextual memory tree, CMT (PyPI ``vowpalwabbit``, extra ``peers``), as estimators."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.csr import stack_estimates, unit_rows, without_zeros
from xmlc.kernels.estimator import hyperparameters
from xmlc.kernels.streams import Stream
from xmlc.models.peers.program import SHOWN_BYTES, ProgramModel, estimates_above, imported, ranking_of, silenced_output

# What Vowpal Wabbit's models share: the program (PyPI ``vowpalwabbit``, extra ``peers``), its format, its files.


class VowpalWabbitModel(ProgramModel):
    """A model of the program's, a file in a folder that lives as long as this object, or beside our JSON."""

    unit_norm: bool
    _model: Path

    def _write_files(self, folder: Path) -> None:
        shutil.copyfile(self._model, folder / "model.vw")

    def _use_files(self, folder: Path) -> None:
        """Name the program's file, which it reads at its first prediction."""
        self._scratch()
        self._model = folder / "model.vw"

    def _scratch(self) -> None:
        """Make a new folder for the program's files, and forget the loaded model."""
        self._folder = tempfile.TemporaryDirectory(prefix="vw-")
        self._loaded: tuple[Any, ...] | Any | None = None

    def _scaled(self, X: sparse.csr_array) -> sparse.csr_array:
        return without_zeros(unit_rows(X) if self.unit_norm else X)


def vw_lines(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[str]:
    """Write instances in the program's format, ``label,label | feature:value ...``, ids from 0."""
    write = "%d:%.9g".__mod__
    for start, end, pairs in zip(Y.indptr[:-1], Y.indptr[1:], vw_pairs(X)):
        yield f"{','.join(map(str, Y.indices[start:end].tolist()))} | {' '.join(map(write, pairs))}\n"


def vw_pairs(X: sparse.csr_array) -> Iterator[list[tuple[int, float]]]:
    """Give the features and values of each instance."""
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist()))


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
        program = imported("vowpalwabbit")
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
            self._loaded = (
                options,
                imported("vowpalwabbit").Workspace(arg_list=[*common, *options]),
                answers.open("rb"),
            )
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
    program = imported("vowpalwabbit")
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


# Vowpal Wabbit's contextual memory tree, CMT (PyPI ``vowpalwabbit``, extra ``peers``), as an estimator.


@hyperparameters
class VowpalWabbitCMT(VowpalWabbitModel):
    """The contextual memory tree of Vowpal Wabbit (option ``--memory_tree``; Sun et al., ICML 2019).

    A binary tree of online classifiers routes an instance to a leaf, which keeps the instances that came there; the
    prediction is the class of the most similar one, by cosine and, with ``learn_at_leaf``, a learned correction. So
    there is one class and no estimate: `predict_proba` has 1 at that class and nothing else. Options that are no
    parameter here have the program's default; the defaults here are those of the authors' script for ALOI
    (``demo/memory_tree``).

    Training writes the data in the program's text format, which the program reads, and the program writes its model:
    all of that is in the time of training, as in any use of it from Python with data in memory. The model keeps every
    instance. With ``--testonly`` version 9.11.9 reads the weights wrongly unless they were trained by plain SGD, so the
    option is left out; a loaded model learns nothing all the same. Its Python interface predicts one instance per call,
    and turning that into its types is part of the prediction time. It uses one thread.

    Parameters
    ----------
    max_nodes : int or None
        The tree's nodes, at most. None: 2 * passes * n / (leaf_multiplier * log2(n)), as in the authors' scripts; the
        program needs this number, and that of labels, before the stream begins.
    leaf_multiplier : int
        A leaf is split when it holds this many times log2(max_nodes) instances.
    alpha : float
        Weight of the router's score, or of the reward, against the balance of the tree.
    dream_repeats : int
        Stored instances that are taken out and inserted anew for each instance.
    dream_at_update : bool
        Train the routers when doing so after the first pass, too.
    learn_at_leaf : bool
        Learn to correct the similarity.
    online : bool
        Learn from rewards in the first pass already, as the authors do when there is only one.
    passes : int
        Over the training set; rewards are learned from in those after the first.
    eta : float
        Learning rate of the program's adaptive updates.
    hash_bits : int
        2 to this power are the weights, of 16 bytes each, that all nodes share. The 29 of the authors' scripts reserve
        8.6 GB, of which the system gives those that are written: 3.2 GB for ALOI, the instances included.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    time_limit : float or None
        Processor seconds of the program's training, at most; None for no limit.
    memory_limit : float or None
        Its memory in GB (10^9 bytes), at most; None for no limit. It keeps every instance, in some 35 kB.
    random_state : int
        Seed of the order of the instances in `fit`, and of the program.

    Attributes
    ----------
    max_nodes_ : int
        What the program was given.
    """

    max_nodes: int | None = None
    leaf_multiplier: int = 4
    alpha: float = 0.1
    dream_repeats: int = 3
    dream_at_update: bool = False
    learn_at_leaf: bool = True
    online: bool = False
    passes: int = 3
    eta: float = 0.001
    hash_bits: int = 24
    unit_norm: bool = True
    time_limit: float | None = None
    memory_limit: float | None = None
    random_state: int = 0

    def fit(self, X: object, Y: object) -> Self:
        """Shuffle by the seed and train; the model is in a temporary folder that lives as long as this object.

        Raises
        ------
        XmlcError
            The program is not installed, or an instance has no class or several; or training was
            not finished within ``time_limit`` or ``memory_limit``. No model is left then.
        """
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.MEMORY_TREE_ORDER)
        self._train(X[order], Y[order], self.passes)
        return self

    def progressive_top_k(self, X: object, Y: object, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn a stream from the start in one pass, and return the class predicted for each instance before that.

        Parameters
        ----------
        X : sparse array, shape (n, d)
        Y : boolean sparse array, shape (n, m)
            One class each.
        k : int

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            -1 where no class was predicted, as for the first instance, and at all ranks but the first.
        scores : ndarray of float32, shape (n, k)
            1, or 0 where there was none.

        Raises
        ------
        XmlcError
            As in `fit`.
        """
        return _answers(self._train(*self._training_data(X, Y), passes=1), k)

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return 1 at the predicted class where that is above ``threshold``, float32 CSR of shape (n, m)."""
        X, limits = self._instances(X), self._label_thresholds(threshold)
        labels, scores = self.predict_top_k(X, 1)
        found = (labels >= 0) & (scores > limits[labels])
        return stack_estimates(found.sum(axis=1), labels[found], scores[found], self.n_labels_)

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the class that the program predicts, and 1; -1 and 0 where it has none, and at all later ranks."""
        X = self._instances(X)
        self.inner_products_ = None
        program, workspace = imported("vowpalwabbit"), self._workspace()
        classes = np.zeros(X.shape[0], dtype=np.int64)
        for place, pairs in enumerate(vw_pairs(self._scaled(X))):
            example = program.Example(workspace, {" ": pairs})
            example.setup_example()
            program.pyvw.pylibvw.vw.predict(workspace, example)
            classes[place] = example.get_multiclass_prediction()
            workspace.finish_example(example)
        return _answers(classes, k)

    def _train(self, X: sparse.csr_array, Y: sparse.csr_array, passes: int) -> np.ndarray:
        """Train on the instances in their order; return the program's answers in the passes, one after another."""
        self._scratch()
        _check_classes(Y)
        numbers = sparse.csr_array((Y.data, Y.indices + 1, Y.indptr), shape=(Y.shape[0], Y.shape[1] + 1))  # from 1 on
        n = X.shape[0]
        nodes = 2 * passes * n / (self.leaf_multiplier * max(math.log2(n), 1.0))
        self.max_nodes_ = max(int(nodes), 3) if self.max_nodes is None else self.max_nodes
        self._model = Path(self._folder.name) / "model.vw"
        with tempfile.TemporaryDirectory(prefix="vw-") as folder:
            data, answers = Path(folder) / "train.vw", Path(folder) / "answers.txt"
            with data.open("w", encoding="ascii") as file:
                file.writelines(vw_lines(self._scaled(X), numbers))
            options = [*self._options(), "--passes", str(passes), "--data", str(data), "--predictions", str(answers)]
            options += ["--cache_file", f"{data}.cache", "--final_regressor", str(self._model)]
            program = imported("vowpalwabbit")
            if self.time_limit is not None or self.memory_limit is not None:
                train_within(options, self.time_limit, self.memory_limit)
            else:
                with silenced_output():
                    program.Workspace(arg_list=options).finish()  # constructed with data it trains at once
            return np.array(answers.read_text().split(), dtype=np.float64)

    def _options(self) -> list[str]:
        named = {
            "memory_tree": self.max_nodes_,
            "max_number_of_labels": self.n_labels_,
            "leaf_example_multiplier": self.leaf_multiplier,
            "alpha": self.alpha,
            "dream_repeats": self.dream_repeats,
            "dream_at_update": int(self.dream_at_update),
            "learning_rate": self.eta,
            "bit_precision": self.hash_bits,
            "random_seed": self.random_state + 1,
            "loss_function": "squared",
        }
        flags = {"learn_at_leaf": self.learn_at_leaf, "online": self.online}
        options = ["--quiet", "--holdout_off", *(f"--{flag}" for flag, wanted in flags.items() if wanted)]
        return options + [word for name, value in named.items() for word in (f"--{name}", str(value))]

    def _workspace(self) -> Any:
        """Return the program with the model loaded."""
        if self._loaded is None:
            options = ["--quiet", "--initial_regressor", str(self._model)]
            with silenced_output():
                self._loaded = imported("vowpalwabbit").Workspace(arg_list=options)
        return self._loaded

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return {}, {"max_nodes": self.max_nodes_}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.max_nodes_ = int(meta["max_nodes"])


def _check_classes(Y: sparse.csr_array) -> None:
    sizes = np.diff(Y.indptr)
    wrong = np.flatnonzero(sizes != 1)
    if wrong.size:
        raise XmlcError(
            f"{wrong.size} instances have not exactly one label, the first of them instance {wrong[0]} with "
            f"{sizes[wrong[0]]}; a memory tree learns one class for each"
        )


def _answers(classes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the program's classes, counted from 1 with 0 for none, as a ranking of k places with one label at most."""
    labels = np.full((classes.size, k), -1, dtype=np.int32)
    labels[:, 0] = classes - 1
    return labels, (labels >= 0).astype(np.float32)


# Programs run in a process of their own, which ends at a limit of time or memory.


# Limits first, so that the import counts too. Memory that is refused ends the program, whatever it says then.
VOWPAL_WABBIT = """
import json, resource, sys
options, seconds, size = json.loads(sys.stdin.read())
if seconds is not None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
if size is not None:
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
import vowpalwabbit
vowpalwabbit.Workspace(arg_list=options).finish()
"""
REFUSED = ("bad_alloc", "MemoryError", "allocate", "Cannot allocate memory")


def train_within(options: Sequence[str], seconds: float | None, gigabytes: float | None) -> None:
    """Train Vowpal Wabbit in a process of its own, and end that at a limit.

    Parameters
    ----------
    options : sequence of str
        Of the program, which writes its model at its end.
    seconds : float or None
        Processor time, rounded up to whole seconds.
    gigabytes : float or None
        Address space of the process, in 10^9 bytes.

    Raises
    ------
    XmlcError
        It was not finished within a limit, or failed.
    """
    limits = (None if seconds is None else int(-(-seconds // 1)), None if gigabytes is None else int(1e9 * gigabytes))
    done = subprocess.run(
        [sys.executable, "-c", VOWPAL_WABBIT],
        input=json.dumps([list(options), *limits]),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr)[-SHOWN_BYTES:]
    if seconds is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise XmlcError(f"Vowpal Wabbit: not finished in {seconds:g} s of processor time; raise time_limit")
    if gigabytes is not None and any(word in said for word in REFUSED):
        raise XmlcError(f"Vowpal Wabbit: not finished in {gigabytes:g} GB of memory; raise memory_limit")
    raise XmlcError(f"Vowpal Wabbit ended with status {done.returncode}: {said}")
