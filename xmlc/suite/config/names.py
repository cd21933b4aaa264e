"""Look up every dataset, model and method that a suite mentions, and refuse settings without effect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.suite.config.checks import text_of
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.results.methods import INFERENCE_METHODS, THRESHOLD_METHODS
from xmlc.suite.schemas import Keys, located, nearest


class Mention(NamedTuple):
    """Names at one place of a suite's file.

    If ``known`` is None, every name is valid. Otherwise only the names in ``known`` are valid, and ``others`` says in
    words where further names can come from.
    """

    keys: Keys
    names: Collection[object]
    known: Collection[str] | None
    others: str = ""


def check_names(suite: Suite, datasets: Collection[str]) -> None:
    """Raise an error for an unknown or repeated name in a suite, and for a setting that has no effect.

    Parameters
    ----------
    suite : Suite
    datasets : collection of str
        The names of all datasets: those of the catalogue, of the suites and of the settings.

    Raises
    ------
    XmlcError
        The message contains the file, the line, the keys, the wrong name and the nearest valid name.
    """
    for mention in _mentions(suite, datasets):
        _check_mention(suite, mention)
    for keys, problem in _contradictions(suite):
        raise XmlcError(located(suite.file, keys, problem))


def _check_mention(suite: Suite, mention: Mention) -> None:
    names = [*mention.names]
    for name in names:
        if mention.known is not None and name not in mention.known:
            expected = f"{nearest(str(name), mention.known)}{mention.others}"
            raise XmlcError(located(suite.file, mention.keys, f"found {name}, expected {expected}"))
        if names.count(name) > 1:
            raise XmlcError(located(suite.file, mention.keys, f"found {name} twice, expected each entry once"))


def _mentions(suite: Suite, datasets: Collection[str]) -> Iterator[Mention]:
    """Yield all places of a suite's file where names are."""
    in_extensions = _names_in_extensions(suite)
    others = ", or a method of the extensions"
    for key in ("datasets", "seeds", "tables", "figures", "measures", "extensions"):
        yield Mention((key,), getattr(suite, key), None)
    yield Mention(("methods",), suite.methods, {*THRESHOLD_METHODS, *in_extensions}, others)
    yield Mention(("few_shot",), suite.few_shot, datasets)
    yield Mention(("min_probabilities",), suite.min_probabilities, datasets)
    yield Mention(("skip_thresholds",), suite.skip_thresholds, {*datasets, *suite.all_models})
    yield Mention(("progressive",), suite.progressive, suite.models)
    if suite.ensembles:
        yield Mention(("ensembles", "models"), suite.ensembles.models, suite.models)
        yield Mention(("ensembles", "sizes"), suite.ensembles.sizes, None)
    if suite.inference:
        yield Mention(("inference", "methods"), suite.inference.methods, suite.models)
        for of_model, methods in suite.inference.methods.items():
            known = {*INFERENCE_METHODS, *in_extensions}
            yield Mention(("inference", "methods", of_model), methods, known, others)
    for name, sweep in suite.sweeps.items():
        yield Mention(("sweeps", name, "model"), [sweep.model], suite.models)
        yield Mention(("sweeps", name, "values"), sweep.values, None)
        yield Mention(("sweeps", name, "datasets"), sweep.datasets, datasets)
        yield Mention(("sweeps", name, "without"), sweep.without, datasets)
        for dataset, values in sweep.datasets.items():
            yield Mention(("sweeps", name, "datasets", dataset), values, None)
    for keys, model in suite.places.items():
        # The datasets of a copied model can be unknown here. Its own suite defines them.
        if keys[1] not in suite.copied:
            yield Mention((*keys, "datasets"), model.datasets, datasets)
            yield Mention((*keys, "selected"), model.selected, datasets)
            yield Mention((*keys, "search", "extra_stages"), model.search.extra_stages, datasets)
        yield Mention((*keys, "without"), model.without, datasets)
        if model.share_search_with:
            yield Mention((*keys, "share_search_with"), [model.share_search_with], suite.all_models)


def _names_in_extensions(suite: Suite) -> set[str]:
    """Return all strings of a suite's extensions that could be the name of a method."""
    text = "\n".join(text_of(suite, file) for file in suite.extensions)
    return set(re.findall(r"""["']([a-z0-9-]+)["']""", text))


def _contradictions(suite: Suite) -> Iterator[tuple[Keys, str]]:
    """Yield the place of each setting without effect, and a message."""
    for name in suite.models:
        if name in suite.baselines:
            yield ("baselines", name), f"found {name}, which is also a model. Rename one of them"
    for keys, model in suite.places.items():
        for place, problem in _contradictions_of_model(suite, keys[1], model, is_baseline=keys[0] == "baselines"):
            yield (*keys, *place), problem
    if suite.progressive and not suite.few_shot:
        problem = f"found {', '.join(suite.progressive)}, but the suite has no few-shot dataset. Add few_shot"
        yield ("progressive",), problem
    for name, sweep in suite.sweeps.items():
        for dataset in sweep.without:
            if dataset in sweep.datasets:
                yield ("sweeps", name, "without", dataset), f"found {dataset} also in datasets. Remove one of them"
        if sweep.hyperparameter in sweep.hyperparameters:
            place = ("sweeps", name, "hyperparameters", sweep.hyperparameter)
            yield place, f"found {sweep.hyperparameter}, whose values the sweep sets. Remove it"


def _contradictions_of_model(
    suite: Suite, name: str, model: ModelSpec, is_baseline: bool
) -> Iterator[tuple[Keys, str]]:
    chain = _shared_searches(suite, name)
    if len(chain) > len({*chain}):
        yield ("share_search_with",), f"found a cycle: {' -> '.join(chain)}. Remove one of the keys"
    if model.skip_thresholds and not is_baseline:
        yield ("skip_thresholds",), f"found a model. Add {name} to skip_thresholds of the suite instead"
    if model.task and all(suite.task_of(dataset) != model.task for dataset in suite.datasets):
        problem = f"found {model.task}, but no dataset of the suite has this task, so {name} would not run"
        yield ("task",), f"{problem}. Change few_shot, or remove {name}"
    elif all(dataset in model.without for dataset in suite.datasets):
        yield ("without",), f"found all datasets of the suite, so {name} would not run. Remove {name}"


def _shared_searches(suite: Suite, name: str) -> list[str]:
    """Follow `share_search_with` from a model, until the end or the first repeated model."""
    chain = [name]
    while chain.count(chain[-1]) == 1:
        model = suite.all_models.get(chain[-1])
        if not model or not model.share_search_with:
            break
        chain.append(model.share_search_with)
    return chain
