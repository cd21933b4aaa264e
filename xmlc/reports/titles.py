"""Names as people read them, and the conventions that every table states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xmlc.reports.panels import Panel

METHODS = {
    "fta": "FTA",
    "sto": "STO",
    "ofo": "OFO",
    "fta-labelwise": "FTA label-wise",
    "ofo-ab": "OFO (a, b)",
}
MODELS = {
    "plt": "PLT",
    "fastxml": "FastXML",
    "oracle": "oracle",
    "napkinxc-plt-sgd": "napkinXC PLT, SGD",
    "napkinxc-plt-adagrad": "napkinXC PLT, AdaGrad",
}

# Models that know what nobody can know; they stand in a table as a limit and win no prize.
LIMITS = ("oracle",)

MACRO_F_CONVENTION = (
    "Macro-F is the mean over all m labels, where a label without positives and without predictions counts 1 "
    "(0/0 = 1); a label is predicted when its estimate is strictly greater than its threshold. Models are trained on "
    "80 % of the training set, thresholds are tuned on the other 20 %."
)


def method_title(name: str) -> str:
    """Return a threshold method's name in print."""
    return METHODS.get(name, name)


def model_title(name: str) -> str:
    """Return a model's name in print."""
    return MODELS.get(name, name)


def method_order(names: Iterable[str]) -> list[str]:
    """Sort methods as the papers list them, unknown ones behind by name."""
    known = list(METHODS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def notes(paper: str, records: Sequence[dict[str, Any]], threads: str | None, panels: Sequence[Panel]) -> list[str]:
    """Return the footnotes of a table: data, seeds, threads, and what the other columns mean.

    Parameters
    ----------
    threads : str or None
        Key of the records' costs that says how many threads the times had.
    panels : sequence of Panel
        What is printed; says whether published values stand beside the measured ones.
    """
    digests = {record["dataset"]["name"]: record["dataset"]["digest"] for record in records}
    lines = ["Data (digest): " + ", ".join(f"{name} ({digest[:12]})" for name, digest in digests.items()) + "."]
    seeds = sorted({record["seed"] for record in records})
    spread = "; mean ± standard deviation" if len(seeds) > 1 else ""
    lines.append(f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}{spread}.")
    if threads:
        counts = sorted({count for record in records if (count := record["costs"][threads]) is not None})
        if counts:
            number = " or ".join(f"{count:g}" for count in counts)
            lines.append(f"Times are wall-clock times with {number} thread{'s' * (counts != [1])}.")
    limits = [model_title(name) for name in LIMITS if any(record["model"] == name for record in records)]
    lines.append("Bold: the best of each dataset" + (f"; {', '.join(limits)} left out." if limits else "."))
    if limits:
        lines.append("oracle: the true posteriors of a synthetic dataset in place of a model's estimates.")
    if any(record.get("method") == "fta-labelwise" for record in records):
        lines.append("FTA label-wise: the fixed thresholds searched label by label instead of one for all labels.")
    if any(part.published for panel in panels for part in panel.columns):
        lines.append(f"(paper): the value that {paper} prints; its times are of another machine.")
    return lines
