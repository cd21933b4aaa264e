"""Find the settings that differ between two runs. The settings are stored next to the tables of each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xmlc.suite.report.words import some
from xmlc.suite.results.settings import BETWEEN, CODE, COMMIT, DATA, RECORDED, SEEDS, VERSIONS, RecordedSettings

WIDTH = 40
NONE = "none"
ORDER = {SEEDS: 0, DATA: 2} | dict.fromkeys(VERSIONS, 3) | {CODE: 4}  # Sort keys of settings. The default is 1.
Texts = dict[str, dict[str, str]]
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


def texts_of(settings: Iterable[RecordedSettings]) -> Texts:
    """Return the settings of a run's tables as texts.

    If a setting has different values in several tables, the texts of the values are joined by slashes.
    """
    found: dict[str, dict[str, dict[str, None]]] = {}
    for one in settings:
        for subject, values in one.items():
            for name, value in values.items():
                found.setdefault(subject, {}).setdefault(name, {})[_text(value)] = None
    return {subject: {name: "/".join(texts) for name, texts in values.items()} for subject, values in found.items()}


def changes_between(old: Texts, new: Texts) -> list[Change]:
    """Return the changes of settings between two runs, for the datasets, models and methods that both runs have.

    Changes of seeds come first, followed by changes of models and methods, of data, of versions, and of code.
    """
    groups: dict[tuple[str, str, str], list[SettingKey]] = {}
    places = {subject: tuple(subject.split(BETWEEN)) if subject else () for subject in old if subject in new}
    for subject, place in places.items():
        for name in {**old[subject], **new[subject]}:
            before, after = (side[subject].get(name, NONE) for side in (old, new))
            if before != after and name != COMMIT and not (name in RECORDED and NONE in (before, after)):
                groups.setdefault((name, before, after), []).append(place)
    commits = [side.get("", {}).get(COMMIT, "") for side in (old, new)]
    found = []
    for (name, before, after), changed in groups.items():
        if name == CODE and len(set(commits)) > 1:
            before, after = (f"{text} ({word or 'no commit'})" for text, word in zip((before, after), commits))
        everywhere = name == SEEDS and changed == [one for one in places.values() if len(one) == len(changed[0])]
        found.append(Change(name, "" if everywhere else _where(changed, places.values()), _short(before, after)))
    return sorted(found, key=lambda change: ORDER.get(change.name, 1))


def changes_line(tables: Iterable[tuple[RecordedSettings, RecordedSettings]], moved: bool) -> str:
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
    changes = changes_between(texts_of(old for old, _ in known), texts_of(new for _, new in known))
    said = some(list(map(str, changes)), "; ")
    if not changes:
        said = "no setting" + " that is known: seeds, hyperparameters, data, versions and code are the same" * moved
    elif {change.name for change in changes} <= {CODE, "xmlc"}:
        said = f"only the {said}"
    elif [change[:2] for change in changes] == [(SEEDS, "")]:
        said = f"only the {said}: all changes of numbers are noise over seeds"
    if lacking:
        said += f". Only {len(known)} of {len(pairs)} tables of {lacking} have settings"
    return f"The runs differ in {said}"


def _where(changed: Sequence[SettingKey], every: Iterable[SettingKey]) -> str:
    """Return a text with the names of the models, methods and datasets for which a setting changed.

    The text names no dataset if the setting changed on all datasets of the models.
    """
    models = list(dict.fromkeys(" ".join(place[1:]) for place in changed if place[1:]))
    datasets = list(dict.fromkeys(place[0] for place in changed if place))
    everywhere = {place[0] for place in every if " ".join(place[1:]) in models} == set(datasets)
    on = "" if everywhere else some(datasets, ", ")
    return " on ".join(filter(None, (some(models, ", "), on)))


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return NONE if value is None else str(value).removesuffix(".0" if isinstance(value, float) else "")


def _short(old: str, new: str) -> str:
    """Return one line with the old and the new value of a setting.

    In long values, dots replace the beginning that both values share, and the end of each value.
    """
    same = next((place for place, pair in enumerate(zip(old, new)) if len(set(pair)) > 1), min(len(old), len(new)))
    start = old.rfind(" ", 0, same) + 1 if max(len(old), len(new)) > WIDTH else 0
    texts = [".. " * bool(start) + text[start:] for text in (old, new)]
    return " -> ".join(text if len(text) <= WIDTH else f"{text[: WIDTH - 3]} .." for text in texts)
