"""Test the tables of plt2016 on handmade records: rows, panels, bold and published values."""

import pytest
import yaml
from built_tables import build_from, headings, lines, texts
from facts import absent
from report_cases import every_measure, every_method, ranking, thresholds

from xmlc.metrics.measures import TUNABLE_MEASURES
from xmlc.suite.papers.printing import to_csv, to_latex, to_markdown


@pytest.fixture
def build(tmp_path):
    def make(name, records, printed=None, paper="plt2016", models=None):
        return build_from(tmp_path, name, paper, records, printed and {name: printed}, models)

    return make


def cells(panel):
    """Return the cells of a panel by row and heading. Bold cells have asterisks."""
    found = {}
    names, rows = panel.printed()
    for line in rows:
        row = " ".join(text for text, _ in line[: len(panel.names)])
        for heading, (text, bold) in zip(names, line, strict=True):
            found[row, heading] = f"*{text}*" if bold else text
    return found


def bold(panel):
    """Return the rows and headings of bold cells."""
    return {place for place, text in cells(panel).items() if text.startswith("*")}


def test_table_1_shows_measured_and_published_numbers(build):
    published = "dataset,model,m,p@1,train_minutes\nyeast,plt,14,63.4,64\n"
    records = [ranking(), ranking(model="fastxml", p1=0.6, seconds=30.0)]
    table = build("table1", records, published)
    assert table.content["model"].tolist() == ["plt", "fastxml"]
    names = ["p@3", "ndcg@5", "train_minutes", "model_mb"]
    assert table.content.loc[0, names].tolist() == [25, 15, 1.5, 2.5]
    datasets, scores = table.panels
    assert len(datasets.rows) == 1
    assert cells(datasets)["yeast", "#labels (paper)"] == "14"
    printed = {
        ("yeast PLT", "P@1 (%)"): "*75.00*",
        ("yeast FastXML", "Time (min)"): "*0.500*",
        ("yeast PLT", "P@1 (paper)"): "63.4",
        ("yeast FastXML", "P@1 (paper)"): "–",
    }
    assert cells(scores).items() >= printed.items()
    assert "P@3 (paper)" not in headings(scores)


def test_note_names_search(build):
    exact = ranking(hyperparameters={"search": "certified", "beam": 10})
    beam = ranking(model="plt-hinge", hyperparameters={"search": "beam", "beam": 10})
    forest = ranking(model="fastxml")
    notes = build("table1", [exact, beam, forest]).notes
    first, second = [line for line in notes if "Search" in line]
    assert absent(first, "certified", "PLT") == []
    assert absent(second, "beam", "PLT, batch, hinge") == []


def test_table_2_shows_measured_and_published_numbers(build):
    published = (
        "dataset,model,method,macro_f,test_ms,inner_products\nyeast,plt,sto,21.16,0.78,354\n"
    )
    table = build("table2", every_method(), published)
    assert table.content["method"].tolist() == ["fta", "sto", "ofo", "fta-labelwise"]
    row = table.content.set_index("method").loc["ofo"]
    names = ["macro_f", "test_ms", "inner_products", "macro_f_zero", "validation_macro_f"]
    assert row[names].tolist() == pytest.approx([42, 0.25, 55, 21, 52])
    assert (row["c"], row["a"], row["b"]) == (10, 1, 10)
    assert {"macro_f_present", "hamming_loss", "test_threads"} <= set(table.content)
    scores, times, products = (cells(panel) for panel in table.panels)
    assert scores["yeast PLT", "OFO"] == "*42.00*"
    assert scores["yeast PLT", "STO (paper)"] == "21.16"
    assert [name for name in headings(table.panels[0]) if "paper" in name] == ["STO (paper)"]
    assert times["yeast PLT", "STO (paper)"] == "0.78"
    assert products["yeast PLT", "FTA"] == "55"


def test_methods_without_labels_have_a_named_row_per_training_split(build):
    full = thresholds(method="expected-f", f=0.5) | {"split": "full", "grid": []}
    full["best"]["validation"] = {}
    table = build("table2", [*every_method(), thresholds(method="expected-f", f=0.45), full])
    assert table.content["method"].tolist()[-2:] == ["expected-f", "expected-f-full"]
    assert table.content["validation_macro_f"].isna().tolist() == [False] * 5 + [True]
    scores = cells(table.panels[0])
    assert scores["yeast PLT", "expected F"] == "*45.00*"
    # the only method with all training data
    assert scores["yeast PLT", "expected F †"] == "50.00"


def test_table_4_shows_measured_and_published_numbers(build):
    published = (
        "model,dataset,a,b,validation_macro_f,test_macro_f,fta,sto\n"
        "plt,yeast,300,20000,22.20,22.00,20.41,21.16\n"
    )
    records = every_method("scene") + every_method() + every_method("scene", "fastxml", f=0.5)
    table = build("table4", records, published)
    keys = table.content[["model", "dataset"]].to_numpy().tolist()
    assert keys == [["plt", "scene"], ["plt", "yeast"], ["fastxml", "scene"]]
    names = ["a", "b", "validation_macro_f", "test_macro_f", "fta", "sto"]
    assert table.content.loc[1, names].tolist() == pytest.approx([1, 10, 53, 43, 40, 35])
    (panel,) = table.panels
    printed = {
        ("PLT yeast", "OFO (%)"): "*43.00*",
        ("PLT yeast", "OFO (paper)"): "22.00",
        # The best of a dataset is chosen over all models, as in the paper.
        ("PLT scene", "OFO (%)"): "43.00",
        ("FastXML scene", "OFO (%)"): "*53.00*",
    }
    assert cells(panel).items() >= printed.items()


def test_oracle_is_never_bold_and_all_tied_best_are(build):
    tied = [ranking(p1=0.5), ranking(model="fastxml", p1=0.5)]
    assert not bold(build("table1", tied).panels[1])
    others = [ranking(model="late", p1=0.4), ranking(model="oracle", p1=0.9)]
    marked = bold(build("table1", tied + others).panels[1])
    best = {row for row, heading in marked if heading == "P@1 (%)"}
    assert best == {"yeast PLT", "yeast FastXML"}


def test_only_studies_show_macro_f_over_present_labels_first(build):
    records = every_method()
    for record in records:
        record["best"]["test"]["macro_f_present"] = 1 - record["best"]["test"]["macro_f"]
    present, empty = build("table2", records, paper="suite").panels[:2]
    assert cells(present)["yeast PLT", "STO"] == "*65.00*"
    assert cells(empty)["yeast PLT", "STO"] == "35.00"
    assert not bold(empty)
    of_demo = build("table2", records, paper="demo").panels[0]
    assert cells(of_demo)["yeast PLT", "OFO"] == "*42.00*"


USED = {"arity": 16, "gamma": 4.91, "lam": 2.64e-4, "solver": "sgd"}
PLT = yaml.safe_load("""
search:
  ranges:
    arity: {low: 2, high: 256, integer: true}
    gamma: {low: 1.0e-6, high: 10, log: true}
    solver: [sgd, adagrad]
datasets: {yeast: {gamma: 4.91}, scene: {gamma: 0.5}}
selected:
  yeast: {by: "random search, 40 trials", p@1: 0.7767}
  scene: {by: nobody, p@1: 0.5}
""")
PUBLISHED = "dataset,model,hyperparameter,low,high\nall,plt,gamma,0.000001,10\n"


def test_hyperparameters_are_shown_with_ranges_and_search(build):
    search = {"method": "smac", "budget": 20, "seed": 0, "p@1": 0.8}
    records = [
        ranking(hyperparameters=USED, seed=0),
        ranking(hyperparameters=USED, seed=1),
        ranking(model="oracle", hyperparameters={}),
        ranking("scene", hyperparameters=USED),  # differs from the value in the suite
        ranking("bibtex", hyperparameters=USED, tuning=search),
    ]
    table = build("table3", records, PUBLISHED, models={"plt": PLT, "oracle": {}})
    ranges, chosen = table.panels
    assert headings(ranges)[2:] == ["Low", "High", "Scale", "Low (paper)", "High (paper)"]
    assert texts(ranges) == [
        ["PLT", "arity b", "2", "256", "uniform, integers", "–", "–"],
        ["PLT", "gamma", "1e-06", "10", "logarithmic", "0.000001", "10"],
        ["PLT", "solver", "–", "–", ranges.cells[2][2].value, "–", "–"],
    ]
    assert texts(chosen) == [
        ["yeast", "16", "4.91", "sgd", "77.67", "random search, 40 trials"],
        ["scene", "16", "4.91", "sgd", "–", "–"],
        ["bibtex", "16", "4.91", "sgd", "80.00", "SMAC, 20 trials"],
    ]
    assert "Bold" not in to_markdown(table)
    assert to_latex(table).count(r"\caption") == 2
    rows = to_csv(table).splitlines()
    assert rows[1].startswith("all,plt,arity,2,256,")
    assert rows[4].startswith("yeast,plt,arity,,,,16,77.6")
    assert len(rows) == 1 + 3 + 3 * 3


def test_untuned_dataset_shows_values_of_its_search(build):
    """Models without ranges have a panel only if a search was run for them."""
    search = {"method": "auto", "budget": 3, "seed": 0, "p@1": 0.8}
    auto = {"stages": [[{"learning_rate": 0.1}, {"learning_rate": 1}], [{"unit_norm": True}]]}
    used = {"learning_rate": 0.1, "unit_norm": True}
    staged = PLT["search"] | {"stages": [[{"gamma": 1, "lam": 1}]]}
    models = {"plt": PLT | {"search": staged}, "ldsm": {"search": auto}, "swnn": {"search": auto}}
    records = [
        ranking("my-set", hyperparameters=USED, tuning=search),
        ranking("my-set", "ldsm", hyperparameters=used, tuning=search),
        ranking("yeast", "ldsm", hyperparameters=used),
        ranking("yeast", "swnn", hyperparameters=used),
    ]
    plt, ldsm = build("table3", records, PUBLISHED, models=models).panels[1:]
    assert headings(plt)[1:5] == ["arity b", "gamma", "solver", "lambda"]
    assert texts(plt) == [["my-set", "16", "4.91", "sgd", "0.000264", "80.00", "auto, 3 trials"]]
    assert texts(ldsm) == [["my-set", "0.1", "true", "80.00", "auto, 3 trials"]]


def test_each_measure_has_a_row_with_its_tuned_value_in_brackets(build):
    records = every_measure("yeast") + every_measure("bibtex") + every_method("yeast")
    table = build("measures", records, paper="demo")
    keys = ["dataset", "model", "tuned_for"]
    assert table.content.columns[:12].tolist() == [*keys, *TUNABLE_MEASURES]
    assert table.content["tuned_for"].tolist() == 2 * [*TUNABLE_MEASURES]
    assert table.content["dataset"].tolist() == 9 * ["yeast"] + 9 * ["bibtex"]
    names = ["micro_f", "macro_jaccard", "predicted_per_instance"]
    assert table.content.loc[3, names].tolist() == [50, 49, 1.5]
    (panel,) = table.panels
    assert headings(panel)[:5] == ["Dataset", "Tuned for", "Macro-F", "Macro-F2", "Macro-Jaccard"]
    assert [row[1] for row in texts(panel)[:3]] == headings(panel)[2:5]
    for i, line in enumerate(lines(panel)):
        marked = [j for j, (text, is_bold) in enumerate(line) if is_bold or text[0] == "["]
        assert marked == [2 + i % 9]
        assert line[marked[0]] == ("[50.00]", True)


def test_method_of_earlier_version_has_no_row(build):
    (record,) = [record for record in every_measure() if record["method"] == "for-micro-f"]
    earlier = record | {"method": "for-micro-f-labelwise"}
    assert build("measures", [record, earlier]).content["tuned_for"].tolist() == ["micro_f"]
