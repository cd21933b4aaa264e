"""Settings that the numbers in a table depend on.

They are in the manifest next to the table, because the next run overwrites records, and reference tables
have none. Settings are grouped by subject and then by name. A subject is a dataset, a model on a dataset,
or a method with a model on a dataset. The empty subject "" stands for the whole run.

If all records of a table agree, the setting is the value. If some of them differ, for example because a
model was trained with an earlier NumPy, it lists every value with the records that have it:

    {"differs": {"1.26.4": ["yeast / plt / ranking / full / seed 0"], "2.4.6": [...]}}
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.environment import commit
from xmlc.suite.results.environments import environment_of
from xmlc.suite.results.records.base import Record, RecordFile
from xmlc.suite.results.records.thresholds import GridScores

BETWEEN = " / "
RecordedSettings = dict[str, dict[str, object]]
VERSIONS = ("xmlc", "python", "numpy", "scipy", "numba", "sklearn")
IF_USED = ("sklearn",)  # A step that does not use such a package records no version of it.
MACHINE = ("machine", "cpu")
SEEDS = "seeds"
DATA = "data"
CODE = "code"
COMMIT = "commit"
THREADS = "threads"
DIFFERS = "differs"  # The only key of a setting with several values.
UNKNOWN = "unknown"  # The version of a program if the record does not have it.
NONE = "none"
DIGITS = 12
# Keys in the field `settings` of a record, some of which records of earlier versions lack.
OF_DATASETS = ("validation_share", "propensity")
OF_MODELS = ("model code", "files")
OF_CODE = ("method code",)
#: Settings that manifests of earlier versions lack.
RECORDED = frozenset((*OF_DATASETS, *OF_MODELS, *OF_CODE, *MACHINE, THREADS))
# Fields of a record that are settings of a method, in addition to the field ``grid``.
OF_METHODS = ("samples", "time_limit")
OF_SEARCHES = ("method", "budget")


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
    subject = dataset + BETWEEN + record.model_name
    yield subject, SEEDS, record.seed
    yield subject, "estimator", record.estimator
    for name, value in record.hyperparameters.items():
        yield subject, name, value
    yield from _listed(dataset, OF_DATASETS, record.settings)
    yield from _listed(subject, OF_MODELS, record.settings)
    search = getattr(record, "tuning", None)
    if search:
        yield (
            subject,
            "tuning",
            " ".join(str(search[name]) for name in OF_SEARCHES if name in search),
        )
    if record.method_name:
        subject += BETWEEN + record.method_name
        yield subject, SEEDS, record.seed
        yield from _listed(subject, OF_METHODS, vars(record))
        yield from _listed(subject, OF_CODE, record.settings)
        grid = getattr(record, "grid", None)
        if grid:
            yield subject, "grid", " ".join(map(_point, grid))
        estimates = getattr(record, "estimates", None)
        if estimates:
            yield subject, "min_probability", estimates.min_probability
    if THREADS in environment:
        yield subject, THREADS, environment[THREADS]


def _listed(subject: str, names: Iterable[str], values: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    for name in names:
        if name in values:
            yield subject, name, values[name]


def _point(point: GridScores) -> str:
    """Return the parameters of a grid point, such as ``100`` for c or ``1:100`` for a and b."""
    values = [point.a, point.b]
    if point.a is None:
        values = [point.c]
    return ":".join(f"{value:g}" for value in values if value is not None)


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

    A value that all records share has no names.
    """
    if isinstance(setting, dict) and list(setting) == [DIFFERS]:
        return dict(setting[DIFFERS])
    return {text_of(setting): []}


def text_of(value: object) -> str:
    """Return the value of a setting as text. Equal numbers have equal texts, such as 8 and 8.0."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if value is None:
        return NONE
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return str(value)


def code_in_use() -> str:
    """Return a digest of the current Python files of the package."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGITS]
