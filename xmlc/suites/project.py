"""Settings, suites and catalogue together, and the runs that follow from them."""

from __future__ import annotations

import ast
import builtins
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import nearest
from xmlc.core.sources import command_files, source_files
from xmlc.data.catalogue import Dataset, load_catalogue
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.download import check_sources, source_of
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.metrics.ranking import propensity_parameters
from xmlc.models.registry import ESTIMATORS, domains_of, estimator_files
from xmlc.suites import paths
from xmlc.suites.settings import Search, Settings
from xmlc.suites.suite import CONFIG, ModelSpec, Run, Suite, read_suites

BASE = "xmlc.models.base.SparseProbabilityEstimator"  # by its name: importing it loads SciPy
NO_BASES = {*sys.stdlib_module_names, "sklearn"}  # packages that derive nothing from it
SPLITS = 5  # over which the trials of the key `search` are scored


@dataclass(frozen=True)
class Project:
    """The configuration of one run of the workflow.

    Attributes
    ----------
    settings : Settings
    suites : dict of str to Suite
    models : dict of str to ModelSpec
        Those of all suites, see `models_of_all`.
    catalogue : dict of str to Dataset
    """

    settings: Settings
    suites: dict[str, Suite]
    models: dict[str, ModelSpec]
    catalogue: dict[str, Dataset]

    @classmethod
    def read(cls, config: Mapping[str, object], folder: Path = CONFIG) -> Self:
        """Read suites and catalogue from a folder, for the settings of one run; check them together.

        Raises
        ------
        XmlcError
            A file cannot be read or breaks its schema, an estimator or a hyperparameter does not exist, or suites
            contradict each other.
        """
        settings = Settings.read(config)
        suites = read_suites(folder)
        for suite in suites.values():
            check_models(suite)
        if settings.seeds:
            suites = {name: replace(suite, seeds=settings.seeds) for name, suite in suites.items()}
        catalogue = load_catalogue(folder / Path(paths.CATALOGUE).name)
        for name in settings.datasets or ():
            catalogue_entry(name, catalogue)  # no name of another folder
        models = models_of_all(suites.values())
        chosen = settings.models or []
        chosen = chosen if isinstance(chosen, list) else [name for names in chosen.values() for name in names]
        known: Collection[str]
        for key, names, known in (("papers", settings.papers, suites), ("models", chosen, models)):
            for name in set(names) - set(known):
                raise XmlcError(f"config: {key} has {name}, expected {nearest(name, known)}")
        project = cls(settings, suites, models, catalogue)
        for name in settings.datasets or ():
            project.propensity(name)  # is refused before anything trains, not when rankings are scored
        return project

    def entry(self, dataset: str) -> Dataset:
        """Return a dataset's entry of the catalogue."""
        return catalogue_entry(dataset, self.catalogue)

    def propensity(self, dataset: str) -> tuple[float, float]:
        """Return A and B of a dataset's propensities, as its entry has them or as they go with its name."""
        return self.entry(dataset).propensity or propensity_parameters(dataset)

    def source_of(self, dataset: str) -> list[str]:
        """Say what a dataset is copied from, see `xmlc.data.download.source_of`.

        Raises
        ------
        XmlcError
            It is not here yet, and there is nothing to copy or fetch.
        """
        entry, mirror, resources = self.entry(dataset), self.settings.mirror, Path(paths.RESOURCE).parent
        if not (resources / dataset).exists():
            check_sources([entry], mirror, resources, self.catalogue)
        return source_of(entry, mirror, resources)

    def datasets_of(self, paper: str) -> list[str]:
        """Name the datasets of a suite that are selected."""
        suite = self.suites[paper]
        return suite.datasets if suite.own else self.settings.datasets or suite.datasets

    def models_on(self, paper: str, dataset: str) -> list[str]:
        """Name the models that a suite runs on a dataset."""
        suite, wanted = self.suites[paper], self.settings.models_on(dataset)
        return [
            name
            for name, model in suite.models.items()
            if dataset not in model.without
            and model.task in (None, suite.task_of(dataset))
            and (not model.optional or is_installed(model.estimator))
            and (model.estimator != "oracle" or self.entry(dataset).synthetic)  # only made sets have posteriors
            and (model.estimator != "estimates" or model.values_on(dataset))
            and (wanted is None or name in wanted)
        ]

    def peers_on(self, paper: str, dataset: str) -> list[str]:
        """Name the baselines of a suite that run on a dataset; the table of peers says why others do not."""
        peers = self.suites[paper].peers
        return [name for name, peer in peers.items() if dataset not in peer.without and is_installed(peer.estimator)]

    def runs(self, paper: str, datasets: Sequence[str] | None = None, peers: bool = False) -> list[Run]:
        """List the runs of a suite's models, and the baselines beside them, on its datasets or on some."""
        return [
            Run(dataset, model, seed)
            for dataset in (self.datasets_of(paper) if datasets is None else datasets)
            for model in self.models_on(paper, dataset) + (self.peers_on(paper, dataset) if peers else [])
            for seed in self.suites[paper].seeds
        ]

    def hyperparameters(self, model: str, dataset: str) -> str:
        """Return a model's hyperparameters on one dataset as sorted JSON: only a change of value reruns its steps."""
        return json.dumps(self.models[model].values_on(dataset), sort_keys=True)

    def given(self, model: str, dataset: str, seeds: Iterable[object]) -> list[str]:
        """Name the files that a model is given for its runs on a dataset, where another program has made estimates."""
        spec = self.models[model]
        values = spec.values_on(dataset).values() if spec.estimator == "estimates" else ()
        return sorted({str(file).replace("{seed}", str(seed)) for file in values for seed in seeds})

    def tuned_by(self, model: str, dataset: str) -> str | None:
        """Name the search result that a model is trained with, if there is a search."""
        spec, tuning = self.models[model], self.settings.tuning
        if spec.tuned_as and not spec.search:
            return self.tuned_by(spec.tuned_as, dataset)
        has_own = any(dataset in known for known in (spec.datasets, spec.found, spec.whole))
        asked = spec.auto and not has_own if tuning == "auto" else tuning and spec.tuning
        return paths.TUNING.of(dataset=dataset, model=model) if spec.search or asked else None

    def searched_after(self, model: str, dataset: str) -> str | None:
        """Name the search result whose best values a model's own search begins with, if there is one."""
        spec = self.models[model]
        return self.tuned_by(spec.tuned_as, dataset) if spec.tuned_as and spec.search else None

    def search_options(self, model: str, dataset: str = "") -> list[str]:
        """Return the options of `xmlc tune`.

        Raises
        ------
        XmlcError
            The result of a search is requested, and none is configured.
        """
        spec, tuning = self.models[model], self.settings.tuning
        if spec.search:
            stages = [*spec.search, *spec.further_search.get(dataset, [])]
            return ["--stages", json.dumps(stages, sort_keys=True), "--splits", str(SPLITS)]
        if tuning == "auto" and spec.auto:
            return ["--auto", json.dumps(asdict(spec.auto), sort_keys=True)]
        if isinstance(tuning, Search):
            space = json.dumps(spec.tuning, sort_keys=True)
            return ["--space", space, "--method", tuning.method, "--budget", str(tuning.budget)]
        said = "add, such as --config tuning='{method: smac, budget: 30}'"
        raise XmlcError(f"config: tuning is {tuning or 'null'}, and {model} has no search then; {said}")

    def floor(self, dataset: str) -> float:
        """Return the floor of a dataset's estimates: the smallest threshold of the grid, if no suite has a higher."""
        from xmlc.thresholds.bounds import GRID  # SciPy, which few jobs of a plan need

        named = [suite.floors[dataset] for suite in self.suites.values() if dataset in suite.floors]
        return max([1 / max(GRID), *named])

    def ensemble_sizes(self, model: str) -> list[int]:
        """List the numbers of trees by which a forest is scored, of all suites together."""
        blocks = [suite.ensembles for suite in self.suites.values() if suite.ensembles]
        return sorted({size for block in blocks if model in block.models for size in block.sizes})

    @property
    def extensions(self) -> list[str]:
        """Files of the user's own that register threshold or inference methods."""
        return sorted({file for suite in self.suites.values() for file in suite.extensions})

    @property
    def planned_papers(self) -> list[str]:
        """The papers that are made where no target is named.

        Raises
        ------
        XmlcError
            There are none.
        """
        if not self.settings.papers:
            names = ", ".join(self.suites)
            raise XmlcError(f"config: papers names none, so nothing is planned; name some of {names}, or one as target")
        return self.settings.papers

    @property
    def made(self) -> list[str]:
        """Datasets of the catalogue that are made and not fetched."""
        return [name for name, entry in self.catalogue.items() if entry.synthetic]

    def sweep_options(self, paper: str, name: str, dataset: str) -> list[str]:
        """Return the options of `xmlc sweep` for a sweep of a suite on one dataset."""
        sweep = self.suites[paper].sweeps[name]
        values = [word for value in sweep.values_on(dataset) for word in ("--value", json.dumps(value))]
        parameters = ["--parameters", json.dumps(sweep.hyperparameters)]
        return [*parameters, "--hyperparameter", sweep.hyperparameter, *values]

    def files_for(self, command: str, model: str) -> list[str]:
        """Return the source files that a command and a model's estimator depend on, each once."""
        return sorted({*command_files(command), *source_files(*estimator_files(self.models[model].estimator))})


def is_installed(estimator: str) -> bool:
    """Tell whether an estimator's program is there: a peer's module is named after the package."""
    room, _, module = ESTIMATORS.get(estimator, "").partition(":")[0].rpartition(".")
    return room != "xmlc.models.peers" or find_spec(module) is not None


def models_of_all(suites: Iterable[Suite]) -> dict[str, ModelSpec]:
    """Collect the models of suites; a name means the same thing everywhere but for its hyperparameters.

    Raises
    ------
    XmlcError
        Two suites have different estimators, searches, threads or jobs under one name.
    """
    found: dict[str, ModelSpec] = {}
    for suite in suites:
        for name, model in suite.all_models.items():
            merged = found.setdefault(name, replace(model, datasets={}))
            for key in ("estimator", "search", "threads", "quick"):
                if getattr(merged, key) != getattr(model, key):
                    raise XmlcError(f"config: model {name} has another {key} in {suite.name}; give it another name")
            # On the datasets of a suite of its own nothing of another's hyperparameters is meant.
            own = dict.fromkeys(suite.datasets, model.hyperparameters) if suite.own else {}
            datasets, whole = {**merged.datasets, **model.datasets}, {**merged.whole, **own}
            found[name] = replace(merged, datasets=datasets, whole=whole)
    return found


def check_models(suite: Suite) -> None:
    """Check the models of a suite: that their estimators are there, and their hyperparameters known and in range.

    Hyperparameters of baselines, and of users' own models whose ``__init__`` does not list them, are known only where
    these are imported: they are checked when a job begins.

    Raises
    ------
    XmlcError
        With what was found and expected.
    """
    for name, model in suite.all_models.items():
        where = f"{suite.file}: model {name}: "
        known: Mapping[str, Any] | None
        if ".py:" in model.estimator:
            kind, known = _own_arguments(model.estimator, where)
        elif model.estimator in ESTIMATORS:
            kind, known = model.estimator, domains_of(model.estimator)
        else:
            expected = nearest(model.estimator, ESTIMATORS)
            raise XmlcError(f"{where}no estimator {model.estimator}, expected {expected} or path/to/file.py:ClassName")
        if known is None:
            continue
        for key, value in _values(model):
            if key not in known:
                raise XmlcError(f"{where}{kind} has no hyperparameter {key}, expected {nearest(key, known)}")
            domain = known[key]
            if domain is not None and value != LABELS_PER_INSTANCE and value not in domain:
                raise XmlcError(f"{where}{key}: found {value!r}, expected {domain}")


def _own_arguments(estimator: str, where: str) -> tuple[str, dict[str, None] | None]:
    """Return the name of a class and the arguments of its ``__init__``, None where the text does not tell."""
    file, _, kind = estimator.rpartition(":")
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["a file of yours"])
        raise XmlcError(f"{where}no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    if not re.search(rf"\b{re.escape(kind)}\b", text):
        expected = nearest(kind, re.findall(r"^class (\w+)", text, re.MULTILINE) or ["a class of it"])
        raise XmlcError(f"{where}{file} has no class {kind}, expected {expected}")
    try:
        parts = ast.parse(text).body
    except SyntaxError as error:
        raise XmlcError(f"{where}{file}:{error.lineno}: {error.msg}; expected a file of Python") from error
    classes = {part.name: part for part in parts if isinstance(part, ast.ClassDef)}
    if kind not in classes:  # imported, say
        return kind, None
    if not _may_estimate(classes[kind], classes, parts):
        expected = f"a class derived from {BASE}, as in `class {kind}({BASE.rpartition('.')[2]}):`"
        raise XmlcError(f"{where}{file}:{classes[kind].lineno}: found class {kind}, expected {expected}")
    found = [part.args for part in classes[kind].body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    if not found or found[0].kwarg:
        return kind, None
    return kind, dict.fromkeys(one.arg for one in found[0].args[1:] + found[0].kwonlyargs)


def _may_estimate(found: ast.ClassDef, classes: Mapping[str, ast.ClassDef], parts: Iterable[ast.stmt]) -> bool:
    """Say whether a class, or one that it derives from, has a base from elsewhere than its file, Python and sklearn."""
    others: set[str] = set()  # names of what Python and scikit-learn have
    for part in parts:
        if isinstance(part, ast.ImportFrom) and (part.module or "").partition(".")[0] in NO_BASES:
            others |= {name.asname or name.name for name in part.names}
        elif isinstance(part, ast.Import):
            names = [name for name in part.names if name.name.partition(".")[0] in NO_BASES]
            others |= {name.asname or name.name.partition(".")[0] for name in names}
    for base in found.bases:
        name = ast.unparse(base)
        if name in classes:
            if name != found.name and _may_estimate(classes[name], classes, parts):
                return True
        elif name.partition(".")[0] not in others and not hasattr(builtins, name):
            return True
    return False


def _values(model: ModelSpec) -> Iterator[tuple[str, object]]:
    """Yield each hyperparameter that a model is given anywhere, with its value."""
    searches = [model.search or [], *model.further_search.values(), model.auto.stages if model.auto else []]
    trials = [trial for stages in searches for stage in stages for trial in stage]
    in_trials = model.auto.in_trials if model.auto else {}
    for values in (model.hyperparameters, *model.datasets.values(), *model.whole.values(), *trials, in_trials):
        yield from values.items()
