"""Text that rules need: options of a command line, regular expressions of wildcards, parts of paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path


def options(name: str, values: Iterable[object]) -> list[str]:
    """Return an option given once for each value: ``--seed 0 --seed 1``."""
    return [word for value in values for word in (name, str(value))]


def for_each(lists: Mapping[str, str], command: str) -> str:
    """Return shell text that runs a command for the first words of several lists, then for the second ones, and so on.

    Parameters
    ----------
    lists : mapping of str to str
        By the name of a variable, what Snakemake fills in with the words of its list, such as ``{output.model}``.
    command : str
        It has the variables as ``$model``.
    """
    arrays = " ".join(f"{name}=({words})" for name, words in lists.items())
    for name in lists:
        command = re.sub(rf"\${name}\b", f"${{{{{name}[i]}}}}", command)
    return f"{arrays}; for i in ${{{{!{next(iter(lists))}[@]}}}}; do {command}; done"


def one_of(names: Iterable[str]) -> str:
    """Return the regular expression of a wildcard that is one of some names; of none, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def gathered(pattern: str) -> str:
    """Return a pattern for Snakemake's ``gather``, which fills in ``scatteritem`` alone."""
    return pattern.replace("{", "{{").replace("}", "}}").replace("{{scatteritem}}", "{scatteritem}")


def without_ending(path: str) -> str:
    """Return the name that the files of a table or figure have in common."""
    return path.rpartition(".")[0]


def folder_above(path: str, levels: int = 1) -> str:
    """Return the folder that a path lies in, or one so many levels above."""
    return str(Path(path).parents[levels - 1])
