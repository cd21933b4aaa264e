"""Test that `xmlc fit`, `predict` and `evaluate` read files and write the expected results."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import run
from facts import absent
from scipy.sparse import csr_matrix, save_npz
from sklearn.datasets import dump_svmlight_file

from xmlc import TextClassifier
from xmlc.cli import texts
from xmlc.data.formats import load
from xmlc.models import OPLT, PLT, BinaryRelevance, Stacking
from xmlc.models.registry import TRAINABLE

ROWS = [
    ("boil rice", ["cooking"]),
    ("fry onions", ["cooking", "vegetables"]),
    ("plant onions", ["garden", "vegetables"]),
    ("prune roses", ["garden"]),
]
TEXTS, NAMES = zip(*ROWS)


def write_csv(path, rows):
    lines = [f"{text},{';'.join(names)}\n" for text, names in rows]
    Path(path).write_text("text,labels\n" + "".join(lines))


def write_jsonl(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def xmlc(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in a folder with `train.csv`, and returns what the
    command prints.
    """
    monkeypatch.chdir(tmp_path)
    write_csv("train.csv", ROWS)

    def xmlc(command, status=0):
        capsys.readouterr()
        assert run(*shlex.split(command)) == status
        return capsys.readouterr()

    return xmlc


@pytest.fixture
def predicted(xmlc):
    """Return a function that predicts by `model`, and returns the rows of JSON."""

    def predicted(command):
        lines = xmlc(f"predict --model model {command}").out.splitlines()
        return [json.loads(line) for line in lines]

    return predicted


@pytest.fixture
def scores(xmlc):
    """Return a function that evaluates predictions, and returns the printed scores by name."""

    def scores(command):
        lines = xmlc(f"evaluate {command}").out.splitlines()[1:-1]
        return dict(line.rsplit(maxsplit=1) for line in lines)

    return scores


def names_of(rows):
    """Return the names of rankings, each a list of pairs of name and score."""
    return [[*dict(row)] for row in rows]


def test_predictions_equal_text_classifier(xmlc, predicted):
    printed = xmlc("""fit train.csv --estimator plt --parameters '{"C": 10}' --out model""")
    assert absent(printed.out, "4 instances", "3 labels", "1.50") == []
    model = TextClassifier(PLT(C=10, random_state=0)).fit(TEXTS, NAMES)
    found = [row["labels"] for row in predicted("train.csv -k 2")]
    assert names_of(found) == names_of(model.predict(TEXTS, 2))
    assert found[0][0][1] == pytest.approx(model.predict(TEXTS, 2)[0][0][1], abs=1e-6)
    for option, sets in (
        ("", names_of(model.predict(TEXTS))),
        ("--threshold 0.4", model.predict_sets(TEXTS, 0.4)),
    ):
        rows = predicted(f"train.csv {option}")
        rankings = names_of(row["labels"] for row in rows)
        found = [sorted(row["set"]) for row in rows]
        assert rankings == names_of(model.predict(TEXTS, 3))
        assert found == [sorted(names) for names in sets]
    assert found != rankings


def test_csv_tsv_and_json_columns_are_kept(xmlc, predicted):
    xmlc("fit train.csv --estimator plt --out model")
    values = ["7", 'a, "b"', "", "7"]
    cells = ['"{}"'.format(value.replace('"', '""')) for value in values]
    rows = [{"no": value, "text": "onions", "of": "x"} for value in values]
    Path("a.csv").write_text('"no",text,of\n' + "".join(f"{cell},onions,x\n" for cell in cells))
    Path("a.tsv").write_text("text\tno\tof\n" + "".join(f"onions\t{cell}\tx\n" for cell in cells))
    write_jsonl("a.jsonl", rows)
    Path("a.json").write_text(json.dumps(rows))
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.json"):
        found = predicted(f"{name} --keep no --keep of --keep no")
        assert [(row["no"], row["of"]) for row in found] == [(value, "x") for value in values]
        printed = xmlc(f"predict {name} --model model --keep no -k 2 --to csv").out
        header, *lines = csv.reader(io.StringIO(printed))
        assert header == ["instance", "no", "label", "score", "in_set"]
        expected = np.repeat([*enumerate(values)], 2, axis=0)
        assert [line[:2] for line in lines] == expected.tolist()
    write_jsonl("numbers.jsonl", [{"text": "onions", "no": {"a": [1, None]}}])
    (row,) = predicted("numbers.jsonl --keep no")
    assert row["no"] == {"a": [1, None]}


def test_every_kept_text_and_label_is_read_back_from_csv(xmlc, scores):
    notes = ["a\rb", "\r", "a\nb", "a\r\nb", 'a "b", c', '"=1",;', "=1+1", "", " ", "'", "\ufeff"]
    notes += ["a\x0cb", "a\x85b", "a\u2028b", "\x85\x0c\u2028"]
    names = ["a\rb", "c\r", 'd, "e"']
    rows = []
    for number, note in enumerate(notes):
        label = number % 3
        rows.append({"text": f"rice {'xyz'[label] * 3}", "labels": [names[label]], "note": note})
    write_jsonl("train.jsonl", rows)
    xmlc("fit train.jsonl --estimator plt --out model")
    written = xmlc("predict train.jsonl --model model --to csv --keep note").out
    Path("predictions.csv").write_text(written, newline="")
    expected = np.repeat(notes, 3).tolist()
    found = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [row["note"] for row in found] == expected
    assert {row["label"] for row in found} == {"a\rb", "c", 'd, "e"'}
    assert pd.read_csv("predictions.csv", keep_default_na=False)["note"].tolist() == expected
    assert "\r\n" not in written.replace("a\r\nb", "")
    assert scores("predictions.csv train.jsonl")["P@1"] == "100.00"


def test_marked_sets_may_skip_labels(xmlc, scores):
    marked = [["cooking"], ["cooking", "vegetables"], ["vegetables", "garden"], []]
    ranking = [["garden", 0.9], ["cooking", 0.8], ["vegetables", 0.8]]
    write_jsonl("a.jsonl", [{"set": names, "labels": ranking} for names in marked])
    lines = ["instance,label,score,in_set\n"]
    for (i, names), (name, score) in product(enumerate(marked), ranking):
        lines.append(f"{i},{name},{score},{int(name in names)}\n")
    Path("a.csv").write_text("".join(lines))
    Path("b.csv").write_text(
        "in_set,x,score,label,instance\n1,,0.5,cooking,0\n,,,,1\n,,,,2\n,,,,3\n"
    )
    expected = {"a.jsonl": ["90.91", "50.00"], "b.csv": ["28.57", "25.00"]}
    expected["a.csv"] = expected["a.jsonl"]
    for name, values in expected.items():
        found = scores(f"{name} train.csv")
        assert [found["micro-F"], found["P@1"]] == values


def test_rankings_without_sets_are_scored_as_sets(xmlc, scores):
    rankings = [["cooking"], ["cooking", "garden"], ["vegetables", "garden"], ["cooking"]]
    rows = []
    for names in rankings:
        rows.append({"labels": [[name, 0.5] for name in names]})
    write_jsonl("predictions.jsonl", rows)
    found = scores("predictions.jsonl train.csv")
    assert found["P@1"] == "75.00"  # The first label is right in three of the four rows.
    assert found["R@1"] == "50.00"  # (1 + .5 + .5 + 0) / 4
    assert "P@3" not in found
    assert found["micro-F"] == "66.67"  # 4 hits, 6 predicted, 6 true
    assert found["instance-F"] == "62.50"  # (1 + .5 + 1 + 0) / 4


def test_predictions_of_other_labels_cause_warning(xmlc):
    write_jsonl("predictions.jsonl", [{"labels": [["0", 0.5]]}] * 4)
    printed = xmlc("evaluate predictions.jsonl train.csv")
    assert absent(printed.err, "warning", "train.csv") == []


def test_trusted_estimators_of_other_libraries_are_loaded(xmlc, predicted):
    estimator = "sklearn.neighbors:KNeighborsClassifier --parameters '{\"n_neighbors\": 1}'"
    xmlc(f"fit train.csv --estimator {estimator} --out model")
    assert "--trusted" in xmlc("predict train.csv --model model", 1).err
    found = predicted("train.csv -k 2 --trusted")
    labels = [set(dict(row["labels"])) for row in found]
    assert labels == [{"cooking"}, *map(set, NAMES[1:3]), {"garden"}]


def test_predict_reads_standard_input(xmlc, predicted, monkeypatch):
    xmlc("fit train.csv --estimator oplt --stream --out model")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "roses"}\n')))
    (row,) = predicted("- --format jsonl -k 3")
    assert {*dict(row["labels"])} == {"cooking", "garden", "vegetables"}


def test_texts_without_known_words_cause_one_warning(xmlc, predicted, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 2)
    xmlc("fit train.csv --estimator plt --out model")
    write_csv("other.csv", [("sel", []), ("poivre", []), ("riz", []), ROWS[0], ROWS[1]])
    printed = xmlc("predict other.csv --model model")
    assert printed.err.count("warning") == 1
    assert absent(printed.err, "other.csv", "3 of 5 texts") == []
    write_csv("other.csv", [("sel", []), ROWS[0]])
    assert xmlc("predict other.csv --model model").err == ""
    Path("features.txt").write_text("1 4 2\n0 0:1\n")
    assert "features.txt:1" in xmlc("predict features.txt --model model", 1).err
    assert len(predicted("features.txt --format fasttext")) == 2


def test_stream_may_begin_with_unlabelled_texts(xmlc, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 2)
    unlabelled = [("rice", []), ("rose", [])]
    write_csv("train.csv", [*unlabelled, *ROWS])
    xmlc("fit train.csv --stream --out model")
    assert [*TextClassifier.load("model").classes_] == ["cooking", "vegetables", "garden"]
    write_csv("train.csv", [*unlabelled, ("soil", [])])
    assert absent(xmlc("fit train.csv --stream --out other", 1).err, "3 texts") == []
    assert not Path("other").exists()


def test_file_options_apply_and_warnings_reach_console(xmlc):
    half = "text|labels\nboil rice|a, b\nfry onions|b\nprune roses|\nplant onions|\n"
    Path("half.csv").write_text(half)
    printed = xmlc("fit half.csv --delimiter '|' --out model")
    assert absent(printed.err, "xmlc: warning: half.csv", "2 of 4 texts", "1 of 2 cells") == []
    printed = xmlc("fit half.csv --separator , --out model")
    assert absent(printed.out, "2 labels", "0.75", "2 without a label") == []
    assert "1 of 2 cells" not in printed.err
    printed = xmlc("predict half.csv --model model")
    assert "warning" not in printed.err
    Path("predictions.jsonl").write_text(printed.out)
    assert "2 of 4 texts" in xmlc("evaluate predictions.jsonl half.csv").err
    Path("tabs.csv").write_text("words\ttopics\nboil rice\ta;b\n\tc\n")
    columns = r"--delimiter '\t' --text words --labels topics"
    printed = xmlc(f"fit tabs.csv --estimator plt {columns} --out model")
    assert absent(printed.out, "2 instances", "3 labels", "1.50", "1 with an empty text") == []


def test_svmlight_features_are_accepted_instead_of_texts(multilabel, xmlc, predicted, scores):
    X, Y = multilabel(40, 12, 5)
    dump_svmlight_file(X, csr_matrix(Y), "train.svm", multilabel=True)
    xmlc("fit train.svm --format svmlight --estimator br --out model")
    found = [row["labels"][0][0] for row in predicted("train.svm --format svmlight -k 1")]
    X, Y = load("train.svm", "svmlight")
    expected = BinaryRelevance(random_state=0).fit(X, Y).predict_top_k(X, 1)[0][:, 0]
    assert found == expected.tolist()
    write_jsonl("predictions.jsonl", [{"labels": [[label, 0.5]]} for label in found])
    true = Y.toarray()[np.arange(40), expected].mean()
    printed = scores("predictions.jsonl train.svm --format svmlight")
    assert printed["P@1"] == f"{100 * true:.2f}"


FILES = {
    "empty.csv": "text,labels\n",
    "letters.csv": "text,labels\nx,a\n",
    "names.jsonl": '{"labels": ["ab", "cd"]}\n' * 4,
    "lists.jsonl": '{"labels": [[["a"], 0.5]]}\n' * 4,
    "order.jsonl": '{"labels": [["cooking", 0.1], ["garden", 0.9]]}\n' * 4,
    "nan.jsonl": '{"labels": [["cooking", NaN]]}\n' * 4,
    "set.jsonl": '{"labels": [["cooking", 0.5]], "set": "cooking"}\n',
    "predictions.jsonl": '{"labels": [["cooking", 0.5]]}\n' * 4,
    "twice.jsonl": '{"labels": [["cooking", 0.5], ["cooking", 0.4]]}\n' * 4,
    "one.jsonl": '{"labels": []}\n',
    "gap.csv": "instance,label,score,in_set\n0,cooking,0.5,1\n2,cooking,0.5,1\n",
    "flag.csv": "instance,label,score,in_set\n0,cooking,0.5,yes\n",
    "short.csv": "instance,label,score,in_set\n0,cooking,0.5\n",
    "no.jsonl": '{"text": "rice", "id": 1}\n{"text": "rice"}\n',
    "zero.jsonl": '{"text": "rice", "id": "\\u0000"}\n',
    "lines.txt": "__label__a boil rice\n",
    "bare.tsv": "boil rice\ta\n",
    "noext": "boil rice\n",
    "a.svm": "0 1:1\n1 2:1\n",
}
ON_FORMATS = ["csv, tsv, jsonl, json, fasttext", "--format"]
REFUSED = [
    ("fit empty.csv --out new", "empty.csv"),
    ("fit letters.csv --out new", ["TfidfVectorizer", "--analyzer char"]),
    ("fit letters.csv --analyzer char --measure macro_f --out new", ["1 instances", "at least 5"]),
    ("fit train.csv --labels label --out new", "4 texts"),
    ("fit train.csv --separator '' --out new", "--separator"),
    ("fit train.csv --estimator oracle --out new", ["oracle", *TRAINABLE]),
    ("fit train.csv --estimator nope --out new", f"one of {', '.join(sorted(TRAINABLE))}, module:"),
    ("fit train.csv --estimator plt-rankin --out new", "plt-ranking"),
    ("fit noext --out new", ["noext", *ON_FORMATS]),
    ("fit - --out new", ON_FORMATS),
    ("fit - --format svmlight --out new", "-: "),
    ("fit a.svm --labels - --format npz --out new", "-: "),
    ("fit absent.csv --stream --estimator swnn --out new", ["swnn", "oplt"]),
    ("fit train.csv --stream --measure macro_f --out new", ["macro_f", "Leave out --stream"]),
    ("fit bare.tsv --delimiter , --out new", ["no ',' in any line", "Set --format or --delimiter"]),
    ("fit noext --format fasttext --out new", ["1 texts and no label", "Set --format"]),
    ("fit a.svm --format svmlight --measure macro_f --out new", "--measure"),
    ("fit a.svm --format svmlight --ngrams 1,2 --out new", "--ngrams"),
    ("fit a.svm --format svmlight --text abstract --out new", "Leave out --text"),
    ("fit a.svm --format svmlight --labels b.svm --out new", "Leave out --labels"),
    ("fit a.svm --out new", ["Set --format to one of repository", "set --format to one of csv"]),
    ("fit lines.txt --text abstract --out new", ["--text", "fasttext"]),
    ("fit lines.txt --labels topics --out new", ["--labels", "fasttext"]),
    (
        """fit train.csv --parameters '{"n_jobs": 2}' --threads 1 --out new""",
        ["--threads 1", "n_jobs 2"],
    ),
    ("""fit train.csv --parameters '{"random_state": 7}' --seed 3 --out new""", ["--seed 3", "7"]),
    ("predict - --format svmlight --model features", "-: "),
    ("predict train.csv --model there -k 2 --threshold 0.5", ["-k", "--threshold"]),
    ("predict x.npz --model features -k 1 --measure macro_f", ["-k", "--measure"]),
    ("predict x.npz --model features --measure macrof", ["--measure", "macro_f"]),
    ("predict x.npz --model features --keep id", "--keep"),
    ("predict train.csv --model features", "train.csv: found a file of texts"),
    ("predict a.svm --model features", "a.svm:1: found '0 1:1', of no known format. Set --format"),
    ("predict x.npz --model features --separator ,", "Leave out --separator"),
    ("predict a.svm --format svmlight --model features --delimiter ,", "Leave out --delimiter"),
    ("evaluate predictions.jsonl a.svm --format svmlight --text abstract", "Leave out --text"),
    ("predict train.csv --model there --text absent --to csv", "absent"),
    ("predict train.csv --model there --keep id", ["text, labels", "id"]),
    ("predict no.jsonl --model there --keep id", ["no.jsonl:2", "'text'"]),
    ("predict lines.txt --model there --keep id", "fasttext"),
    ("predict bare.tsv --model there --keep id", "bare.tsv:1"),
    ("predict train.csv --model there --keep set", "--keep set"),
    ("predict train.csv --model there --keep in_set --to csv", "--keep in_set"),
    ("predict zero.jsonl --model there --keep id --to csv", ["zero byte", "jsonl"]),
    ("evaluate twice.jsonl train.csv", "twice.jsonl:1"),
    ("evaluate letters.csv train.csv", ["letters.csv:1", "'text,labels'"]),
    ("evaluate names.jsonl train.csv", "names.jsonl:1"),
    ("evaluate lists.jsonl train.csv", "lists.jsonl:1"),
    ("evaluate order.jsonl train.csv", "order.jsonl:1"),
    ("evaluate nan.jsonl train.csv", "nan.jsonl:1"),
    ("evaluate set.jsonl train.csv", "set.jsonl:1"),
    ("evaluate one.jsonl train.csv", ["1 predictions", "4"]),
    ("evaluate gap.csv train.csv", ["gap.csv:3", "instance 2", "instance 1"]),
    ("evaluate flag.csv train.csv", "flag.csv:2"),
    ("evaluate short.csv train.csv", "short.csv:2"),
    ("evaluate - -", ["PREDICTIONS", "FILE"]),
]


@pytest.fixture(scope="module")
def with_files(tmp_path_factory):
    """Return a folder with wrong files and two models."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    write_csv(folder / "train.csv", ROWS)
    save_npz(folder / "x.npz", csr_matrix(np.eye(2)))
    PLT(n_jobs=1).fit(np.eye(2), np.eye(2)).save(folder / "features")
    TextClassifier(PLT(n_jobs=1)).fit(TEXTS, NAMES).save(folder / "there")
    return folder


@pytest.mark.parametrize(("command", "facts"), REFUSED)
def test_wrong_input_is_refused_with_message(command, facts, with_files, monkeypatch, capsys):
    monkeypatch.chdir(with_files)
    assert run(*shlex.split(command)) != 0
    printed = capsys.readouterr()
    assert absent(printed.err, facts) == []
    assert printed.out == "" or "zero byte" in facts
    assert not Path("new").exists()


def test_names_select_ranking_preset_and_defaults(xmlc):
    for options, estimator in (
        ("""--estimator PLT-ranking --parameters '{"tol": 0.5}'""", PLT.for_ranking(tol=0.5)),
        ("--estimator plt", PLT()),
        ("--stream", OPLT()),
    ):
        xmlc(f"fit train.csv {options} --out model")
        expected = repr(estimator.set_params(n_jobs=1))
        assert repr(TextClassifier.load("model").estimator) == expected
    xmlc("""fit train.csv --parameters '{"plt__arity": 4, "n_held_out": 0}' --out model""")
    stacked = TextClassifier.load("model").estimator
    assert type(stacked) is type(TextClassifier().fit(TEXTS, NAMES).estimator_) is Stacking
    assert (stacked.get_params()["plt__arity"], stacked.n_held_out) == (4, 0)


# An import of a module that is None in sys.modules fails as if it were not installed.
OF_THE_WORKFLOW = """
import sys
names = "gdown jinja2 matplotlib msgspec pandas pooch pygments requests snakemake tabulate"
names += " textalloc yaml"
sys.modules.update(dict.fromkeys(names.split()))
from xmlc.cli import main
for command in sys.argv[1:]:
    try:
        main(command.split())
    except SystemExit as stop:
        print("status", stop.code)
"""


def test_text_commands_run_without_workflow_extra_and_others_name_it(tmp_path):
    write_csv(tmp_path / "train.csv", ROWS)
    write_jsonl(tmp_path / "predictions.jsonl", [{"labels": [["garden", 0.5]]}] * 4)
    commands = [
        "fit train.csv --estimator plt --out model",
        "predict train.csv --model model",
        "evaluate predictions.jsonl train.csv",
        "status",
    ]
    code = [sys.executable, "-c", OF_THE_WORKFLOW, *commands]
    done = subprocess.run(code, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert re.findall(r"^status (\d)", done.stdout, re.MULTILINE) == [*"0001"], done.stderr
    assert absent(done.stdout, '"labels"', "P@1") == []
    assert done.stderr.count("[workflow]") == 1


CHINESE = [("新款手机", "phone"), ("家用手机", "phone"), ("绿茶咖啡", "food"), ("高级绿茶", "food")]


@pytest.mark.parametrize(
    ("options", "analyzer", "lengths"),
    [
        ("--estimator plt --analyzer char", "char", (1, 2)),
        ("--estimator plt --analyzer char_wb --ngrams 2,4", "char_wb", (2, 4)),
        ("--estimator plt --analyzer word", "word", (1, 1)),
        ("--stream --ngrams 3", "word", (3, 3)),
    ],
)
def test_options_of_the_analyzer_win(options, analyzer, lengths, xmlc):
    write_csv("train.csv", [(f"{text} {label} a b", [label]) for text, label in CHINESE])
    printed = xmlc(f"fit train.csv {options} --out model")
    vectorizer = TextClassifier.load("model").vectorizer_
    assert (vectorizer.analyzer, vectorizer.ngram_range) == (analyzer, lengths)
    assert ("characters" in printed.out) == ("--analyzer" not in options)


@pytest.mark.parametrize("ngrams", ["", "0,1", "2,1", "1,2,3", "١,٢"])
def test_wrong_ngrams_are_refused(ngrams, xmlc):
    printed = xmlc(f"fit train.csv --ngrams '{ngrams}' --out model", 2)
    assert absent(printed.err, "--ngrams", f"{ngrams!r}", "1,2") == []


def test_measure_of_fit_and_of_predict(xmlc, predicted, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 7)  # thresholds follow from all batches
    write_csv("train.csv", ROWS * 30)
    xmlc("fit train.csv --estimator plt --out plain")
    xmlc("fit train.csv --estimator plt --measure macro_f --out model")
    model = TextClassifier.load("model")
    every = TEXTS * 30

    def sets(options):
        return [sorted(row["set"]) for row in predicted(f"train.csv {options}")]

    assert sets("") == model.predict_sets(every)
    for measure in ("macro_f", "micro_f"):
        chosen = model.estimator_.predict(model.features(every), measure=measure)
        expected = [sorted(model.classes_[row.indices]) for row in chosen]
        assert sets(f"--measure {measure}") == expected
        assert sets(f"--measure {measure} --model plain") == expected
    write_csv("few.csv", ROWS)
    assert "leave out --measure" in xmlc("predict few.csv --model model --measure macro_f").err
