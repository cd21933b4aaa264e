"""Checks of a project's configuration, each of which yields mistakes with their places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlc.core.errors import InvalidParameterError, XmlcError, let_through
from xmlc.kernels.domains import LABELS_PER_INSTANCE, NumberRange
from xmlc.kernels.estimator import Hyperparameters, check_value
from xmlc.models.registry import (
    ESTIMATORS,
    LEARNERS,
    estimator_class,
    make_estimator,
    program_of,
    registered_name,
)
from xmlc.suite.config.ranges import ends_of
from xmlc.suite.config.settings import SIZES
from xmlc.suite.config.suite import Experiments, ModelSpec, Suite
from xmlc.suite.results.methods import INFERENCE_METHODS, THRESHOLD_METHODS
from xmlc.suite.schemas import Misfit, located, name_misfits, nearest

if TYPE_CHECKING:
    from xmlc.suite.config.project import Project

#: Rules, targets and folders of the workflow, whose names a dataset or suite must not have
RESERVED = frozenset(
    "all tables baselines study small large manual digests figures published reference benchmarks "
    "simulations download synthesise prepare simulate tune train rank score estimate thresholds "
    "thresholds_without_validation infer forest sweep progressive table figure".split()
)
# Folders next to the models' folders.
FOLDERS = frozenset(("data", "tuning"))
# Hyperparameters that each run sets, because seeds differ and threads are planned
SET_BY_RUNS = {
    "random_state": "`seeds` to the suite",
    "n_jobs": "`threads` to the model or the run",
}
# Paths of files that the estimator `estimates` reads.
OF_ESTIMATES = ("validation", "test")
#: Keys that may differ between models of one name, because results do not depend on them.
FREE = (
    "title",
    "without",
    "task",
    "optional",
    "provenance",
    "skip_thresholds",
    "untuned",
    "from_suite",
)
#: Keys that may also differ in a suite of no paper, because only papers' suites search for values.
OF_PAPERS = ("hyperparameters", "datasets", "selected", "search")


def check(project: Project, catalogue: str) -> None:
    """Check a project's settings and suites, and the datasets in its catalogue's file.

    An error has the file, the line, the keys, the wrong value and the nearest valid one.
    """
    suites = [*project.suites.values()]
    for suite in suites:
        _refuse(suite.file, [*_unknown_names(suite, project.all_datasets), *_contradictions(suite)])
        _refuse(suite.file, _wrong_models(suite))
    for first, second in combinations(suites, 2):
        _refuse(second.file, _differences(first, second))
    taken = RESERVED | {*project.suites} - {"demo"}
    for suite in suites:
        if suite.own:  # The demo, for example, is a suite and a dataset.
            taken -= {*suite.datasets} - RESERVED
    for name in project.catalogue:
        _refuse(catalogue, _reserved_names(name, [name], taken))
    _refuse(
        "config", _reserved_names("datasets", {*project.settings.named_datasets} - {*SIZES}, taken)
    )
    for suite in suites:
        _refuse(suite.file, _reserved_names("datasets", suite.datasets, taken))
        _refuse(suite.file, _reserved_names("name of the file", [suite.name], RESERVED))
        _refuse(suite.file, _reserved_names("models", suite.all_models, FOLDERS))
    _refuse("config", _wrong_settings(project))
    for suite in suites:
        _refuse(suite.file, _wrong_datasets(project, suite))


def _refuse(source: str, misfits: Iterable[Misfit]) -> None:
    problems = [located(source, place, problem) for place, problem in misfits]
    if problems:
        raise XmlcError("\n".join(problems))


def _unknown_names(suite: Suite, datasets: Collection[str]) -> Iterator[Misfit]:
    registered: list[str] = []  # all strings in extensions that could be the name of a method
    for file in suite.extensions:
        path = Path(file)
        if path.is_file():
            registered += re.findall(r"""["']([a-z0-9-]+)["']""", path.read_text(encoding="utf-8"))
        else:
            near = [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"]
            yield ("extensions",), f"found no file {file}, expected {nearest(path.name, near)}"
    known: dict[str, Collection[str]] = {
        "datasets": datasets,
        "models": suite.models,
        "models and datasets": {*suite.all_models, *datasets},
        "threshold methods": {*THRESHOLD_METHODS, *registered},
        "inference methods": {*INFERENCE_METHODS, *registered},
    }
    yield from name_misfits(suite.written, Experiments, known)


def _contradictions(suite: Suite) -> Iterator[Misfit]:
    if suite.progressive and not suite.few_shot:
        problem = (
            f"found {', '.join(suite.progressive)}, but the suite has no few-shot dataset. Add "
            "few_shot"
        )
        yield ("progressive",), problem
    for name, model in suite.all_models.items():
        keys = suite.place_of(name)
        if keys[0] == "baselines" and name in suite.models:
            yield keys, f"found {name}, which is also a model. Rename one of them"
        shared = model.share_search_with
        # A copied model has this key, too, but not in this file.
        if shared and shared not in suite.all_models:
            expected = f"expected another model of this suite: {nearest(shared, suite.all_models)}"
            yield (*keys, "share_search_with"), f"found {shared}, {expected}"
        followed = [name]  # shared searches, until the end or the first repeated model
        while shared and shared in suite.all_models and followed.count(followed[-1]) == 1:
            followed.append(shared)
            shared = suite.all_models[shared].share_search_with
        if followed.count(followed[-1]) > 1:
            yield (
                (*keys, "share_search_with"),
                f"found a cycle: {' -> '.join(followed)}. Remove one of the keys",
            )
        if model.skip_thresholds and keys[0] == "models":
            problem = f"found a model. Add {name} to skip_thresholds of the suite instead"
            yield (*keys, "skip_thresholds"), problem
        if model.task and all(suite.task_of(dataset) != model.task for dataset in suite.datasets):
            problem = (
                f"found {model.task}, but no dataset of the suite has this task, so {name} would "
                "not run"
            )
            yield (*keys, "task"), f"{problem}. Change few_shot, or remove {name}"
        elif all(dataset in model.without for dataset in suite.datasets):
            yield (
                (*keys, "without"),
                f"found all datasets of the suite, so {name} would not run. Remove {name}",
            )


def _wrong_models(suite: Suite) -> Iterator[Misfit]:
    """Yield each unknown estimator or hyperparameter, and each value out of its range.

    Classes of users' files and of other libraries are instantiated for this, but not baselines and
    optional models, because their program may be missing.
    """
    for name, model in suite.all_models.items():
        try:
            _check_model(suite, name, model)
        except Exception as error:  # A user's file may raise any error.
            let_through(error)
            problem = str(error).replace("None", "null")
            if not isinstance(error, XmlcError):
                problem = f"{type(error).__name__}: {problem}"
            yield suite.place_of(name), problem


def _check_model(suite: Suite, name: str, model: ModelSpec) -> None:
    estimator = model.estimator
    search = model.search
    swept = suite.swept(name)
    trials = [*chain(*search.stages, *chain(*search.extra_stages.values()))]
    given = [model.hyperparameters, *model.datasets.values(), search.trial_overrides, *swept]
    for key in chain(*given, *trials, search.ranges):
        if key in SET_BY_RUNS:
            raise XmlcError(
                f"found the hyperparameter {key}, which each run sets. Add {SET_BY_RUNS[key]} "
                "instead"
            )
        if estimator == "oracle":
            raise XmlcError(
                f"found {key}, expected nothing, because the oracle has no hyperparameters"
            )
        if estimator == "estimates" and key not in OF_ESTIMATES:
            raise XmlcError(f"found {key}, expected {nearest(key, OF_ESTIMATES)}")
    if program_of(estimator) and (model.optional or name in suite.baselines):
        return
    if estimator not in LEARNERS:
        if estimator not in ESTIMATORS:
            _check_class(model, [*given, *trials])
        return
    for key, range_ in search.ranges.items():
        given += [{key: end} for end in ends_of(range_)]
    domains = estimator_class(estimator).domains
    for trial in trials:
        known = {}
        for key, value in trial.items():
            # The search replaces this text with a number.
            if value != LABELS_PER_INSTANCE or not isinstance(domains.get(key), NumberRange):
                known[key] = value
        given.append(known)
    for values in given:
        _check_values(estimator, values)
    _check_together(estimator, [{}], [model.hyperparameters, *model.datasets.values()])
    # The best trial of an earlier stage is unknown, and a sweep runs on several datasets.
    base = model.hyperparameters | search.trial_overrides
    _check_together(estimator, [base, *(base | trial for trial in trials)], trials)
    _check_together(estimator, [model.values_on(dataset) for dataset in suite.datasets], swept)


def _check_class(model: ModelSpec, given: Iterable[Hyperparameters]) -> None:
    place, _, name = model.estimator.rpartition(":")
    # Workflow jobs cannot import a module from the current folder.
    if Path(f"{place}.py").is_file():
        raise XmlcError(
            f"found {model.estimator}, a module in this folder, expected {place}.py:{name}"
        )
    if not place:
        raise XmlcError(
            f"found no estimator {name}, expected {nearest(name, ESTIMATORS)}, or "
            "package.module:ClassName or path/to/file.py:ClassName"
        )
    for values in given:
        make_estimator(model.estimator, model.hyperparameters | values, seed=0)


def _check_values(estimator: str, values: Hyperparameters) -> None:
    kind = type(make_estimator(estimator, values, seed=0))
    for key, value in values.items():
        check_value(kind, key, value)
        if key == "estimators":
            members: Any = value or ()
            for _, member in members:
                name = str(member)
                if ":" not in name and registered_name(name) not in ESTIMATORS:
                    raise XmlcError(f"{key}: found {name}, expected {nearest(name, ESTIMATORS)}")


def _check_together(
    estimator: str, possible: Sequence[Hyperparameters], given: Iterable[Hyperparameters]
) -> None:
    for values in given:
        errors = []
        for others in possible:
            complete = others | values
            try:
                known = {
                    key: value for key, value in complete.items() if value != LABELS_PER_INSTANCE
                }
                estimator_class(estimator)(**known).check_together()
            except InvalidParameterError as error:
                errors.append(error)
        if len(errors) == len(possible):
            raise errors[0]


def _differences(first: Suite, second: Suite) -> Iterator[Misfit]:
    is_apart = (first.own or second.own) and not {*first.datasets} & {*second.datasets}
    for name, here in second.all_models.items():
        there = first.all_models.get(name, here)
        free = {*FREE}
        if is_apart:
            free |= {*OF_PAPERS}
            if here.search.always or there.search.always:
                free.remove("search")
        for field in fields(ModelSpec):
            if field.name not in free and getattr(here, field.name) != getattr(there, field.name):
                problem = (
                    f"found other {field.name} than in {first.file}, which has a model {name}, "
                    "too. The results of"
                )
                problem += f" both would be in results/<dataset>/{name}/. Rename one of them"
                problem += f", or copy it with from_suite: {first.name}"
                yield (*second.place_of(name), field.name), problem
    shared = []
    limits = [first.min_probabilities, second.min_probabilities]
    for dataset in {*first.datasets, *limits[0]} & {*second.datasets, *limits[1]}:
        values = [limit.get(dataset) for limit in limits]
        shared.append((("min_probabilities", dataset), values, f"estimates of {dataset}"))
    blocks = [first.inference, second.inference]
    if blocks[0] and blocks[1] and blocks[0].split == blocks[1].split:
        for model in {*blocks[0].methods} & {*blocks[1].methods}:
            for key in ("samples", "time_limit"):
                values = [getattr(block, key) for block in blocks]
                shared.append((("inference", key), values, f"label sets of {model}"))
    for place, values, what in shared:
        if values[0] != values[1]:
            expected, found = ["null" if value is None else value for value in values]
            problem = (
                f"found {found}, expected {expected} as in {first.file}, which has the same {what}"
            )
            yield place, f"{problem}. Use the same value in both files"


def _reserved_names(key: str, names: Iterable[str], taken: Collection[str]) -> Iterator[Misfit]:
    for name in names:
        if name in taken:
            kind = "a rule, target, folder or suite of the workflow"
            yield (
                (key,),
                f"found {name}, the name of {kind}. Choose another name, such as my-{name}",
            )


def _wrong_settings(project: Project) -> Iterator[Misfit]:
    settings = project.settings
    models: Iterable[str] = settings.models or ()
    looked_up: list[tuple[str, Iterable[str], Collection[str]]] = [
        ("papers", settings.papers, project.suites)
    ]
    if isinstance(settings.models, dict):
        looked_up.append(("models", models, {*chain(*map(project.datasets_of, project.suites))}))
        models = chain(*settings.models.values())
    looked_up.append(("models", models, project.models))
    for key, names, known in looked_up:
        for name in names:
            if name not in known:
                yield (key,), f"found {name}, expected {nearest(name, known)}"
    for name in settings.named_datasets:
        if name in SIZES:
            yield ("datasets",), f"found {name} and others, expected {name} alone: datasets={name}"
        else:
            # Fails for a bad name or unknown propensities before any training.
            project.propensity(name)


def _wrong_datasets(project: Project, suite: Suite) -> Iterator[Misfit]:
    for name in suite.datasets:
        try:
            project.propensity(name)
        except XmlcError as error:
            yield ("datasets",), str(error)
    has_posteriors = any(project.entry(name).synthetic for name in suite.datasets)
    for name, model in suite.models.items():
        if model.estimator == "oracle" and not has_posteriors:
            problem = (
                "found oracle, but no dataset of the suite is synthetic, so it would not run. "
                "Remove it"
            )
            yield ("models", name, "estimator"), problem
