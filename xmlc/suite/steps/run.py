"""Functions of several steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from inspect import isfunction
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.cli.options import threads_option
from xmlc.core.checksums import checksum_of
from xmlc.core.files import remove_leftovers, temporary_place
from xmlc.data.matrices import CSRWriter, places_of, without
from xmlc.kernels.csr import ENTRIES_PER_BLOCK, ROUNDING, check_probabilities, released, some_rows
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import files_read, load_estimator, make_estimator
from xmlc.models.warm_up import WARM_UP_ROWS, warm_up
from xmlc.suite.files import read_in_parts
from xmlc.suite.options import data_option, model_option, training_option
from xmlc.suite.provenance.code import estimator_files, user_digest
from xmlc.suite.provenance.environment import cpu_seconds, step_costs, timed, with_environment
from xmlc.suite.results.records.base import (
    DATASET_COLUMNS,
    ModelRecord,
    Record,
    RecordedDataset,
    TrainingRecord,
    TrainingSplit,
)
from xmlc.suite.steps.prepared import DataPart, Prepared, recorded_name

T = TypeVar("T")
DIGITS = 12  # hexadecimal digits of a checksum in a record


@dataclass(frozen=True)
class Step:
    """A step of the workflow on one model and one dataset, which a record is ``about``."""

    name: str
    data: Prepared
    about: Record
    threads: int

    def finish(self, method: str | None = None, written: Path | None = None) -> dict[str, Any]:
        """Return the environment and the costs, known only at the end."""
        return with_environment(
            step_costs(self.name, self.threads, *self.about.run_names, method, written)
        )

    def write(
        self,
        kind: type[Record],
        out: Path,
        written: Path | None = None,
        code: object = None,
        **content: Any,
    ) -> None:
        """Write a record about the model.

        If a user wrote ``code``, the function of a threshold or inference method, the record gets
        the digest of its source code. ``written`` is a folder that the step has also written, and
        ``content`` has the fields of this kind of record.
        """
        head = {field.name: getattr(self.about, field.name) for field in fields(Record)}
        if issubclass(kind, ModelRecord):
            head["tuning"] = getattr(self.about, "tuning", None)
        if isfunction(code):
            digest = user_digest([code.__code__.co_filename])
            if digest:
                head["settings"] = head["settings"] | {"method code": digest}
        kind(**head | content, **self.finish(content.get("method"), written)).write(out)


@dataclass(frozen=True)
class TrainedStep(Step):
    """A step on a trained model."""

    about: TrainingRecord
    folder: Path = Path()

    @classmethod
    def read(
        cls, name: str, data: Path, training: Path, threads: int, folder: Path = Path()
    ) -> Self:
        """Read the record of `xmlc train`, and open the dataset with the validation split of its
        seed. The folder of the model is for steps that predict.
        """
        about = TrainingRecord.read(training)
        return cls(name, Prepared(data, about.seed), about, threads, folder)

    @cached_property
    def model(self) -> SparseProbabilityEstimator:
        """The trained model."""
        return load_estimator(self.about.estimator, self.folder, self.threads)


def on_trained_model(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command options of a trained model, and a `TrainedStep`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(
            data: Path, model_folder: Path, training: Path, threads: int, **given: Any
        ) -> None:
            command(TrainedStep.read(name, data, training, threads, model_folder), **given)

        return data_option(model_option(training_option(threads_option(call))))

    return decorate


def step_to_train(
    name: str,
    data: Prepared,
    estimator: str,
    called: str,
    hyperparameters: Hyperparameters,
    seed: int,
    threads: int,
    split: TrainingSplit = "full",
) -> tuple[Step, SparseProbabilityEstimator]:
    """Return a `Step` and a new estimator, which tables name ``called``."""
    model = make_estimator(estimator, hyperparameters, seed, threads)
    given = {k: v for k, v in model.get_params().items() if k not in ("n_jobs", "random_state")}
    files = files_read(estimator, given, data.meta["name"], [seed])
    settings = {
        "validation_share": data.meta["split"]["validation_share"],
        "model code": user_digest(estimator_files(estimator)),
        "files": " ".join(checksum_of(file)[:DIGITS] for file in files),
    }
    about = Record(
        dataset=dataset_of(data),
        estimator=estimator,
        model=called,
        hyperparameters=given,
        seed=seed,
        split=split,
        settings={key: value for key, value in settings.items() if value != ""},
    )
    return Step(name, data, about, threads), model


def dataset_of(prepared: Prepared) -> RecordedDataset:
    """Return a dataset's description in records."""
    sizes = {name: prepared.meta[name] for name in DATASET_COLUMNS}
    return RecordedDataset(digest=prepared.digest, name=recorded_name(prepared.meta), **sizes)


def fit_timed(
    model: SparseProbabilityEstimator, train: DataPart, folder: Path
) -> tuple[float, float]:
    """Fit a model, write it to a folder, and return wall seconds and CPU seconds of all threads.

    A first, untimed fit on a few rows compiles the kernels.
    """
    warm_up(model, *train)
    before = cpu_seconds()
    _, seconds = timed(lambda: model.fit_to_disk(folder, *train))
    return seconds, cpu_seconds() - before


@contextmanager
def trained_beside(
    out: Path, model: SparseProbabilityEstimator, train: DataPart
) -> Iterator[float]:
    """Fit a model into a temporary folder in ``<out>.trial``, and yield the wall seconds.

    A killed process leaves the folder until the next call. The model's arrays are memory-mapped, so
    that only a small part is in memory in the ``with`` block.
    """
    trial = out.with_suffix(".trial")
    remove_leftovers(trial)
    with temporary_place(trial / "model", Path.mkdir) as folder:
        seconds, _ = fit_timed(model, train, folder / "model")
        with read_in_parts(model._state()[0].values()):
            yield seconds
    with suppress(OSError):  # a network file system keeps mapped files of a deleted folder
        trial.rmdir()


def instances_for(
    model: SparseProbabilityEstimator, prepared: Prepared, part: str
) -> sparse.csr_array:
    """Return the features X of a part of the dataset.

    A model that looks up stored estimates next predicts those of this part.
    """
    if looks_up(model):
        model.look_up(prepared, part)
    return prepared.part(part)[0]


def predict_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, predict: Callable[[sparse.csr_array], T]
) -> tuple[T, float | None]:
    """Return the result of ``predict`` for all rows of X, and its wall milliseconds per instance.

    A first, untimed call on a few rows compiles the kernels. A model that looks up stored estimates
    has no time.
    """
    if looks_up(model):
        return predict(X), None
    predict(X[:WARM_UP_ROWS])
    result, seconds = timed(lambda: predict(X))
    return result, 1e3 * seconds / max(X.shape[0], 1)


def rank_timed(
    model: SparseProbabilityEstimator, prepared: Prepared, k: int
) -> tuple[np.ndarray, float | None]:
    """Rank the k best labels of each test instance, without the pairs that measures leave out.

    Returns the labels, int32 of shape (n, k), and the time as `predict_timed` does.
    """
    X = instances_for(model, prepared, "test")
    left_out = prepared.left_out("test")
    ranked = k
    if left_out is not None:
        ranked += int(np.diff(left_out.indptr).max(initial=0))
    (labels, _), ms = predict_timed(model, X, lambda rows: model.predict_top_k(rows, ranked))
    if left_out is not None:
        places = np.arange(len(labels), dtype=np.int64)[:, None] * left_out.shape[1] + labels
        labels = np.where(np.isin(places, places_of(left_out)), np.int32(-1), labels)
        labels = np.take_along_axis(labels, np.argsort(labels < 0, axis=1, kind="stable"), axis=1)[
            :, :k
        ]
    return labels, ms


def estimate_timed(
    step: TrainedStep,
    part: str,
    threshold: float | np.ndarray,
    then: Callable[[int, sparse.csr_array], None],
) -> float | None:
    """Compute the estimates of a part of the dataset in blocks, and return the time.

    It is as in `predict_timed`, but without ``then``, which is called for each block, and at least
    once, with the number of its first instance and the CSR matrix of the estimates above the
    threshold, without the pairs that measures leave out.
    """
    model = step.model
    X = instances_for(model, step.data, part)
    left_out = step.data.left_out(part)
    pauses = 0.0
    first = 0
    rows = X.shape[0]
    if not looks_up(model):
        few = model.predict_proba(X[:WARM_UP_ROWS], threshold)
        rows = ENTRIES_PER_BLOCK * few.shape[0] // max(few.nnz, 1) + 1

    def take(spe: sparse.csr_array) -> None:
        nonlocal pauses, first
        started = perf_counter()
        last = first + spe.shape[0]
        then(first, spe if left_out is None else without(spe, some_rows(left_out, first, last)))
        pauses = pauses + perf_counter() - started
        first = last

    _, seconds = timed(lambda: model.estimate_blocks(X, threshold, rows, take))
    if looks_up(model):
        return None
    return 1e3 * (seconds - pauses) / max(X.shape[0], 1)


def write_estimates(
    step: TrainedStep, part: str, min_probability: float, folder: Path
) -> tuple[sparse.csr_array, float | None]:
    """Write the estimates of a part above a minimum probability into an existing folder, and return
    them, memory-mapped, with the time (`predict_timed`).
    """
    writer = CSRWriter(folder, part)

    def write(first: int, spe: sparse.csr_array) -> None:
        check_probabilities(spe.data, "the model's estimates", 1 + ROUNDING)
        writer.append(spe)

    ms = estimate_timed(step, part, min_probability, write)
    return released(writer.finished()), ms


def mean_of(counts: np.ndarray | None) -> float | None:
    """Return the mean, or None without counts."""
    if counts is None or not counts.size:
        return None
    return fmean(counts)
