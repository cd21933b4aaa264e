"""Test which datasets, models and runs small suites request, and the input of each job."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest
import yaml
from facts import raises_with
from repository import ROOT
from suite_cases import project_of, suite, suite_of

from xmlc.core.errors import XmlcError
from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.suite.config import project as module
from xmlc.suite.config.jobs import search_options, sweep_options
from xmlc.suite.config.planned import Where
from xmlc.suite.config.project import Project
from xmlc.suite.config.suite import Run
from xmlc.suite.provenance.code import step_files
from xmlc.suite.results.methods import THRESHOLD_METHODS
from xmlc.thresholds.bounds import GRID
from xmlc.thresholds.sweeps import METHODS

NAPKINXC = "benchmarks/baselines/napkinxc_trees.py:NapkinXCPLT"
OMIKUJI = "benchmarks/baselines/omikuji_parabel.py:OmikujiParabel"
SYNTHETIC = {"n_train": 1000, "n_test": 500, "n_features": 20, "n_labels": 30}
MADE = {"made": {"synthetic": SYNTHETIC}}


WIDE = {
    "published": {"n_train": 100_000, "n_test": 50_000, "source": "here"},
    "shape": {"nonzeros": 100},
}
SELECTIONS = {
    "as configured": ({}, [["yeast", "wide"], ["yeast"], ["made"]]),
    "by name": ({"datasets": ["bibtex"]}, [["bibtex"], ["bibtex"], ["made"]]),
    "small": ({"datasets": "small"}, [["yeast"], ["yeast"], ["made"]]),
    "large": ({"datasets": "large"}, [["wide"], [], ["made"]]),
}


@pytest.mark.parametrize("case", SELECTIONS)
def test_settings_select_datasets_of_papers_but_not_of_other_suites(tmp_path, case):
    settings, expected = SELECTIONS[case]
    suites = {
        "a": suite(datasets=["yeast", "wide"]),
        "b": suite(datasets=["yeast"]),
        "demo": suite(datasets=["made"]),
    }
    project = project_of(tmp_path, settings, {"wide": WIDE}, **suites)
    assert [project.datasets_of(name) for name in suites] == expected


def test_make_rehearsal_uses_large_datasets_of_papers():
    project = Project.read({"papers": [], "datasets": "large"}, ROOT / "config")
    papers = [name for name, configured in project.suites.items() if not configured.own]
    large = {*chain(*map(project.datasets_of, papers))}
    line = re.search(r"^LARGE = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {*line[1].split()} == large
    assert all(project.entry(name).in_its_shape(64)["n_train"] for name in large)


SELECTED = {
    "models: [pltt]": "pltt plt",
    "datasets: [manual]": "datasets[0] manual",
    "datasets: [wiki-mine]": "wiki-mine propensity",
    "datasets: [yeast, large]": "large datasets=large",
    "models: {yeas: [plt]}": "yeas yeast",
    "{datasets: [scene], models: {yeast: [plt]}}": "yeast scene",
    "papers: [b]": "papers b",
}


@pytest.mark.parametrize("text", SELECTED)
def test_invalid_selections_are_refused(tmp_path, text):
    with raises_with(XmlcError, "config", *SELECTED[text].split()):
        project_of(tmp_path, yaml.safe_load(text), a=suite())


def test_propensities_come_from_catalogue_entry_or_dataset_name(tmp_path):
    own = suite(datasets=["wiki-mine"])
    with raises_with(XmlcError, "a.yaml", "datasets", "wiki-mine", "propensity"):
        project_of(tmp_path, a=own)
    project = project_of(tmp_path, catalogue={"wiki-mine": {"propensity": [0.5, 0.4]}}, a=own)
    assert project.propensity("wiki-mine") == (0.5, 0.4)
    assert project.propensity("wiki-500k") == (0.5, 0.4)
    assert project.propensity("mine") == (0.55, 1.5)


def test_empty_selection_of_papers_is_refused_only_in_planning(tmp_path):
    project = project_of(tmp_path, a=suite(), b=suite())
    with raises_with(XmlcError, "papers", "a, b"):
        _ = project.planned_papers
    assert project_of(tmp_path, {"papers": ["b"]}).planned_papers == ["b"]


WITH_TASKS = """
datasets: [yeast, aloi, made]
few_shot: [aloi]
models:
  plt: {}
  few: {task: few-shot}
  many: {task: multi-label}
  large: {without: {yeast: too small}}
  oracle: {estimator: oracle}
  theirs: {estimator: estimates, datasets: {yeast: {validation: "v-{seed}.npz", test: t.npz}}}
  ours: {optional: true}
"""


def test_models_run_on_their_selected_and_feasible_datasets(tmp_path):
    suites = {"a": suite_of(WITH_TASKS)}
    project = project_of(tmp_path, catalogue=MADE, **suites)
    # The model `theirs` has estimates only for yeast.
    assert project.models_on("a", "yeast") == ["plt", "many", "theirs", "ours"]
    assert project.given("theirs", "yeast", ["0", "3"]) == ["t.npz", "v-0.npz", "v-3.npz"]
    assert project.given("plt", "yeast", ["0"]) == []
    assert not project.has_estimates("theirs", "aloi")
    assert project.models_on("a", "aloi") == ["plt", "few", "large", "ours"]
    assert project.models_on("a", "made") == ["plt", "many", "large", "oracle", "ours"]
    project = project_of(tmp_path, {"models": ["large", "plt"]}, MADE, **suites)
    assert project.models_on("a", "yeast") == ["plt"]
    chosen = {"yeast": ["ours", "large"], "aloi": []}
    project = project_of(tmp_path, {"models": chosen}, MADE, **suites)
    assert project.models_on("a", "yeast") == ["ours"]
    assert project.models_on("a", "aloi") == []
    assert project.models_on("a", "made") == ["plt", "many", "large", "oracle", "ours"]


BASELINES = f"""
datasets: [yeast, scene]
models:
  cmt: {{estimator: vw-cmt, optional: true}}
  br: {{estimator: {NAPKINXC}}}
baselines:
  parabel: {{estimator: {OMIKUJI}}}
  ours: {{}}
  large: {{without: {{yeast: too small}}}}
"""


def test_baselines_run_if_they_are_installed(tmp_path, monkeypatch):
    installed = {"omikuji", "vowpalwabbit"}
    asked = set()

    def find(name):
        asked.add(name)
        return name if name in installed else None

    def found(project):
        baselines = [project.baselines_on("a", name) for name in ("yeast", "scene")]
        return [*baselines, project.models_on("a", "yeast")]

    monkeypatch.setattr(module, "find_spec", find)
    monkeypatch.chdir(ROOT)  # The suite names the files of programs relative to this folder.
    project = project_of(tmp_path, a=suite_of(BASELINES))
    assert found(project) == [["parabel", "ours"], ["parabel", "ours", "large"], ["cmt", "br"]]
    assert asked == installed
    assert [run.model for run in project.runs("a", ["yeast"])] == ["cmt", "br"]
    installed.clear()
    # A missing program of a required model is an error only when the model runs.
    assert found(project) == [["ours"], ["ours", "large"], ["br"]]
    monkeypatch.chdir(tmp_path)  # studies have no such file
    with raises_with(XmlcError, "br", "benchmarks/baselines/napkinxc_trees.py"):
        project_of(tmp_path, a=suite_of(BASELINES))


def test_runs_are_ordered_by_dataset_model_and_seed(tmp_path):
    models = {"plt": {}, "br": {"without": {"scene": "why"}}}
    content = suite(models, datasets=["yeast", "scene"], seeds=[0, 7])
    project = project_of(tmp_path, a=content)
    names = "yeast plt 0, yeast plt 7, yeast br 0, yeast br 7, scene plt 0, scene plt 7"
    assert ", ".join("{} {} {}".format(*run) for run in project.runs("a")) == names
    assert project.runs("a", []) == []
    chosen = project_of(tmp_path, {"seeds": ["3"]}, a=content)
    assert chosen.runs("a", ["scene"]) == [Run("scene", "plt", 3)]


def test_hyperparameters_of_a_dataset_and_of_its_own_suite_override_others(tmp_path):
    plt = "{hyperparameters: {lam: 1, arity: 2}, datasets: {yeast: {lam: 3}}}"
    a = suite_of(f"models: {{plt: {plt}}}")
    own = "models: {plt: {hyperparameters: {arity: 16}}}"
    demo = suite_of(f"{{{own}, datasets: [made, larger]}}")
    project = project_of(tmp_path, a=a, demo=demo)
    assert project.hyperparameters("plt", "scene") == '{"arity": 2, "lam": 1}'
    assert project.hyperparameters("plt", "yeast") == '{"arity": 2, "lam": 3}'
    assert project.hyperparameters("plt", "made") == '{"arity": 16}'
    assert project.hyperparameters("plt", "larger") == '{"arity": 16}'
    with raises_with(XmlcError, "demo.yaml", "models.plt.hyperparameters", "a.yaml"):
        project_of(tmp_path, a=a, demo=suite_of(own))


# Maps a place to the YAML of another suite.
OTHER_MODELS = {
    "models.x.estimator": "models: {x: {estimator: fastxml}}",
    "models.x.search": "models: {x: {search: {always: true, stages: [[{arity: 2}]]}}}",
    "models.x.threads": "models: {x: {threads: 1}}",
    "models.x.hyperparameters": "models: {x: {hyperparameters: {arity: 64}}}",
    "models.x.datasets": "models: {x: {datasets: {yeast: {arity: 64}}}}",
    "models.x.selected": "models: {x: {selected: {yeast: {by: hand}}}}",
    "models.x.share_search_with": "models: {x: {share_search_with: y}, y: {}}",
    "baselines.x.estimator": "baselines: {x: {estimator: br}}",
}


@pytest.mark.parametrize("place", OTHER_MODELS)
def test_model_name_means_one_model_in_all_suites(tmp_path, place):
    with raises_with(XmlcError, "b.yaml", place, "a.yaml"):
        project_of(tmp_path, a=suite({"x": {}}), b=suite_of(OTHER_MODELS[place]))


STAGES = [[{"arity": 2}, {"arity": 4}]]
RANGES = {"lam": {"high": 1, "low": 0.1}}
ALWAYS = {"always": True, "stages": STAGES}
RESULT = "results/{}/tuning/{}.json".format
RANDOM = {"tuning": {"method": "random", "budget": "5"}}


def options_of(stages=STAGES):
    return ["--stages", json.dumps(stages), "--splits", "5"]


SEARCHED = {
    "auto": ({}, ["always", "auto"]),
    "none": ({"tuning": None}, ["always"]),
    "random": (RANDOM, ["always", "auto", "ranged"]),
}
SEARCHES = """
datasets: [yeast, scene, aloi, enron]
models:
  always: {search: {always: true, stages: [[{arity: 2}, {arity: 4}]]}}
  auto:
    search:
      stages: [[{arity: 2}, {arity: 4}]]
      trial_overrides: {epochs: 1}
      ranges: {lam: {high: 1, low: 0.1}}
    datasets: {scene: {}, aloi: {weight_threshold: 1}}
    selected: {enron: {by: him}}
  ranged: {search: {ranges: {lam: {high: 1, low: 0.1}}}}
  fixed: {}
"""


@pytest.mark.parametrize("case", SEARCHED)
def test_search_runs_always_or_only_on_request(tmp_path, case):
    settings, searched = SEARCHED[case]
    suites = {"a": suite_of(SEARCHES), "demo": suite({"auto": {}}, datasets=["made"])}
    project = project_of(tmp_path, settings, **suites)
    results = {name: project.tuned_by(name, "yeast") for name in project.suites["a"].models}
    found = {name: result for name, result in results.items() if result}
    assert found == {name: RESULT("yeast", name) for name in searched}
    assert search_options(project, "always", "yeast") == options_of()
    if case == "auto":
        # All other datasets have values, or a search that selected their values.
        assert project.tuned_by("auto", "aloi")
        for name in ("scene", "enron", "made"):
            assert project.tuned_by("auto", name) is None
        options = search_options(project, "auto", "yeast")
        assert options == [*options_of()[:2], "--trial-overrides", '{"epochs": 1}', "--sample"]
    if case == "random":
        space = ["--space", json.dumps(RANGES), "--method", "random", "--budget", "5"]
        for name in ("ranged", "auto"):
            assert search_options(project, name, "yeast") == space
    else:
        with raises_with(XmlcError, "ranged", "tuning='{method"):
            search_options(project, "ranged", "yeast")


def test_search_can_be_shared_or_start_from_another(tmp_path):
    a = suite_of("""
    datasets: [yeast, scene]
    models:
      many: {search: {stages: [[{arity: 2}]]}, datasets: {scene: {arity: 2}}}
      one: {search: {stages: [[{arity: 2}]], always: true}, share_search_with: many}
      hashed: {share_search_with: many}
    """)
    project = project_of(tmp_path, a=a)
    assert project.tuned_by("hashed", "yeast") == RESULT("yeast", "many")
    assert project.tuned_by("one", "yeast") == RESULT("yeast", "one")
    assert project.searched_after("one", "yeast") == RESULT("yeast", "many")
    assert project.searched_after("one", "scene") is None
    for name in ("many", "hashed"):
        assert project.searched_after(name, "yeast") is None


def test_search_can_have_extra_stages_on_single_datasets(tmp_path):
    further = [[{"arity": 8}]]
    search = ALWAYS | {"extra_stages": {"yeast": further}}
    project = project_of(tmp_path, a=suite({"own": {"search": search}}))
    assert search_options(project, "own", "yeast") == options_of(STAGES + further)
    assert search_options(project, "own", "scene") == options_of()


def test_models_of_a_dataset_of_unknown_size_count_as_large_for_the_disk(tmp_path):
    """With `keep_models: false`, a user's dataset may have models of any size."""
    large = {"synthetic": SYNTHETIC | {"n_train": 10**6}}
    project = project_of(tmp_path, catalogue=MADE | {"far": large}, a=suite(datasets=["mine"]))
    for name, expected in {"made": (0, False), "far": (1, True), "mine": (1, False)}.items():
        assert (project.large_models(name), project.drops(name)) == expected


def test_minimum_probability_is_end_of_grid_or_the_one_of_the_suites(tmp_path):
    minima = {"min_probabilities": {"yeast": 0.01}}
    project = project_of(tmp_path, a=suite(**minima), b=suite(**minima))
    assert project.min_probability("yeast") == 0.01
    assert project.min_probability("bibtex") == 1 / max(GRID)
    for other in ({}, {"min_probabilities": {"yeast": 0.02}}):
        with raises_with(XmlcError, "b.yaml", "min_probabilities.yeast", "0.01", "a.yaml"):
            project_of(tmp_path, a=suite(**minima), b=suite(**other))
    with raises_with(XmlcError, "a.yaml", "min_probabilities.yeast", "1e-09", 1 / max(GRID)):
        project_of(tmp_path, a=suite(min_probabilities={"yeast": 1e-9}))


def test_forests_are_scored_at_the_sizes_of_all_suites(tmp_path):
    models = "models: {forest: {estimator: fastxml}, other: {estimator: fastxml}}"
    a = suite_of(f"{{{models}, ensembles: {{models: [forest], sizes: [10, 1]}}}}")
    b = suite_of(f"{{{models}, ensembles: {{models: [forest, other], sizes: [5, 1]}}}}")
    project = project_of(tmp_path, a=a, b=b)
    assert project.ensemble_sizes("forest") == [1, 5, 10]
    assert project.ensemble_sizes("other") == [1, 5]


def test_sweeps_and_extensions_belong_to_one_suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("b.py").touch()
    Path("z.py").touch()
    own = suite_of("""
    datasets: [yeast, wide]
    extensions: [z.py, b.py]
    sweeps:
      arity: {model: plt, hyperparameter: arity, values: [2, 4], datasets: {wide: [2]}}
    """)
    project = project_of(tmp_path, a=own, b=suite_of("extensions: [b.py]"))
    options = ["--parameters", "{}", "--hyperparameter", "arity", "--value", "2"]
    assert sweep_options(project, "a", "arity", "yeast") == [*options, "--value", "4"]
    assert sweep_options(project, "a", "arity", "wide") == options
    assert project.extensions == ["b.py", "z.py"]


def test_planning_checks_methods_and_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text('@register("half")\ndef half(spe, Y, priors, grid): ...\n')
    project_of(tmp_path / "config", a=suite(methods=["half"], extensions=["mine.py"]))
    with raises_with(XmlcError, "a.yaml", "extensions", "absent.py"):
        project_of(tmp_path / "config", a=suite(extensions=["absent.py"]))


def test_configuration_and_thresholds_have_the_same_methods():
    assert {*THRESHOLD_METHODS} == {*METHODS} - {*MEASURE_METHODS}


def test_missing_files_of_estimates_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"estimator": "estimates", "hyperparameters": {"test": "scores/{dataset}/t-{seed}.npz"}}
    content = suite({"theirs": given}, datasets=["yeast", "scene"], seeds=[0, 1])
    project = project_of(tmp_path, a=content)
    with raises_with(XmlcError, "theirs", "yeast, scene", "scores"):
        project.check_estimates("a")
    files = [f"scores/yeast/t-{seed}.npz" for seed in (0, 1)]
    Path("scores/yeast").mkdir(parents=True)
    Path(files[0]).touch()
    with raises_with(XmlcError, "a.yaml", "theirs", files[1]):
        project.check_estimates("a")
    Path(files[1]).touch()
    assert project.check_estimates("a") == "skipped theirs on scene: found no estimates"
    assert project.existing_files("theirs", "yeast", [0, 1]) == files


SWEEPS = """
datasets: [one, wide]
models: {plt: {}, other: {}}
sweeps:
  solver: &solver {model: plt, hyperparameter: solver, values: [sgd, batch]}
  few: {<<: *solver, without: {wide: it would take too long}}
  other: {<<: *solver, model: other}
"""


def test_sweep_skips_its_excluded_datasets(tmp_path):
    project = project_of(tmp_path, x=suite_of(SWEEPS))
    record = "results/{}/{}/seed0/full/sweeps/x/{}.json".format
    several = [record("one", "plt", "solver"), record("wide", "plt", "solver")]
    assert Where("sweep", "full", sweeps=["solver"]).files(project, "x") == several
    two = Where("sweep", "full", sweeps=["solver", "few", "unknown"])
    assert two.files(project, "x") == [several[0], record("one", "plt", "few"), several[1]]
    other = Where("sweep", "full", sweeps=["other"])
    assert other.files(project, "x", ["one"]) == [record("one", "other", "other")]


def test_missing_code_of_a_user_is_named(tmp_path):
    with raises_with(XmlcError, tmp_path / "mine.py"):
        step_files("thresholds", "xmlc.models.wrapped", f"{tmp_path}/mine.py")


# Maps the YAML of a model to facts of the message.
MISTAKES = {
    "hyperparameters: {n_jobs: 2}": "n_jobs threads",
    "search: {ranges: {random_state: [1, 2]}}": "random_state seeds",
    "hyperparameters: {arty: 2}": "plt arty arity",
    "hyperparameters: {arity: 1}": "arity 1 2",
    "search: {stages: [[{C: 1.0}, {C: -1.0}]]}": "C -1.0 0",
    "search: {ranges: {arty: [2]}}": "arty arity",
    "datasets: {yeast: {arity: 63}}": "models.mine arity=63",
    "search: {stages: [[{arity: 2}], [{arity: 63}]]}": "models.mine arity=63",
    "search: {stages: [[{C: 2}]], trial_overrides: {arity: 0}}": "arity=0",
    "search: {ranges: {arity: {low: 2, high: 64}}}": "arity=2.0",
    "search: {ranges: {C: {low: 0, high: 2}}}": "C=0.0 above",
    "search: {ranges: {C: {low: '1', high: 2}}}": "search.ranges.C '1'",
    "hyperparameters: {epochs: labels-per-instance}": "epochs= labels-per-instance",
    "search: {stages: [[{tree: labels-per-instance}]]}": "tree= random",
    "hyperparameters: {solver: batch, hash_bits: 20}": "hash_bits=20 solver='sgd'",
    "{estimator: stacking, hyperparameters: {estimators: [[a, pltt]]}}": "estimators pltt plt",
    "{estimator: oracle, hyperparameters: {k: 1}}": "models.mine k",
    "{estimator: estimates, hyperparameters: {tset: t.npz}}": "models.mine tset test",
    "estimator: oracle": "models.mine.estimator oracle synthetic",
    "estimator: my_modell.py:Mine": "my_modell.py",
    "{estimator: my_model.py:Powered, hyperparameters: {powr: 8}}": "powr power",
    "{estimator: my_model.py:Powered, search: {stages: [[{powr: 8}]]}}": "powr power",
    "estimator: sklearn.dummy.DummyClassifier": "sklearn.dummy.DummyClassifier path/to/file.py",
    "estimator: my_model:Mine": "my_model.py:Mine",
    "estimator: broken.py:Mine": "broken.py:2",
    "estimator: no_such:A": "no_such:A 'no_such'",
    "{estimator: sklearn.neighbors:KNeighborsClassifier, search: {stages: [[{k: 1}]]}}": "'k'",
}


def test_trials_may_fit_only_to_trials_of_earlier_stages(tmp_path):
    stages = [[{"tree": "random"}], [{"arity": 63}, {"epochs": "labels-per-instance"}]]
    project_of(tmp_path, a=suite({"plt": {"search": {"stages": stages}}}))


@pytest.mark.parametrize("text", ["values: [16, 63]", "{values: [16], datasets: {yeast: [2, 63]}}"])
def test_values_of_a_sweep_are_in_the_domain(tmp_path, text):
    sweep = {"model": "plt", "hyperparameter": "arity"} | yaml.safe_load(text)
    with raises_with(XmlcError, "a.yaml", "models.plt", "arity=63"):
        project_of(tmp_path, a=suite({"plt": {}}, sweeps={"x": sweep}))


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake_is_refused_with_file_model_value_and_nearest_name(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    Path("my_model.py").write_text("""
class Powered:
    fit = predict_proba = lambda self: ...

    def __init__(self, power=8): ...
""")
    Path("broken.py").write_text("class Mine: ...\nx = (1,\n")
    with raises_with(XmlcError, "a.yaml", "mine", *MISTAKES[text].split()):
        project_of(tmp_path / "config", a=suite({"mine": yaml.safe_load(text)}))
