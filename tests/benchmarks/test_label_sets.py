"""docs/label_sets.md: its figure is that of results/benchmarks/expected-f.csv."""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/label_sets.py"))


def test_figure_shows_measurements():
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](MAKER["read"]())) + "\n"
    assert MAKER["FIGURE"].stat().st_size < 20_000


def test_every_dataset_and_model_has_a_line():
    gains = MAKER["read"]()
    assert len(gains) > 5
    for name, models in gains.items():
        assert models.keys() <= {"PLT", "PLT (SGD)", "FastXML", "SWNN"} or name == "attentionxml-eurlex"
        assert all(low - 0.005 <= gain <= high + 0.005 for of in models.values() for gain, low, high in of.values())
