"""How rules write what they are asked for: options of a command line, regular expressions of wildcards."""

from __future__ import annotations

import re
from collections.abc import Iterable


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return an option given once for each value: ``--seed 0 --seed 1``."""
    return [word for value in values for word in (name, str(value))]


def one_of(names: Iterable[str]) -> str:
    """Return the regular expression of a wildcard that is one of some names; of none, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def gathered(pattern: str) -> str:
    """Return a pattern for Snakemake's ``gather``, which fills in ``scatteritem`` alone."""
    return pattern.replace("{", "{{").replace("}", "}}").replace("{{scatteritem}}", "{scatteritem}")
