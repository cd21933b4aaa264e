"""Write what each hyperparameter may be, on standard output; docs/conf.py makes a page of it."""

from __future__ import annotations

import inspect

from xmlc.models.registry import ESTIMATORS, domains_of, estimator_class

HEAD = """# Hyperparameters

The domain and the default of each hyperparameter; [the reference](reference/models.md) says what it means. Estimators
refuse other values with an `InvalidParameterError` (a `ValueError`) that names the domain, as do searches and models on
disk. At the ends of the intervals nothing overflows; sensible values are narrower ([Models](models.md)).
"""


def table_of(name: str) -> list[str]:
    """Return the rows of one estimator, in the order of its arguments."""
    cls = estimator_class(name)
    lines = ["| hyperparameter | may be | default |", "|---|---|---|"]
    for hyperparameter, declared in inspect.signature(cls).parameters.items():
        lines.append(f"| `{hyperparameter}` | {cls.domains[hyperparameter]} | `{declared.default!r}` |")
    return lines


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for name in ESTIMATORS:
        if domains_of(name):  # the programs that are wrapped have their own
            parts += [f"## {name}: {estimator_class(name).__name__}", "", *table_of(name), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
