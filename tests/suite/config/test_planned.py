"""Test which records a table is built from, by kind and by name."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import yaml
from repository import ROOT
from suite_cases import project_of, suite, suite_of

from xmlc.suite.config.planned import RANKINGS, THRESHOLDS, Where
from xmlc.suite.config.project import Project
from xmlc.suite.papers import figure_of, plan, table_of
from xmlc.suite.papers.plan import baseline_files, result_files, results_of
from xmlc.suite.papers.swnn2018.claims import BESIDE_BR

CONFIG = ROOT / "config"
YAML = {name: yaml.safe_load((CONFIG / f"{name}.yaml").read_text()) for name in ("demo", "scale")}
YAML |= {file.stem: yaml.safe_load(file.read_text()) for file in (CONFIG / "papers").glob("*.yaml")}
# The models of the suite `neural` need files of estimates, which are missing here.
del YAML["neural"]
# Records of tables that need others than rankings.
RECORDS_OF = yaml.safe_load("""
gfm2011:
  table1: full/inference
  figure1: simulations
  claims: full/inference simulations
demo: &methods
  table2: 80/evaluation full/evaluation
  table4: 80/evaluation
  measures: 80/evaluation full/evaluation
  instance-f: 80/evaluation 80/inference
  figure1: 80/evaluation
  baselines: 80/evaluation full/ranking
plt2016:
  <<: *methods
  claims: 80/evaluation full/ranking
  tail-f: 80/evaluation full/evaluation
  calibration: 80/calibration
scale: &scale
  <<: *methods
  table2: 80/evaluation
comparison: *scale
hashing: *scale
ldsm2020:
  table3: statistics
  table4: full/forest
  figure1: full/forest full/ranking full/sweeps
  figure2: full/forest
  figure3: full/forest
  figure4: full/forest
  figure5: full/sweeps
  figure6: full/forest full/ranking
  figure7: full/forest
  claims: full/forest full/ranking full/sweeps
oplt2021:
  table1: statistics
  figure2: full/progressive
  claims: full/progressive full/ranking full/sweeps
swnn2018:
  table1: statistics
  table2: statistics
  table3: statistics
  table4: statistics
  table5: statistics
  claims: full/ranking statistics tuning
""")
OF_MODELS = yaml.safe_load("""
ldsm2020/table1: &trees [fastxml, pfastrexml, plt, ldsm, ldsm-mean]
ldsm2020/table2: *trees
ldsm2020/table4: [ldsm]
ldsm2020/figure2: [ldsm]
ldsm2020/figure3: [ldsm-mean]
ldsm2020/figure4: [ldsm]
ldsm2020/figure7: [ldsm-mean]
scale/table2: [plt, plt-batch]
""")
EVERY = []
for paper, content in YAML.items():
    names = (*content["tables"], *content["figures"], "baselines")
    EVERY += [f"{paper}/{name}" for name in names]
BY_HAND = "plt2016/table3"  # depends on the known values


@pytest.fixture(scope="module")
def project():
    return Project.read({"papers": []}, CONFIG)


def parts_of(file):
    """Return dataset, model, seed and kind of a record. Records outside runs have only a kind."""
    _, *folders, name = file.split("/")
    stem = name.partition(".")[0]
    if len(folders) < 4:
        kind = folders[-1] if folders[-1] in ("tuning", "simulations") else stem
        return None, None, None, kind
    dataset, model, seed, split, *inner = folders
    inner.append(stem)
    return dataset, model, int(seed.removeprefix("seed")), f"{split}/{inner[0]}"


@pytest.mark.parametrize("case", [case for case in EVERY if case != BY_HAND])
def test_table_needs_records_of_its_kinds_in_order_of_runs(project, case):
    paper, name = case.split("/")
    find = figure_of if name in YAML[paper]["figures"] else table_of
    files = find(name, paper).files(project, paper)
    assert len(set(files)) == len(files) > 0
    found = [parts_of(file) for file in files]
    kinds = {kind for *_, kind in found}
    assert kinds == set(RECORDS_OF.get(paper, {}).get(name, "full/ranking").split())
    if case in OF_MODELS:
        assert {model for _, model, *_ in found} == {*OF_MODELS[case]}
    models = [*YAML[paper].get("models", {}), *YAML[paper].get("baselines", {})]
    every_run = [*product(YAML[paper]["datasets"], models, YAML[paper]["seeds"])]
    for kind in kinds - {"statistics", "tuning", "simulations"}:
        runs = list(dict.fromkeys(tuple(run) for *run, one in found if one == kind))
        pairs = {run[:2] for run in runs}
        assert runs == [run for run in every_run if run[:2] in pairs]


def selected(project, **chosen):
    """Return the same project with other settings, without reading it again."""
    return replace(project, settings=replace(project.settings, **chosen))


@pytest.mark.parametrize(
    ("paper", "model", "missing"),
    [
        ("gfm2011", "plt", {"table1"}),
        ("plt2016", "fastxml", {"table3"}),
        ("ldsm2020", "swnn", {"table1", "table2", "table4", *(f"figure{n}" for n in range(1, 8))}),
        ("demo", "oracle", set()),
    ],
)
def test_tables_without_records_are_left_out(project, paper, model, missing):
    made = results_of(selected(project, models=[model]), paper)
    suite = project.suites[paper]
    assert {*suite.tables, *suite.figures} - {name for _, name in made} == missing


def test_few_shot_tables_and_figures_need_few_shot_datasets(project):
    names = {}
    for dataset in ("aloi", "yeast"):
        files = result_files(selected(project, datasets=[dataset]), "oplt2021")
        names[dataset] = {Path(file).stem for file in files}
    assert names["aloi"] - names["yeast"] == {"table3", "figure2"}
    assert names["yeast"] - names["aloi"] == {"table2"}


def test_baselines_target_has_table_and_figure_of_each_paper_with_baselines():
    project = Project.read({"papers": ["gfm2011", "plt2016"]}, CONFIG)
    assert baseline_files(project) == [
        "results/tables/plt2016/baselines.md",
        "results/figures/plt2016/pareto.svg",
    ]


def test_no_thresholds_are_tuned_for_models_that_are_only_ranked(tmp_path):
    skipped = {"many": "too large", "swnn": "not asked"}
    content = suite({"plt": {}, "swnn": {}}, datasets=["few", "many"], methods=["sto"])
    project = project_of(tmp_path, scale=content | {"skip_thresholds": skipped})
    files = ["results/few/plt/seed0/80/evaluation/sto.json"]
    assert THRESHOLDS.files(project, "scale", None) == files


def test_score_files_give_rankings_and_thresholds_if_validation_scores_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scores/few").mkdir(parents=True)
    made = suite_of("""
    datasets: [few, other]
    methods: [sto, expected-f]
    seeds: [3]
    models:
      tuned:
        estimator: estimates
        hyperparameters:
          test: scores/{dataset}/test.npz
          validation: scores/{dataset}/val-{seed}.npz
      ranked: {estimator: estimates, hyperparameters: {test: "scores/{dataset}/test.npz"}}
    """)
    project = project_of(tmp_path, scale=made)
    assert project.given("tuned", "few", [3]) == ["scores/few/test.npz", "scores/few/val-3.npz"]
    record = "results/few/{}/seed3/{}.json".format
    assert RANKINGS.files(project, "scale") == [
        record("tuned", "full/ranking"),
        record("ranked", "full/ranking"),
    ]
    assert THRESHOLDS.files(project, "scale") == [
        record("tuned", "80/evaluation/sto"),
        record("tuned", "80/evaluation/expected-f"),
    ]
    assert Where("thresholds", "full").files(project, "scale") == [
        record("tuned", "full/evaluation/expected-f"),
        record("ranked", "full/evaluation/expected-f"),
    ]


def test_suite_can_compare_with_models_of_other_suites(tmp_path):
    catalogue = yaml.safe_load("""
    yeast: {published: {m: 14, source: a paper}}
    scene: {published: {m: 14, source: a paper}}
    many: {published: {m: 501, source: a paper}}
    unknown: {}
    """)
    suites = {
        "a": suite({"plt": {}}),
        "b": suite({"br": {}}),
        "c": suite({"br": {"without": {"scene": "why"}}}),
    }
    project = project_of(tmp_path, catalogue=catalogue, **suites)
    record = "results/{}/{}/seed0/full/ranking.json".format
    both = [record("yeast", "plt"), record("yeast", "br")]
    assert BESIDE_BR.files(project, "a", ["yeast"]) == both
    # Left out by its own suite, too many labels, unknown number of labels.
    for name in ("scene", "many", "unknown"):
        assert BESIDE_BR.files(project, "a", [name]) == [record(name, "plt")]
    alone = project_of(tmp_path / "alone", a=suites["a"])
    assert BESIDE_BR.files(alone, "a", ["yeast"]) == both[:1]


def test_record_of_new_kind_is_in_the_folder_of_its_run(tmp_path):
    models = {"plt": {}, "br": {"without": {"yeast": "why"}}}
    content = suite(models, datasets=["yeast", "scene"], seeds=[4])
    assert Where("mine", "80").files(project_of(tmp_path, a=content), "a") == [
        "results/yeast/plt/seed4/80/mine.json",
        "results/scene/plt/seed4/80/mine.json",
        "results/scene/br/seed4/80/mine.json",
    ]


def test_table_is_rebuilt_if_its_text_or_used_suite_values_change(project, monkeypatch, tmp_path):
    retitled = replace(project.suites["plt2016"], title="other")
    other = replace(project, suites=project.suites | {"plt2016": retitled})

    def sources(name, given=project):
        return plan.sources_of_table(given, "plt2016", name)

    assert sources("table1") == sources("table1", other)
    assert sources("table3") == sources("table3", replace(project))
    assert sources("table3") != sources("table3", other)


def test_edited_declarations_make_tables_and_figures_again(tmp_path, monkeypatch):
    before = {noun: plan.order_of(noun, "plt2016", ["a"]) for noun in ("table", "figure")}
    assert before["table"] == plan.order_of("table", "plt2016", ["a"])
    assert before["table"] != plan.order_of("table", "gfm2011", ["a"])
    statements = tmp_path / "claims.yaml"
    statements.write_text("another statement")
    monkeypatch.setattr(plan, "files_of", lambda paper, noun: [str(statements)])
    for noun, digest in before.items():
        assert plan.order_of(noun, "plt2016", ["a"]) != digest
