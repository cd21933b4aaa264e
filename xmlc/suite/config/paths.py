"""The paths of all records, tables, figures and logs, which a test compares with the workflow's."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xmlc.suite.provenance.damage import MADE as MADE

NAME = r"[a-z0-9][a-z0-9._-]*"  # name of a dataset
WORD = r"[a-z0-9-]+"
WILDCARDS = {"dataset": NAME, "seed": r"\d+", "split": "full|80", "rest": ".+"}
WILDCARDS |= dict.fromkeys(("method", "table", "figure", "sweep"), WORD)


class Pattern(str):
    """A path with wildcards in braces, as in Snakemake, such as ``results/{dataset}/data``."""

    __slots__ = ()

    def of(self, **values: object) -> str:
        """Return the path with values for some wildcards."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), self)

    def read(self, path: str | Path) -> dict[str, str] | None:
        """Return the values of the wildcards in a path, or None if it does not match."""
        found = _expression(self).fullmatch(Path(path).as_posix())
        if found:
            return found.groupdict()
        return None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    # Literal text and names of wildcards alternate.
    parts = re.split(r"\{(\w+)\}", pattern)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = (f"(?P<{name}>{WILDCARDS.get(name, '[^/]+')})" for name in parts[1::2])
    return re.compile("".join(parts))


def output_of(record: str) -> str:
    """Return the output of a rule: the record or its folder."""
    folder = Path(record).parent
    if folder.name in OF_METHODS:
        return str(folder)
    return record


OF_METHODS = ("evaluation", "inference")  # folders with one record per method
LOGS = "logs"
CATALOGUE = "config/datasets.yaml"
# Folders in git
PUBLISHED = "results/published"
ACCEPTED = "results/reference"
MEASURED = "results/benchmarks"

# Files of a dataset
RESOURCE = Pattern("resources/{dataset}")
DATA = Pattern("results/{dataset}/data")
STATISTICS = Pattern("results/{dataset}/statistics.json")
TUNING = Pattern("results/{dataset}/tuning/{model}.json")
TRIAL_OF_TUNING = Pattern("results/{dataset}/tuning/{model}.trial")

# Files of a model on a dataset with one seed. Its split is ``full``, or ``80`` for 80 % of the
# training set.
ONE_RUN = "{dataset}/{model}/seed{seed}/{split}"
RUN = Pattern(f"results/{ONE_RUN}")
MODEL = Pattern(f"{RUN}/model")
TEMPORARY = Pattern(f"{RUN}/temporary")  # a model that is not kept, and its estimates
TRAINING = Pattern(f"{RUN}/train.json")
IN_RUN = Pattern(f"{RUN}/{{rest}}")
INFERENCE = Pattern(f"{RUN}/inference/{{method}}.json")
FULL = Pattern(RUN.of(split="full"))
EVALUATION_OF_FULL = Pattern(f"{FULL}/evaluation/{{method}}.json")
RANKED = Pattern(f"{FULL}/ranking")
RANKING = Pattern(f"{FULL}/ranking.json")
FOREST = Pattern(f"{FULL}/forest.json")
SWEEP = Pattern(f"{FULL}/sweeps/{{paper}}/{{sweep}}.json")
TRIAL_OF_SWEEP = Pattern(f"{FULL}/sweeps/{{paper}}/{{sweep}}.trial")
PROGRESSIVE = Pattern(f"{FULL}/progressive.json")
HELD_OUT = Pattern(RUN.of(split="80"))
ESTIMATES = Pattern(f"{HELD_OUT}/spe")
THRESHOLDS = Pattern(f"{HELD_OUT}/thresholds")
CALIBRATION = Pattern(f"{HELD_OUT}/calibration.json")
EVALUATION = Pattern(f"{HELD_OUT}/evaluation/{{method}}.json")

# Simulations, and results from records
SIMULATION = Pattern("results/simulations/{paper}.json")
TABLES = "results/tables"
FIGURES = "results/figures"
TABLE = Pattern(f"{TABLES}/{{paper}}/{{table}}")
FIGURE = Pattern(f"{FIGURES}/{{paper}}/{{figure}}")
REPORT = "results/report"
RESULTS = "results/results.csv"

# Log files
LOG_OF_DATASET = Pattern("logs/{dataset}/{step}.log")
LOG_OF_TUNING = Pattern("logs/{dataset}/tuning/{model}.log")
LOG_OF_RUN = Pattern(f"logs/{ONE_RUN}/{{step}}.log")
