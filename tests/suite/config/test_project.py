"""Test which datasets, models and runs small suites request, and the input of each job."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest
from facts import raises_with
from repository import ROOT
from suite_cases import project_of, suite

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
KNN = "sklearn.neighbors:KNeighborsClassifier"
ONE_VS_REST = "sklearn.multiclass:OneVsRestClassifier"


def test_requested_datasets_are_selected_and_suites_with_own_datasets_keep_them(tmp_path):
    suites = {
        "a": suite(datasets=["yeast", "scene"]),
        "b": suite(datasets=["scene"]),
        "demo": suite(datasets=["made"]),
    }
    project = project_of(tmp_path, **suites)
    assert [project.datasets_of(name) for name in ("a", "b", "demo")] == [
        ["yeast", "scene"],
        ["scene"],
        ["made"],
    ]
    project = project_of(tmp_path, {"datasets": ["bibtex"]}, **suites)
    assert [project.datasets_of(name) for name in ("a", "b", "demo")] == [
        ["bibtex"],
        ["bibtex"],
        ["made"],
    ]


def test_large_datasets_of_papers_are_selected_by_size(tmp_path):
    suites = {
        "a": suite(datasets=["yeast", "wide"]),
        "b": suite(datasets=["yeast"]),
        "demo": suite(datasets=["made"]),
    }
    wide = {
        "published": {"n_train": 100_000, "n_test": 50_000, "source": "here"},
        "shape": {"nonzeros": 100},
    }
    for size, expected in {
        "small": [["yeast"], ["yeast"], ["made"]],
        "large": [["wide"], [], ["made"]],
    }.items():
        project = project_of(tmp_path, {"datasets": size}, {"wide": wide}, **suites)
        assert [project.datasets_of(name) for name in ("a", "b", "demo")] == expected


def test_make_rehearsal_uses_large_datasets_of_papers():
    project = Project.read({"papers": [], "datasets": "large"}, ROOT / "config")
    large = set()
    for paper, configured in project.suites.items():
        if not configured.own:
            large.update(project.datasets_of(paper))
    rehearsed = re.search(r"^LARGE = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ].split()
    assert sorted(rehearsed) == sorted(large)
    assert all(project.entry(name).in_its_shape(64)["n_train"] for name in large)


SELECTED = {
    "pltt plt": {"models": ["pltt"]},
    "datasets[0] manual": {"datasets": ["manual"]},
    "wiki-mine propensity": {"datasets": ["wiki-mine"]},
    "large datasets=large": {"datasets": ["yeast", "large"]},
    "yeas yeast": {"models": {"yeas": ["plt"]}},
    "yeast scene": {"datasets": ["scene"], "models": {"yeast": ["plt"]}},
    "papers b": {"papers": ["b"]},
}


@pytest.mark.parametrize("facts", SELECTED)
def test_invalid_selections_are_refused(tmp_path, facts):
    with raises_with(XmlcError, *facts.split()):
        project_of(tmp_path, SELECTED[facts], a=suite({"plt": {}}))


def test_dataset_of_a_suite_needs_known_propensities(tmp_path):
    with raises_with(XmlcError, "a.yaml", "datasets", "wiki-mine", "propensity"):
        project_of(tmp_path, a=suite(datasets=["wiki-mine"]))


def test_propensities_come_from_catalogue_entry_or_dataset_name(tmp_path):
    names = ["wiki-mine", "wiki-500k", "mine"]
    project = project_of(
        tmp_path, {"datasets": names}, {"wiki-mine": {"propensity": [0.5, 0.4]}}, a=suite()
    )
    assert [project.propensity(name) for name in names] == [(0.5, 0.4), (0.5, 0.4), (0.55, 1.5)]


def test_empty_selection_of_papers_is_refused_only_in_planning(tmp_path):
    project = project_of(tmp_path, {"papers": []}, a=suite(), b=suite())
    with raises_with(XmlcError, "papers", "a, b"):
        _ = project.planned_papers
    assert project_of(tmp_path, {"papers": ["b"]}, a=suite(), b=suite()).planned_papers == ["b"]


def test_models_run_on_their_selected_and_feasible_datasets(tmp_path):
    models = {
        "plt": {},
        "few": {"task": "few-shot"},
        "many": {"task": "multi-label"},
        "large": {"without": {"yeast": "too small"}},
        "oracle": {"estimator": "oracle"},
        "theirs": {
            "estimator": "estimates",
            "datasets": {"yeast": {"validation": "v-{seed}.npz", "test": "t.npz"}},
        },
        "ours": {"optional": True},
    }
    suites = {"a": suite(models, datasets=["yeast", "aloi", "made"], few_shot=["aloi"])}
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
    project = project_of(
        tmp_path, {"models": {"yeast": ["ours", "large"], "aloi": []}}, MADE, **suites
    )
    assert project.models_on("a", "yeast") == ["ours"]
    assert project.models_on("a", "aloi") == []
    assert project.models_on("a", "made") == ["plt", "many", "large", "oracle", "ours"]


@pytest.mark.parametrize("installed", [True, False])
def test_baselines_run_if_they_are_installed(tmp_path, monkeypatch, installed):
    asked = []
    monkeypatch.setattr(
        module, "find_spec", lambda name: asked.append(name) or (object() if installed else None)
    )
    baselines = {
        "parabel": {"estimator": OMIKUJI},
        "ours": {},
        "large": {"without": {"yeast": "too small"}},
    }
    models = {"cmt": {"estimator": "vw-cmt", "optional": True}, "br": {"estimator": NAPKINXC}}
    monkeypatch.chdir(ROOT)  # The suite names the files of programs relative to this folder.
    content = suite(models, baselines=baselines, datasets=["yeast", "scene"])
    project = project_of(tmp_path, a=content)
    assert project.baselines_on("a", "yeast") == ["parabel"] * installed + ["ours"]
    assert project.baselines_on("a", "scene") == ["parabel"] * installed + ["ours", "large"]
    # A missing program of a required model is an error only when the model runs.
    assert project.models_on("a", "yeast") == ["cmt"] * installed + ["br"]
    assert set(asked) == {"omikuji", "vowpalwabbit"}
    monkeypatch.chdir(tmp_path)  # studies have no such file
    with raises_with(XmlcError, "br", "benchmarks/baselines/napkinxc_trees.py"):
        project_of(tmp_path, a=content)


def test_runs_are_ordered_by_dataset_model_and_seed(tmp_path):
    suites = {
        "a": suite(
            {"plt": {}, "br": {"without": {"scene": "why"}}},
            datasets=["yeast", "scene"],
            seeds=[0, 7],
        )
    }
    every = [("yeast", "plt", 0), ("yeast", "plt", 7), ("yeast", "br", 0), ("yeast", "br", 7)]
    every += [("scene", "plt", 0), ("scene", "plt", 7)]
    assert project_of(tmp_path, **suites).runs("a") == [Run(*run) for run in every]
    assert project_of(tmp_path, {"seeds": ["3"]}, **suites).runs("a", ["scene"]) == [
        Run("scene", "plt", 3)
    ]
    assert project_of(tmp_path, **suites).runs("a", []) == []


def test_dataset_hyperparameters_override_common_ones_and_are_sorted(tmp_path):
    plt = {"hyperparameters": {"lam": 1, "arity": 2}, "datasets": {"yeast": {"lam": 3}}}
    own = {"hyperparameters": {"arity": 16}}
    suites = {"a": suite({"plt": plt}), "demo": suite({"plt": own}, datasets=["made", "larger"])}
    project = project_of(tmp_path, **suites)
    assert project.hyperparameters("plt", "scene") == '{"arity": 2, "lam": 1}'
    assert project.hyperparameters("plt", "yeast") == '{"arity": 2, "lam": 3}'
    assert (
        project.hyperparameters("plt", "made")
        == project.hyperparameters("plt", "larger")
        == '{"arity": 16}'
    )


@pytest.mark.parametrize(
    ("key", "first", "second"),
    [
        ("estimator", suite({"x": {}}), suite({"x": {"estimator": "fastxml"}})),
        ("estimator", suite({"x": {}}), suite(baselines={"x": {"estimator": "br"}})),
        (
            "search",
            suite({"x": {}}),
            suite({"x": {"search": {"always": True, "stages": [[{"arity": 2}]]}}}),
        ),
        ("threads", suite({"x": {"threads": 1}}), suite({"x": {}})),
        ("hyperparameters", suite({"x": {}}), suite({"x": {"hyperparameters": {"arity": 64}}})),
        ("datasets", suite({"x": {}}), suite({"x": {"datasets": {"yeast": {"arity": 64}}}})),
        ("selected", suite({"x": {}}), suite({"x": {"selected": {"yeast": {"by": "hand"}}}})),
        ("share_search_with", suite({"x": {}}), suite({"x": {"share_search_with": "y"}, "y": {}})),
    ],
)
def test_model_name_means_one_model_in_all_suites(tmp_path, key, first, second):
    place = "baselines.x" if "baselines" in second else "models.x"
    with raises_with(XmlcError, "b.yaml", f"{place}.{key}", "a.yaml"):
        project_of(tmp_path, a=first, b=second)


def test_models_of_one_name_may_differ_in_titles_and_in_where_they_run(tmp_path):
    free = {
        "title": "PLT*",
        "without": {"scene": "too small"},
        "provenance": {"all": "hand: tried"},
    }
    suites = {"a": suite({"x": {}}), "b": suite({"x": free}, datasets=["yeast", "scene"])}
    assert project_of(tmp_path, **suites).models["x"].estimator == "plt"


def test_own_suites_may_set_other_hyperparameters_only_on_datasets_of_their_own(tmp_path):
    own = {"x": {"hyperparameters": {"arity": 4}}}
    project = project_of(tmp_path, a=suite({"x": {}}), demo=suite(own, datasets=["made"]))
    assert project.hyperparameters("x", "made") == '{"arity": 4}'
    with raises_with(XmlcError, "demo.yaml", "models.x.hyperparameters", "a.yaml"):
        project_of(tmp_path, a=suite({"x": {}}), demo=suite(own, datasets=["yeast"]))


STAGES = [[{"arity": 2}, {"arity": 4}]]
RANGES = {"lam": {"high": 1, "low": 0.1}}
ALWAYS = {"always": True, "stages": STAGES}
RESULT = "results/{}/tuning/{}.json".format
RANDOM = {"tuning": {"method": "random", "budget": "5"}}


def options_of(stages=STAGES):
    return ["--stages", json.dumps(stages), "--splits", "5"]


@pytest.mark.parametrize(
    ("settings", "searched"),
    [
        ({}, ["always", "auto"]),
        ({"tuning": None}, ["always"]),
        (RANDOM, ["always", "auto", "ranged"]),
    ],
)
def test_search_runs_always_or_only_on_request(tmp_path, settings, searched):
    models = {
        "always": {"search": ALWAYS},
        "auto": {
            "search": {"stages": STAGES, "trial_overrides": {"epochs": 1}, "ranges": RANGES},
            "datasets": {"scene": {}, "aloi": {"weight_threshold": 1}},
            "selected": {"enron": {"by": "him"}},
        },
        "ranged": {"search": {"ranges": RANGES}},
        "fixed": {},
    }
    datasets = ["yeast", "scene", "aloi", "enron"]
    suites = {"a": suite(models, datasets=datasets), "demo": suite({"auto": {}}, datasets=["made"])}
    project = project_of(tmp_path, settings, **suites)
    results = [project.tuned_by(name, "yeast") for name in models]
    assert results == [RESULT("yeast", name) if name in searched else None for name in models]
    assert search_options(project, "always", "yeast") == options_of()
    if not settings:
        tuned = [
            name
            for name in ("yeast", "scene", "enron", "made", "aloi")
            if project.tuned_by("auto", name)
        ]
        # All other datasets have values, or a search that selected their values.
        assert tuned == ["yeast", "aloi"]
        expected = [
            "--stages",
            json.dumps(STAGES),
            "--trial-overrides",
            '{"epochs": 1}',
            "--sample",
        ]
        assert search_options(project, "auto", "yeast") == expected
    if "ranged" in searched:
        space = ["--space", json.dumps(RANGES), "--method", "random", "--budget", "5"]
        assert (
            search_options(project, "ranged", "yeast")
            == search_options(project, "auto", "yeast")
            == space
        )
    else:
        with raises_with(XmlcError, "ranged", "tuning='{method"):
            search_options(project, "ranged", "yeast")


def test_model_can_be_trained_with_values_selected_for_another(tmp_path):
    models = {"plt": {"search": {"ranges": RANGES}}, "hashed": {"share_search_with": "plt"}}
    assert project_of(tmp_path, RANDOM, a=suite(models)).tuned_by("hashed", "yeast") == RESULT(
        "yeast", "plt"
    )
    assert project_of(tmp_path, a=suite(models)).tuned_by("hashed", "yeast") is None


def test_search_can_start_from_values_selected_for_another_model(tmp_path):
    many = {"search": {"stages": STAGES}, "datasets": {"scene": {"arity": 2}}}
    project = project_of(
        tmp_path,
        a=suite(
            {"many": many, "one": {"share_search_with": "many", "search": ALWAYS}},
            datasets=["yeast", "scene"],
        ),
    )
    assert project.tuned_by("one", "yeast") == RESULT("yeast", "one")
    assert project.searched_after("one", "yeast") == RESULT("yeast", "many")
    assert project.searched_after("one", "scene") is project.searched_after("many", "yeast") is None


def test_search_can_have_extra_stages_on_single_datasets(tmp_path):
    further = [[{"arity": 8}]]
    project = project_of(
        tmp_path, a=suite({"own": {"search": ALWAYS | {"extra_stages": {"yeast": further}}}})
    )
    assert search_options(project, "own", "yeast") == options_of(STAGES + further)
    assert search_options(project, "own", "scene") == options_of()


def test_models_of_a_dataset_of_unknown_size_count_as_large_for_the_disk(tmp_path):
    """With `keep_models: false`, a user's dataset may have models of any size."""
    sizes = {"near-set": SYNTHETIC, "far-set": SYNTHETIC | {"n_train": 10**6}}
    known = {name: {"synthetic": size} for name, size in sizes.items()}
    project = project_of(
        tmp_path,
        {},
        catalogue=known,
        a=suite({"plt": {}}, datasets=["near-set", "far-set", "my-set"]),
    )
    assert [project.large_models(name) for name in ("near-set", "far-set", "my-set")] == [0, 1, 1]
    assert [project.drops(name) for name in ("near-set", "far-set", "my-set")] == [
        False,
        True,
        False,
    ]


def test_jobs_use_threads_of_the_model_or_of_the_run(tmp_path):
    project = project_of(tmp_path, {"threads": 4}, a=suite({"plt": {}, "swnn": {"threads": 1}}))
    assert [
        project.models[name].threads or project.settings.threads for name in ("plt", "swnn")
    ] == [4, 1]


def test_minimum_probability_is_end_of_grid_or_the_one_of_the_suites(tmp_path):
    minima = {"min_probabilities": {"yeast": 0.01}}
    project = project_of(tmp_path, a=suite(**minima), b=suite(**minima))
    assert project.min_probability("yeast") == 0.01
    assert project.min_probability("bibtex") == 1 / max(GRID)


@pytest.mark.parametrize("other", [{}, {"min_probabilities": {"yeast": 0.02}}])
def test_suites_agree_on_the_minimum_probability_of_a_dataset(tmp_path, other):
    with raises_with(XmlcError, "b.yaml", "min_probabilities.yeast", "0.01", "a.yaml"):
        project_of(tmp_path, a=suite(min_probabilities={"yeast": 0.01}), b=suite(**other))
    with raises_with(XmlcError, "a.yaml", "min_probabilities.yeast", "1e-09", 1 / max(GRID)):
        project_of(tmp_path, a=suite(min_probabilities={"yeast": 1e-9}))


def test_synthetic_datasets_are_listed_from_the_catalogue(tmp_path):
    counted = {"published": {"n_train": 100, "n_test": 50, "d": 5, "m": 10, "source": "x"}}
    assert project_of(tmp_path, catalogue=MADE | {"counted": counted}).made == ["made"]


def test_forests_are_scored_at_the_sizes_of_all_suites(tmp_path):
    forests = {"forest": {"estimator": "fastxml"}, "other": {"estimator": "fastxml"}}
    suites = {
        "a": suite(forests | {"plt": {}}, ensembles={"models": ["forest"], "sizes": [10, 1]}),
        "b": suite(forests, ensembles={"models": ["forest", "other"], "sizes": [5, 1]}),
    }
    project = project_of(tmp_path, **suites)
    assert project.ensemble_sizes("forest") == [1, 5, 10]
    assert project.ensemble_sizes("other") == [1, 5]
    assert project.ensemble_sizes("plt") == []


def test_sweeps_and_extensions_belong_to_one_suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.py", "z.py"):
        (tmp_path / name).touch()
    sweep = {"model": "plt", "hyperparameter": "arity", "values": [2, 4], "datasets": {"wide": [2]}}
    own = suite(
        {"plt": {}},
        sweeps={"arity": sweep},
        extensions=["z.py", "b.py"],
        datasets=["yeast", "wide"],
    )
    project = project_of(tmp_path, a=own, b=suite(extensions=["b.py"]))
    found = sweep_options(project, "a", "arity", "yeast")
    options = ["--parameters", "{}", "--hyperparameter", "arity", "--value", "2"]
    assert found == [*options, "--value", "4"]
    assert sweep_options(project, "a", "arity", "wide") == options
    assert project.extensions == ["b.py", "z.py"]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"methods": ["fta", "halv"]}, ["methods", "halv"]),
        ({"extensions": ["absent.py"]}, ["extensions", "absent.py"]),
    ],
)
def test_planning_checks_methods_and_their_files(tmp_path, monkeypatch, given, facts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text('@register("half")\ndef half(spe, Y, priors, grid): ...\n')
    assert project_of(
        tmp_path / "config", a=suite({"plt": {}}, methods=["half"], extensions=["mine.py"])
    )
    with raises_with(XmlcError, "a.yaml", *facts):
        project_of(tmp_path / "config", a=suite({"plt": {}}, **given))


def test_configuration_and_thresholds_have_the_same_methods():
    assert {*THRESHOLD_METHODS} == {*METHODS} - {*MEASURE_METHODS}


def test_missing_files_of_estimates_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"estimator": "estimates", "hyperparameters": {"test": "scores/{dataset}/t-{seed}.npz"}}
    project = project_of(
        tmp_path, a=suite({"theirs": given}, datasets=["yeast", "scene"], seeds=[0, 1])
    )
    with raises_with(XmlcError, "theirs", "yeast, scene", "scores"):
        project.check_estimates("a")
    (tmp_path / "scores/yeast").mkdir(parents=True)
    (tmp_path / "scores/yeast/t-0.npz").touch()
    with raises_with(XmlcError, "a.yaml", "theirs", "scores/yeast/t-1.npz"):
        project.check_estimates("a")
    (tmp_path / "scores/yeast/t-1.npz").touch()
    assert project.check_estimates("a") == "skipped theirs on scene: found no estimates"
    with raises_with(XmlcError, "theirs", "tset"):
        project_of(tmp_path, a=suite({"theirs": given | {"hyperparameters": {"tset": "t.npz"}}}))


def test_sweep_skips_its_excluded_datasets(tmp_path):
    sweep = {"model": "plt", "hyperparameter": "solver", "values": ["sgd", "batch"]}
    few = sweep | {"without": {"wide": "it would take too long"}}
    sweeps = {"solver": sweep, "few": few, "other": sweep | {"model": "other"}}
    project = project_of(
        tmp_path, x=suite({"plt": {}, "other": {}}, sweeps=sweeps, datasets=["one", "wide"])
    )
    record = "results/{}/{}/seed0/full/sweeps/x/{}.json".format
    several = [record("one", "plt", "solver"), record("wide", "plt", "solver")]
    assert Where("sweep", "full", sweeps=["solver"]).files(project, "x") == several
    two = Where("sweep", "full", sweeps=["solver", "few", "unknown"])
    assert two.files(project, "x") == [several[0], record("one", "plt", "few"), several[1]]
    assert Where("sweep", "full", sweeps=["other"]).files(project, "x", ["one"]) == [
        record("one", "other", "other")
    ]


def test_model_steps_depend_on_command_and_custom_estimator(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("from xmlc.models.base import SparseProbabilityEstimator as Mine\n")
    models = {"plt": {}, "oracle": {"estimator": "oracle"}, "mine": {"estimator": f"{mine}:Mine"}}
    project = project_of(tmp_path / "config", catalogue=MADE, a=suite(models, datasets=["made"]))
    of_rank = {name: {*step_files("rank", *project.modules_for("rank", name))} for name in models}
    of_train = {
        name: {*step_files("train", *project.modules_for("train", name))} for name in models
    }
    for files in (of_rank["plt"], of_rank["mine"]):
        assert not any(file.endswith("models/oracle.py") for file in files)
    assert any(file.endswith("models/oracle.py") for file in of_rank["oracle"])
    assert str(mine) in of_rank["mine"] - of_rank["plt"]
    assert any(file.endswith("steps/rank.py") for file in of_rank["plt"] - of_train["plt"])


def test_missing_files_of_a_model_are_named_for_any_target(tmp_path):
    models = {
        "theirs": {
            "estimator": "estimates",
            "hyperparameters": {"test": f"{tmp_path}/{{dataset}}-{{seed}}.npz"},
        }
    }
    project = project_of(tmp_path / "config", a=suite(models))
    with raises_with(XmlcError, "a.yaml", "theirs", f"{tmp_path}/yeast-3.npz"):
        project.existing_files("theirs", "yeast", [3])
    (tmp_path / "yeast-3.npz").touch()
    assert project.existing_files("theirs", "yeast", [3]) == [f"{tmp_path}/yeast-3.npz"]


def test_missing_code_of_a_user_is_named(tmp_path):
    for file in (f"{tmp_path}/mine.py", f"{tmp_path}/extension.py"):
        with raises_with(XmlcError, file):
            step_files("thresholds", "xmlc.models.wrapped", file)


def test_shipped_configuration_has_no_contradictions():
    project = Project.read({"papers": ["plt2016"]}, ROOT / "config")
    assert list(project.suites)[-2:] == ["demo", "scale"]
    assert project.extensions == []
    assert set(chain.from_iterable(suite.all_models for suite in project.suites.values())) == set(
        project.models
    )


OF_POWERED = ["my_model.py:Powered", "powr", "power"]
CLASS_HERE = {"estimator": "my_model.py:Powered"}
MISTAKES = [
    ({"estimator": "pltt"}, ["pltt", "plt"]),
    ({"hyperparameters": {"random_state": 3}}, ["random_state", "seeds"]),
    ({"hyperparameters": {"n_jobs": 2}}, ["n_jobs", "threads"]),
    ({"search": {"ranges": {"random_state": [1, 2]}}}, ["random_state", "seeds"]),
    ({"hyperparameters": {"arty": 2}}, ["plt", "arty", "arity"]),
    ({"hyperparameters": {"arity": 1}}, ["arity", "1", "2"]),
    ({"search": {"stages": [[{"C": 1.0}, {"C": -1.0}]]}}, ["C", "-1.0", "0"]),
    ({"search": {"ranges": {"arty": [2]}}}, ["arty", "arity"]),
    ({"hyperparameters": {"arity": 63}}, ["models.mine", "arity=63", "power of two"]),
    ({"datasets": {"yeast": {"arity": 63}}}, ["models.mine", "arity=63"]),
    ({"search": {"stages": [[{"arity": 2}], [{"arity": 63}]]}}, ["models.mine", "arity=63"]),
    ({"search": {"stages": [[{"C": 2}]], "trial_overrides": {"arity": 0}}}, ["arity=0"]),
    ({"search": {"ranges": {"arity": {"low": 2, "high": 64}}}}, ["arity=2.0"]),
    ({"search": {"ranges": {"C": {"low": 0, "high": 2}}}}, ["C=0.0", "above 0"]),
    ({"search": {"ranges": {"C": {"low": "1", "high": 2}}}}, ["search.ranges.C", "'1'"]),
    ({"hyperparameters": {"epochs": "labels-per-instance"}}, ["epochs=", "labels-per-instance"]),
    ({"search": {"stages": [[{"tree": "labels-per-instance"}]]}}, ["tree=", "random"]),
    ({"hyperparameters": {"solver": "batch", "hash_bits": 20}}, ["hash_bits=20", "solver='sgd'"]),
    ({"estimator": "oplt", "hyperparameters": {"arity": 200}}, ["arity=200", "max_leaf=100"]),
    ({"estimator": "parabel", "hyperparameters": {"arity": 3}}, ["arity=3", "power of two"]),
    (
        {"estimator": "stacking", "hyperparameters": {"estimators": [["a", "pltt"]]}},
        ["estimators", "pltt", "plt"],
    ),
    ({"estimator": "oracle", "hyperparameters": {"k": 1}}, ["models.mine", "k"]),
    ({"estimator": "oracle"}, ["models.mine.estimator", "oracle", "synthetic"]),
    ({"search": {"ranges": {"C": {"low": 8, "high": 2}}}}, ["search.ranges.C", "8", "2"]),
    ({"estimator": "my_modell.py:Mine"}, ["my_modell.py"]),
    ({"estimator": "my_model.py:Miné"}, ["my_model.py", "Miné"]),
    (CLASS_HERE | {"hyperparameters": {"powr": 8}}, OF_POWERED),
    (CLASS_HERE | {"search": {"stages": [[{"powr": 8}]]}}, OF_POWERED),
    (
        {"estimator": "sklearn.dummy.DummyClassifier"},
        ["sklearn.dummy.DummyClassifier", "package.module:ClassName"],
    ),
    ({"estimator": "my_model:Mine"}, ["my_model.py:Mine"]),
    ({"estimator": "my_model.py"}, ["path/to/file.py:ClassName"]),
    ({"estimator": "broken.py:Mine"}, ["broken.py:2"]),
    ({"estimator": "my_model.py:Unfinished"}, ["my_model.py:Unfinished", "predict_proba"]),
    ({"estimator": "no_such:A"}, ["no_such:A", "No module named 'no_such'"]),
    ({"estimator": f"{KNN}s"}, ["sklearn.neighbors", "KNeighborsClassifiers"]),
    ({"estimator": KNN, "search": {"stages": [[{"k": 1}]]}}, [KNN, "'k'"]),
    (
        {"estimator": "sklearn.svm:LinearSVC"},
        ["LinearSVC", "predict_proba", "CalibratedClassifierCV"],
    ),
    ({"estimator": ONE_VS_REST}, ["'estimator'"]),
    ({"estimator": "subprocess:Popen"}, ["subprocess:Popen", "fit"]),
]


def test_trials_may_fit_only_to_trials_of_earlier_stages(tmp_path):
    stages = [[{"tree": "random"}], [{"arity": 63}, {"epochs": "labels-per-instance"}]]
    project_of(tmp_path, a=suite({"plt": {"search": {"stages": stages}}}))


@pytest.mark.parametrize(
    "values", [{"values": [16, 63]}, {"values": [16], "datasets": {"yeast": [2, 63]}}]
)
def test_values_of_a_sweep_are_in_the_domain(tmp_path, values):
    sweep = {"model": "plt", "hyperparameter": "arity"} | values
    with raises_with(XmlcError, "a.yaml", "models.plt", "arity=63"):
        project_of(tmp_path, a=suite({"plt": {}}, sweeps={"x": sweep}))


@pytest.mark.parametrize(("model", "facts"), MISTAKES)
def test_mistake_is_refused_with_file_model_value_and_nearest_name(
    model, facts, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    methods = "fit = predict_proba = lambda self: ..."
    powered = f"class Powered:\n    {methods}\n    def __init__(self, power=8): ...\n"
    Path("my_model.py").write_text(
        f"class Mine:\n    {methods}\n\nclass Unfinished:\n    def fit(self, X, Y): "
        f"...\n\n{powered}"
    )
    Path("broken.py").write_text("class Mine: ...\nx = (1,\n")
    with raises_with(XmlcError, "a.yaml", "mine", *facts):
        project_of(tmp_path / "config", a=suite({"mine": model}))
    project_of(tmp_path / "config", a=suite({"mine": {"estimator": "my_model.py:Mine"}}))
