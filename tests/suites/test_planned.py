"""Which records a table is made from, beside a listing of the plain kind: the YAML read, and loops."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import yaml
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.papers import figure_of, plan, table_of
from xmlc.papers.plan import left_out, peers_files, plan_of, result_files
from xmlc.papers.swnn2018.claims import BESIDE_BR
from xmlc.suites.planned import THRESHOLDS, Where
from xmlc.suites.project import Project, is_installed

CONFIG = ROOT / "config"
OWN = ("demo", "scale")
YAML = {name: yaml.safe_load((CONFIG / f"{name}.yaml").read_text()) for name in OWN}
YAML |= {file.stem: yaml.safe_load(file.read_text()) for file in (CONFIG / "papers").glob("*.yaml")}
CATALOGUE = yaml.safe_load((CONFIG / "datasets.yaml").read_text())
FEW, MANY = "few-shot", "multi-label"


def models_of(paper, dataset, peers=False):
    """Name the models of a suite, or its baselines, that run on a dataset."""
    found = []
    for name, model in YAML[paper].get("peers" if peers else "models", {}).items():
        other = YAML.get(model.get("as_in"), {})
        model = {**other.get("peers", {}), **other.get("models", {})}.get(name, {}) | model
        estimator = model["estimator"]
        left_out = dataset in YAML[paper]["peers" if peers else "models"][name].get("without", {})
        made = "synthetic" in CATALOGUE.get(dataset, {})
        other_task = model.get("task", task_of(paper, dataset)) != task_of(paper, dataset)
        absent = (peers or model.get("optional")) and not is_installed(estimator)
        if not (left_out or (estimator == "oracle" and not made) or other_task or absent):
            found.append(name)
    return found


def task_of(paper, dataset):
    return FEW if dataset in YAML[paper].get("few_shot", []) else MANY


def folders(paper, task=None, peers=False, models=None):
    """List the folders of all runs: dataset by dataset, model by model, seed by seed."""
    for dataset in YAML[paper]["datasets"]:
        if task in (None, task_of(paper, dataset)):
            names = models_of(paper, dataset) + (models_of(paper, dataset, peers=True) if peers else [])
            for model, seed in product(
                [name for name in names if models is None or name in models], YAML[paper]["seeds"]
            ):
                yield dataset, model, f"results/{dataset}/{model}/seed{seed}"


def rankings(paper, **which):
    return [f"{folder}/full/ranking.json" for *_, folder in folders(paper, **which)]


def evaluations(paper, methods, **which):
    ranked_only = YAML[paper].get("ranked_only", {})
    found = [run for run in folders(paper, **which) if not {*run[:2]} & {*ranked_only}]
    return [f"{folder}/80/evaluation/{method}.json" for *_, folder in found for method in methods]


def measured(paper):
    return [f"for-{measure}" for measure in YAML[paper].get("measures", [])]


def inferred(paper, portion):
    block = YAML[paper].get("inference", {"portion": "", "methods": {}})
    found = [(folder, method) for _, model, folder in folders(paper) for method in block["methods"].get(model, [])]
    return [f"{folder}/{portion}/inference/{method}.json" for folder, method in found if block["portion"] == portion]


def statistics(paper):
    return [f"results/{dataset}/statistics.json" for dataset in YAML[paper]["datasets"]]


def ensembles(paper, *models):
    models = models or YAML[paper]["ensembles"]["models"]
    return [f"{folder}/full/forest.json" for *_, folder in folders(paper, models=models)]


def swept(paper, name):
    sweep = YAML[paper]["sweeps"][name]
    found = folders(paper, models=[sweep["model"]])
    few = [folder for dataset, _, folder in found if dataset not in sweep.get("without", {})]
    return [f"{folder}/full/sweeps/{paper}/{name}.json" for folder in few]


def streams(paper, task):
    models = YAML[paper]["progressive"]
    return [f"{folder}/full/progressive.json" for *_, folder in folders(paper, task, models=models)]


def searched(paper):
    models = [name for name, model in YAML[paper]["models"].items() if "search" in model]
    return [f"results/{dataset}/tuning/{model}.yaml" for dataset in YAML[paper]["datasets"] for model in models]


def peers(paper):
    methods = [method for method in ("fta", "sto", "ofo") if method in YAML[paper]["methods"]]
    ranks_only = [name for name, peer in YAML[paper].get("peers", {}).items() if "ranks_only" in peer]
    names = [name for name in (*YAML[paper]["models"], *YAML[paper].get("peers", {})) if name not in ranks_only]
    evaluated = evaluations(paper, methods, peers=True, models=names)
    return rankings(paper, peers=True) + evaluated


def every_method(paper):
    return evaluations(paper, YAML[paper]["methods"])


def of_methods(paper, *names):
    return evaluations(paper, [name for name in YAML[paper]["methods"] if name in names])


def without_labels(paper):
    return [method for method in YAML[paper]["methods"] if method in ("expected-f", "expected-f-empty")]


def with_full(paper, methods):
    """Beside them, of models of the whole training set the methods that need no labels."""
    on_full = [file.replace("/80/", "/full/") for file in evaluations(paper, without_labels(paper))]
    return evaluations(paper, methods) + on_full


def instance_f(paper):
    return inferred(paper, "80") + evaluations(paper, ["for-instance-f"])


LISTED = {
    ("gfm2011", "table1"): lambda paper: inferred(paper, "full"),
    ("gfm2011", "figure1"): lambda paper: ["results/simulations/gfm2011.json"],
    ("gfm2011", "claims"): lambda paper: [*inferred(paper, "full"), "results/simulations/gfm2011.json"],
    ("plt2016", "claims"): lambda paper: rankings(paper) + every_method(paper),
    ("ldsm2020", "claims"): lambda paper: rankings(paper) + ensembles(paper) + swept(paper, "max-nodes"),
    ("ldsm2020", "table3"): statistics,
    **{("ldsm2020", f"table{n}"): lambda paper: rankings(paper, models=TREES) for n in (1, 2)},
    ("ldsm2020", "table4"): lambda paper: ensembles(paper, "ldsm"),
    **{("ldsm2020", f"figure{n}"): lambda paper: ensembles(paper, "ldsm") for n in (2, 4)},
    **{("ldsm2020", f"figure{n}"): lambda paper: ensembles(paper, "ldsm-mean") for n in (3, 7)},
    ("ldsm2020", "figure1"): lambda paper: ensembles(paper) + swept(paper, "max-nodes") + rankings(paper),
    ("ldsm2020", "figure5"): lambda paper: swept(paper, "max-nodes"),
    ("ldsm2020", "figure6"): lambda paper: ensembles(paper, "ldsm", "fastxml") + rankings(paper),
    ("oplt2021", "claims"): lambda paper: rankings(paper) + streams(paper, FEW) + swept(paper, "balance"),
    ("oplt2021", "table1"): statistics,
    ("oplt2021", "table2"): lambda paper: rankings(paper, task=MANY),
    ("oplt2021", "table3"): lambda paper: rankings(paper, task=FEW),
    ("oplt2021", "figure2"): lambda paper: streams(paper, FEW),
    ("swnn2018", "claims"): lambda paper: rankings(paper) + searched(paper) + statistics(paper),
    **{("swnn2018", f"table{n}"): statistics for n in range(1, 6)},
    **{
        (paper, "table2"): lambda paper: with_full(paper, [m for m in YAML[paper]["methods"] if m != "ofo-ab"])
        for paper in ("plt2016", "demo")
    },
    **{
        (paper, "table4"): lambda paper: of_methods(paper, "ofo-ab") + of_methods(paper, "fta", "sto")
        for paper in ("plt2016", "demo")
    },
    **{("scale", table): every_method for table in ("table2", "table4")},
    **{(suite, "table2"): every_method for suite in ("beside", "hashing")},
    **{(paper, "figure1"): lambda paper: of_methods(paper, "fta", "sto", "ofo") for paper in ("plt2016", "demo")},
    **{
        (paper, "measures"): lambda paper: with_full(paper, measured(paper) + without_labels(paper))
        for paper in ("plt2016", "demo")
    },
    **{(paper, "instance-f"): instance_f for paper in ("plt2016", "demo")},
    **{(paper, "peers"): peers for paper in YAML},
}
TREES = ("fastxml", "pfastrexml", "plt", "ldsm", "ldsm-mean")
EVERY = {f"{paper}/{name}": (paper, name)
         for paper in YAML for name in (*YAML[paper]["tables"], *YAML[paper]["figures"], "peers")}  # fmt: skip
BY_HAND = ("scale/scale", "plt2016/table3")  # the latter depends on which values are known


@pytest.fixture(scope="module")
def project():
    return Project.read({"papers": []}, CONFIG)


@pytest.mark.parametrize("case", [case for case in EVERY if case not in BY_HAND])
def test_a_table_needs_what_a_plain_listing_names_in_its_order(project, case):
    paper, name = EVERY[case]
    definition = (figure_of if name in YAML[paper]["figures"] else table_of)(name, paper)
    expected = LISTED.get((paper, name), rankings)(paper)
    assert definition.files(project, paper) == expected
    assert len(set(expected)) == len(expected) > 0


def selected(project, **chosen):
    """The same project with other settings, without reading it again."""
    return replace(project, settings=replace(project.settings, **chosen))


def test_each_model_and_dataset_alone_makes_what_it_has_records_for_and_the_rest_is_named(project):
    for paper, of_paper in project.suites.items():
        alone = [{"models": [name]} for name in project.models] + [{"datasets": [name]} for name in of_paper.datasets]
        for chosen in alone:
            of_it = selected(project, **chosen)
            plan = plan_of(of_it)[paper]
            made = plan.tables | plan.figures
            runs = {f"results/{run.dataset}/{run.model}/seed" for run in of_it.runs(paper)}
            assert all(made.values())
            assert {file.partition("seed")[0] + "seed" for files in made.values() for file in files if "/seed" in file
                    } - {f"results/{name}/br/seed" for name in of_it.datasets_of(paper)} <= runs  # fmt: skip
            missing = [name for name in (*of_paper.tables, *of_paper.figures) if name not in made]
            assert left_out(of_it, [paper]).rpartition(": ")[2] == (f"{paper} {', '.join(missing)}" if missing else "")


@pytest.mark.parametrize(
    ("paper", "model", "missing"),
    [
        ("gfm2011", "plt", "gfm2011 table1"),
        ("plt2016", "fastxml", "plt2016 table3"),
        (
            "ldsm2020",
            "swnn",
            "ldsm2020 table1, table2, table4, " + ", ".join(f"figure{n}" for n in range(1, 8)),
        ),
        ("demo", "oracle", ""),
    ],
)
def test_what_is_left_out_is_said(project, paper, model, missing):
    said = left_out(selected(project, models=[model]), [paper])
    assert said.rpartition(": ")[2] == missing


def test_without_few_shot_datasets_there_are_no_tables_and_figures_of_them():
    files = {name: result_files(Project.read({"papers": [], "datasets": [name]}, CONFIG), "oplt2021")
             for name in ("aloi", "yeast")}  # fmt: skip
    made = {name: {Path(file).stem for file in found} for name, found in files.items()}
    assert (made["aloi"] - made["yeast"], made["yeast"] - made["aloi"]) == ({"table3", "figure2"}, {"table2"})


def test_the_target_of_baselines_is_a_table_and_a_figure_of_each_selected_paper_that_has_some():
    project = Project.read({"papers": ["gfm2011", "plt2016"]}, CONFIG)
    assert peers_files(project) == ["results/tables/plt2016/peers.md", "results/figures/plt2016/pareto.svg"]


def test_the_table_of_steps_by_hand(tmp_path):
    project = project_of(
        tmp_path, catalogue={"made": {"synthetic": {"n_train": 9, "n_test": 9, "n_features": 9, "n_labels": 9}}},
        scale=suite({"plt": {}}, datasets=["made", "fetched"], methods=["sto"]),
    )  # fmt: skip
    assert table_of("scale", "scale").files(project, "scale") == [
        "resources/made",
        "results/made/statistics.json",
        "results/made/plt/seed0/full/train.json",
        "results/made/plt/seed0/full/ranking.json",
        "results/made/plt/seed0/80/train.json",
        "results/made/plt/seed0/80/spe",
        "results/made/plt/seed0/80/thresholds/sto",
        "results/made/plt/seed0/80/evaluation/sto.json",
        "results/fetched/statistics.json",
        "results/fetched/plt/seed0/full/train.json",
        "results/fetched/plt/seed0/full/ranking.json",
        "results/fetched/plt/seed0/80/train.json",
        "results/fetched/plt/seed0/80/spe",
        "results/fetched/plt/seed0/80/thresholds/sto",
        "results/fetched/plt/seed0/80/evaluation/sto.json",
    ]


def test_no_thresholds_are_tuned_where_models_are_ranked_only(tmp_path):
    made = suite({"plt": {}, "swnn": {}}, datasets=["small", "large"], methods=["sto"])
    made["ranked_only"] = {"large": "too large", "swnn": "not asked"}
    project = project_of(tmp_path, catalogue={}, scale=made)
    assert THRESHOLDS.files(project, "scale", None) == ["results/small/plt/seed0/80/evaluation/sto.json"]
    steps = [file for file in Where("step").files(project, "scale", None) if "/80/" in file]
    assert {file.split("/80/")[0] for file in steps} == {"results/small/plt/seed0"}


def test_of_some_datasets_a_table_needs_what_is_about_them(project):
    for name, paper in (("table2", "plt2016"), ("peers", "plt2016"), ("table4", "ldsm2020"), ("table2", "oplt2021")):
        definition = table_of(name, paper)
        dataset = "amazoncat-13k"
        expected = [file for file in definition.files(project, paper) if file.startswith(f"results/{dataset}/")]
        assert definition.files(project, paper, [dataset]) == expected
        assert expected


def test_a_model_of_other_suites_beside_ones_own(tmp_path):
    left_out = suite({"br": {"without": {"scene": "why"}}})
    catalogue = {name: {"published": {"m": m, "source": "a paper"}} for name, m in (("yeast", 14), ("large", 501))}
    catalogue["scene"], catalogue["unknown"] = catalogue["yeast"], {}
    suites = {"a": suite({"plt": {}}, seeds=[0, 4]), "b": suite({"br": {}}), "c": left_out}
    project = project_of(tmp_path, catalogue=catalogue, **suites)
    ranked = BESIDE_BR.files
    both = [f"results/yeast/{model}/seed{seed}/full/ranking.json" for model in ("plt", "br") for seed in (0, 4)]
    assert ranked(project, "a", ["yeast"]) == both
    # Left out by a suite that has it; too many labels; nobody says how many.
    for name in ("scene", "large", "unknown"):
        assert ranked(project, "a", [name]) == [file.replace("yeast", name) for file in both[:2]]
    assert ranked(project_of(tmp_path / "alone", a=suite({"plt": {}})), "a", ["yeast"]) == both[:1]


def test_a_record_of_a_new_kind_lies_in_the_folder_of_its_run(tmp_path):
    need = Where("mine", "80")
    project = project_of(tmp_path, a=suite({"plt": {}, "br": {"without": {"yeast": "why"}}}, seeds=[0, 4]))
    assert need.files(project, "a", None) == [f"results/yeast/plt/seed{seed}/80/mine.json" for seed in (0, 4)]
    assert need.files(project, "a", ["scene"])[-1] == "results/scene/br/seed4/80/mine.json"


def test_a_table_is_made_anew_for_its_words_and_the_values_of_a_suite_that_it_uses(project, monkeypatch):
    suite = project.suites["plt2016"]
    other = replace(project, suites=project.suites | {"plt2016": replace(suite, title="other")})
    for table, uses in (("table3", True), ("table1", False)):
        found = {plan.sources_of_table(one, "plt2016", table) for one in (project, replace(project), other)}
        assert len(found) == 1 + uses, table
    before = plan.sources_of_table(project, "plt2016", "claims")
    definition = plan.table_of("claims", "plt2016")
    assert definition.words
    monkeypatch.setattr(plan, "table_of", lambda *name: replace(definition, words=("another",)))
    assert plan.sources_of_table(project, "plt2016", "claims") != before
