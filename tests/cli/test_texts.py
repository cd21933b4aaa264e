"""`xmlc fit`, `predict` and `evaluate`: from files to files, as by hand."""

import json
import subprocess
import sys

import pytest
from command_line import run
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

from xmlc import TextClassifier
from xmlc.cli import texts
from xmlc.data.formats import load
from xmlc.models import OPLT, PLT

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
    path.write_text("text,labels\n" + "".join(f"{text},{';'.join(names)}\n" for text, names in ROWS))
    return path


def lines(capsys):
    return [json.loads(line)["labels"] for line in capsys.readouterr().out.splitlines()]


def test_predictions_are_those_of_the_classifier(train, tmp_path, capsys):
    assert run("fit", train, "--parameters", '{"C": 10}', "--out", tmp_path / "model") == 0
    assert "4 instances, 3 labels, 1.50 labels an instance" in capsys.readouterr().out
    model = TextClassifier(PLT(C=10, random_state=0)).fit(TEXTS, NAMES)
    assert run("predict", train, "--model", tmp_path / "model", "-k", 2) == 0
    found = lines(capsys)
    assert [[name for name, _ in row] for row in found] == [
        [name for name, _ in row] for row in model.predict(TEXTS, 2)
    ]
    assert found[0][0][1] == pytest.approx(model.predict(TEXTS, 2)[0][0][1], abs=1e-6)
    assert run("predict", train, "--model", tmp_path / "model", "--threshold", 0.4) == 0
    assert [{name for name, _ in row} for row in lines(capsys)] == [
        set(each) for each in model.predict_sets(TEXTS, 0.4)
    ]


def test_estimators_of_other_libraries_are_read_if_they_are_trusted(train, tmp_path, capsys):
    given = ("--estimator", "sklearn.neighbors:KNeighborsClassifier", "--parameters", '{"n_neighbors": 1}')
    assert run("fit", train, *given, "--out", tmp_path / "model") == 0
    assert run("predict", train, "--model", tmp_path / "model") == 1
    said = capsys.readouterr()
    assert "if you trust it" in said.err
    assert run("predict", train, "--model", tmp_path / "model", "-k", 2, "--trusted") == 0
    assert [{name for name, _ in row} for row in lines(capsys)] == [{"cooking"}, *map(set, NAMES[1:3]), {"garden"}]


def test_scores_of_rankings_and_of_lists_as_sets(train, tmp_path, capsys):
    predictions = tmp_path / "predictions.jsonl"
    rows = [["cooking"], ["cooking", "garden"], ["vegetables", "garden"], ["cooking"]]
    predictions.write_text("".join(json.dumps({"labels": [[name, 0.5] for name in row]}) + "\n" for row in rows))
    assert run("evaluate", predictions, train) == 0
    scores = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines() if "-" * 5 not in line)
    assert scores["P@1"] == "75.00"  # the first of three rows
    assert scores["R@1"] == "50.00"  # (1 + .5 + .5 + 0) / 4
    assert "P@3" not in scores
    assert scores["micro-F"] == "66.67"  # 4 hits, 6 predicted, 6 true
    assert scores["instance-F"] == "62.50"  # (1 + .5 + 1 + 0) / 4
    predictions.write_text('{"labels": []}\n')
    assert run("evaluate", predictions, train) == 1
    assert "found 1 predictions, expected 4" in capsys.readouterr().err


def test_predictions_of_other_labels_get_a_warning(train, tmp_path, capsys):
    (tmp_path / "predictions.jsonl").write_text('{"labels": [["0", 0.5]]}\n' * 4)
    assert run("evaluate", tmp_path / "predictions.jsonl", train) == 0
    assert "found no label of" in capsys.readouterr().err


def test_streams_and_standard_input(train, tmp_path, capsys, monkeypatch):
    import io
    import sys

    assert run("fit", train, "--estimator", "oplt", "--stream", "--out", tmp_path / "model") == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "roses"}\n')))
    assert run("predict", "-", "--format", "jsonl", "--model", tmp_path / "model", "-k", 3) == 0
    assert {name for name, _ in lines(capsys)[0]} == {"cooking", "garden", "vegetables"}


def test_a_stream_may_begin_with_texts_without_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 2)
    (tmp_path / "train.csv").write_text("text,labels\nrice,\nrose,\nboil rice,cooking\nprune roses,garden\n")
    assert run("fit", tmp_path / "train.csv", "--stream", "--out", tmp_path / "model") == 0
    assert [*TextClassifier.load(tmp_path / "model").classes_] == ["cooking", "garden"]
    (tmp_path / "train.csv").write_text("text,labels\nrice,\nrose,\nsoil,\n")
    assert run("fit", tmp_path / "train.csv", "--stream", "--out", tmp_path / "other") == 1
    assert not (tmp_path / "other").exists()


def test_options_of_a_file_and_warnings_reach_the_console(tmp_path, capsys):
    half, uris = tmp_path / "half.csv", tmp_path / "uris.csv"
    half.write_text("text|labels\nboil rice|a, b\nfry onions|b\nprune roses|\nplant onions|\n")
    assert run("fit", half, "--delimiter", "|", "--out", tmp_path / "model") == 0
    said = capsys.readouterr().err
    assert f"xmlc: warning: {half}: 2 of 4 texts have no label" in said
    assert f"xmlc: warning: {half}: 1 of 2 cells of labels have ','" in said
    assert run("fit", half, "--separator", ",", "--out", tmp_path / "model") == 0
    found = capsys.readouterr()
    assert "2 labels, 0.75 labels an instance" in found.out
    assert "--separator" not in found.err
    assert run("predict", half, "--model", tmp_path / "model") == 0
    found = capsys.readouterr()
    assert "warning" not in found.err
    (tmp_path / "predictions.jsonl").write_text(found.out)
    assert run("evaluate", tmp_path / "predictions.jsonl", half) == 0
    assert "2 of 4 texts have no label" in capsys.readouterr().err
    uris.write_text("text\tlabels\n" + "".join(f"boil rice {i}\thttp://x/{i};http://x/{i + 1}\n" for i in range(5)))
    assert run("fit", uris, "--delimiter", r"\t", "--out", tmp_path / "model") == 0
    assert "6 labels, 2.00 labels an instance" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["fit", "-", "--out", "model"], ["predict", "-", "--model", "there"]])
def test_standard_input_needs_a_format(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TextClassifier().fit(TEXTS, NAMES).save(tmp_path / "there")
    assert run(*command) == 1
    assert "expected one of csv, tsv, jsonl, json, fasttext; set it with --format" in capsys.readouterr().err


def test_half_a_character_is_refused_before_training(tmp_path, capsys):
    (tmp_path / "train.jsonl").write_text(r'{"text": "boil rice", "labels": ["\ud800"]}')
    assert run("fit", tmp_path / "train.jsonl", "--out", tmp_path / "model") == 1
    assert "train.jsonl:1: found half of a character" in capsys.readouterr().err


def test_features_in_place_of_texts(multilabel, tmp_path, capsys):
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "empty.csv", "--out", "model"], "found no texts"),
        (["fit", "letters.csv", "--out", "model"], "TfidfVectorizer: empty vocabulary"),
        (["fit", "train.csv", "--labels", "label", "--out", "model"], "found 4 texts and no label"),
        (["fit", "train.csv", "--separator", "", "--out", "model"], "found an empty text"),
        (["fit", "train.csv", "--estimator", "oracle", "--out", "model"], "learns nothing"),
        (["fit", "train.csv", "--estimator", "plt-rankin", "--out", "model"], "expected plt-ranking"),
        (["fit", "noext", "--out", "model"], "or of texts: csv, tsv, jsonl, json, fasttext (--format)"),
        (["predict", "train.csv", "--model", "there", "-k", 2, "--threshold", 0.5], "expected one of them"),
        (["evaluate", "predictions.jsonl", "train.csv", "--labels", "label"], "train.csv: found no label"),
        (["evaluate", "twice.jsonl", "train.csv"], "twice.jsonl:1: found a label twice"),
        (["evaluate", "letters.csv", "train.csv"], "letters.csv:1: found 'text,labels'"),
        (["evaluate", "names.jsonl", "train.csv"], "names.jsonl:1: found"),
        (["evaluate", "lists.jsonl", "train.csv"], "lists.jsonl:1: found"),
        (["evaluate", "order.jsonl", "train.csv"], "order.jsonl:1: found"),
        (["evaluate", "nan.jsonl", "train.csv"], "nan.jsonl:1: found"),
        (["fit", "absent.csv", "--out", "model"], "no such file"),
        (["predict", "train.csv", "--model", "absent"], "found no model"),
    ],
)
def test_errors(train, tmp_path, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("text,labels\n")
    (tmp_path / "letters.csv").write_text("text,labels\nx,a\n")
    (tmp_path / "names.jsonl").write_text('{"labels": ["ab", "cd"]}\n' * 4)
    (tmp_path / "lists.jsonl").write_text('{"labels": [[["a"], 0.5]]}\n' * 4)
    (tmp_path / "order.jsonl").write_text('{"labels": [["cooking", 0.1], ["garden", 0.9]]}\n' * 4)
    (tmp_path / "nan.jsonl").write_text('{"labels": [["cooking", NaN]]}\n' * 4)
    (tmp_path / "noext").write_text("boil rice\n")
    (tmp_path / "predictions.jsonl").write_text('{"labels": [["cooking", 0.5]]}\n' * 4)
    (tmp_path / "twice.jsonl").write_text('{"labels": [["cooking", 0.5], ["cooking", 0.4]]}\n' * 4)
    TextClassifier().fit(TEXTS, NAMES).save(tmp_path / "there")
    assert run(*arguments) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_the_preset_for_rankings_and_the_default_of_streams_have_names(train, tmp_path):
    for given, estimator in (
        (("--estimator", "plt-ranking"), PLT.for_ranking(n_jobs=1)),
        (("--estimator", "PLT-ranking", "--parameters", '{"tol": 0.5}'), PLT.for_ranking(n_jobs=1, tol=0.5)),
        ((), PLT(n_jobs=1)),
        (("--stream",), OPLT(n_jobs=1)),
    ):
        assert run("fit", train, *given, "--out", tmp_path / "model") == 0
        assert repr(TextClassifier.load(tmp_path / "model").estimator) == repr(estimator)


# An import of a module that is None in sys.modules fails as if it were not installed.
OF_THE_WORKFLOW = """
import sys
names = "gdown jinja2 matplotlib msgspec pandas pygments requests snakemake tabulate yaml"
sys.modules.update(dict.fromkeys(names.split()))
from xmlc.cli import main
main(sys.argv[1:])
"""


def test_they_run_without_the_packages_of_the_workflow_and_others_name_its_extra(train, tmp_path):
    def alone(*given):
        code = [sys.executable, "-c", OF_THE_WORKFLOW, *map(str, given)]
        return subprocess.run(code, capture_output=True, text=True, timeout=600, cwd=tmp_path)

    assert alone("fit", train, "--out", "model").returncode == 0
    (tmp_path / "predictions.jsonl").write_text(alone("predict", train, "--model", "model").stdout)
    done = alone("evaluate", "predictions.jsonl", train)
    assert "P@1" in done.stdout, done.stderr
    refused = alone("status")
    assert refused.returncode == 1
    assert "install the extra `workflow`" in refused.stderr
    assert refused.stderr.count("\n") == 1
