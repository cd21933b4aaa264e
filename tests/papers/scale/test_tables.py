"""The tables of the suite scale: costs of steps, and their growth with the data."""

import pytest
from built_tables import build_from
from report_cases import dataset, ranking

from xmlc.core.errors import XmlcError
from xmlc.papers.scale.tables import EVERY, TOTAL
from xmlc.papers.tables.table import to_csv, to_markdown


@pytest.fixture
def build(tmp_path):
    return lambda records: build_from(tmp_path, "growth", "scale", records)


def grown(name, factor=1.0, model="plt"):
    record = ranking(name=f"growth-{name}", model=model, seconds=4.0 * factor)
    record["costs"] |= {"model_bytes": 1e6 * factor**2, "predict_ms_per_instance": 0.5}
    return record


def test_growth_is_the_ratio_to_the_base_of_the_same_model(build):
    records = [grown("base"), grown("n-x2", 2.5), grown("labels-x8", 3.0)]
    records += [grown("n-x2", 3.0, "plt-batch"), grown("base", 2.0, "plt-batch")]
    table = build(records)
    frame = table.frame
    assert frame["multiplied"].tolist() == ["base", "n x 2", "labels x 8", "n x 2", "base"]
    assert frame["train_seconds"].tolist() == [4, 10, 12, 12, 8]
    assert frame["train_seconds_ratio"].tolist() == [1, 2.5, 3, 1.5, 1]
    assert frame["model_mb_ratio"].tolist() == [1, 6.25, 9, 2.25, 1]
    assert frame["predict_ms_ratio"].tolist() == [1] * 5
    assert [panel.title for panel in table.panels] == ["PLT", "PLT, batch"]
    assert "| n x 2 | 10 | 2.50 | 0.500 | 1.00 | 6.25 | 6.25 | 200 | 1.00 |" in " ".join(to_markdown(table).split())
    assert to_csv(table).startswith("model,dataset,multiplied,n_train,d,m,")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["growth-n-x2"], "found none to compare with"),
        (["growth-base", "other-base"], "found growth-base, other-base to compare with"),
        (["growth-base", "yeast"], "expected a name such as growth-base or growth-n-x2"),
    ],
)
def test_growth_needs_one_base_and_names_that_tell_the_factor(build, names, message):
    with pytest.raises(XmlcError, match=message):
        build([ranking(name=name) for name in names])


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
