"""The table `scale`: costs of steps, and their growth with the data."""

import pytest
from built_tables import build_from
from report_cases import dataset

from xmlc.papers.common.steps import EVERY, TOTAL


def step(name, model=None, portion=None, method=None, seconds=10.0, peak=3e8, written=None, threads=2):
    costs = {"seconds": seconds, "peak_bytes": peak, "written_bytes": written, "threads": threads, "cpu": "a CPU"}
    costs["cpu_seconds"] = 2 * seconds
    return {"name": name, "dataset": "shape", "model": model, "portion": portion, "method": method, **costs}


def trained(portion, seed=0, **costs):
    record = {"dataset": dataset("shape"), "hyperparameters": {"arity": 16, "beam": None}, "seed": seed}
    return record | {"step": step("train", "plt", portion, **costs)}


def a_run():
    part = {"instances": 300, "inner_products_per_instance": None, "ms_per_instance": 0.5}
    parts = {name: part | {"estimates_per_instance": n} for name, n in (("val", 28.25), ("test", 30.0))}
    return [
        {"step": step("synth", seconds=30.5, peak=2e9, written=4e9)},
        {"step": step("prepare", seconds=20.0, written=3e9, threads=1)},
        trained("full", seconds=600.0, peak=9.9e9, written=1.5e9),
        {"step": step("rank", "plt", "full", seconds=50.25)},
        trained("80", seconds=500.0, written=1.2e9),
        {"floor": 0.01, "parts": parts, "step": step("estimate", "plt", "80", written=2e8)},
        {"step": step("threshold", "plt", "80", "sto", written=5e5, threads=1)},
        {"step": step("evaluate", "plt", "80", "sto")},
    ]


@pytest.fixture
def build_steps(tmp_path):
    return lambda records: build_from(tmp_path, "scale", "scale", records)


def test_every_step_has_a_row_and_all_together_have_the_last(build_steps):
    frame = build_steps(a_run()).frame
    titles = "synth; prepare; train, 100 %; rank; train, 80 %; estimate; threshold, STO; evaluate, STO"
    assert frame["step"].tolist() == [*titles.split("; "), TOTAL]
    assert frame["model"].tolist() == [EVERY, EVERY, *["plt"] * 6, EVERY]
    rows = frame.set_index("step")
    assert rows.loc["train, 100 %", ["step_seconds", "step_peak_mb", "disk_mb"]].tolist() == [600, 9900, 1500]
    assert rows.loc[TOTAL, ["step_seconds", "step_peak_mb"]].tolist() == [30.5 + 20 + 600 + 50.25 + 500 + 30, 9900]
    assert rows.loc[TOTAL, "disk_mb"] == pytest.approx(4000 + 3000 + 1500 + 1200 + 200 + 0.5)
    assert rows["step_threads"].tolist() == [2, 1, 2, 2, 2, 2, 1, 2, 2]
    assert (rows["cpu_seconds"] == 2 * rows["step_seconds"]).all()
    assert not rows.filter(like="_growth").notna().any().any()


def larger(record):
    """Return a step of another dataset, with four times the seconds and other settings."""
    own = dict(record, step=dict(record["step"], dataset="large"))
    own["step"] |= {name: 4 * own["step"][name] for name in ("seconds", "cpu_seconds")}
    if "dataset" in own:
        own["dataset"] = dict(dataset("large"), n_train=6000, labels_per_instance=2 * 4.24)
        own["hyperparameters"] = {"arity": 64}
    return own


def test_steps_of_a_second_dataset_stand_beside_the_same_steps_of_the_first(build_steps):
    run = a_run()
    built = build_steps([*run, *[larger(record) for record in run[:4]]])
    rows = built.frame.set_index(["dataset", "step"])
    assert rows.loc["large", "step_seconds_growth"].tolist()[:-1] == [4] * 4
    assert rows.loc["large", "cpu_seconds_growth"].tolist()[:-1] == [4] * 4
    assert rows.loc["large", "step_peak_mb_growth"].tolist()[:-1] == [1] * 4
    assert rows.loc["large", "disk_mb_growth"].tolist()[:3] == [1] * 3
    # All steps are other steps there.
    assert not rows.loc[[("large", TOTAL)]].filter(like="_growth").notna().any().any()
    assert not rows.loc["shape"].filter(like="_growth").notna().any().any()


def test_seeds_are_averaged_and_not_summed(build_steps):
    contents = [*a_run(), trained("full", seed=1, seconds=700.0, peak=1e10, written=1.5e9)]
    rows = build_steps(contents).frame.set_index("step")
    assert rows.loc["train, 100 %", ["step_seconds", "seeds"]].tolist() == [650, 2]
    assert rows.loc[TOTAL, "step_seconds"] == pytest.approx(30.5 + 20 + 650 + 50.25 + 500 + 30)
