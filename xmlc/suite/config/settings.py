"""The settings in config/config.yaml, over which the command line takes precedence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from msgspec import Meta

from xmlc.core.errors import XmlcError
from xmlc.suite.config.catalogue import DatasetName
from xmlc.suite.config.folders import STUDY, is_study
from xmlc.suite.config.suite import Name, Seed, Some, Text, ThreadCount
from xmlc.suite.schemas import converted, parsed_yaml, read_yaml, shown_scalar

# Keys that accept one name for a list, without repeated names
LISTS = ("papers", "datasets", "models", "seeds")
SIZES = ("small", "large")  # words instead of names of datasets


@dataclass(frozen=True)
class RequestedSearch:
    """A search in the ranges of every model, with the trials for each dataset and model."""

    method: Literal["random", "smac"]
    budget: Annotated[int, Meta(ge=1)]


@dataclass(frozen=True)
class Settings:
    """The settings of a run, which config/README.md describes for users."""

    papers: list[Name] = field(default_factory=lambda: [STUDY])
    datasets: Some[DatasetName] | Literal["small", "large"] | None = None
    models: Some[Name] | Annotated[dict[DatasetName, list[Name]], Meta(min_length=1)] | None = None
    seeds: Some[Seed] | None = None
    mirror: Text | None = None
    threads: ThreadCount = 8
    keep_models: bool | None = None
    validation_share: Annotated[float, Meta(ge=0.001, le=0.999)] = 0.2
    tuning: Annotated[
        RequestedSearch | Literal["auto"] | None,
        Meta(description="auto, null, or {method: random, budget: 30}"),
    ] = "auto"

    @classmethod
    def read(cls, config: Mapping[str, object]) -> Self:
        """Check the content of config.yaml, in which texts from the command line may become numbers
        or None.
        """
        content = {key: None if value == "null" else value for key, value in config.items()}
        for key in LISTS:
            names = content.get(key)
            if isinstance(names, str) and re.search(r"[,\s]", names.strip()):
                example = ", ".join(re.findall(r"[^,\s]+", names))
                raise XmlcError(
                    f"config: {key}: found {shown_scalar(names)}, expected a list: "
                    f"{key}='[{example}]'"
                )
            if isinstance(names, str):
                names = [names]
            if isinstance(names, list):
                content[key] = [name for i, name in enumerate(names) if name not in names[:i]]
        for size in SIZES:
            if content.get("datasets") == [size]:
                content["datasets"] = size
        # Snakemake passes lists and mappings from the command line as texts.
        return converted(content, cls, "config", strict=False)

    @property
    def named_datasets(self) -> list[str]:
        """Return the datasets that the settings name."""
        if isinstance(self.datasets, list):
            return self.datasets
        return []

    def models_on(self, dataset: str) -> list[str] | None:
        """Return the selected models on one dataset, or None for all."""
        if isinstance(self.models, dict):
            return self.models.get(dataset)
        return self.models


def read_config(file: Path, settings: Sequence[str] = ()) -> dict[str, object]:
    """Return the content of config.yaml, which a study may lack, updated by ``key=value`` settings.

    Values are YAML, as for `snakemake --config`.
    """
    content = read_yaml(file) if file.is_file() or not is_study(file.parent) else {}
    if not isinstance(content, dict):
        raise XmlcError(
            f"{file}: found {shown_scalar(content)}, expected keys with values, such as papers: "
            "[plt2016]"
        )
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise XmlcError(
                f"--config: found {setting!r}, expected key=value, such as datasets='[yeast]'"
            )
        if not value:
            raise XmlcError(
                f"--config: found {setting!r} without a value, expected a value, such as "
                f"{key}=null for the default of the suites"
            )
        content[key] = parsed_yaml(value, f"{key}=")
    return content
