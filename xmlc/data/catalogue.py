"""The catalogue of datasets: config/datasets.yaml as objects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from xmlc.errors import XmlcError

SCHEMA = Path(__file__).parent / "datasets.schema.yaml"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Dataset:
    """One entry of the catalogue.

    Attributes
    ----------
    name : str
    format : str
        See `xmlc.data.formats.load`.
    zero_based : bool
        Whether ids (svmlight) or labels (vw) start from 0.
    train, test : tuple of str
        File names in ``resources/<name>``: one each, or features and labels for ``repository-two-files``.
    labels : str or None
        XML file that names the labels of an ARFF dataset.
    split_files : dict or None
        ``train``, ``test`` and ``column`` where one data file is cut by lists of row numbers.
    sources : tuple of (str, Any)
        Where to fetch it: ``("drive", id)``, ``("url", address)`` or ``("urls", {file name: address})``.
    published : dict or None
        n_train, n_test, d, m, averages and the source of these numbers.
    synthetic : dict or None
        Parameters of `xmlc synth`.
    homepage, licence : str or None
    """

    name: str
    format: str = "repository"
    zero_based: bool = True
    train: tuple[str, ...] = ("train.txt",)
    test: tuple[str, ...] = ("test.txt",)
    labels: str | None = None
    split_files: dict[str, Any] | None = None
    sources: tuple[tuple[str, Any], ...] = field(default=())
    published: dict[str, Any] | None = None
    synthetic: dict[str, Any] | None = None
    homepage: str | None = None
    licence: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the dataset consists of, each once."""
        names = [*self.train, *self.test]
        names += [self.labels] if self.labels else []
        names += [self.split_files[part] for part in ("train", "test")] if self.split_files else []
        return tuple(dict.fromkeys(names))


def load_catalogue(path: str | Path | None) -> dict[str, Dataset]:
    """Read and check a catalogue; without a path it is empty, and only sets of a mirror can be used.

    Raises
    ------
    XmlcError
        The file does not exist, is not YAML or breaks the schema; the message names entry and key.
    """
    if path is None:
        return {}
    path = Path(path)
    if not path.is_file():
        raise XmlcError(f"{path}: no such catalogue of datasets")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise XmlcError(f"{path}: not YAML: {error}") from error
    validator = jsonschema.Draft202012Validator(yaml.safe_load(SCHEMA.read_text(encoding="utf-8")))
    errors = sorted(validator.iter_errors(content), key=lambda error: list(map(str, error.path)))
    if errors:
        lines = [f"{path}: {'.'.join(map(str, error.path)) or 'top level'}: {error.message}" for error in errors]
        raise XmlcError("\n".join(lines))
    return {name: _entry(name, values) for name, values in content.items()}


def dataset(name: str, catalogue: dict[str, Dataset]) -> Dataset:
    """Return a dataset's entry; a set that is not in the catalogue is expected under the mirror.

    Raises
    ------
    XmlcError
        The name could not be a folder of that name: lower-case letters, digits, ``.``, ``_`` and ``-``.
    """
    if not NAME.fullmatch(name):
        raise XmlcError(f"dataset name {name!r}: expected lower-case letters, digits, '.', '_' and '-'")
    return catalogue.get(name) or Dataset(name)


def _entry(name: str, values: dict[str, Any]) -> Dataset:
    sources = tuple((kind, values[kind]) for kind in ("drive", "url", "urls") if kind in values)
    plain = {key: value for key, value in values.items() if key not in ("drive", "url", "urls", "train", "test")}
    files = {part: _names(values[part]) for part in ("train", "test") if part in values}
    return Dataset(name, sources=sources, **plain, **files)


def _names(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
