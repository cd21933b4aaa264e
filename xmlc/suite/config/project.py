"""The settings, suites and catalogue of a project, and its runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from typing import Self

from xmlc.core.errors import XmlcError
from xmlc.metrics.propensity import propensity_parameters
from xmlc.models.registry import LEARNERS, files_read, program_of
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Dataset, catalogue_entry, load_catalogue
from xmlc.suite.config.checks import check
from xmlc.suite.config.folders import config_files, config_folder
from xmlc.suite.config.settings import SIZES, Settings
from xmlc.suite.config.sources import check_source, source_of
from xmlc.suite.config.suite import ModelSpec, Run, Suite, read_suites
from xmlc.suite.provenance.code import WRAPPED, estimator_files

LARGE = 100e6  # bytes of the arrays of a large dataset
# Bytes of arrays above which models may take hundreds of gigabytes
LARGE_MODELS = 20e6


@dataclass(frozen=True)
class Project:
    """The configuration of one run of the workflow, with the models of all suites."""

    settings: Settings
    suites: dict[str, Suite]
    models: dict[str, ModelSpec]
    catalogue: dict[str, Dataset]

    @classmethod
    def read(
        cls, config: Mapping[str, object], folder: Path | None = None, checked: bool = True
    ) -> Self:
        """Read and check the settings of a run, the suites and the catalogue.

        ``config`` is the content of config.yaml. A job checks only types (``checked=False``),
        because the process that planned it did the rest.
        """
        settings = Settings.read(config)
        if folder is None:
            folder = config_folder()
        suites = read_suites(folder)
        files = config_files("datasets.yaml", folder)
        catalogue = load_catalogue(*files)
        suites = {
            name: replace(suite, seeds=settings.seeds or suite.seeds)
            for name, suite in suites.items()
        }
        models: dict[str, ModelSpec] = {}
        for suite in suites.values():
            for name, model in suite.all_models.items():
                known = models.get(name, model)
                datasets = models[name].datasets if name in models else {}
                if suite.own:  # its hyperparameters take precedence on its datasets
                    datasets = datasets | dict.fromkeys(suite.datasets, model.hyperparameters)
                models[name] = replace(known, datasets=datasets | model.datasets)
        project = cls(settings, suites, models, catalogue)
        if checked:
            check(project, str(files[-1]))
        return project

    @property
    def all_datasets(self) -> set[str]:
        """Return the datasets of catalogue, suites and settings."""
        datasets = {*self.catalogue, *self.settings.named_datasets}
        for suite in self.suites.values():
            datasets |= {*suite.datasets}
        return datasets - {*SIZES}

    def entry(self, dataset: str) -> Dataset:
        """Return the entry in the catalogue."""
        return catalogue_entry(dataset, self.catalogue)

    def propensity(self, dataset: str) -> tuple[float, float]:
        """Return the propensity parameters A and B."""
        return self.entry(dataset).propensity or propensity_parameters(dataset)

    def source_of(self, dataset: str) -> list[str]:
        """Return a text about a dataset's source (`xmlc.suite.config.sources.source_of`)."""
        entry = self.entry(dataset)
        mirror = self.settings.mirror
        resources = Path(paths.RESOURCE).parent
        if not (resources / dataset).exists():
            check_source(entry, mirror, resources, [*self.catalogue, *SIZES])
        return source_of(entry, mirror, resources)

    def datasets_of(self, paper: str) -> list[str]:
        """Return a suite's datasets that the settings select."""
        suite = self.suites[paper]
        wanted = self.settings.datasets
        if suite.own:
            return suite.datasets
        if isinstance(wanted, str):
            return [
                name for name in suite.datasets if self.exceeds(name, LARGE) == (wanted == "large")
            ]
        return wanted or suite.datasets

    def exceeds(self, dataset: str, size: float) -> bool:
        """Return whether the arrays have more than ``size`` bytes by the catalogue, whatever
        `prepare` counts.
        """
        return self.entry(dataset).has_size and self.entry(dataset).size.bytes > size

    def large_models(self, dataset: str) -> int:
        """Return 1 if a temporary model is large or of unknown size, else 0, for the resource
        `large_models`.
        """
        return int(self.exceeds(dataset, LARGE_MODELS) or not self.entry(dataset).has_size)

    def models_on(self, paper: str, dataset: str) -> list[str]:
        """Return the models that a suite runs on a dataset."""
        suite = self.suites[paper]
        wanted = self.settings.models_on(dataset)
        return [
            name
            for name, model in suite.models.items()
            if dataset not in model.without
            and model.task in (None, suite.task_of(dataset))
            and (not model.optional or is_installed(model.estimator))
            # Only synthetic datasets have the true posteriors.
            and (model.estimator != "oracle" or self.entry(dataset).synthetic)
            and (model.estimator != "estimates" or self.has_estimates(name, dataset))
            and (wanted is None or name in wanted)
        ]

    def baselines_on(self, paper: str, dataset: str) -> list[str]:
        """Return a suite's baselines on a dataset. Others have a reason in the baselines table."""
        baselines = self.suites[paper].baselines.items()
        return [
            name
            for name, one in baselines
            if dataset not in one.without and is_installed(one.estimator)
        ]

    def runs(
        self, paper: str, datasets: Sequence[str] | None = None, baselines: bool = False
    ) -> list[Run]:
        """Return the runs of a suite on the selected datasets, with its baselines on request."""
        if datasets is None:
            datasets = self.datasets_of(paper)
        runs = []
        for dataset in datasets:
            models = self.models_on(paper, dataset)
            if baselines:
                models += self.baselines_on(paper, dataset)
            runs += [
                Run(dataset, model, seed)
                for model, seed in product(models, self.suites[paper].seeds)
            ]
        return runs

    def hyperparameters(self, model: str, dataset: str) -> str:
        """Return hyperparameters as sorted JSON, whose change reruns the model's steps."""
        return json.dumps(self.models[model].values_on(dataset), sort_keys=True)

    def given(self, model: str, dataset: str, seeds: Iterable[object]) -> list[str]:
        """Return the files that an estimator reads (`xmlc.models.registry.files_read`)."""
        spec = self.models[model]
        return files_read(spec.estimator, spec.values_on(dataset), dataset, seeds)

    def existing_files(self, model: str, dataset: str, seeds: Iterable[object]) -> list[str]:
        """Return the files that an estimator reads, or raise an error if one is missing."""
        files = self.given(model, dataset, seeds)
        for file in files:
            if not Path(file).is_file():
                suites = ", ".join(
                    suite.file for suite in self.suites.values() if model in suite.all_models
                )
                raise XmlcError(
                    f"{suites}: model {model}: found no file {file}. Create it or correct the path"
                )
        return files

    def check_estimates(self, paper: str) -> str:
        """Check that another program's estimates are complete on a dataset or missing.

        Returns a line for each model and dataset without estimates.
        """
        suite = self.suites[paper]
        lines = []
        for name, spec in suite.models.items():
            if spec.estimator != "estimates":
                continue
            wanted = [
                of
                for of in self.datasets_of(paper)
                if name in (self.settings.models_on(of) or [name])
            ]
            missing = [dataset for dataset in wanted if not self.has_estimates(name, dataset)]
            for dataset in wanted:
                if dataset not in missing:
                    self.existing_files(name, dataset, suite.seeds)
            if missing and missing == wanted:
                files = ", ".join(map(str, spec.hyperparameters.values()))
                raise XmlcError(
                    f"{suite.file}: model {name}: found no estimates for {', '.join(wanted)}, "
                    f"expected {files}"
                )
            lines += [f"skipped {name} on {dataset}: found no estimates" for dataset in missing]
        return "\n".join(lines)

    def has_estimates(self, model: str, dataset: str) -> bool:
        """Return whether a model has another program's estimates on a dataset.

        If configured paths contain ``{dataset}``, an existing folder of one of the files suffices.
        """
        files = [str(file) for file in self.models[model].values_on(dataset).values()]
        folders = [Path(file.replace("{dataset}", dataset)).parent for file in files]
        return bool(files) and (
            "{dataset}" not in "".join(files) or any(folder.exists() for folder in folders)
        )

    def tuned_by(self, model: str, dataset: str) -> str | None:
        """Return the path of the search result with which a model is trained, or None."""
        spec = self.models[model]
        search = spec.search
        if spec.share_search_with and not search.always:
            return self.tuned_by(spec.share_search_with, dataset)
        own = {
            name
            for name, value in spec.values_on(dataset).items()
            if spec.hyperparameters.get(name) != value
        }
        # A weight threshold alone is no tuning: it limits the memory.
        has_own = dataset in spec.selected or (
            dataset in spec.datasets and own != {"weight_threshold"}
        )
        match self.settings.tuning:
            case None:
                runs = False
            case "auto":
                runs = search.auto and not has_own
            case _:
                runs = bool(search.ranges)
        if search.always or runs:
            return paths.TUNING.of(dataset=dataset, model=model)
        return None

    def searched_after(self, model: str, dataset: str) -> str | None:
        """Return the path of the result from which a search starts, or None."""
        spec = self.models[model]
        if spec.share_search_with and spec.search.always:
            return self.tuned_by(spec.share_search_with, dataset)
        return None

    def min_probability(self, dataset: str) -> float:
        """Return the smallest stored estimate: a grid's smallest threshold, or a suite's larger
        value.
        """
        # Loads SciPy, which planning rarely needs.
        from xmlc.thresholds.bounds import GRID

        return max(
            [
                1 / max(GRID),
                *(suite.min_probabilities.get(dataset, 0.0) for suite in self.suites.values()),
            ]
        )

    def ensemble_sizes(self, model: str) -> list[int]:
        """Return the numbers of first trees to score, ascending."""
        sizes: set[int] = set()
        for suite in self.suites.values():
            if suite.ensembles and model in suite.ensembles.models:
                sizes |= {*suite.ensembles.sizes}
        return sorted(sizes)

    @property
    def extensions(self) -> list[str]:
        """Return users' files with threshold or inference methods."""
        return sorted({*chain(*(suite.extensions for suite in self.suites.values()))})

    @property
    def planned_papers(self) -> list[str]:
        """Return the papers that a run without a target builds, of which there must be one."""
        if not self.settings.papers:
            names = ", ".join(self.suites)
            raise XmlcError(
                f"config: papers: found [], expected some of {names}. Or add one as target"
            )
        return self.settings.papers

    def drops(self, dataset: str) -> bool:
        """Return whether a run deletes a dataset's models and estimates after their last use.

        If `keep_models` is null, it deletes only those known to be large.
        """
        keep = self.settings.keep_models
        if keep is None:
            return self.exceeds(dataset, LARGE_MODELS)
        return not keep

    @property
    def dropped(self) -> list[str]:
        """Return the datasets that `drops` affects."""
        return sorted(name for name in self.all_datasets if self.drops(name))

    @property
    def made(self) -> list[str]:
        """Return the synthetic datasets."""
        return [name for name, entry in self.catalogue.items() if entry.synthetic]

    def modules_for(self, command: str, model: str) -> list[str]:
        """Return the modules and users' files that a command runs for a model."""
        described = self.models[model]
        modules = estimator_files(described.estimator)
        values = [described.hyperparameters, *described.datasets.values()]
        if any("estimators" in given for given in values):  # the members may be any estimators
            modules += [place.partition(":")[0] for place in LEARNERS.values()]
            modules.append(WRAPPED)
        if command in ("thresholds", "infer"):
            modules += self.extensions
        return modules


def is_installed(estimator: str) -> bool:
    """Return whether the wrapped program and the estimator's file exist."""
    program = program_of(estimator)
    file = estimator.rpartition(":")[0]
    return not program or (find_spec(program) is not None and (not file or Path(file).is_file()))
