"""Test that `xmlc fit`, `predict` and `evaluate` read files and write the expected results."""

import csv
import io
import json
import subprocess
import sys
from itertools import product

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
from xmlc.models import OPLT, PLT, SparseWeightedNearestNeighbors, Stacking

ROWS = [
    ("boil rice", ["cooking"]),
    ("fry onions", ["cooking", "vegetables"]),
    ("plant onions", ["garden", "vegetables"]),
    ("prune roses", ["garden"]),
]
TEXTS, NAMES = zip(*ROWS)


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text(
        "text,labels\n" + "".join(f"{text},{';'.join(names)}\n" for text, names in ROWS)
    )
    return path


def lines(capsys, key="labels"):
    return [json.loads(line)[key] for line in capsys.readouterr().out.splitlines()]


def names_of(rows):
    found = []
    for row in rows:
        found.append([name for name, _ in row])
    return found


def scores_of(capsys):
    found = capsys.readouterr().out.splitlines()
    return dict(line.rsplit(maxsplit=1) for line in found if "-" * 5 not in line)


def test_predictions_equal_text_classifier(train, tmp_path, capsys):
    given = "--estimator", "plt", "--parameters", '{"C": 10}'
    assert run("fit", train, *given, "--out", tmp_path / "model") == 0
    assert absent(capsys.readouterr().out, "4 instances", "3 labels", "1.50") == []
    model = TextClassifier(PLT(C=10, random_state=0)).fit(TEXTS, NAMES)
    assert run("predict", train, "--model", tmp_path / "model", "-k", 2) == 0
    found = lines(capsys)
    assert names_of(found) == names_of(model.predict(TEXTS, 2))
    assert found[0][0][1] == pytest.approx(model.predict(TEXTS, 2)[0][0][1], abs=1e-6)
    for given, sets in (
        ([], model.predict(TEXTS)),
        (["--threshold", 0.4], model.predict_sets(TEXTS, 0.4)),
    ):
        assert run("predict", train, "--model", tmp_path / "model", *given) == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert names_of(row["labels"] for row in found) == names_of(model.predict(TEXTS, 3))
        expected = sets if given else names_of(sets)
        assert [sorted(row["set"]) for row in found] == [sorted(each) for each in expected]
    assert [row["set"] for row in found] != names_of(row["labels"] for row in found)


@pytest.mark.parametrize(
    "fitted", [(), ("--estimator", "plt", "--parameters", '{"solver": "batch"}')]
)
@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_perfect_model_scores_perfectly_in_each_format(to, fitted, tmp_path, capsys):
    words = {
        "cooking": "boil fry oven",
        "garden": "rose soil plant",
        'a "b", c': "chord choir song",
        "d": "goal run",
    }
    rows = [
        ([one, other], f"{words[one]} {words[other]}") for one, other in product(words, repeat=2)
    ]
    content = "text,labels,id\n" + "".join(
        '{},"{}",{}\n'.format(text, ";".join(names).replace('"', '""'), f"no {i % 5}")
        for i, (names, text) in enumerate(rows * 5)
    )
    (tmp_path / "train.csv").write_text(content)
    given = tmp_path / "train.csv", "--model", tmp_path / "model", "--to", to
    assert run("fit", tmp_path / "train.csv", *fitted, "--out", tmp_path / "model") == 0
    for options in ([], ["--keep", "id"], ["--threshold", 0.5]):
        capsys.readouterr()
        assert run("predict", *given, *options) == 0
        (tmp_path / "predictions").write_text(capsys.readouterr().out)
        assert run("evaluate", tmp_path / "predictions", tmp_path / "train.csv") == 0
        scores = scores_of(capsys)
        assert {scores[name] for name in ("P@1", "nDCG@3", "micro-F", "instance-F")} == {"100.00"}
        assert scores["macro-F, labels present"] == "100.00"
    assert run("predict", *given, "-k", 2) == 0
    (tmp_path / "predictions").write_text(capsys.readouterr().out)
    assert run("evaluate", tmp_path / "predictions", tmp_path / "train.csv") == 0
    assert scores_of(capsys)["micro-F"] != "100.00"


def test_csv_tsv_and_json_columns_are_kept(train, tmp_path, capsys):
    assert run("fit", train, "--out", tmp_path / "model") == 0
    values = ["7", 'a, "b"', "", "7"]
    for name, content in {
        "a.csv": '"no",text,of\n'
        + "".join(f'"{each.replace(chr(34), chr(34) * 2)}",onions,x\n' for each in values),
        "a.tsv": "text\tno\tof\n"
        + "".join(f'onions\t"{each.replace(chr(34), chr(34) * 2)}"\tx\n' for each in values),
        "a.jsonl": "".join(
            json.dumps({"no": each, "text": "onions", "of": "x"}) + "\n" for each in values
        ),
        "a.json": json.dumps([{"no": each, "text": "onions", "of": "x"} for each in values]),
    }.items():
        (tmp_path / name).write_text(content)
        given = tmp_path / name, "--model", tmp_path / "model", "--keep", "no"
        capsys.readouterr()
        assert run("predict", *given, "--keep", "of", "--keep", "no") == 0
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(row["no"], row["of"]) for row in found] == [(each, "x") for each in values]
        assert run("predict", *given, "-k", 2, "--to", "csv") == 0
        header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
        assert header == ["instance", "no", "label", "score", "in_set"]
        assert [row[:2] for row in rows] == [
            [str(i), each] for (i, each), _ in product(enumerate(values), range(2))
        ]
    (tmp_path / "numbers.jsonl").write_text('{"text": "onions", "no": {"a": [1, null]}}\n')
    assert (
        run("predict", tmp_path / "numbers.jsonl", "--model", tmp_path / "model", "--keep", "no")
        == 0
    )
    assert json.loads(capsys.readouterr().out)["no"] == {"a": [1, None]}


@pytest.mark.parametrize(
    "value", ["a\rb", "\r", "a\r\nb", "a\nb", "\x85\x0c\u2028", '"=1",;', "\ufeff", " ", ""]
)
def test_kept_text_in_csv_is_read_back_unchanged(value, train, tmp_path, capsys):
    for name in ("model", "other"):
        assert run("fit", train, "--estimator", "plt", "--out", tmp_path / name) == 0
    rows = [{"text": text, "labels": names, "note": value} for text, names in ROWS]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    capsys.readouterr()
    assert (
        run(
            "predict",
            tmp_path / "new.jsonl",
            "--model",
            tmp_path / "model",
            "--to",
            "csv",
            "--keep",
            "note",
        )
        == 0
    )
    written = capsys.readouterr().out
    found = pd.read_csv(
        io.StringIO(written), keep_default_na=False, lineterminator="\n" if "\r" in value else None
    )
    assert set(found["note"]) == {value}
    assert {row["note"] for row in csv.DictReader(io.StringIO(written, newline=""))} == {value}
    (tmp_path / "predictions.csv").write_bytes(written.encode())
    assert run("evaluate", tmp_path / "predictions.csv", tmp_path / "new.jsonl") == 0
    assert "P@1" in scores_of(capsys)


def test_marked_sets_may_skip_labels_and_unmarked_lists_are_sets(train, tmp_path, capsys):
    marked = [["cooking"], ["cooking", "vegetables"], ["vegetables", "garden"], []]
    row = [["garden", 0.9], ["cooking", 0.8], ["vegetables", 0.8]]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"set": names, "labels": row}) + "\n" for names in marked)
    )
    cells = [
        f"{i},{name},{score},{int(name in names)}\n"
        for (i, names), (name, score) in product(enumerate(marked), row)
    ]
    (tmp_path / "a.csv").write_text("instance,label,score,in_set\n" + "".join(cells))
    (tmp_path / "b.csv").write_text(
        "in_set,x,score,label,instance\n" + "1,,0.5,cooking,0\n,,,,1\n,,,,2\n,,,,3\n"
    )
    for name, micro, first in (
        ("a.jsonl", "90.91", "50.00"),
        ("a.csv", "90.91", "50.00"),
        ("b.csv", "28.57", "25.00"),
    ):
        assert run("evaluate", tmp_path / name, train) == 0
        scores = scores_of(capsys)
        assert (scores["micro-F"], scores["P@1"]) == (micro, first)


def test_trusted_estimators_of_other_libraries_are_loaded(train, tmp_path, capsys):
    given = (
        "--estimator",
        "sklearn.neighbors:KNeighborsClassifier",
        "--parameters",
        '{"n_neighbors": 1}',
    )
    assert run("fit", train, *given, "--out", tmp_path / "model") == 0
    assert run("predict", train, "--model", tmp_path / "model") == 1
    assert "--trusted" in capsys.readouterr().err
    assert run("predict", train, "--model", tmp_path / "model", "-k", 2, "--trusted") == 0
    found = [set(dict(row)) for row in lines(capsys)]
    assert found == [{"cooking"}, *map(set, NAMES[1:3]), {"garden"}]


def test_rankings_and_lists_as_sets_are_scored(train, tmp_path, capsys):
    predictions = tmp_path / "predictions.jsonl"
    rows = [["cooking"], ["cooking", "garden"], ["vegetables", "garden"], ["cooking"]]
    predictions.write_text(
        "".join(json.dumps({"labels": [[name, 0.5] for name in row]}) + "\n" for row in rows)
    )
    assert run("evaluate", predictions, train) == 0
    scores = scores_of(capsys)
    assert scores["P@1"] == "75.00"  # The first label is right in three of the four rows.
    assert scores["R@1"] == "50.00"  # (1 + .5 + .5 + 0) / 4
    assert "P@3" not in scores
    assert scores["micro-F"] == "66.67"  # 4 hits, 6 predicted, 6 true
    assert scores["instance-F"] == "62.50"  # (1 + .5 + 1 + 0) / 4
    predictions.write_text('{"labels": []}\n')
    assert run("evaluate", predictions, train) == 1
    assert absent(capsys.readouterr().err, "1 predictions", "4") == []


def test_predictions_of_other_labels_cause_warning(train, tmp_path, capsys):
    (tmp_path / "predictions.jsonl").write_text('{"labels": [["0", 0.5]]}\n' * 4)
    assert run("evaluate", tmp_path / "predictions.jsonl", train) == 0
    assert absent(capsys.readouterr().err, "warning", "train.csv") == []


def test_fit_reads_streams_and_standard_input(train, tmp_path, capsys, monkeypatch):
    assert run("fit", train, "--estimator", "oplt", "--stream", "--out", tmp_path / "model") == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "roses"}\n')))
    assert run("predict", "-", "--format", "jsonl", "--model", tmp_path / "model", "-k", 3) == 0
    assert {name for name, _ in lines(capsys)[0]} == {"cooking", "garden", "vegetables"}


def test_stream_may_begin_with_unlabelled_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 2)
    (tmp_path / "train.csv").write_text(
        "text,labels\nrice,\nrose,\nboil rice,cooking\nprune roses,garden\n"
    )
    assert run("fit", tmp_path / "train.csv", "--stream", "--out", tmp_path / "model") == 0
    assert [*TextClassifier.load(tmp_path / "model").classes_] == ["cooking", "garden"]
    (tmp_path / "train.csv").write_text("text,labels\nrice,\nrose,\nsoil,\n")
    assert run("fit", tmp_path / "train.csv", "--stream", "--out", tmp_path / "other") == 1
    assert not (tmp_path / "other").exists()


def test_file_options_apply_and_warnings_reach_console(tmp_path, capsys):
    half = tmp_path / "half.csv"
    uris = tmp_path / "uris.csv"
    half.write_text("text|labels\nboil rice|a, b\nfry onions|b\nprune roses|\nplant onions|\n")
    assert run("fit", half, "--delimiter", "|", "--out", tmp_path / "model") == 0
    assert (
        absent(
            capsys.readouterr().err, f"xmlc: warning: {half}", "2 of 4 texts", "1 of 2 cells", "','"
        )
        == []
    )
    assert run("fit", half, "--separator", ",", "--out", tmp_path / "model") == 0
    found = capsys.readouterr()
    assert absent(found.out, "2 labels", "0.75") == []
    assert "--separator" not in found.err
    assert run("predict", half, "--model", tmp_path / "model") == 0
    found = capsys.readouterr()
    assert "warning" not in found.err
    (tmp_path / "predictions.jsonl").write_text(found.out)
    assert run("evaluate", tmp_path / "predictions.jsonl", half) == 0
    assert "2 of 4 texts" in capsys.readouterr().err
    uris.write_text(
        "text\tlabels\n"
        + "".join(f"boil rice {i}\thttp://x/{i};http://x/{i + 1}\n" for i in range(5))
    )
    assert run("fit", uris, "--delimiter", r"\t", "--out", tmp_path / "model") == 0
    assert absent(capsys.readouterr().out, "6 labels", "2.00") == []


def test_refused_cell_is_read_with_option_that_message_names(tmp_path, capsys):
    path = tmp_path / "uris.csv"
    path.write_text(
        "text,subject_uris\nboil rice,<http://x/1> <http://x/2>\nprune roses,http://x/3\n"
    )
    assert run("fit", path, "--out", tmp_path / "model") == 1
    message = capsys.readouterr().err
    assert absent(message, f"{path}:2", "column 'subject_uris'", "--separator", "' '") == []
    assert not (tmp_path / "model").exists()
    assert (
        run("fit", path, "--separator", " ", "--estimator", "plt", "--out", tmp_path / "model") == 0
    )
    assert absent(capsys.readouterr().out, "3 labels", "1.50") == []
    path.write_text("boil rice\thttp://x/1\thttp://x/2\nprune roses\thttp://x/3\n")
    assert run("fit", path, "--format", "tsv", "--out", tmp_path / "other") == 1
    assert absent(capsys.readouterr().err, f"{path}:1", r"--separator '\t'") == []
    tabs = ("--format", "tsv", "--separator", r"\t")
    assert run("fit", path, *tabs, "--estimator", "plt", "--out", tmp_path / "other") == 0
    assert [*TextClassifier.load(tmp_path / "other").classes_] == [
        "http://x/1",
        "http://x/2",
        "http://x/3",
    ]


def test_label_with_carriage_return_is_read_back_from_csv(tmp_path, capsys):
    names = ["a\rb", "c\r", 'd, "e"']
    rows = [
        {"text": f"rice {word}", "labels": [name]}
        for word, name in zip(["boiled", "fried", "raw"], names)
    ]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows * 4))
    assert run("fit", path, "--estimator", "plt", "--out", tmp_path / "model") == 0
    capsys.readouterr()
    assert run("predict", path, "--model", tmp_path / "model", "--to", "csv") == 0
    written = capsys.readouterr().out
    assert {row["label"] for row in csv.DictReader(io.StringIO(written, newline=""))} == {
        "a\rb",
        "c",
        'd, "e"',
    }
    (tmp_path / "predictions.csv").write_text(written, newline="")
    assert run("evaluate", tmp_path / "predictions.csv", path) == 0
    assert scores_of(capsys)["P@1"] == "100.00"


def test_svmlight_features_are_accepted_instead_of_texts(multilabel, tmp_path, capsys):
    X, Y = multilabel(40, 12, 5)
    dump_svmlight_file(X, csr_matrix(Y), str(tmp_path / "train.svm"), multilabel=True)
    given = tmp_path / "train.svm", "--format", "svmlight"
    assert run("fit", *given, "--estimator", "br", "--out", tmp_path / "model") == 0
    capsys.readouterr()
    assert run("predict", *given, "--model", tmp_path / "model", "-k", 1) == 0
    first = [row[0][0] for row in lines(capsys)]
    X, Y = load(tmp_path / "train.svm", "svmlight")
    from xmlc.models import BinaryRelevance

    assert first == BinaryRelevance(random_state=0).fit(X, Y).predict_top_k(X, 1)[0][:, 0].tolist()


ON_FORMATS = ["csv, tsv, jsonl, json, fasttext", "--format"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "empty.csv", "--out", "model"], "empty.csv"),
        (["fit", "letters.csv", "--out", "model"], "TfidfVectorizer"),
        (["fit", "train.csv", "--labels", "label", "--out", "model"], "4 texts"),
        (["fit", "train.csv", "--separator", "", "--out", "model"], "--separator"),
        (["fit", "train.csv", "--estimator", "oracle", "--out", "model"], "oracle"),
        (["fit", "train.csv", "--estimator", "plt-rankin", "--out", "model"], "plt-ranking"),
        (["fit", "noext", "--out", "model"], ["noext", *ON_FORMATS]),
        (["fit", "-", "--out", "model"], ON_FORMATS),
        (["predict", "-", "--model", "there"], ON_FORMATS),
        # The file ends within a character.
        (["fit", "half.jsonl", "--out", "model"], "half.jsonl:1"),
        (
            ["fit", "absent.csv", "--stream", "--estimator", "swnn", "--out", "model"],
            ["swnn", "oplt"],
        ),
        (
            ["predict", "train.csv", "--model", "there", "-k", 2, "--threshold", 0.5],
            ["-k", "--threshold"],
        ),
        (["evaluate", "predictions.jsonl", "train.csv", "--labels", "label"], "train.csv"),
        (["evaluate", "twice.jsonl", "train.csv"], "twice.jsonl:1"),
        (["evaluate", "letters.csv", "train.csv"], ["letters.csv:1", "'text,labels'"]),
        (["evaluate", "names.jsonl", "train.csv"], "names.jsonl:1"),
        (["evaluate", "lists.jsonl", "train.csv"], "lists.jsonl:1"),
        (["evaluate", "order.jsonl", "train.csv"], "order.jsonl:1"),
        (["evaluate", "nan.jsonl", "train.csv"], "nan.jsonl:1"),
        (["fit", "absent.csv", "--out", "model"], "absent.csv"),
        (["predict", "train.csv", "--model", "absent"], "absent"),
        (["predict", "train.csv", "--model", "there", "--keep", "id"], ["text, labels", "id"]),
        (["predict", "no.jsonl", "--model", "there", "--keep", "id"], ["no.jsonl:2", "'text'"]),
        (["predict", "lines.txt", "--model", "there", "--keep", "id"], "fasttext"),
        (["predict", "bare.tsv", "--model", "there", "--keep", "id"], "bare.tsv:1"),
        (["predict", "x.npz", "--model", "features", "--keep", "id"], "--keep"),
        (
            ["predict", "x.npz", "--model", "features", "-k", "1", "--measure", "macro_f"],
            ["-k", "--measure"],
        ),
        (
            ["predict", "x.npz", "--model", "features", "--measure", "macrof"],
            ["--measure", "macro_f"],
        ),
        (["fit", "x.npz", "--measure", "macro_f", "--out", "model"], "--measure"),
        (
            ["fit", "train.csv", "--stream", "--measure", "macro_f", "--out", "model"],
            ["macro_f", "instance_f"],
        ),
        (["predict", "train.csv", "--model", "there", "--keep", "set"], "--keep set"),
        (
            ["predict", "train.csv", "--model", "there", "--keep", "in_set", "--to", "csv"],
            "--keep in_set",
        ),
        (["evaluate", "gap.csv", "train.csv"], ["gap.csv:3", "instance 2", "instance 1"]),
        (["evaluate", "flag.csv", "train.csv"], "flag.csv:2"),
        (["evaluate", "short.csv", "train.csv"], "short.csv:2"),
        (["evaluate", "ascending.csv", "train.csv"], "ascending.csv:2"),
        (["evaluate", "set.jsonl", "train.csv"], "set.jsonl:1"),
        (["evaluate", "-", "-"], ["PREDICTIONS", "FILE"]),
        (["fit", "-", "--format", "svmlight", "--out", "model"], ["-: ", "standard input"]),
        (
            ["predict", "-", "--format", "svmlight", "--model", "features"],
            ["-: ", "standard input"],
        ),
        (["fit", "train.csv", "--estimator", "xmlc.models:PTL", "--out", "model"], ["PTL", "PLT"]),
        (
            ["fit", "train.csv", "--estimator", "xmlc.core:PLT", "--out", "model"],
            ["PLT", "xmlc.core"],
        ),
        (["predict", "huge.jsonl", "--model", "there", "--keep", "id"], ["huge.jsonl:1", "inf"]),
        (
            ["predict", "zero.jsonl", "--model", "there", "--keep", "id", "--to", "csv"],
            ["zero byte", "jsonl"],
        ),
    ],
)
def test_wrong_input_is_refused_with_message(train, tmp_path, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("text,labels\n")
    (tmp_path / "letters.csv").write_text("text,labels\nx,a\n")
    (tmp_path / "names.jsonl").write_text('{"labels": ["ab", "cd"]}\n' * 4)
    (tmp_path / "lists.jsonl").write_text('{"labels": [[["a"], 0.5]]}\n' * 4)
    (tmp_path / "order.jsonl").write_text('{"labels": [["cooking", 0.1], ["garden", 0.9]]}\n' * 4)
    (tmp_path / "nan.jsonl").write_text('{"labels": [["cooking", NaN]]}\n' * 4)
    (tmp_path / "no.jsonl").write_text('{"text": "rice", "id": 1}\n{"text": "rice"}\n')
    (tmp_path / "huge.jsonl").write_text('{"text": "rice", "id": [1e400]}\n')
    (tmp_path / "zero.jsonl").write_text('{"text": "rice", "id": "\\u0000"}\n')
    (tmp_path / "lines.txt").write_text("__label__a boil rice\n")
    (tmp_path / "bare.tsv").write_text("boil rice\ta\n")
    for name, rows in {
        "gap": "0,cooking,0.5,1\n2,cooking,0.5,1\n",
        "flag": "0,cooking,0.5,yes\n",
        "short": "0,cooking,0.5\n",
        "ascending": "0,cooking,0.5,1\n0,garden,0.6,1\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text("instance,label,score,in_set\n" + rows)
    (tmp_path / "set.jsonl").write_text('{"labels": [["cooking", 0.5]], "set": "cooking"}\n')
    PLT(n_jobs=1).fit(np.eye(2), np.eye(2)).save(tmp_path / "features")
    save_npz(tmp_path / "x.npz", csr_matrix(np.eye(2)))
    (tmp_path / "noext").write_text("boil rice\n")
    (tmp_path / "half.jsonl").write_text(r'{"text": "boil rice", "labels": ["\ud800"]}')
    (tmp_path / "predictions.jsonl").write_text('{"labels": [["cooking", 0.5]]}\n' * 4)
    (tmp_path / "twice.jsonl").write_text('{"labels": [["cooking", 0.5], ["cooking", 0.4]]}\n' * 4)
    TextClassifier().fit(TEXTS, NAMES).save(tmp_path / "there")
    assert run(*arguments) != 0
    assert absent(capsys.readouterr().err, said) == []
    assert not (tmp_path / "model").exists()


def test_names_select_ranking_preset_and_defaults(train, tmp_path):
    for given, estimator in (
        (("--estimator", "plt-ranking"), PLT.for_ranking(n_jobs=1)),
        (
            ("--estimator", "PLT-ranking", "--parameters", '{"tol": 0.5}'),
            PLT.for_ranking(n_jobs=1, tol=0.5),
        ),
        (("--estimator", "plt"), PLT(n_jobs=1)),
        (
            ("--estimator", "SparseWeightedNearestNeighbors"),
            SparseWeightedNearestNeighbors(n_jobs=1),
        ),
        (("--stream",), OPLT(n_jobs=1)),
    ):
        assert run("fit", train, *given, "--out", tmp_path / "model") == 0
        assert repr(TextClassifier.load(tmp_path / "model").estimator) == repr(estimator)
    assert (
        run(
            "fit",
            train,
            "--parameters",
            '{"plt__arity": 4, "n_held_out": 0}',
            "--out",
            tmp_path / "model",
        )
        == 0
    )
    stacked = TextClassifier.load(tmp_path / "model").estimator
    assert (type(stacked), type(TextClassifier().fit(TEXTS, NAMES).estimator_)) == (
        Stacking,
        Stacking,
    )
    assert (stacked.get_params()["plt__arity"], stacked.n_held_out) == (4, 0)


# An import of a module that is None in sys.modules fails as if it were not installed.
OF_THE_WORKFLOW = """
import sys
names = "gdown jinja2 matplotlib msgspec pandas pooch pygments requests snakemake tabulate"
names += " textalloc yaml"
sys.modules.update(dict.fromkeys(names.split()))
from xmlc.cli import main
main(sys.argv[1:])
"""


def test_text_commands_run_without_workflow_extra_and_others_name_it(train, tmp_path):
    def alone(*given):
        code = [sys.executable, "-c", OF_THE_WORKFLOW, *map(str, given)]
        return subprocess.run(code, capture_output=True, text=True, timeout=600, cwd=tmp_path)

    assert alone("fit", train, "--out", "model").returncode == 0
    (tmp_path / "predictions.jsonl").write_text(alone("predict", train, "--model", "model").stdout)
    done = alone("evaluate", "predictions.jsonl", train)
    assert "P@1" in done.stdout, done.stderr
    refused = alone("status")
    assert refused.returncode == 1
    assert "[workflow]" in refused.stderr
    assert refused.stderr.count("\n") == 1


CHINESE = [("新款手机", "phone"), ("家用手机", "phone"), ("绿茶咖啡", "food"), ("高级绿茶", "food")]


def test_fit_learns_texts_without_blanks_and_says_so(tmp_path, capsys):
    rows = "".join(f"{text},{label}\n" for text, label in CHINESE * 10)
    (tmp_path / "train.csv").write_text(f"text,labels\n{rows}")
    for given in (["--estimator", "plt"], ["--stream"]):
        assert run("fit", tmp_path / "train.csv", *given, "--out", tmp_path / "model") == 0
        assert absent(capsys.readouterr().out, "40 instances", "characters") == []
        assert run("predict", tmp_path / "train.csv", "--model", tmp_path / "model", "-k", 1) == 0
        assert [row[0][0] for row in lines(capsys)] == [label for _, label in CHINESE * 10]


@pytest.mark.parametrize(
    ("options", "analyzer", "lengths"),
    [
        (["--analyzer", "char"], "char", (1, 2)),
        (["--analyzer", "char_wb", "--ngrams", "2,4"], "char_wb", (2, 4)),
        (["--analyzer", "word"], "word", (1, 1)),
        (["--ngrams", "1,3"], "word", (1, 3)),
        (["--ngrams", "1", "--stream"], "word", (1, 1)),
    ],
)
def test_options_of_the_analyzer_win(options, analyzer, lengths, tmp_path, capsys):
    rows = "".join(f"{text} {label},{label}\n" for text, label in CHINESE)
    (tmp_path / "train.csv").write_text(f"text,labels\n{rows}")
    estimator = ["--estimator", "oplt" if "--stream" in options else "plt"]
    assert (
        run("fit", tmp_path / "train.csv", *options, *estimator, "--out", tmp_path / "model") == 0
    )
    vectorizer = TextClassifier.load(tmp_path / "model").vectorizer_
    assert (vectorizer.analyzer, vectorizer.ngram_range) == (analyzer, lengths)
    assert (absent(capsys.readouterr().out, "characters") == []) == ("--analyzer" not in options)


@pytest.mark.parametrize("ngrams", ["", "0,1", "2,1", "1,2,3", "1-2", "a", "1,", "-1,2", "١,٢"])
def test_wrong_ngrams_are_refused(ngrams, train, tmp_path, capsys):
    assert run("fit", train, "--ngrams", ngrams, "--out", tmp_path / "model") == 2
    assert absent(capsys.readouterr().err, "--ngrams", f"{ngrams!r}", "1,2") == []


def test_analyzer_of_features_is_refused(tmp_path, capsys):
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n")
    for option in (["--analyzer", "char"], ["--ngrams", "1,2"]):
        assert (
            run(
                "fit",
                tmp_path / "a.svm",
                "--format",
                "svmlight",
                *option,
                "--out",
                tmp_path / "model",
            )
            == 1
        )
        assert absent(capsys.readouterr().err, option[0]) == []


def test_fit_counts_unlabelled_and_empty_texts(tmp_path, capsys):
    rows = (
        "boil rice,cooking\nprune roses,garden\n" * 4 + "no label,\n" * 3 + "  ,garden\n,garden\n"
    )
    (tmp_path / "train.csv").write_text(f"text,labels\n{rows}")
    assert (
        run("fit", tmp_path / "train.csv", "--estimator", "plt", "--out", tmp_path / "model") == 0
    )
    assert (
        absent(capsys.readouterr().out, "13 instances", "3 without a label", "2 with an empty text")
        == []
    )


@pytest.mark.parametrize("to", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "options",
    [
        ["--text", "absent"],
        ["--keep", "absent"],
        ["--format", "jsonl"],
        ["--model", "absent"],
        ["--keep", "label"],
    ],
)
def test_failing_prediction_prints_nothing(to, options, train, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("fit", train, "--estimator", "plt", "--out", "model") == 0
    (tmp_path / "new.csv").write_text("text,set,label\nrice,1,2\n")
    capsys.readouterr()
    assert run("predict", "new.csv", "--model", "model", "--to", to, *options, "--keep", "set") == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "note",
    [
        "a\rb",
        "\r",
        "a\nb",
        "a\r\nb",
        'a "b", c',
        "=1+1",
        "",
        "a\x0cb",
        "a\x85b",
        "a\u2028b",
        " ",
        "'",
        "\ufeff",
    ],
)
def test_every_kept_text_is_read_back_from_csv(note, train, tmp_path, capsys):
    assert run("fit", train, "--estimator", "plt", "--out", tmp_path / "model") == 0
    (tmp_path / "new.jsonl").write_text(
        json.dumps({"text": "rice", "note": note, "labels": ["cooking"]}) + "\n"
    )
    capsys.readouterr()
    given = "--model", tmp_path / "model", "--keep", "note", "--to", "csv"
    assert run("predict", tmp_path / "new.jsonl", *given) == 0
    written = capsys.readouterr().out
    (tmp_path / "predictions.csv").write_text(written, newline="")
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [row["note"] for row in rows] == [note] * 3
    frame = pd.read_csv(tmp_path / "predictions.csv", keep_default_na=False)
    assert frame["note"].tolist() == [note] * 3
    assert "\r\n" not in written.replace("a\r\nb", "")
    assert run("evaluate", tmp_path / "predictions.csv", tmp_path / "new.jsonl") == 0


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (
            ["fit", "a.svm", "--labels", "-", "--format", "npz", "--out", "model"],
            ["-", "standard input"],
        ),
        (["evaluate", "p.jsonl", "-", "--format", "svmlight"], ["-", "standard input"]),
    ],
)
def test_standard_input_that_cannot_be_read_is_refused(
    arguments, facts, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_text('{"labels": []}\n')
    assert run(*arguments) == 1
    message = capsys.readouterr().err
    assert absent(message, *facts) == []
    assert "no such file" not in message


def test_measure_of_fit_and_of_predict(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 7)  # thresholds follow from all batches
    path = tmp_path / "train.csv"
    path.write_text(
        "text,labels\n" + "".join(f"{text},{';'.join(names)}\n" for text, names in ROWS * 30)
    )
    given = "fit", path, "--estimator", "plt", "--out"
    assert (
        run(*given, tmp_path / "plain")
        == run(*given, tmp_path / "model", "--measure", "macro_f")
        == 0
    )
    capsys.readouterr()
    model = TextClassifier.load(tmp_path / "model")
    every = [text for text, _ in ROWS * 30]
    assert run("predict", path, "--model", tmp_path / "model") == 0
    assert [sorted(names) for names in lines(capsys, "set")] == model.predict_sets(every)
    for measure in ("macro_f", "micro_f"):
        for name in ("plain", "model"):
            assert run("predict", path, "--model", tmp_path / name, "--measure", measure) == 0
            sets = model.estimator_.predict(model.features(every), measure=measure)
            expected = [sorted(model.classes_[sets[[i]].indices]) for i in range(len(every))]
            assert [sorted(names) for names in lines(capsys, "set")] == expected
