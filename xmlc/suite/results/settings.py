"""Collect the settings that the numbers in a table depend on.

The manifest next to the table contains the settings. Settings must be in the manifest because the next run overwrites
records, and because reference tables have no records. Settings are grouped by subject and then by name. A subject is a
dataset, a model on a dataset, or a method with a model on a dataset. The empty subject "" stands for the whole run.

All records of a table count. If they agree, the setting is the value. If some of them differ, for example because a
model was trained with an earlier NumPy, the setting lists every value with the records that have it:

    {"differs": {"1.26.4": ["yeast / plt / ranking / full / seed 0"], "2.4.6": [...]}}
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.environment import commit
from xmlc.suite.results.environments import environment_of
from xmlc.suite.results.records.base import Record, RecordFile

BETWEEN = " / "
RecordedSettings = dict[str, dict[str, object]]
VERSIONS = ("xmlc", "python", "numpy", "scipy", "numba", "sklearn")
IF_USED = ("sklearn",)  # A step that does not use such a package records no version of it.
MACHINE = ("machine", "cpu")
SEEDS, DATA, CODE, COMMIT, THREADS = "seeds", "data", "code", "commit", "threads"
DIFFERS = "differs"  # The only key of a setting with several values.
UNKNOWN = "unknown"  # The version of a program if the record does not have it.
NONE = "none"
DIGITS = 12
#: Keys in the field `settings` of a record that describe datasets, models and methods. Records of earlier versions lack
#: some of these keys.
OF_DATASETS, OF_MODELS, OF_CODE = ("validation_share", "propensity"), ("model code", "files"), ("method code",)
#: Settings that manifests of earlier versions lack.
RECORDED = frozenset((*OF_DATASETS, *OF_MODELS, *OF_CODE, *MACHINE, THREADS))
# `OF_METHODS` lists the fields of a record that are settings of a method, in addition to the field ``grid``.
# `OF_SEARCHES` lists the settings of a search for hyperparameters.
OF_METHODS, OF_SEARCHES = ("samples", "time_limit"), ("method", "budget")


def settings_of(records: Iterable[RecordFile]) -> RecordedSettings:
    """Return the settings in the records, the versions of programs, and the digest and the commit of the code."""
    found: RecordedSettings = {"": {CODE: code_in_use(), COMMIT: commit()}}
    values: dict[tuple[str, str], list[tuple[object, str]]] = {}
    for record in records:
        for subject, name, value in _settings_in(record):
            values.setdefault((subject, name), []).append((value, _name(record)))
    for (subject, name), pairs in values.items():
        of_subject = found.setdefault(subject, {})
        if name == SEEDS:
            of_subject[name] = sorted({value for value, _ in pairs if isinstance(value, int)})
        else:
            of_subject[name] = _joined(pairs)
    for subject, of_subject in found.items():
        of_model = found.get(subject.rpartition(BETWEEN)[0], {})
        if SEEDS in of_model and of_subject[SEEDS] == of_model[SEEDS]:
            del of_subject[SEEDS]  # A method has this key only if its seeds differ from those of its model.
    return found


def _settings_in(record: RecordFile) -> Iterator[tuple[str, str, object]]:
    """Yield the subject, the name and the value of each setting of a record."""
    environment = dict(environment_of(record))
    if environment or isinstance(record, Record):
        for name in VERSIONS:
            if name in environment or name not in IF_USED:
                yield "", name, environment.get(name, UNKNOWN)
    for name in MACHINE:
        if name in environment:
            yield "", name, environment[name]
    dataset = record.dataset_name
    if record.data_digest:
        yield dataset, DATA, record.data_digest[:DIGITS]
    if not isinstance(record, Record):
        return
    subject = BETWEEN.join((dataset, record.model_name))
    yield subject, SEEDS, record.seed
    yield subject, "estimator", record.estimator
    for name, value in record.hyperparameters.items():
        yield subject, name, value
    for group, names in ((dataset, OF_DATASETS), (subject, OF_MODELS)):
        for name in names:
            if name in record.settings:
                yield group, name, record.settings[name]
    if search := getattr(record, "tuning", None):
        yield subject, "tuning", " ".join(str(search[name]) for name in OF_SEARCHES if name in search)
    if record.method_name:
        subject = BETWEEN.join((subject, record.method_name))
        yield subject, SEEDS, record.seed
        for name, value in _settings_of_method(record):
            yield subject, name, value
    if THREADS in environment:
        yield subject, THREADS, environment[THREADS]


def _settings_of_method(record: Record) -> Iterator[tuple[str, object]]:
    """Yield the name and the value of each setting of a threshold or inference method."""
    for name in OF_METHODS:
        if hasattr(record, name):
            yield name, getattr(record, name)
    for name in OF_CODE:
        if name in record.settings:
            yield name, record.settings[name]
    if grid := getattr(record, "grid", None):
        points = ((at.c,) if at.a is None else (at.a, at.b) for at in grid)
        yield "grid", " ".join(":".join(f"{x:g}" for x in point if x is not None) for point in points)
    if estimates := getattr(record, "estimates", None):
        yield "min_probability", estimates.min_probability


def _name(record: RecordFile) -> str:
    """Return a name of a record for people, such as ``yeast / plt / sto / 80 / seed 0``."""
    parts = [record.dataset_name, record.model_name, record.method_name or record.KIND]
    if isinstance(record, Record):
        parts += [record.split, f"seed {record.seed}"]
    return BETWEEN.join(filter(None, parts))


def _joined(pairs: Iterable[tuple[object, str]]) -> object:
    """Return the value of a setting that all records share, or every value with the names of its records."""
    records: dict[str, dict[str, None]] = {}
    for value, name in pairs:
        records.setdefault(text_of(value), {})[name] = None
    if len(records) == 1:
        return value
    return {DIFFERS: {text: list(records[text]) for text in sorted(records)}}


def values_in(setting: object) -> dict[str, list[str]]:
    """Return the values of a setting as texts, each with the names of its records.

    If all records have the same value, no names are stored, and the list is empty.
    """
    if isinstance(setting, dict) and list(setting) == [DIFFERS]:
        found: dict[str, list[str]] = setting[DIFFERS]
        return found
    return {text_of(setting): []}


def text_of(value: object) -> str:
    """Return the value of a setting as text. Equal numbers have equal texts, such as 8 and 8.0."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return NONE if value is None else str(value).removesuffix(".0" if isinstance(value, float) else "")


def code_in_use() -> str:
    """Return a digest of the current Python files of the package."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGITS]
