"""Tables of Appendices F and G: a row for each value of what is varied, means over seeds."""

import pytest
from built_tables import build_from
from report_cases import sweep_over

ALPHAS, SHARES = (0.125, 0.5, 0.875), (0.05, 0.125, 0.5)


@pytest.fixture
def build(tmp_path):
    return lambda name, *records: build_from(tmp_path, name, "oplt2021", records)


def test_alpha_is_averaged_over_seeds(build):
    table = build("alpha", *(sweep_over("alpha", ALPHAS, seed=seed, p1=0.6 + 0.01 * seed) for seed in range(3)))
    assert table.frame["alpha"].tolist() == [0.125, 0.5, 0.875]
    assert table.frame["p@1"].tolist() == pytest.approx([61, 63, 65])
    assert table.frame["depth"].tolist() == [3, 5, 7]
    assert table.frame["seeds"].tolist() == [3, 3, 3]
    assert "3 passes" in table.caption
    assert "2 threads" in " ".join(table.notes)


def test_samples_stand_side_by_side_for_both_methods(build):
    records = [
        sweep_over(hyperparameter, SHARES, name, model)
        for hyperparameter, model in (("warm_start", "oplt-w-3-passes"), ("max_samples", "iplt-3-passes"))
        for name in ("yeast", "bibtex")
    ]
    frame = build("warm-start", *records).frame
    rows = frame[["dataset", "sample", "model"]].to_numpy().tolist()
    assert rows[:3] == [["yeast", 5, "oplt-w-3-passes"], ["yeast", 5, "iplt-3-passes"],
                        ["yeast", 12.5, "oplt-w-3-passes"]]  # fmt: skip
    assert [name for name, *_ in rows] == ["yeast"] * 6 + ["bibtex"] * 6
    assert frame["p@1"].tolist()[:6] == pytest.approx([60, 60, 62, 62, 64, 64])


def test_policies_by_name(build):
    names = ("best_greedy", "complete", "one_vs_rest")
    table = build("policies", sweep_over("policy", names))
    assert table.frame["policy"].tolist() == list(names)
    assert {"p@1", "p@3", "p@5", "depth", "nodes", "train_seconds", "predict_ms"} <= {*table.frame}
