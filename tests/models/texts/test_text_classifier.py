"""Text classifiers, compared with scikit-learn's parts: predictions, files without pickles,
streams.
"""

import io
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from facts import raises_with
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, Normalizer

from xmlc import TextClassifier
from xmlc.core.errors import InvalidDataError, MissingFileError, XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.models import OPLT, PLT, Parabel, Stacking
from xmlc.thresholds import LabelSets, priors

WORDS = "rice onion flour rose tulip soil spring oven".split()
TEXTS = [f"{WORDS[i % 8]} {WORDS[3 * i % 8]} {WORDS[(i // 8) % 8]}" for i in range(64)]
NAMES = []
for text in TEXTS:
    NAMES.append(sorted({f"about {word}" for word in text.split() if word != "oven"}))


def test_predictions_equal_vectorizer_binarizer_and_estimator_by_hand():
    model = TextClassifier(PLT(random_state=1)).fit(TEXTS, NAMES)
    X = TfidfVectorizer().fit_transform(TEXTS)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    by_hand = PLT(random_state=1).fit(X, binarizer.fit_transform(NAMES))
    labels, scores = by_hand.predict_top_k(X, 3)
    pairs = []
    for row, of in zip(binarizer.classes_[labels].tolist(), scores.tolist()):
        pairs.append([*zip(row, of)])
    assert model.predict(TEXTS, 3) == pairs
    for thresholds in (None, 0.3):
        sets = binarizer.inverse_transform(by_hand.predict(X, thresholds))
        assert model.predict_sets(TEXTS, thresholds) == [list(names) for names in sets]
    assert (model.features(TEXTS) != X).nnz == 0
    assert list(model.classes_) == list(binarizer.classes_)
    found = model.predict(TEXTS)
    assert [sorted(dict(pairs)) for pairs in found] == model.predict_sets(TEXTS)
    for pairs, ranking in zip(found, model.predict(TEXTS, 7)):
        assert pairs == ranking[: len(pairs)]
    assert len({len(pairs) for pairs in found}) > 1


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(ngram_range=(1, 2), stop_words=["soil"]),
        TfidfVectorizer(use_idf=False, max_features=5),
        CountVectorizer(vocabulary=["rose", "rice"]),
        HashingVectorizer(n_features=64, alternate_sign=False),
    ],
)
def test_scikit_learn_vectorizers_are_saved_without_pickle(vectorizer, tmp_path):
    model = TextClassifier(Parabel(n_trees=1), vectorizer).fit(TEXTS, NAMES)
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.predict(TEXTS) == model.predict(TEXTS)
    assert repr(loaded.estimator) == repr(model.estimator)
    assert not list(tmp_path.rglob("*.joblib"))


@pytest.mark.parametrize(
    "vectorizer",
    [make_pipeline(CountVectorizer(), Normalizer()), TfidfVectorizer(tokenizer=str.split)],
)
def test_other_vectorizers_are_saved_by_joblib_and_loaded_if_trusted(vectorizer, tmp_path):
    model = TextClassifier(vectorizer=vectorizer).fit(TEXTS, NAMES)
    model.save(tmp_path)
    with raises_with(XmlcError, "trusted=True"):
        TextClassifier.load(tmp_path)
    loaded = TextClassifier.load(tmp_path, trusted=True)
    assert loaded.predict(TEXTS) == model.predict(TEXTS)


def test_stream_accepts_new_names_and_continues_after_loading(tmp_path):
    whole = TextClassifier().partial_fit(TEXTS, NAMES)
    assert isinstance(whole.estimator_, OPLT)
    parts = TextClassifier(OPLT()).partial_fit(TEXTS[:5], NAMES[:5])
    assert len(parts.classes_) < len(whole.classes_)
    parts.save(tmp_path / "model")
    resumed = TextClassifier.load(tmp_path / "model").partial_fit(TEXTS[5:], NAMES[5:])
    assert list(resumed.classes_) == list(dict.fromkeys(chain.from_iterable(NAMES)))
    assert resumed.predict(TEXTS) == whole.predict(TEXTS)


@pytest.mark.parametrize("parts", [(PLT(),), (OPLT(), TfidfVectorizer())])
def test_partial_fit_needs_parts_that_learn_online(parts):
    with raises_with(XmlcError, type(parts[-1]).__name__):
        TextClassifier(*parts).partial_fit(TEXTS, NAMES)


@pytest.mark.parametrize("begun_by", ["partial_fit", "load", "fit"])
def test_partial_fit_refuses_changed_parts(begun_by, tmp_path):
    model = TextClassifier(OPLT(gamma=0.5, online=True), HashingVectorizer(n_features=64))
    if begun_by == "fit":
        model.fit(TEXTS, NAMES)
    else:
        model.partial_fit(TEXTS, NAMES)
    if begun_by == "load":
        model.save(tmp_path / "model")
        model = TextClassifier.load(tmp_path / "model")
    for name, value, before in (("estimator__gamma", 0.2, 0.5), ("vectorizer__n_features", 32, 64)):
        model.set_params(**{name: value})
        with raises_with(InvalidParameterError, f"{name}={value}", f"{name}={before}"):
            model.partial_fit(TEXTS, NAMES)
        model.set_params(**{name: before}).partial_fit(TEXTS, NAMES)


def test_fit_accepts_texts_without_labels_duplicates_and_names_with_blanks():
    model = TextClassifier(PLT()).fit(["rice", "rose", "soil"], [["a", "a"], [], [" b c "]])
    assert model.classes_.tolist() == [" b c ", "a"]
    assert model.predict(["rice"], 5)[0][0][0] == "a"
    assert model.predict([]) == model.predict_sets([]) == []


@pytest.mark.parametrize(
    ("texts", "names", "mentioned"),
    [
        ("one text", [["a"]], ["'one text'", "[text]"]),
        (["rice", "rose"], [["a"]], ["2 texts", "1"]),
        (["rice", "rose"], ["ab", ["b"]], ["text 0", "'ab'"]),
        (["rice", "rose"], [["a"], None], ["text 1", "None"]),
        (["rice", "rose"], [[0, 1], [1, 0]], ["text 0", "0", "Write the number 1 as '1'"]),
        (["rice", None], [["a"], ["b"]], ["text 1", "None"]),
        (["rice", "rose"], [{"a": 1.0, "b": 0.0}, {"a": 0.0}], ["text 0", "dict"]),
        (["rice", "\ud83d rose"], [["a"], ["b"]], "'\\ud83d rose'"),
        (["rice", "rose"], [["a"], ["b", " \u3000"]], "labels of text 1"),
        (["rice", "rose"], [["a"], ["b", float("nan")]], ["labels of text 1", "nan"]),
        ({"rice", "rose"}, [["a"], ["b"]], ["texts", "set"]),
        (["rice", "rose"], {("a",), ("b",)}, ["labels", "set"]),
    ],
)
def test_invalid_texts_and_label_lists_are_refused(texts, names, mentioned):
    model = TextClassifier().partial_fit(["rice", "rose"], [["a"], ["b"]])
    for method in (model.fit, model.partial_fit, model.score):
        with raises_with(InvalidDataError, mentioned):
            method(texts, names)


def test_fit_refuses_texts_without_any_label():
    with raises_with(InvalidDataError, "labels: found no label in 64 texts"):
        TextClassifier().fit(TEXTS, [[] for _ in TEXTS])


def test_errors_of_vectorizers_are_invalid_data_errors():
    hashed = TextClassifier(OPLT(), HashingVectorizer(analyzer="char")).partial_fit(TEXTS, NAMES)
    with raises_with(InvalidDataError, "HashingVectorizer"):
        hashed.predict(["rice \ud83d"])


@pytest.mark.parametrize("name", ["texts.json", "idf.npy", "model/hinge/bias.npy"])
def test_load_refuses_changed_files(name, tmp_path):
    TextClassifier().fit(TEXTS, NAMES).save(tmp_path / "model")
    changed = bytearray((tmp_path / "model" / name).read_bytes())
    changed[-2] ^= 1
    (tmp_path / "model" / name).write_bytes(changed)
    with raises_with(XmlcError, name):
        TextClassifier.load(tmp_path / "model")


def test_predict_before_fit_and_load_of_other_folders_are_refused(tmp_path):
    with pytest.raises(ValueError):
        TextClassifier().predict(["rice"])
    with pytest.raises(XmlcError):
        TextClassifier.load(tmp_path)


def test_hyperparameters_of_parts_can_be_set_and_searched():
    model = TextClassifier().set_params(estimator__plt__arity=4, vectorizer__ngram_range=(1, 2))
    assert model.vectorizer.ngram_range == (1, 2)
    assert clone(model).get_params()["estimator__plt__arity"] == 4
    assert "estimator__plt__arity" not in model.get_params(deep=False)
    for name in ("vectorizer__x", "estimator__x", "x"):
        with raises_with(InvalidParameterError, "x"):
            model.set_params(**{name: 1})
    grid = {"estimator__arity": [2, 4], "vectorizer__binary": [True]}
    search = GridSearchCV(TextClassifier(PLT(n_jobs=1)), grid, cv=2).fit(TEXTS, NAMES)
    best = search.best_estimator_
    assert best.vectorizer.binary
    assert search.best_score_ == cross_val_score(best, TEXTS, NAMES, cv=2).mean()
    found = cross_val_predict(best, TEXTS, NAMES, cv=KFold(2))
    assert found.shape == (64,)
    assert found[:32].tolist() == best.fit(TEXTS[32:], NAMES[32:]).predict(TEXTS[:32])


def test_score_is_share_of_texts_with_correct_first_label():
    model = TextClassifier(PLT()).fit(["rice", "rose"], [["a"], ["b"]])
    assert model.score(["rice", "rose", "rice", "rose"], [["a", "new"], ["b"], ["b"], []]) == 0.5


def test_vectorizers_of_files_are_saved_and_loaded(tmp_path):
    names = [str(tmp_path / "0.txt"), str(tmp_path / "1.txt")]
    for name, text in zip(names, ("boil rice", "prune roses")):
        Path(name).write_text(text)
    model = TextClassifier(PLT(), TfidfVectorizer(input="filename")).fit(names, [["a"], ["b"]])
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.predict(names) == model.predict(names)
    assert repr(loaded.vectorizer_) == repr(model.vectorizer_)
    with raises_with(MissingFileError, "nowhere"):
        model.predict(["nowhere"])
    files = [io.StringIO("boil rice"), io.StringIO("rose")]
    opened = TextClassifier(PLT(), TfidfVectorizer(input="file")).fit(files, [["a"], ["b"]])
    assert opened.predict([io.StringIO("rice")], 1)[0][0][0] == "a"


def test_empty_partial_fit_changes_nothing():
    model = TextClassifier().partial_fit([], []).partial_fit(TEXTS, NAMES)
    expected = TextClassifier().partial_fit(TEXTS, NAMES).predict(TEXTS)
    assert model.partial_fit([], []).predict(TEXTS) == expected


def test_weights_of_texts_repeat_or_omit_them():
    weights = [2, 0] + [1] * 62
    texts = [TEXTS[0], TEXTS[0], *TEXTS[2:]]
    names = [NAMES[0], NAMES[0], *NAMES[2:]]
    hashed = TextClassifier(PLT(epochs=3), HashingVectorizer(n_features=64))
    repeated = clone(hashed).fit(texts, names)
    assert hashed.fit(TEXTS, NAMES, sample_weight=weights).predict(TEXTS) == repeated.predict(TEXTS)
    repeated = TextClassifier(PLT(epochs=3)).fit(texts, names)
    weighted = clone(repeated).fit(TEXTS, NAMES, sample_weight=weights)
    assert weighted.vectorizer_.vocabulary_ == repeated.vectorizer_.vocabulary_
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    with raises_with(InvalidParameterError, "OPLT", "sample_weight"):
        TextClassifier(OPLT()).fit(TEXTS, NAMES, sample_weight=weights)


def test_classes_of_a_stream_have_the_order_of_lists_or_the_sorted_order_of_sets():
    names = [f"class {i}" for i in range(10, 40)]
    examples = {"rice": ["b", "a", "b"], "fry onions": {*names}, "boil": frozenset(names[::-1])}
    model = TextClassifier(OPLT()).partial_fit(examples.keys(), examples.values())
    # sets of strings have another order in each process
    assert model.classes_.tolist() == ["b", "a", *names]


@pytest.mark.parametrize(
    ("estimator", "measure"), [(PLT(), "micro_f"), (Parabel(), "macro_f"), (Stacking(), "macro_f")]
)
def test_set_of_a_text_has_own_thresholds_alone_and_in_a_batch(estimator, measure, tmp_path):
    model = TextClassifier(estimator, measure=measure).fit(TEXTS, NAMES)
    X = model.features(TEXTS)
    Y = MultiLabelBinarizer(sparse_output=True).fit_transform(NAMES).astype(bool)
    rows, part = np.split(random_permutation(len(TEXTS), 0, Stream.STACKING), [12])
    if not isinstance(estimator, Stacking):
        copy = estimator.unfitted().set_params(**model.estimator_._selected()).fit(X[part], Y[part])
        fitted = LabelSets(measure).fit(copy.predict_proba(X[rows], 1e-4), Y[rows], prior=priors(Y))
        limits = np.maximum(fitted.limits(), np.float32(1e-4))
        np.testing.assert_array_equal(model.own_thresholds(), limits)
        expected = fitted.predict(model.predict_proba(TEXTS, 1e-4)).toarray()
        np.testing.assert_array_equal(model.estimator_.predict(X, limits).toarray(), expected)
    model.save(tmp_path)
    loaded = TextClassifier.load(tmp_path)
    assert loaded.measure == measure
    whole = model.predict_sets(TEXTS)
    assert [loaded.predict_sets([text])[0] for text in TEXTS] == whole
    ranked = loaded.predict(TEXTS)
    assert [sorted(dict(pairs)) for pairs in ranked] == [sorted(names) for names in whole]


def test_measure_is_checked_and_belongs_to_a_training():
    with raises_with(InvalidParameterError, "macrof", "macro_f"):
        TextClassifier(PLT(), measure="macrof").fit(TEXTS, NAMES)
    model = TextClassifier(PLT(), measure="macro_f").fit(TEXTS, NAMES)
    with raises_with(InvalidParameterError, "micro_f", "macro_f", "fit"):
        model.set_params(measure="micro_f").predict_sets(TEXTS)
    with raises_with(InvalidParameterError, "macrof", "macro_f"):
        model.set_params(measure="macrof").predict_sets(TEXTS)
    sets = model.set_params(measure="instance_f").predict_sets(TEXTS)
    assert sets == TextClassifier(PLT()).fit(TEXTS, NAMES).predict_sets(TEXTS)
    with raises_with(InvalidParameterError, "macro_f", "instance_f"):
        TextClassifier(measure="macro_f").partial_fit(TEXTS, NAMES)
    with raises_with(InvalidDataError, "4", "5"):
        TextClassifier(PLT(), measure="macro_f").fit(TEXTS[:4], NAMES[:4])


def test_thresholds_of_texts_ignore_texts_of_weight_0():
    weights = [0, 1, 2, 1] * 16
    texts = [TEXTS[i] for i in range(64) if i % 4]
    names = [NAMES[i] for i in range(64) if i % 4]
    model = TextClassifier(PLT(), measure="macro_f").fit(TEXTS, NAMES, sample_weight=weights)
    fewer = clone(model).fit(texts, names, sample_weight=[1, 2, 1] * 16)
    np.testing.assert_array_equal(model.own_thresholds(), fewer.own_thresholds())
