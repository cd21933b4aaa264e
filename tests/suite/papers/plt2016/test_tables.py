"""Test the tables of plt2016 on handmade records: rows, panels, bold and published values."""

from itertools import chain

import pytest
from built_tables import build_from, headings, lines, texts
from facts import absent
from report_cases import every_measure, every_method, ranking, thresholds

from xmlc.metrics.measures import TUNABLE_MEASURES
from xmlc.suite.papers.printing import to_csv, to_latex, to_markdown


@pytest.fixture
def build(tmp_path):
    def make(name, records, printed=None, paper="plt2016"):
        return build_from(tmp_path, name, paper, records, printed and {name: printed})

    return make


def cells(panel):
    """Return the cells of a panel by row key and heading. Bold cells have asterisks."""
    found = {}
    names, rows = panel.printed()
    for line in rows:
        key = tuple(text for text, _ in line[: len(panel.names)])
        for heading, (text, bold) in zip(names, line, strict=True):
            found[key, heading] = f"*{text}*" if bold else text
    return found


def test_table_1_shows_measured_and_published_numbers(build):
    published = "dataset,model,m,p@1,train_minutes\nyeast,plt,14,63.4,64\n"
    table = build("table1", [ranking(), ranking(model="fastxml", p1=0.6, seconds=30.0)], published)
    assert table.content[["dataset", "model"]].to_numpy().tolist() == [
        ["yeast", "plt"],
        ["yeast", "fastxml"],
    ]
    assert table.content.loc[0,
        ["m", "p@1", "p@3", "ndcg@5", "train_minutes", "model_mb", "seeds"]].tolist() == [
        14, 75, 25, 15, 1.5, 2.5, 1
    ]  # fmt: skip
    datasets, scores = table.panels
    assert len(datasets.rows) == 1
    assert cells(datasets)[("yeast",), "#labels (paper)"] == "14"
    printed = {
        (("yeast", "PLT"), "P@1 (%)"): "*75.00*",
        (("yeast", "FastXML"), "P@1 (%)"): "60.00",
        (("yeast", "FastXML"), "Time (min)"): "*0.500*",
        (("yeast", "PLT"), "P@1 (paper)"): "63.4",
        (("yeast", "FastXML"), "P@1 (paper)"): "–",
    }
    assert cells(scores).items() >= printed.items()
    assert "P@3 (paper)" not in headings(scores)


def test_note_names_search(build):
    exact = ranking(hyperparameters={"search": "certified", "beam": 10})
    beam = ranking(model="plt-hinge", hyperparameters={"search": "beam", "beam": 10})
    notes = [line for line in build("table1", [exact, beam]).notes if "Search" in line]
    assert (
        absent(notes[0], "certified", "PLT") == absent(notes[1], "beam", "PLT, batch, hinge") == []
    )
    assert len(notes) == 2
    assert not any("Search" in line for line in build("table1", [ranking(model="fastxml")]).notes)


def test_table_2_shows_measured_and_published_numbers(build):
    published = (
        "dataset,model,method,macro_f,test_ms,inner_products\nyeast,plt,sto,21.16,0.78,354\n"
    )
    table = build("table2", every_method(), published)
    assert table.content["method"].tolist() == ["fta", "sto", "ofo", "fta-labelwise"]
    row = table.content.set_index("method").loc["ofo"]
    assert row[["macro_f", "test_ms", "inner_products"]].tolist() == pytest.approx([42, 0.25, 55])
    assert row["macro_f_zero"] == pytest.approx(21)
    assert row["validation_macro_f"] == pytest.approx(52)
    assert (row["c"], row["a"], row["b"]) == (10, 1, 10)
    wanted = {
        "macro_f_present",
        "macro_f_seen",
        "micro_f",
        "instance_f",
        "hamming_loss",
        "test_threads",
    }
    assert wanted <= set(table.content)
    scores, times, products = (cells(panel) for panel in table.panels)
    assert scores[("yeast", "PLT"), "OFO"] == "*42.00*"
    assert scores[("yeast", "PLT"), "FTA label-wise"] == "41.00"
    assert scores[("yeast", "PLT"), "STO (paper)"] == "21.16"
    assert [heading for heading in headings(table.panels[0]) if "paper" in heading] == [
        "STO (paper)"
    ]
    assert times[("yeast", "PLT"), "STO (paper)"] == "0.78"
    assert products[("yeast", "PLT"), "FTA"] == "55"


def test_methods_without_labels_have_a_named_row_per_training_split(build):
    full = thresholds(method="expected-f", f=0.5) | {"split": "full", "grid": []}
    full["best"]["validation"] = {}
    table = build("table2", [*every_method(), thresholds(method="expected-f", f=0.45), full])
    assert table.content["method"].tolist()[-2:] == ["expected-f", "expected-f-full"]
    assert table.content["validation_macro_f"].isna().tolist() == [False] * 5 + [True]
    scores = cells(table.panels[0])
    assert scores[("yeast", "PLT"), "expected F"] == "*45.00*"
    # the only method with all training data
    assert scores[("yeast", "PLT"), "expected F †"] == "50.00"


def test_table_4_shows_measured_and_published_numbers(build):
    published = (
        "model,dataset,a,b,validation_macro_f,test_macro_f,fta,sto\n"
        "plt,yeast,300,20000,22.20,22.00,20.41,21.16\n"
    )
    records = every_method("scene") + every_method() + every_method("scene", "fastxml", f=0.5)
    table = build("table4", records, published)
    assert table.content[["model", "dataset"]].to_numpy().tolist() == [
        ["plt", "scene"], ["plt", "yeast"], ["fastxml", "scene"]
    ]  # fmt: skip
    scores = table.content.iloc[1][
        ["a", "b", "validation_macro_f", "test_macro_f", "fta", "sto"]
    ].tolist()
    assert scores == pytest.approx([1, 10, 53, 43, 40, 35])
    (panel,) = table.panels
    printed = cells(panel)
    assert printed[("PLT", "yeast"), "OFO (%)"] == "*43.00*"
    assert printed[("PLT", "yeast"), "OFO, valid. (%)"] == "53.00"
    assert printed[("PLT", "yeast"), "OFO (paper)"] == "22.00"
    assert printed[("PLT", "yeast"), "b (paper)"] == "20000"
    # The best of a dataset is chosen over all models, as in the paper.
    assert printed[("PLT", "scene"), "OFO (%)"] == "43.00"
    assert printed[("FastXML", "scene"), "OFO (%)"] == "*53.00*"


def test_oracle_is_never_bold_and_all_tied_best_are(build):
    records = [ranking(p1=0.5), ranking(model="fastxml", p1=0.5), ranking(model="late", p1=0.4)]
    printed = cells(build("table1", [*records, ranking(model="oracle", p1=0.9)]).panels[1])
    marked = {
        key[0][1] for key, text in printed.items() if key[1] == "P@1 (%)" and text.startswith("*")
    }
    assert marked == {"PLT", "FastXML"}


def test_equal_values_are_not_bold(build):
    printed = cells(build("table1", [ranking(), ranking(model="fastxml")]).panels[1])
    assert not [text for text in printed.values() if text.startswith("*")]


def test_table_without_published_values_does_not_mention_paper(build):
    text = to_markdown(build("table2", every_method(), paper="demo"))
    assert "paper" not in text
    assert text.startswith("**Table 2, demo.**")


def test_only_studies_show_macro_f_over_present_labels_first(build):
    records = every_method()
    for record in records:
        record["best"]["test"]["macro_f_present"] = 1 - record["best"]["test"]["macro_f"]
    present, empty = build("table2", records, paper="suite").panels[:2]
    assert (cells(present)[("yeast", "PLT"), "STO"], cells(empty)[("yeast", "PLT"), "STO"]) == (
        "*65.00*",
        "35.00",
    )
    assert not [text for text in cells(empty).values() if text.startswith("*")]
    assert (
        cells(build("table2", records, paper="demo").panels[0])[("yeast", "PLT"), "OFO"]
        == "*42.00*"
    )


USED = {"arity": 16, "gamma": 4.91, "lam": 2.64e-4, "solver": "sgd"}
PLT = {
    "search": {
        "ranges": {
            "arity": {"low": 2, "high": 256, "integer": True},
            "gamma": {"low": 1e-6, "high": 10, "log": True},
            "solver": ["sgd", "adagrad"],
        }
    },
    "datasets": {"yeast": {"gamma": 4.91}, "scene": {"gamma": 0.5}},
    "selected": {
        "yeast": {"by": "random search, 40 trials", "p@1": 0.7767},
        "scene": {"by": "nobody", "p@1": 0.5},
    },
}
PUBLISHED = "dataset,model,hyperparameter,low,high\nall,plt,gamma,0.000001,10\n"


@pytest.fixture
def build_hyperparameters(tmp_path):
    searched = {"plt": PLT, "oracle": {}}
    return lambda records, models=searched: build_from(
        tmp_path, "3", "plt2016", records, {"table3": PUBLISHED}, models
    )


def test_search_ranges_are_shown_with_published_ranges(build_hyperparameters):
    table = build_hyperparameters(
        [ranking(hyperparameters=USED), ranking(model="oracle", hyperparameters={})]
    )
    ranges, _ = table.panels
    assert headings(ranges) == [
        "Model",
        "Hyperparameter",
        "Low",
        "High",
        "Scale",
        "Low (paper)",
        "High (paper)",
    ]
    assert texts(ranges) == [
        ["PLT", "arity b", "2", "256", "uniform, integers", "–", "–"],
        ["PLT", "gamma", "1e-06", "10", "logarithmic", "0.000001", "10"],
        ["PLT", "solver", "–", "–", ranges.cells[2][2].value, "–", "–"],
    ]
    assert "Bold" not in to_markdown(table)
    assert to_latex(table).count(r"\caption") == 2


def test_hyperparameters_are_shown_with_their_search(build_hyperparameters):
    records = [
        ranking(hyperparameters=USED, seed=0),
        ranking(hyperparameters=USED, seed=1),
        ranking("scene", hyperparameters=USED),  # differs from the value in the suite
        ranking(
            "bibtex",
            hyperparameters=USED,
            tuning={"method": "smac", "budget": 20, "seed": 0, "p@1": 0.8},
        ),
    ]
    table = build_hyperparameters(records)
    assert texts(table.panels[1]) == [
        ["yeast", "16", "4.91", "sgd", "77.67", "random search, 40 trials"],
        ["scene", "16", "4.91", "sgd", "–", "–"],
        ["bibtex", "16", "4.91", "sgd", "80.00", "SMAC, 20 trials"],
    ]
    rows = to_csv(table).splitlines()
    assert rows[1].startswith("all,plt,arity,2,256,")
    assert rows[4].startswith("yeast,plt,arity,,,,16,77.6")
    assert len(rows) == 1 + 3 + 3 * 3


AUTO = {"stages": [[{"learning_rate": 0.1}, {"learning_rate": 1}], [{"unit_norm": True}]]}


def test_untuned_dataset_shows_values_of_its_search(build_hyperparameters):
    """Models without ranges have a panel only if a search was run for them."""
    search = {"method": "auto", "budget": 3, "seed": 0, "p@1": 0.8}
    used = {"learning_rate": 0.1, "unit_norm": True}
    models = {
        "plt": PLT | {"search": PLT["search"] | {"stages": [[{"gamma": 1, "lam": 1}]]}},
        "ldsm": {"search": AUTO},
        "swnn": {"search": AUTO},
    }
    records = [
        ranking("my-set", hyperparameters=USED, tuning=search),
        ranking("my-set", "ldsm", hyperparameters=used, tuning=search),
        ranking("yeast", "ldsm", hyperparameters=used),
        ranking("yeast", "swnn", hyperparameters=used),
    ]
    plt, ldsm = build_hyperparameters(records, models).panels[1:]
    assert headings(plt)[1:] == [
        "arity b",
        "gamma",
        "solver",
        "lambda",
        "P@1, validation (%)",
        "Found by",
    ]
    assert texts(plt) == [["my-set", "16", "4.91", "sgd", "0.000264", "80.00", "auto, 3 trials"]]
    assert texts(ldsm) == [["my-set", "0.1", "true", "80.00", "auto, 3 trials"]]


@pytest.fixture
def build_measures(tmp_path):
    return lambda records: build_from(tmp_path, "measures", "demo", records)


def test_each_measure_has_a_row_with_its_tuned_value_in_brackets(build_measures):
    table = build_measures(every_measure("yeast") + every_measure("bibtex") + every_method("yeast"))
    assert table.content.columns[:12].tolist() == [
        "dataset",
        "model",
        "tuned_for",
        *TUNABLE_MEASURES,
    ]
    assert table.content["tuned_for"].tolist() == [*TUNABLE_MEASURES, *TUNABLE_MEASURES]
    assert table.content["dataset"].tolist() == ["yeast"] * 9 + ["bibtex"] * 9
    assert table.content.loc[3, "micro_f"] == 50
    assert table.content.loc[3, "macro_jaccard"] == 49
    assert table.content.loc[3, "predicted_per_instance"] == 1.5
    (panel,) = table.panels
    assert headings(panel)[:5] == ["Dataset", "Tuned for", "Macro-F", "Macro-F2", "Macro-Jaccard"]
    rows = lines(panel)
    for i, line in enumerate(rows):
        own = 2 + i % 9
        assert [j for j, (text, _) in enumerate(line) if text.startswith("[")] == [own]
        assert line[own] == ("[50.00]", True)
        assert [bold for _, bold in line].count(True) == 1
    assert [line[1][0] for line in rows[:3]] == ["Macro-F", "Macro-F2", "Macro-Jaccard"]


def test_method_of_earlier_version_has_no_row(build_measures):
    records = [record for record in every_measure() if record["method"] == "for-micro-f"]
    table = build_measures(
        [*records, *(record | {"method": "for-micro-f-labelwise"} for record in records)]
    )
    assert table.content["tuned_for"].tolist() == ["micro_f"]


def test_each_model_has_a_panel_with_its_best_in_bold(build_measures):
    table = build_measures(
        every_measure() + every_measure(model="fastxml", shift=-0.2) + every_measure(model="oracle")
    )
    assert [panel.title for panel in table.panels] == ["PLT", "FastXML", "oracle"]
    bold = []
    for panel in table.panels:
        bold.append(sum(is_bold for _, is_bold in chain.from_iterable(lines(panel))))
    assert bold == [9, 9, 0]
