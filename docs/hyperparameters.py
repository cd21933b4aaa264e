"""Write what each hyperparameter may be, on standard output; docs/conf.py makes a page of it."""

from __future__ import annotations

import inspect

from xmlc.kernels.domains import domains_of
from xmlc.models.registry import ESTIMATORS, estimator_class

HEAD = """# Hyperparameters

What each hyperparameter may be, and its default. `xmlc/kernels/domains.py` has this table once. Estimators refuse other
values with an `InvalidParameterError` (a `ValueError`) that says what was expected; so do searches whose ranges leave
an interval, and models on disk. At the ends of the intervals nothing overflows; what is sensible is narrower
([Models](models.md)), and [the reference](reference/models.md) says what they mean.
"""


def table_of(name: str) -> list[str]:
    """Return the rows of one estimator, in the order of its arguments."""
    cls, domains = estimator_class(name), domains_of(estimator_class(name))
    lines = ["| hyperparameter | may be | default |", "|---|---|---|"]
    for hyperparameter, declared in inspect.signature(cls).parameters.items():
        lines.append(f"| `{hyperparameter}` | {domains[hyperparameter]} | `{declared.default!r}` |")
    return lines


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for name in ESTIMATORS:
        if domains_of(estimator_class(name)):
            parts += [f"## {name}: {estimator_class(name).__name__}", "", *table_of(name), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
