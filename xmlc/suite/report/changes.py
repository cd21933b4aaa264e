"""Find the settings that differ between two runs. The settings are stored next to the tables of each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xmlc.suite.report.words import some
from xmlc.suite.results.settings import (
    BETWEEN,
    CODE,
    COMMIT,
    DATA,
    MACHINE,
    RECORDED,
    SEEDS,
    THREADS,
    UNKNOWN,
    VERSIONS,
    RecordedSettings,
    values_in,
)

WIDTH = 40
# Sort keys of settings. The default is 1.
ORDER = {SEEDS: 0, DATA: 2} | dict.fromkeys(VERSIONS, 3) | {CODE: 4} | dict.fromkeys((*MACHINE, THREADS), 5)
Settings = dict[str, object]  # The settings of one subject.
TablePair = tuple[RecordedSettings, RecordedSettings]  # The settings of a table in the old and in the new run.
SettingKey = tuple[str, ...]  # The dataset, model and method of a setting, or some of them.


class Change(NamedTuple):
    """Hold one setting that changed between two runs.

    The text ``where`` names the models and datasets for which the setting changed. ``where`` is empty if the setting
    changed for all models and datasets.
    """

    name: str
    where: str
    values: str

    def __str__(self) -> str:
        return f"{self.where}: {self.name} {self.values}" if self.where else f"{self.name} {self.values}"


def changes_between(tables: Iterable[TablePair]) -> list[Change]:
    """Return the changes of settings between two runs, for the datasets, models and methods that both runs have.

    Tables are compared one by one, because a run may have one value in some tables and another value in others. Changes
    of seeds come first, followed by changes of models and methods, of data, of versions, of code, and of the machine.
    """
    groups: dict[tuple[str, str], dict[SettingKey, None]] = {}
    places: dict[str, dict[SettingKey, None]] = {}
    for old, new in tables:
        for subject in old:
            place = tuple(subject.split(BETWEEN)) if subject else ()
            for name in {**old[subject], **new[subject]} if subject in new else ():
                places.setdefault(name, {})[place] = None
                if _is_changed(name, old[subject], new[subject]):
                    values = _values(name, old[subject], new[subject])
                    groups.setdefault((name, values), {})[place] = None
    every = list(dict.fromkeys(place for of_name in places.values() for place in of_name))
    found = []
    for (name, values), changed in groups.items():
        everywhere = name in (SEEDS, THREADS) and changed == places[name]
        found.append(Change(name, "" if everywhere else _where(list(changed), every), values))
    return sorted(found, key=lambda change: ORDER.get(change.name, 1))


def _is_changed(name: str, old: Settings, new: Settings) -> bool:
    """Return whether a setting of a subject differs between two runs.

    A setting that one of the runs did not record does not differ.
    """
    if name == COMMIT or (name in RECORDED and not (name in old and name in new)):
        return False
    return values_in(old.get(name)) != values_in(new.get(name))


def _values(name: str, old: Settings, new: Settings) -> str:
    """Return the old and the new value of a setting of a subject. If records differ, their values name records."""
    before, after = values_in(old.get(name)), values_in(new.get(name))
    if any(before.values()) or any(after.values()):
        texts = [_with_records(before), _with_records(after)]
        return " -> ".join(texts) + (" in other records" if texts[0] == texts[1] else "")
    texts = [*before, *after]
    commits = [str(side.get(COMMIT, "")) for side in (old, new)]
    if name == CODE and commits[0] != commits[1]:
        texts = [f"{text} ({word or 'no commit'})" for text, word in zip(texts, commits)]
    return _short(texts[0], texts[1])


def _with_records(values: Mapping[str, Sequence[str]]) -> str:
    """Return the values of a setting, each with one of its records and the number of further records."""
    texts = []
    for value, records in values.items():
        of = f" ({some(records, ', ', 1)})" if records else ""
        texts.append(value[:WIDTH] + of)
    return ", ".join(texts)


def changes_line(tables: Iterable[TablePair], moved: bool) -> str:
    """Return one line about the settings that differ between two runs, or "" if nothing changed and none are known.

    Parameters
    ----------
    tables : iterable of (RecordedSettings, RecordedSettings)
        The settings of each table in the old run and in the new run. If one of the runs has no settings for a table,
        the table is ignored, because its models and datasets cannot be compared.
    moved : bool
        Whether numbers differ between the runs.
    """
    pairs = list(tables)
    known = [pair for pair in pairs if all(pair)]
    lacking = " and ".join(side for place, side in enumerate(("old", "new")) if not all(pair[place] for pair in pairs))
    if not known:
        reason = f"The settings behind the changes are unknown, because the tables of {lacking or 'both'} have none"
        return reason if moved else ""
    changes = changes_between(known)
    said = some(list(map(str, changes)), "; ")
    if not changes:
        said = "no setting" + " that is known: seeds, hyperparameters, data, versions and code are the same" * moved
    elif {change.name for change in changes} <= {CODE, "xmlc"}:
        said = f"only the {said}"
    elif [change[:2] for change in changes] == [(SEEDS, "")]:
        said = f"only the {said}: all changes of numbers are noise over seeds"
    if not changes and any(_lacks_versions(side) for pair in known for side in pair):
        said += ", but the versions of some records are unknown"
    if lacking:
        said += f". Only {len(known)} of {len(pairs)} tables of {lacking} have settings"
    return f"The runs differ in {said}"


def _lacks_versions(table: RecordedSettings) -> bool:
    return any(UNKNOWN in values_in(table.get("", {}).get(name)) for name in VERSIONS)


def _where(changed: Sequence[SettingKey], every: Iterable[SettingKey]) -> str:
    """Return a text with the names of the models, methods and datasets for which a setting changed.

    The text names no dataset if the setting changed on all datasets of the models.
    """
    models = list(dict.fromkeys(" ".join(place[1:]) for place in changed if place[1:]))
    datasets = list(dict.fromkeys(place[0] for place in changed if place))
    everywhere = {place[0] for place in every if " ".join(place[1:]) in models} == set(datasets)
    on = "" if everywhere else some(datasets, ", ")
    return " on ".join(filter(None, (some(models, ", "), on)))


def _short(old: str, new: str) -> str:
    """Return one line with the old and the new value of a setting.

    In long values, dots replace the beginning that both values share, and the end of each value.
    """
    same = next((place for place, pair in enumerate(zip(old, new)) if len(set(pair)) > 1), min(len(old), len(new)))
    start = old.rfind(" ", 0, same) + 1 if max(len(old), len(new)) > WIDTH else 0
    texts = [".. " * bool(start) + text[start:] for text in (old, new)]
    return " -> ".join(text if len(text) <= WIDTH else f"{text[: WIDTH - 3]} .." for text in texts)
