"""A bounded search for a dataset that nobody tuned: what `tuning: auto` of config.yaml runs.

Its trials are written down, in stages, and take no more than a sample of a large set: it costs a small multiple of
one training on that sample whatever the size of the set. Values whose best depends on the number of instances, such as
the lambda of a gradient descent whose steps fall with 1 / (lambda t), are those of the sample.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters

METHOD = "auto"
MOST_FITTED = 20_000  # instances of the 80 % that a trial is trained on
MOST_VALIDATED = 5_000  # and of the 20 % that it is scored on


@dataclass(frozen=True)
class AutoSearch:
    """Trials in stages, as JSON (`xmlc.tuning.stages`), and values that trials have and the later model has not."""

    stages: str
    in_trials: Hyperparameters


def parse_auto(text: str) -> AutoSearch:
    """Read a search given as JSON.

    Raises
    ------
    XmlcError
        It is no JSON object with ``stages`` and, maybe, ``in_trials``.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise XmlcError(f"search {text!r} is not JSON: {error}") from error
    good = isinstance(content, dict) and {"stages"} <= {*content} <= {"stages", "in_trials"}
    if not good or not isinstance(content.get("in_trials", {}), dict):
        raise XmlcError(
            f'search {text!r}: expected stages and values of the trials alone, such as {{"stages": [[{{"eta": 0.1}}, '
            '{"eta": 1}]], "in_trials": {"n_trees": 10}}'
        )
    return AutoSearch(json.dumps(content["stages"]), content.get("in_trials", {}))
