"""Test `xmlc train` and `xmlc rank` with several seeds in one process."""

import pytest
from command_line import run
from facts import contents
from small_data import prepare_tiny, train

from xmlc.core.files import read_json


@pytest.fixture
def data(tmp_path):
    return ("--data", prepare_tiny(tmp_path))


def test_several_seeds_in_one_process_equal_single_runs(tmp_path, data):
    model = ("--estimator", "plt", "--name", "x", "--parameters", '{"epochs": 2}')
    swept = ("--hyperparameter", "arity", "--value", "4")

    def run_each(folder, seeds):
        """Train and rank with all seeds in one process each, and run a sweep for each seed."""
        trained = []
        ranked = []
        for seed in seeds:
            out = tmp_path / folder / str(seed)
            record = out / "train.json"
            trained += ["--seed", seed, "--out", out / "model", "--record", record]
            ranked += ["--model", out / "model", "--training", record, "--out", out / "ranking"]
        assert run("train", *data, *model, *trained) == 0
        assert run("rank", *data, *ranked) == 0
        for seed in seeds:
            out = tmp_path / folder / str(seed)
            about = ("--training", out / "train.json", "--out", out / "sweep.json")
            assert run("sweep", *data, *swept, *about) == 0

    run_each("both", [0, 3])
    run_each("alone", [0])
    run_each("alone", [3])
    both = contents(tmp_path / "both")
    alone = contents(tmp_path / "alone")
    assert both.keys() == alone.keys()
    arrays = [name for name in both if name.suffix == ".npy"]
    assert len(arrays) > 2
    assert [name for name in arrays if both[name] != alone[name]] == []
    for seed in (0, 3):
        files = [tmp_path / folder / str(seed) for folder in ("both", "alone")]
        assert read_json(files[0] / "ranking/rank.json")["seed"] == seed
        one, other = (read_json(folder / "sweep.json") for folder in files)
        assert one["seed"] == seed
        assert one["rows"][0]["metrics"] == other["rows"][0]["metrics"]


def test_propensities_come_from_options_or_dataset_name(tmp_path, data, capsys):
    ranking = tmp_path / "ranking"
    assert run("rank", *train(tmp_path, data[1], "plt", epochs=1), "--out", ranking) == 0
    out = tmp_path / "ranking.json"
    found = []
    for given in ((), ("--propensity", 0.55, 1.5), ("--propensity", 0.6, 2.6)):
        assert run("score", *data, "--ranking", ranking, "--out", out, *given) == 0
        metrics = read_json(out)["metrics"]
        found.append([metrics[name] for name in ("psp@5", "psndcg@5", "r@5")])
    assert "A = 0.6" in capsys.readouterr().err
    assert found[0] == found[1] != found[2]
    assert found[0][2] == found[2][2] > 0


def test_options_of_several_runs_need_equal_counts(tmp_path, data, capsys):
    files = ("--out", tmp_path / "model", "--record", tmp_path / "train.json")
    given = ("--estimator", "plt", "--name", "x", "--seed", 0, "--seed", 1)
    assert run("train", *data, *given, *files) == 2
    assert "--seed 2 times, --out 1 times" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
