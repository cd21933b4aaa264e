"""config/config.yaml, and what is given over it on the command line, as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import yaml

from xmlc.data.compressed import USUAL, Expansion
from xmlc.data.fetching.limits import USUAL as ALLOWED
from xmlc.data.fetching.limits import Limits
from xmlc.errors import XmlcError
from xmlc.suites.checking import check, converted, read_yaml


@dataclass(frozen=True)
class Search:
    """A hyperparameter search: its method and the number of trials for each dataset and model."""

    method: str
    budget: int


@dataclass(frozen=True)
class Settings:
    """The settings of a run; the keys are explained in ``config.schema.yaml`` and config/README.md."""

    papers: list[str]
    datasets: list[str] | None = None
    models: list[str] | dict[str, list[str]] | None = None
    seeds: list[int] | None = None
    mirror: str | None = None
    threads: int = 8
    scatter: int = 1
    speed: float = 1.0
    validation_share: float = 0.2
    tuning: Search | Literal["auto"] | None = "auto"
    expansion: Expansion = USUAL
    download: Limits = ALLOWED

    @classmethod
    def read(cls, config: Mapping[str, object]) -> Self:
        """Check and convert; what the command line gives as text becomes numbers and None.

        Raises
        ------
        XmlcError
            A key is unknown, missing, or has a value of another kind.
        """
        config = {key: None if value == "null" else value for key, value in config.items()}
        check(config, "config.schema.yaml", "config")
        return converted(config, cls, "config", strict=False)

    def models_on(self, dataset: str) -> list[str] | None:
        """Name the selected models on one dataset; None for all."""
        return self.models.get(dataset) if isinstance(self.models, dict) else self.models


def read_config(file: Path, settings: Sequence[str] = ()) -> dict[str, object]:
    """Read config.yaml and put settings over it, each ``key=value`` with a YAML value, as `snakemake --config` does.

    Raises
    ------
    XmlcError
        The file cannot be read, or a setting is none.
    """
    content = read_yaml(file)
    if not isinstance(content, dict):
        raise XmlcError(f"{file}: expected keys and values, such as papers: [plt2016]")
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise XmlcError(f"setting {setting!r}: expected key=value, such as datasets='[yeast]'")
        try:
            content[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise XmlcError(f"setting {setting!r}: {value!r} is not YAML") from error
    return content
