"""Look up every dataset, model and method that a suite mentions, and refuse settings without effect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.suite.config.checks import text_of
from xmlc.suite.config.suite import Experiments, ModelSpec, Suite
from xmlc.suite.results.methods import INFERENCE_METHODS, THRESHOLD_METHODS
from xmlc.suite.schemas import Misfit, located, name_misfits, nearest, read_yaml


def check_names(suite: Suite, datasets: Collection[str]) -> None:
    """Raise an error for an unknown or repeated name in a suite's file, and for a setting that has no effect.

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
    extensions = "\n".join(text_of(suite, file) for file in suite.extensions)
    # All strings in extensions that could be the name of a method.
    registered = re.findall(r"""["']([a-z0-9-]+)["']""", extensions)
    known: dict[str, Collection[str]] = {
        "datasets": datasets,
        "models": suite.models,
        "models and datasets": {*suite.all_models, *datasets},
        "threshold methods": {*THRESHOLD_METHODS, *registered},
        "inference methods": {*INFERENCE_METHODS, *registered},
    }
    misfits = [*name_misfits(read_yaml(Path(suite.file)), Experiments, known), *_contradictions(suite)]
    if misfits:
        raise XmlcError("\n".join(located(suite.file, place, problem) for place, problem in misfits))


def _contradictions(suite: Suite) -> Iterator[Misfit]:
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


def _contradictions_of_model(suite: Suite, name: str, model: ModelSpec, is_baseline: bool) -> Iterator[Misfit]:
    shared = model.share_search_with
    if shared and shared not in suite.all_models:  # A copied model has this key, too, but not in this file.
        expected = f"expected another model of this suite: {nearest(shared, suite.all_models)}"
        yield ("share_search_with",), f"found {shared}, {expected}"
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
