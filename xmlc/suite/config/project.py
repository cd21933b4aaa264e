"""Settings, suites and catalogue together, and the runs that follow from them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Self

from xmlc.core.errors import XmlcError
from xmlc.core.sources import command_files, source_files
from xmlc.kernels.domains import LABELS_PER_INSTANCE
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.propensity import propensity_parameters
from xmlc.models.registry import ESTIMATORS, domains_of, estimator_files, files_read, make_estimator, program_of
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Dataset, load_catalogue
from xmlc.suite.config.catalogue import dataset as catalogue_entry
from xmlc.suite.config.folders import config_files, config_folder
from xmlc.suite.config.settings import RequestedSearch, Settings
from xmlc.suite.config.sources import check_sources, source_of
from xmlc.suite.config.suite import ModelSpec, Run, Suite, read_suites
from xmlc.suite.results.methods import THRESHOLD_METHODS
from xmlc.suite.schemas import nearest

LARGE = 100e6  # bytes of a dataset's arrays above which its models are dropped, if `keep_models` is null
SIZES = "small", "large"  # in place of names of datasets
#: Names of rules, targets and folders of the workflow, which datasets and suites must not have.
RESERVED = frozenset(
    "all tables peers study small large manual digests figures published reference benchmarks simulations "
    "download synthesise prepare simulate tune train train_and_drop rank estimate estimate_and_drop thresholds "
    "thresholds_without_validation infer forest sweep progressive table figure".split()
)
FOLDERS = "data", "tuning"  # names of folders next to the folders of models
# Hyperparameters that each run sets. A value in a suite would make all seeds equal, or use more threads than planned.
SET_BY_RUNS = {"random_state": "`seeds` to the suite", "n_jobs": "`threads` to the model or the run"}
SPLITS = 5  # over which the trials of a search that is always made are scored


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
    def read(cls, config: Mapping[str, object], folder: Path | None = None) -> Self:
        """Read suites and catalogue, here or from a folder, for the settings of one run; check them together.

        Raises
        ------
        XmlcError
            A file cannot be read or does not fit, an estimator or a hyperparameter does not exist, or suites
            contradict each other.
        """
        settings = Settings.read(config)
        folder = config_folder() if folder is None else folder
        suites = read_suites(folder)
        for suite in suites.values():
            check_mentions(suite)
            check_models(suite)
            check_methods(suite)
        if settings.seeds:
            suites = {name: replace(suite, seeds=settings.seeds) for name, suite in suites.items()}
        catalogue = load_catalogue(*config_files("datasets.yaml", folder))
        named = {*settings.named_datasets} - {*SIZES}
        check_names(suites, {str(config_files("datasets.yaml", folder)[-1]): catalogue, "config: datasets": named})
        models = models_of_all(suites.values())
        chosen = settings.models or []
        chosen = chosen if isinstance(chosen, list) else [name for names in chosen.values() for name in names]
        project = cls(settings, suites, models, catalogue)
        selected = {name for paper in suites for name in project.datasets_of(paper)}
        keys = settings.models if isinstance(settings.models, dict) else ()
        checks = ("papers", settings.papers, suites), ("models", chosen, models), ("models", keys, selected)
        known: Collection[str]
        for key, names, known in checks:
            for name in set(names) - set(known):
                raise XmlcError(f"config: {key} has {name}, expected {nearest(name, known)}")
        for name in settings.named_datasets:
            if name in SIZES:
                raise XmlcError(f"config: datasets has {name} beside others, expected it alone, datasets={name}")
            project.propensity(name)  # is refused before anything trains, as is a name of another folder
        return project

    def entry(self, dataset: str) -> Dataset:
        """Return a dataset's entry of the catalogue."""
        return catalogue_entry(dataset, self.catalogue)

    def propensity(self, dataset: str) -> tuple[float, float]:
        """Return A and B of a dataset's propensities, as its entry has them or as they go with its name."""
        return self.entry(dataset).propensity or propensity_parameters(dataset)

    def source_of(self, dataset: str) -> list[str]:
        """Say what a dataset is copied from, see `xmlc.suite.config.sources.source_of`.

        Raises
        ------
        XmlcError
            It is not here yet, and there is nothing to copy or fetch.
        """
        entry, mirror, resources = self.entry(dataset), self.settings.mirror, Path(paths.RESOURCE).parent
        if not (resources / dataset).exists():
            check_sources([entry], mirror, resources, [*self.catalogue, *SIZES])
        return source_of(entry, mirror, resources)

    def datasets_of(self, paper: str) -> list[str]:
        """Name the datasets of a suite that are selected."""
        suite, wanted = self.suites[paper], self.settings.datasets
        if suite.own:
            return suite.datasets
        if isinstance(wanted, str):
            return [name for name in suite.datasets if self.is_large(name) == (wanted == "large")]
        return wanted or suite.datasets

    def is_large(self, dataset: str) -> bool:
        """Say whether the arrays of a dataset are large by the catalogue: what is counted later changes nothing."""
        entry = self.entry(dataset)
        return bool(entry.published or entry.synthetic) and entry.size.bytes > LARGE

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
            and (model.estimator != "estimates" or self.has_estimates(name, dataset))
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
        """Name the files that a model reads in its runs on a dataset, see `xmlc.models.registry.files_read`."""
        spec = self.models[model]
        return files_read(spec.estimator, spec.values_on(dataset), dataset, seeds)

    def check_given(self, paper: str, dataset: str, model: str) -> None:
        """Check that the files that a suite's model reads exist.

        Raises
        ------
        XmlcError
            A file is missing.
        """
        suite = self.suites[paper]
        for file in self.given(model, dataset, suite.seeds):
            if not Path(file).is_file():
                raise XmlcError(f"{suite.file}: model {model}: no file {file}")

    def check_estimates(self, paper: str) -> str:
        """Check that files of other programs' estimates are there; say on which datasets a suite's models have none.

        Raises
        ------
        XmlcError
            One is missing, where others of the dataset are there, or there are none of any dataset.
        """
        suite, lines = self.suites[paper], []
        for name, spec in suite.models.items():
            wanted = [of for of in self.datasets_of(paper) if name in (self.settings.models_on(of) or suite.models)]
            if spec.estimator != "estimates" or not wanted:
                continue
            there = [dataset for dataset in wanted if self.has_estimates(name, dataset)]
            for dataset in there:
                self.check_given(paper, dataset, name)
            if not there:
                paths = ", ".join(sorted({str(path) for values in _given(spec) for path in values.values()}))
                raise XmlcError(f"{suite.file}: model {name}: no estimates of {', '.join(wanted)}, expected {paths}")
            lines += [f"{name} is not run on {dataset}: no estimates" for dataset in wanted if dataset not in there]
        return "\n".join(lines)

    def has_estimates(self, model: str, dataset: str) -> bool:
        """Say whether another program has estimates of a dataset: named for it, or in a folder of its name."""
        values = self.models[model].values_on(dataset)
        folders = [Path(str(file).replace("{dataset}", dataset)).parent for file in values.values()]
        return bool(values) and ("{dataset}" not in str(values) or any(folder.exists() for folder in folders))

    def tuned_by(self, model: str, dataset: str) -> str | None:
        """Name the search result that a model is trained with, if there is a search."""
        spec, tuning = self.models[model], self.settings.tuning
        search = spec.search
        if spec.tuned_as and not search.always:
            return self.tuned_by(spec.tuned_as, dataset)
        own = {name for name, value in spec.values_on(dataset).items() if spec.hyperparameters.get(name) != value}
        # A cut alone bounds the memory of a set, and is nobody's choice of the rest.
        has_own = dataset in spec.found or (dataset in spec.datasets and own != {"weight_cut"})
        asked = search.auto and not has_own if tuning == "auto" else tuning and search.ranges
        return paths.TUNING.of(dataset=dataset, model=model) if search.always or asked else None

    def searched_after(self, model: str, dataset: str) -> str | None:
        """Name the search result whose best values a model's own search begins with, if there is one."""
        spec = self.models[model]
        return self.tuned_by(spec.tuned_as, dataset) if spec.tuned_as and spec.search.always else None

    def search_options(self, model: str, dataset: str) -> list[str]:
        """Return the options of `xmlc tune`.

        Raises
        ------
        XmlcError
            The result of a search is requested, and none is configured.
        """
        search, tuning = self.models[model].search, self.settings.tuning
        stages = ["--stages", json.dumps(search.stages_on(dataset), sort_keys=True)]
        if search.always:
            return [*stages, "--splits", str(SPLITS)]
        if search.auto and tuning == "auto":
            return [*stages, "--in-trials", json.dumps(search.in_trials, sort_keys=True), "--sample"]
        if search.ranges and isinstance(tuning, RequestedSearch):
            space = json.dumps(search.ranges, sort_keys=True)
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

    def drops(self, dataset: str) -> bool:
        """Say whether models and estimates of a dataset are deleted when nothing of the run needs them any more.

        Where `keep_models` says nothing these are the large sets; one of which the catalogue knows no size is a user's.
        """
        keep = self.settings.keep_models
        return self.is_large(dataset) if keep is None else not keep

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
        """Return the source files that a command, a model's estimator and a user's methods depend on, each once."""
        extensions = self.extensions if command in ("thresholds", "infer") else []
        own = source_files(*estimator_files(self.models[model].estimator))
        return sorted({*command_files(command), *own, *(file for one in extensions for file in source_files(one))})


def is_installed(estimator: str) -> bool:
    """Return whether the program that an estimator wraps, if any, is installed, and the wrapper's file exists."""
    program, file = program_of(estimator), estimator.rpartition(":")[0]
    return not program or (find_spec(program) is not None and (not file or Path(file).is_file()))


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
            for (key, there), here in zip(_common(merged).items(), _common(model).values(), strict=True):
                if here != there:
                    raise XmlcError(f"config: model {name} has another {key} in {suite.name}; give it another name")
            # On the datasets of a suite of its own nothing of another's hyperparameters is meant.
            common = dict.fromkeys(suite.datasets, model.hyperparameters) if suite.own else {}
            found[name] = replace(merged, datasets=merged.datasets | common | model.datasets)
    return found


def _common(model: ModelSpec) -> dict[str, object]:
    """Return what a model has in all suites."""
    search = model.search if model.search.always else None
    return {"estimator": model.estimator, "search": search, "threads": model.threads, "quick": model.quick}


def check_names(suites: Mapping[str, Suite], datasets: Mapping[str, Iterable[str]]) -> None:
    """Refuse names of datasets, suites and models that are names of rules, targets or folders of the workflow.

    Parameters
    ----------
    suites : mapping of str to Suite
    datasets : mapping of str to iterable of str
        Further names of datasets, by their source.

    Raises
    ------
    XmlcError
    """
    places = [(f"{suite.file}: datasets", suite.datasets) for suite in suites.values()]
    of_own = {name for suite in suites.values() if suite.own for name in suite.datasets}
    both = of_own | {"demo"}  # a suite may have the name of its own dataset, as the demo has
    for where, names in [*places, *datasets.items()]:
        if taken := sorted({*names} & (RESERVED | ({*suites} - both))):
            kind = "a suite" if taken[0] in suites else "a rule or target of the workflow"
            said = f"expected another name for it and for its folder in the mirror, such as my-{taken[0]}"
            raise XmlcError(f"{where}: found {taken[0]}, which is the name of {kind}; {said}")
    for suite in suites.values():
        if suite.name in RESERVED:
            said = f"found {suite.name}, which is the name of a rule or target of the workflow"
            raise XmlcError(f"{suite.file}: {said}; rename the file, such as to my-{suite.name}.yaml")
        for name in {*suite.all_models} & {*FOLDERS}:
            said = f"found {name}, the name of a folder of each dataset"
            raise XmlcError(f"{suite.file}: models: {said}; expected another, such as my-{name}")


def check_mentions(suite: Suite) -> None:
    """Check that a suite defines each model that its experiments name.

    Raises
    ------
    XmlcError
    """
    named: dict[str, Iterable[str]] = {f"sweeps.{name}.model": [sweep.model] for name, sweep in suite.sweeps.items()}
    named |= {f"models.{name}.tuned_as": [model.tuned_as] for name, model in suite.models.items() if model.tuned_as}
    named |= {"inference.methods": suite.inference.methods} if suite.inference else {}
    named |= {"ensembles.models": suite.ensembles.models} if suite.ensembles else {}
    for place, names in {**named, "progressive": suite.progressive}.items():
        for name in names:
            if name not in suite.models:
                raise XmlcError(f"{suite.file}: {place}: found {name}, expected {nearest(name, suite.models)}")


def check_models(suite: Suite) -> None:
    """Check the models of a suite: that their estimators are there, and their hyperparameters known and in range.

    Hyperparameters of baselines, and of models in users' files that inherit `__init__`, are known only where these are
    imported: they are checked when a job begins. Classes of other libraries are made here, which imports the library.

    Raises
    ------
    XmlcError
        With what was found and expected.
    """
    for name, model in suite.all_models.items():
        where = f"{suite.file}: model {name}: "
        is_own, given = ".py:" in model.estimator, [*_given(model), *_swept(suite, name)]
        for key in (key for values in given for key in values):
            if key in SET_BY_RUNS:
                raise XmlcError(f"{where}found the hyperparameter {key}, expected none: give {SET_BY_RUNS[key]}")
        if program_of(model.estimator) and (model.optional or name in suite.peers):
            continue  # a baseline, which may be missing
        if is_own:
            _check_file(model.estimator, where, {key for values in given for key in values})
        elif ":" in model.estimator:
            own = model.estimator.replace(":", ".py:")
            if Path(own.partition(":")[0]).is_file():  # jobs do not import modules from this folder
                raise XmlcError(f"{where}found {model.estimator}, the module of a file here; expected {own}")
            for values in given:
                try:
                    make_estimator(model.estimator, model.hyperparameters | values, seed=0)
                except XmlcError as error:
                    raise XmlcError(f"{where}{error}") from error
        elif model.estimator not in ESTIMATORS:
            expected = nearest(model.estimator, ESTIMATORS)
            place, _, kind = model.estimator.rpartition(".")
            own = f"{place}:{kind}" if place and kind != "py" else "package.module:ClassName"
            own += f" or {model.estimator if kind == 'py' else 'path/to/file.py'}:ClassName"
            raise XmlcError(f"{where}no estimator {model.estimator}, expected {expected} or {own}")
        known: Mapping[str, Any] | None = None if ":" in model.estimator else domains_of(model.estimator)
        if model.estimator == "estimates":
            known = dict.fromkeys(("validation", "test"))
            for path in (str(path) for values in _given(model) for path in values.values()):
                if "{" in (rest := path.replace("{dataset}", "").replace("{seed}", "")):
                    raise XmlcError(f"{where}{path}: found {rest[rest.index('{') :]}, expected {{dataset}} or {{seed}}")
        if known is None:
            continue
        for key in model.search.ranges:
            if key not in known:
                raise XmlcError(f"{where}search.ranges: found {key}, expected {nearest(key, known)}")
        for key, value in (pair for values in given for pair in values.items()):
            if key not in known:
                raise XmlcError(f"{where}{model.estimator} has no hyperparameter {key}, expected {nearest(key, known)}")
            domain = known[key]
            if domain is not None and value != LABELS_PER_INSTANCE and value not in domain:
                raise XmlcError(f"{where}{key}: found {value!r}, expected {domain}")


def _check_file(estimator: str, where: str, given: Iterable[str]) -> None:
    """Check that a user's own file is there, is Python and names the class, which takes what is given if that shows."""
    file, _, kind = estimator.rpartition(":")
    text, tree = _python_of(file, where)
    if not re.search(rf"\b{re.escape(kind)}\b", text):  # a class, or a name that is imported
        expected = nearest(kind, re.findall(r"^class (\w+)", text, re.MULTILINE) or ["a class of it"])
        raise XmlcError(f"{where}{file} has no class {kind}, expected {expected}")
    for node in tree.body:
        takes = _arguments(node) if isinstance(node, ast.ClassDef) and node.name == kind else None
        if takes is not None and (unknown := [key for key in given if key.partition("__")[0] not in takes]):
            expected = nearest(unknown[0], takes) or "none"
            raise XmlcError(f"{where}{estimator} has no hyperparameter {unknown[0]}, expected {expected}")
        if isinstance(node, ast.ClassDef) and node.name == kind and not node.bases:
            missing = [name for name in ("fit", "predict_proba") if not re.search(rf"\b{name}\b", ast.unparse(node))]
            for method in missing:
                raise XmlcError(f"{where}{file}:{node.lineno}: {kind} has no {method}, expected fit and predict_proba")


def _arguments(node: ast.ClassDef) -> list[str] | None:
    """Return the arguments of a class's own `__init__`; None if there is none or it takes any."""
    own = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
    if not (method := next(own, None)) or method.args.kwarg:
        return None
    return [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs)]


def _python_of(file: str, where: str) -> tuple[str, ast.Module]:
    """Return the text of a user's own file, and its syntax tree."""
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["a file of yours"])
        raise XmlcError(f"{where}no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    try:
        return text, ast.parse(text)
    except SyntaxError as error:
        raise XmlcError(f"{where}{file}:{error.lineno}: {error.msg}; expected a Python file") from error


def check_methods(suite: Suite) -> None:
    """Check that the threshold methods of a suite are known, or that one of its extensions has their name as a text.

    Raises
    ------
    XmlcError
        With what was found and expected.
    """
    texts = [_python_of(file, f"{suite.file}: extensions: ")[0] for file in suite.extensions]
    named = {name for text in texts for name in re.findall(r"""["']([a-z0-9-]+)["']""", text)}
    for name in suite.methods:
        if name not in THRESHOLD_METHODS and name not in named:
            expected = f"{nearest(name, THRESHOLD_METHODS)}, or a name that one of the extensions registers"
            raise XmlcError(f"{suite.file}: methods: no method {name}, expected {expected}")


def _swept(suite: Suite, model: str) -> list[Hyperparameters]:
    """Return the hyperparameters that sweeps set for a model."""
    return [
        {**sweep.hyperparameters, sweep.hyperparameter: value}
        for sweep in suite.sweeps.values()
        if sweep.model == model
        for value in chain(sweep.values, *sweep.datasets.values())
    ]


def _given(model: ModelSpec) -> list[Hyperparameters]:
    """Return what a model is given anywhere."""
    search = model.search
    trials = [trial for stages in (search.stages, *search.further.values()) for stage in stages for trial in stage]
    return [model.hyperparameters, *model.datasets.values(), *trials, search.in_trials]
