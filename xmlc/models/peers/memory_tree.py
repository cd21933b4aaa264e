"""Vowpal Wabbit's contextual memory tree, CMT (PyPI ``vowpalwabbit``, extra ``peers``), as an estimator."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.estimates import stack_estimates
from xmlc.estimator import hyperparameters
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.models.peers.limited_process import train_within
from xmlc.models.peers.silenced_output import silenced_output
from xmlc.models.peers.vw_program import VowpalWabbitModel, vw_lines, vw_pairs, vw_program


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
        2 to this power are the weights, of 16 bytes each, that all nodes share. 29 in the authors' scripts.
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
        program, workspace = vw_program(), self._workspace()
        classes = np.zeros(X.shape[0], dtype=np.int64)
        for place, pairs in enumerate(vw_pairs(self._scaled(X))):
            example = program.Example(workspace, {" ": pairs})
            example.setup_example()
            program.pyvw.pylibvw.vw.predict(workspace, example)
            classes[place] = example.get_multiclass_prediction()
            workspace.finish_example(example)
        return _answers(classes, k)

    def _train(self, X: sparse.csr_array, Y: sparse.csr_array, passes: int) -> np.ndarray:
        """Train on the instances in their order; return what the program answered in the passes, one after another."""
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
            program = vw_program()
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
                self._loaded = vw_program().Workspace(arg_list=options)
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
