"""Test longer runs on a tiny copy of the project: other suites, a search, and failed datasets."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from project_copy import TINY, finished_demo
from scipy import sparse

from xmlc.core.files import read_json
from xmlc.data.writer import save_repository
from xmlc.suite.steps.prepared import Prepared

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_demo(tmp_path_factory.mktemp("project"))


def test_report_shows_finished_results_and_builds_no_table(finished):
    for command in ("results", "report"):
        assert finished.xmlc(command).returncode == 0
    page = (finished.folder / "results/report/demo.html").read_text()
    assert page.count("<article") == len(list(finished.folder.glob("results/tables/demo/*.csv")))
    assert set(pd.read_csv(finished.folder / "results/results.csv")["papers"]) == {"demo"}
    status = finished.xmlc("status", "papers=[demo]")
    assert status.returncode == 0, status.stdout + status.stderr
    assert "0 steps failed" in status.stdout


def test_status_does_not_count_results_with_other_settings_or_code(finished):
    with finished.restored("config/demo.yaml"):
        finished.edit_yaml(
            "config/demo.yaml", lambda suite: suite["models"]["plt"].update(title="Another title")
        )
        status = finished.xmlc("status", "papers=[demo]")
        assert status.returncode == 1
        done, planned = map(
            int, re.search(r"(\d+) of (\d+) results are done", status.stdout).groups()
        )
        assert 0 < done < planned
    assert finished.xmlc("status", "papers=[demo]").returncode == 0


def test_gfm2011_table_1_uses_inference_on_full_training_set(finished, multilabel):
    X, Y = multilabel(100, 15, 6)
    for part in ("train", "test"):
        save_repository(finished.folder / f"inference-mirror/small-set/{part}.txt", X, Y)
    settings = ("--config", "datasets=[small-set]", f"mirror={finished.folder}/inference-mirror")
    table = "results/tables/gfm2011/table1"
    planned = finished.planned(f"{table}.csv", *settings)
    assert planned == {"download": 1, "prepare": 1, "train": 2, "infer": 2, "table": 1}
    finished.run_well(f"{table}.csv", *settings)
    rows = pd.read_csv(finished.folder / f"{table}.csv")
    # The copy sorts the models by name.
    assert rows[["model", "method"]].to_numpy().tolist() == [["br", "gfm"], ["pcc", "gfm"]]
    assert rows["instance_f"].notna().all()
    assert rows[["draw_ms", "estimate_ms"]].notna().to_numpy().tolist() == [
        [False, True],
        [True, False],
    ]


def test_estimates_of_another_program_have_table_rows(finished):
    """Posteriors that are passed as another program's estimates give the rows of the oracle."""
    folder = finished.folder / "estimates"
    data = Prepared(finished.folder / "results/demo/data")
    given = {name: f"estimates/{name}.npz" for name in ("validation", "test")}
    theirs = {
        "estimator": "estimates",
        "datasets": {"demo": given},
        "provenance": {"all": "hand: a test"},
    }
    tables = [f"results/tables/demo/{name}.csv" for name in ("table2", "table4")]
    with finished.restored("config/demo.yaml"):
        finished.edit_yaml(
            "config/demo.yaml", lambda content: content["models"].update(theirs=theirs)
        )
        refused = finished.run(*tables)
        assert refused.returncode != 0
        assert "estimates/test.npz" in refused.stderr + refused.stdout
        folder.mkdir()
        for part, name in (("val", "validation"), ("test", "test")):
            sparse.save_npz(folder / f"{name}.npz", data.posteriors(part))
        finished.run_well(*tables)
        for table in tables:
            rows = pd.read_csv(finished.folder / table).set_index("model")
            scores = [
                name for name in rows if "macro_f" in name or name in ("a", "b", "fta", "sto")
            ]
            np.testing.assert_array_equal(
                rows.loc[["theirs"], scores], rows.loc[["oracle"], scores]
            )
            assert rows.loc[["theirs"]].filter(like="inner_products").isna().all(axis=None)
        assert "train" not in finished.planned(tables[0])
        sparse.save_npz(folder / "test.npz", data.posteriors("test") * np.float32(0.5))
        assert finished.planned(tables[0])["train"] == 1


def test_models_use_values_selected_by_search(finished):
    record = "results/demo/plt/seed7/80/train.json"  # The demo does not use this seed.
    searched = ("--config", "tuning={method: random, budget: 2}")
    assert "tune" not in finished.planned(record)
    assert finished.planned(record, *searched) == {"tune": 1, "train": 1}
    finished.run_well(record, *searched)
    result = read_json(finished.folder / "results/demo/tuning/plt.json")
    used = read_json(finished.folder / record)
    assert (used["tuning"]["method"], used["tuning"]["budget"]) == ("random", 2)
    assert result["best"]["hyperparameters"].items() <= used["hyperparameters"].items()
    assert finished.planned(record, *searched) == {}
    assert finished.planned(record, "--config", "tuning={method: random, budget: 3}") == {
        "tune": 1,
        "train": 1,
    }
    assert finished.planned(record) == {"train": 1}
    # Both experiments of the PLT depend on one search result. The oracle has no hyperparameters to
    # search.
    planned = finished.planned("demo", *searched)
    assert planned["train"] == 2
    assert "tune" not in planned


def test_one_command_runs_one_dataset_of_mirror(finished, multilabel):
    X, Y = multilabel(200, 15, 12)
    mirror = finished.folder / "my mirror"
    save_repository(mirror / "my-set/train.txt.xz", X, Y)
    save_repository(mirror / "my-set/test.txt", X[:80], Y[:80])
    settings = ("--config", "datasets=[my-set]", f"mirror={mirror}")
    planned = finished.planned("plt2016", *settings)
    # The PLT, the forest and Stacking are trained on the whole set and on 80 %.
    assert planned["train"] == 6
    assert planned["tune"] == 1  # Only the PLT is tuned, because it has no values for this dataset.
    finished.run_well("plt2016", *settings)
    assert " auto, " in (finished.folder / "results/tables/plt2016/table3.md").read_text()
    for model in ("PLT", "FastXML", "Stacking"):
        assert (
            f"| my-set    | {model}"
            in (finished.folder / "results/tables/plt2016/table2.md").read_text()
        )
    assert (finished.folder / "results/my-set/statistics.json").exists()
    assert np.load(finished.folder / "results/my-set/fastxml/seed0/full/model/roots.npy").size == 3
    assert finished.planned("plt2016", *settings) == {}


@pytest.mark.parametrize(
    ("paper", "model"), [("plt2016", "fastxml"), ("gfm2011", "br"), ("ldsm2020", "fastxml")]
)
def test_keep_going_finishes_model_despite_failing_dataset(finished, multilabel, paper, model):
    mirror = finished.folder / "another mirror"
    for part in ("train", "test"):
        save_repository(mirror / f"fine-set/{part}.txt", *multilabel(100, 15, 6))
        (mirror / "broken-set").mkdir(exist_ok=True)
        (mirror / f"broken-set/{part}.txt").write_text("2 3 2\n0 0:1\n1 1:\n")
    # Another test wrote these tables.
    shutil.rmtree(finished.folder / f"results/tables/{paper}", ignore_errors=True)
    settings = ("--config", f"models=[{model}]", f"mirror={mirror}", "tuning=null")
    assert (
        finished.run(paper, "--keep-going", *settings, "datasets=[fine-set, broken-set]").returncode
        == 1
    )
    last = finished.xmlc("status").stdout
    assert "1 step failed" in last.splitlines()[-1]
    assert "demo" not in last
    planned = finished.planned(paper, *settings, "datasets=[fine-set]")
    assert not {"download", "prepare", "train"} & set(planned), (
        "what does not need the other set is done"
    )
    finished.run_well(paper, *settings, "datasets=[fine-set]")
    assert finished.xmlc("status").returncode == 0
    assert "fine-set" in (finished.folder / f"results/tables/{paper}/table1.csv").read_text()


def test_one_thread_gives_equal_tables(finished):
    finished.run_well("demo")
    expected = finished.tables()
    for made in ("results/demo", "results/tables", "results/figures", "resources"):
        shutil.rmtree(finished.folder / made)
    finished.run_well("demo", "--cores", "1")
    assert finished.tables() == expected
    assert len(expected) == 5
    assert (
        read_json(finished.folder / "results/demo/plt/seed0/80/evaluation/sto.json")["costs"][
            "threads"
        ]
        == 1
    )


def test_scale_run_ranks_only_larger_dataset(finished):
    """The run has the sizes of the demo and one model, so that the demo's kernels are used."""
    sizes = {"amazon-670k-shape": TINY, "amazon-3m-shape": TINY | {"posteriors": False}}
    sets = {name: {"synthetic": tiny, "propensity": [0.6, 2.6]} for name, tiny in sizes.items()}
    few = {
        "methods": ["sto"],
        "models": {"plt": {"estimator": "plt", "hyperparameters": {"epochs": 2}}},
    }
    few["skip_thresholds"] = {"amazon-3m-shape": "a larger dataset"}
    with finished.restored("config/datasets.yaml", "config/scale.yaml"):
        finished.edit_yaml("config/datasets.yaml", lambda content: content.update(sets))
        finished.edit_yaml("config/scale.yaml", lambda content: content.update(few))
        finished.run_well("scale")
        assert finished.planned("scale") == {}
    tables = finished.folder / "results/tables/scale"
    ranked, tuned = (pd.read_csv(tables / f"table{n}.csv")["dataset"].tolist() for n in (1, 2))
    marked = ["amazon-670k-shape (synthetic)", "amazon-3m-shape (synthetic)"]
    assert (ranked, tuned) == (marked, marked[:1])
    estimates = read_json(
        finished.folder / "results/amazon-670k-shape/plt/seed0/80/spe/estimate.json"
    )
    assert estimates["min_probability"] == 0.01
    # Hyperparameters of other suites do not apply to the datasets of this suite.
    record = read_json(finished.folder / "results/amazon-3m-shape/plt/seed0/full/train.json")
    assert (record["hyperparameters"]["epochs"], record["hyperparameters"]["gamma"]) == (2, 1.0)
