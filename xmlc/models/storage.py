"""Fitted models in folders: plain arrays and a description in JSON, without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from xmlc.core.errors import MissingFileError, XmlcError
from xmlc.core.files import atomic_folder, checked_path, write_json
from xmlc.kernels.estimator import Estimator, InvalidParameterError, check_hyperparameters
from xmlc.kernels.indices import MOST_COLUMNS, Malformed
from xmlc.kernels.stored import (
    Field,
    check_fields,
    is_json,
    load_array,
    load_description,
    writeable_maps,
)

DESCRIPTION = "model.json"
ENTRIES = {
    "estimator": str,
    "format": int,
    "hyperparameters": dict,
    "n_features": int,
    "n_labels": int,
    "arrays": list,
    "meta": dict,
}
NAMES = ("feature_names_in_", "label_names_in_")
# Attributes that the description has, or that are about the last prediction.
KEPT_ELSEWHERE = (
    "n_features_in_",
    "n_labels_",
    "all_labelled_",
    "label_counts_",
    "n_counted_",
    "inner_products_",
    "certified_",
    *NAMES,
)
LABEL_COUNTS = Field("label_counts", np.int64, ("n_labels",), below="more")


class StoredEstimator(Estimator):
    """The part of an estimator that saves and loads its learned state.

    `save` writes arrays and all values that JSON can represent, except attributes whose name begins
    with an underscore. A subclass that learns other objects overrides ``_state`` and ``_restore``.
    ``FIELDS`` lists the arrays of a stored model.

    See Also
    --------
    xmlc.models.base.SparseProbabilityEstimator : The estimators that are stored.
    xmlc.load_model : Reads a model of any estimator.

    Examples
    --------
    >>> import tempfile
    >>> from xmlc.models import BinaryRelevance
    >>> folder = f"{tempfile.mkdtemp()}/model"
    >>> BinaryRelevance(C=1.0).fit([[0.0], [1.0]] * 3, [[1, 0], [0, 1]] * 3).save(folder)
    >>> BinaryRelevance.load(folder).predict([[1.0]]).toarray().astype(int).tolist()
    [[0, 1]]
    """

    MODEL_FORMAT = 1
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    n_features_in_: int
    n_labels_: int
    #: Whether each training instance had a label, so that predicted sets are never empty.
    all_labelled_: bool = False
    label_counts_: np.ndarray | None
    n_counted_: int
    # Folder for finished arrays during `fit_to_disk` (see `xmlc.core.appendable`).
    _into: Path | None = None

    def save(self, path: str | Path) -> None:
        """Write the model to a folder, as ``.npy`` arrays and a JSON file without pickle.

        An existing folder is replaced, and its contents are deleted, if this package has written
        every file in it.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        XmlcError
            The folder has a file of another origin, or is a symbolic link or the working folder, or
            an attribute cannot be saved. After an error, the folder is unchanged.

        See Also
        --------
        load, xmlc.models.base.SparseProbabilityEstimator.fit_to_disk
        """
        self._check_fitted()
        with atomic_folder(path) as folder:
            self._write(folder)

    def _write(self, folder: Path) -> None:
        arrays, meta = self._state()
        parameters = self.get_params()
        about = {
            "estimator": type(self).__name__,
            "format": self.MODEL_FORMAT,
            "hyperparameters": {name: parameters[name] for name in self._hyperparameter_names()},
            "n_features": self.n_features_in_,
            "n_labels": self.n_labels_,
            "labelled": self.all_labelled_,
            "arrays": sorted(arrays),
            "meta": meta,
        }
        about |= {name: list(getattr(self, name)) for name in NAMES if hasattr(self, name)}
        if self.label_counts_ is not None:
            about["counted"] = self.n_counted_
            np.save(folder / "label_counts.npy", self.label_counts_)
        try:
            for name, array in arrays.items():
                # `fit_to_disk` may already have written the file
                if not (folder / f"{name}.npy").exists():
                    np.save(folder / f"{name}.npy", array, allow_pickle=False)
            write_json(folder / DESCRIPTION, about)
        except (TypeError, ValueError) as error:
            said = "Use numbers, texts, lists, dictionaries or arrays."
            raise XmlcError(f"{type(self).__name__} cannot be saved ({error}). {said}") from error

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> Self:
        """Read a model written by `save`, with memory-mapped arrays.

        Parameters
        ----------
        path : str or Path
        trusted : bool
            Allow estimators of other libraries, whose joblib files run code when they are read.

        Returns
        -------
        estimator

        Raises
        ------
        XmlcError
            The folder has no model, one of another estimator or version, or a file that has
            changed.

        See Also
        --------
        save, xmlc.load_model
        """
        folder = checked_path(path)
        if not (folder / DESCRIPTION).exists():
            said = "expected a folder written by save. Check the path."
            raise MissingFileError(f"{folder}: found no {DESCRIPTION}, {said}")
        try:
            content = cls._description(folder)
            model = cls(**content["hyperparameters"])
            check_hyperparameters(model)
            for name in ("n_features", "n_labels"):
                if not 0 <= content[name] <= MOST_COLUMNS:
                    raise Malformed(
                        DESCRIPTION, f"found {name}={content[name]}, expected 0 to {MOST_COLUMNS}"
                    )
            model.n_features_in_ = content["n_features"]
            model.n_labels_ = content["n_labels"]
            model.all_labelled_ = content.get("labelled") is True
            vars(model).update(
                {name: np.array(content[name], dtype=object) for name in NAMES if name in content}
            )
            if "counted" in content:  # a model of an earlier version has no counts
                model.n_counted_ = content["counted"]
                if type(model.n_counted_) is not int or model.n_counted_ < 0:
                    raise Malformed(
                        DESCRIPTION,
                        f"found counted={content['counted']!r}, expected a whole number",
                    )
                counts = np.asarray(load_array(folder / "label_counts.npy"))
                sizes = {"n_labels": model.n_labels_, "more": model.n_counted_ + 1}
                check_fields({"label_counts": counts}, [LABEL_COUNTS], **sizes)
                model.label_counts_ = counts
            # array views, because numba is slow to recognise `numpy.memmap`
            arrays = {
                name: np.asarray(load_array(folder / f"{name}.npy")) for name in content["arrays"]
            }
            model._restore(arrays, content["meta"])
            model._read_parts(folder, content["meta"], trusted)
        except (Malformed, InvalidParameterError) as fault:
            raise XmlcError(
                f"{folder}: found no valid model ({fault}). Train the model again."
            ) from None
        except (KeyError, TypeError, OverflowError) as fault:
            found = f"found no valid model ({type(fault).__name__}: {fault})"
            raise XmlcError(f"{folder}: {found}. Train the model again.") from fault
        return model

    @classmethod
    def _description(cls, folder: Path) -> dict[str, Any]:
        content = load_description(folder / DESCRIPTION, ENTRIES)
        found = content["estimator"]
        version = content["format"]
        if found != cls.__name__:
            expected = f"expected one of {cls.__name__}. Load the model with {found}.load."
            raise XmlcError(f"{folder}: found a model of {found}, {expected}")
        if version != cls.MODEL_FORMAT:
            raise Malformed(
                DESCRIPTION,
                f"found format {version} of {found}, expected format {cls.MODEL_FORMAT}",
            )
        if sorted(content["hyperparameters"]) != cls._hyperparameter_names():
            found = ", ".join(sorted(content["hyperparameters"]))
            known = ", ".join(cls._hyperparameter_names())
            raise Malformed(DESCRIPTION, f"found hyperparameters {found}, expected {known}")
        return content

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy, because other threads may add the counts of a prediction meanwhile."""
        return vars(self).copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state from a pickle, with memory maps of joblib that kernels accept."""
        self.__dict__.update(writeable_maps(state))

    def _is_fitted(self) -> bool:
        return hasattr(self, "n_labels_")

    def _check_fitted(self) -> None:
        self._check_learned("n_labels_")

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the learned arrays, and all other learned values in a form for JSON."""
        arrays = {}
        meta = {}
        # set by `__init__`
        made = {name for name in vars(self.unfitted()) if not name.endswith("_")}
        for name, value in vars(self).copy().items():
            if name.startswith("_") or name in made.union(KEPT_ELSEWHERE):
                continue
            is_array = isinstance(value, np.generic) or type(value) in (np.ndarray, np.memmap)
            if name.endswith("_") and is_array and not value.dtype.hasobject:
                arrays[name] = np.asarray(value)
            elif name.endswith("_") and is_json(value):
                meta[name] = value
            else:
                raise XmlcError(
                    f"{type(self).__name__} cannot be saved: found attribute {name} of type "
                    f"{type(value).__name__}, expected a name ending in _ and an array, a number, "
                    "a text, or a list or dictionary of numbers and texts. Rename or convert the "
                    "attribute, or define _state and _restore."
                )
        return arrays, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        if self.FIELDS:
            self._check_arrays(arrays)
        self.__dict__.update(
            meta | {name: array if array.ndim else array[()] for name, array in arrays.items()}
        )

    def _check_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        check_fields(arrays, self.FIELDS, n_features=self.n_features_in_, n_labels=self.n_labels_)

    def _read_parts(self, folder: Path, meta: dict[str, Any], trusted: bool) -> None:
        """Read the parts of a model that are estimators, each from a subfolder of ``folder``."""
