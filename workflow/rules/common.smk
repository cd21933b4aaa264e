# Configuration, checked before anything runs, and the small functions that rules ask.
import json
import re
from pathlib import Path

import yaml
from snakemake.utils import validate

from xmlc.cli import COMMANDS
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.models.registry import estimator_files
from xmlc.sources import source_files

CATALOGUE_FILE = "config/datasets.yaml"

validate(config, workflow.source_path("../schemas/config.schema.yaml"))


def read_suite(file):
    """Read and check the experiments of one paper."""
    suite = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    validate(suite, workflow.source_path("../schemas/paper.schema.yaml"))
    return suite


# Suites that are no paper's: they have datasets of their own, whatever the key `datasets` says.
OWN_SUITES = ["demo", "scale"]


def suite_file(paper):
    """Name the file of a paper's experiments."""
    return f"config/{paper}.yaml" if paper in OWN_SUITES else f"config/papers/{paper}.yaml"


CATALOGUE = load_catalogue(CATALOGUE_FILE)
SYNTHETIC = "|".join(re.escape(name) for name, entry in CATALOGUE.items() if entry.synthetic)
PAPERS = [*sorted(file.stem for file in Path("config/papers").glob("*.yaml")), *OWN_SUITES]
SUITES = {paper: read_suite(suite_file(paper)) for paper in PAPERS}
for suite in SUITES.values():
    suite["seeds"] = [int(seed) for seed in config["seeds"] or suite["seeds"]]


def share_models():
    """Put, for each model that is as in another paper, what stands there; its own are the datasets it is not run on."""
    for paper, suite in SUITES.items():
        for name, model in suite["models"].items():
            if other := model.get("as_in"):
                found = {**SUITES[other].get("peers", {}), **SUITES[other]["models"]} if other in SUITES else {}
                if "estimator" not in found.get(name, {}):
                    raise ValueError(f"config: {paper} has model {name} as in {other}, which defines none of this name")
                suite["models"][name] = {**found[name], "without": model["without"]}


share_models()


# Files of the user's own that register threshold methods.
EXTENSIONS = sorted({file for suite in SUITES.values() for file in suite.get("extensions", [])})


def datasets_of(paper):
    """Name the datasets of a paper that are asked for."""
    if paper in OWN_SUITES:
        return SUITES[paper]["datasets"]
    return config["datasets"] or SUITES[paper]["datasets"]


def selected_datasets():
    """Name every dataset that some paper is asked for, in order."""
    return list(dict.fromkeys(name for paper in SUITES for name in datasets_of(paper)))


def model_definitions():
    """Collect the models of all papers; a name means the same thing everywhere but for its hyperparameters."""
    found = {}
    for paper, suite in SUITES.items():
        for name, model in {**suite["models"], **suite.get("peers", {})}.items():
            merged = found.setdefault(name, {**model, "datasets": {}, "whole": {}})
            if merged["estimator"] != model["estimator"]:
                raise ValueError(
                    f"config: model {name} is estimator {merged['estimator']} and, in {paper}, {model['estimator']}"
                )
            if merged.get("search") != model.get("search"):
                raise ValueError(f"config: model {name} has another search in {paper}; give it another name there")
            # On the datasets of a suite of its own nothing of another's hyperparameters is meant.
            for dataset in suite["datasets"] + suite["growth"] if paper in OWN_SUITES else []:
                merged["whole"][dataset] = model["hyperparameters"]
            merged["datasets"].update(model["datasets"])
    return found


MODELS = model_definitions()


def inference_settings():
    """Collect, by (model, portion), the inference methods of all papers with their samples and time limit."""
    found = {}
    for paper, suite in SUITES.items():
        block = suite.get("inference", {"methods": {}})
        for model, methods in block["methods"].items():
            if model not in suite["models"]:
                raise ValueError(f"config: {paper} infers from {model}, which is none of its models")
            settings = {key: block[key] for key in ("samples", "time_limit")}
            merged = found.setdefault((model, block["portion"]), {**settings, "methods": []})
            if any(merged[key] != value for key, value in settings.items()):
                raise ValueError(f"config: {paper} infers from {model} with other samples or time limit than another")
            merged["methods"] += [method for method in methods if method not in merged["methods"]]
    return found


INFERENCE = inference_settings()


def hyperparameters(model, dataset):
    """Give a model's hyperparameters for one dataset as JSON, sorted, so that only a change of value reruns."""
    definition = MODELS[model]
    values = {
        **definition["whole"].get(dataset, definition["hyperparameters"]),
        **definition["datasets"].get(dataset, {}),
    }
    return json.dumps(values, sort_keys=True)


def models_for(paper, dataset):
    """Name the models that run on a dataset: the oracle needs posteriors, which only synthetic sets have."""
    synthetic = catalogue_entry(dataset, CATALOGUE).synthetic
    return [
        name
        for name, model in SUITES[paper]["models"].items()
        if (synthetic or model["estimator"] != "oracle")
        and dataset not in model["without"]
        and model.get("task", task_of(paper, dataset)) == task_of(paper, dataset)
        and (not model["optional"] or is_installed(model))
        and (config["models"] is None or name in config["models"])
    ]


def task_of(paper, dataset):
    """Say what a paper does with a dataset."""
    return "few-shot" if dataset in SUITES[paper]["few_shot"] else "multi-label"


def of_task(paper, task, datasets=None):
    """Name those of some datasets, or of a paper's, with which it does this."""
    return [name for name in (datasets or datasets_of(paper)) if task_of(paper, name) == task]


def runs(paper, datasets=None):
    """List (dataset, model, seed) of a paper."""
    return [
        (dataset, model, seed)
        for dataset in (datasets_of(paper) if datasets is None else datasets)
        for model in models_for(paper, dataset)
        for seed in SUITES[paper]["seeds"]
    ]


def has_records(paper, records):
    """Tell whether a table or figure can be made; of a paper with few-shot datasets, some are about these alone."""
    return bool(records) or not SUITES[paper]["few_shot"]


def tables_of_paper(paper):
    """List the tables of a paper."""
    tables = SUITES[paper]["tables"]
    return expand(
        "results/tables/{paper}/{table}.{ext}",
        paper=paper,
        table=[table for table in tables if has_records(paper, table_records(paper, table)(paper))],
        ext=["csv", "md", "tex"],
    )


def results_of_paper(paper):
    """List the tables and figures of a paper."""
    figures = SUITES[paper]["figures"]
    return tables_of_paper(paper) + expand(
        "results/figures/{paper}/{figure}.{ext}",
        paper=paper,
        figure=[figure for figure in figures if has_records(paper, figure_records(paper, figure))],
        ext=["svg", "png"],
    )


def sources(*modules):
    """Give the package files that a step depends on; as inputs of a rule they rerun it when one is edited."""
    return source_files(*(f"xmlc.cli.{COMMANDS[module]}.{module}" for module in modules))


def estimator_sources(wildcards):
    """Give the files that a model's estimator depends on."""
    return source_files(*estimator_files(MODELS[wildcards.model]["estimator"]))


def memory(wildcards):
    """Estimate a job's memory in MB from the catalogue's counts: instances in CSR form, weights per label."""
    entry = catalogue_entry(wildcards.dataset, CATALOGUE)
    counts = entry.synthetic or entry.published or {}
    instances = counts.get("n_train", 50_000) + counts.get("n_test", 10_000)
    labels = counts.get("m", counts.get("n_labels", 30_000))
    return min(20_000, int(1_500 + 2.4e-3 * instances + 24e-3 * labels))


wildcard_constraints:
    dataset=r"[a-z0-9][a-z0-9._-]*",
    model="|".join(MODELS),
    seed=r"\d+",
    portion="full|80",
    method=r"[a-z0-9-]+",
    paper="|".join(SUITES),
    table=r"[a-z0-9-]+",
    figure=r"[a-z0-9]+",
