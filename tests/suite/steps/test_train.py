"""Test `xmlc train` and `xmlc rank` with several seeds in one process."""

from itertools import chain, product

from command_line import run
from small_data import prepare_tiny, train

from xmlc.core.files import read_json


def test_several_seeds_in_one_process_equal_single_runs(tmp_path):
    data = ("--data", prepare_tiny(tmp_path))
    model = ("--estimator", "plt", "--name", "x", "--parameters", '{"epochs": 2}')
    value = ("--hyperparameter", "arity", "--value", "4")

    def each(folder, seeds, **options):
        runs = [
            (f"--{option}", tmp_path / folder / str(seed) / name)
            for seed, (option, name) in product(seeds, options.items())
        ]
        return list(chain.from_iterable(runs))

    for folder, *seeds in (("both", 0, 3), ("alone", 0), ("alone", 3)):
        given = []
        for seed in seeds:
            given += ("--seed", seed)
        assert (
            run(
                "train",
                *data,
                *model,
                *given,
                *each(folder, seeds, out="model", record="train.json"),
            )
            == 0
        )
        assert (
            run(
                "rank",
                *data,
                *each(folder, seeds, model="model", training="train.json", out="ranking"),
            )
            == 0
        )
        for seed in seeds:
            swept = each(folder, [seed], training="train.json", out="sweep.json")
            assert run("sweep", *data, *value, *swept) == 0
    for seed in ("0", "3"):
        both = tmp_path / "both" / seed
        alone = tmp_path / "alone" / seed
        names = {file.name for file in both.glob("model/*.npy")}
        assert names == {file.name for file in alone.glob("model/*.npy")} != set()
        assert all(
            (both / "model" / name).read_bytes() == (alone / "model" / name).read_bytes()
            for name in names
        )
        ranked = [read_json(at / "ranking/rank.json") for at in (both, alone)]
        swept = [read_json(at / "sweep.json") for at in (both, alone)]
        assert [record["seed"] for record in ranked + swept] == 4 * [int(seed)]
        assert (both / "ranking/labels.npy").read_bytes() == (
            alone / "ranking/labels.npy"
        ).read_bytes()
        assert swept[0]["rows"][0]["metrics"] == swept[1]["rows"][0]["metrics"]


def test_propensities_come_from_options_or_dataset_name(tmp_path, capsys):
    data = prepare_tiny(tmp_path)
    found = []
    assert run("rank", *train(tmp_path, data, "plt", epochs=1), "--out", tmp_path / "ranking") == 0
    for given in ((), ("--propensity", 0.55, 1.5), ("--propensity", 0.6, 2.6)):
        out = tmp_path / "ranking.json"
        assert (
            run("score", "--data", data, "--ranking", tmp_path / "ranking", "--out", out, *given)
            == 0
        )
        found.append([read_json(out)["metrics"][name] for name in ("psp@5", "psndcg@5", "r@5")])
        assert f"A = {given[1] if given else 0.55}" in capsys.readouterr().err
    assert found[0] == found[1] != found[2]
    assert found[0][2] == found[2][2] > 0


def test_options_of_several_runs_need_equal_counts(tmp_path, capsys):
    files = ("--out", tmp_path / "model", "--record", tmp_path / "train.json")
    given = (
        "--data",
        prepare_tiny(tmp_path),
        "--estimator",
        "plt",
        "--name",
        "x",
        "--seed",
        0,
        "--seed",
        1,
    )
    assert run("train", *given, *files) == 2
    assert "--seed 2 times, --out 1 times" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
