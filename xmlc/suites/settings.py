"""config/config.yaml, with the options of the command line over it, as an object."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

import yaml

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.core.schemas import read_yaml
from xmlc.suites.suite import check, converted

WITH_NUMBERS = ("seeds", "tuning")
LISTS = ("papers", "datasets", "models")  # of which one name is a list of one
LAST_RUN = Path(".snakemake/settings.json")


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
    validation_share: float = 0.2
    tuning: Search | Literal["auto"] | None = "auto"

    @classmethod
    def read(cls, config: Mapping[str, object]) -> Self:
        """Check and convert; text of the command line becomes numbers and None.

        Raises
        ------
        XmlcError
            A key is unknown, missing, or has a value of another kind.
        """
        config = {
            key: _with_numbers(value) if key in WITH_NUMBERS else None if value == "null" else value
            for key, value in config.items()
        }
        config |= {key: [config[key]] for key in LISTS if isinstance(config.get(key), str)}
        check(config, "config.schema.yaml", "config")
        return converted(config, cls, "config")

    def models_on(self, dataset: str) -> list[str] | None:
        """Name the selected models on one dataset; None for all."""
        return self.models.get(dataset) if isinstance(self.models, dict) else self.models


def _with_numbers(value: Any) -> Any:
    """Read texts as YAML: Snakemake passes each value of the command line that stands in brackets on as text."""
    if isinstance(value, list):
        return list(map(_with_numbers, value))
    if isinstance(value, dict):
        return {key: _with_numbers(item) for key, item in value.items()}
    return yaml.safe_load(value) if isinstance(value, str) else value


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


def remember(settings: Mapping[str, object]) -> None:
    """Keep the options that a new run puts over config.yaml, for `last_settings`."""
    write_json(LAST_RUN, settings)


def last_settings() -> tuple[dict[str, object], str]:
    """Return the options that the last run in this folder put over config.yaml, if any, and a line about it."""
    if not LAST_RUN.exists() or not (settings := read_json(LAST_RUN)):
        return {}, ""
    date = datetime.fromtimestamp(LAST_RUN.stat().st_mtime).astimezone()
    said = [
        f"{key}={yaml.safe_dump([value], default_flow_style=True, width=math.inf)[1:-2]}"
        for key, value in settings.items()
    ]
    return settings, f"settings of the last run, {date:%Y-%m-%d %H:%M}: {' '.join(said)}"
