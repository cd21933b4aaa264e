"""Models with changed arrays and renewed checksums: refused, or predictions within the bounds of
all arrays.

The models are used in a process of their own, because a wrong index could end the process, and a
wrong child could keep it busy. `make bounds` compiles the kernels with bounds checks, so that an
index outside an array is an error there.
"""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from facts import raises_with
from small_data import random_multilabel
from small_models import small

from xmlc import TextClassifier, load_model
from xmlc.core.checksums import list_files
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.models import OPLT, PLT, FastXML, Parabel, Stacking
from xmlc.models.oplt.tree import OnlineTree

pytestmark = pytest.mark.kernels  # `make bounds` runs this file, too
TRIED = int(os.environ.get("FUZZ") or 24)  # changes of each model
SECONDS = 1200 + 14 * TRIED  # for all changes, compilation included
EXTREME = [-1, 0, 1, 2, 7, 255, 1 << 15, (1 << 31) - 1, -(1 << 31), (1 << 32) - 1]
EXTREME += [(1 << 63) - 1, -(1 << 63)]
MODELS = {
    name: lambda name=name: small(name) for name in ("fastxml", "ldsm", "swnn", "br", "pcc")
} | {
    "pfastrexml": lambda: FastXML(n_trees=3, propensity_weighted=True, alpha=0.8, n_jobs=1),
    "dense": lambda: PLT(arity=2, max_leaf=2, epochs=2, weight_threshold=None, n_jobs=1),
    "sparse": lambda: PLT(arity=4, max_leaf=4, epochs=2, weight_threshold=0.05, n_jobs=1),
    "hashed": lambda: PLT(arity=2, epochs=2, hash_bits=8, n_jobs=1),
    "parabel": lambda: Parabel(n_trees=2, arity=2, max_leaf=2, n_jobs=1),
    "online": lambda: OPLT(arity=3, max_leaf=5, n_jobs=1),
    "finished": lambda: OPLT(epochs=1, n_jobs=1),
    "stacking": lambda: Stacking(n_jobs=1),
}


def changed(array, rng):
    """Return a copy of an array with a changed value, type, shape or order."""
    array = array.copy()
    way = rng.integers(8)
    flat = array.reshape(-1)
    if way == 0 and array.ndim:
        return array[: rng.integers(array.shape[0] + 1)]
    if way == 1:
        if array.dtype.names:
            return array
        return array.astype(["i4", "i8", "u4", "f4", "f8", "u1"][rng.integers(6)])
    if way == 2:
        return np.concatenate((flat, flat[: rng.integers(flat.size + 1)]))
    if flat.size == 0:
        return array
    if way == 3:
        array[...] = np.zeros((), dtype=array.dtype)
        return array
    if way == 4:
        rng.shuffle(flat)
        return array
    numbers = flat
    if array.dtype.names:
        numbers = flat[array.dtype.names[rng.integers(len(array.dtype.names))]]
    place, other = rng.integers(flat.size, size=2)
    if numbers.dtype.kind == "f":
        numbers[place] = rng.choice([np.nan, np.inf, -np.inf, 0, -1, 1e30])
    elif way == 5:
        numbers[place] = numbers[other]
    else:
        value = EXTREME[rng.integers(len(EXTREME))]
        if way == 6:
            value = int(numbers[place]) + int(rng.choice([-1, 1]))
        numbers[place] = np.array([value % (1 << 64)], dtype=np.uint64).astype(numbers.dtype)[0]
    return array


def change(folder, rng):
    """Change one array of a stored model, or a number of its description, and return what was
    changed.
    """
    files = sorted(folder.rglob("*.npy"))
    if rng.integers(10) == 0:
        file = sorted(folder.rglob("model.json"))[0]
        about = read_json(file)
        entry = rng.choice(["n_features", "n_labels", "meta"])
        value = EXTREME[rng.integers(len(EXTREME))]
        if entry == "n_features" and value == (1 << 31) - 1:
            value = -1  # a forest cannot contradict this number, which only takes memory
        if entry == "meta" and about["meta"]:
            entry = sorted(about["meta"])[rng.integers(len(about["meta"]))]
            about["meta"][entry] = value
        elif entry != "meta":
            about[entry] = value
        write_json(file, about)
        what = f"{file.name}: {entry}={value}"
    else:
        file = files[rng.integers(len(files))]
        np.save(file, changed(np.load(file), rng))
        what = file.name
    # The list of an outer folder has the checksums of the inner folders' lists.
    for file in sorted(folder.rglob("model.json"), key=lambda file: -len(file.parts)):
        list_files(file.parent)
    return what


def try_changes(stored, n, seed):
    """Load and use ``n`` changed copies of a model, and return how many were refused."""
    X, Y = random_multilabel(60, 20, 12, seed=1)
    refused = 0
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        folder = stored.parent / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(stored, folder)
        what = change(folder, rng)
        print(stored.name, number, what, file=sys.stderr, flush=True)
        try:
            model = load_model(folder)
        except XmlcError:
            refused += 1
            continue
        part = X[:, : model.n_features_in_]
        part.resize((X.shape[0], model.n_features_in_))
        # an estimate may be no probability
        with suppress(XmlcError), np.errstate(all="ignore"):
            model.predict_top_k(part, 3)
            model.predict_proba(part)
            model.rank_one([0], [1.0], 2)
            if hasattr(model, "partial_fit") and isinstance(model._model, OnlineTree):
                model.partial_fit(X, Y)
    return refused


def main(folder):
    """Change each model in a folder, and print the numbers of refused changes by model."""
    refused = {}
    for seed, name in enumerate(sorted(MODELS)):
        refused[name] = try_changes(Path(folder) / name, TRIED, seed)
    print(json.dumps(refused))


def test_changed_models_are_refused_or_used_within_bounds(tmp_path):
    X, Y = random_multilabel(60, 20, 12, seed=1)
    for name, make in MODELS.items():
        model = make()
        learn = model.partial_fit if name == "online" else model.fit
        learn(X, Y).save(tmp_path / name)
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "support"), os.environ.get("PYTHONPATH", "")]
    checks = "import bounds; " if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else ""
    code = f"{checks}import sys, test_changed_models; test_changed_models.main(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "XMLC_PROGRESS": "0"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert min(json.loads(done.stdout).values()) > 0


CASES = [
    ("parabel", "row_starts_0", lambda array: array.__setitem__(array.size // 2, (1 << 31) - 1)),
    ("fastxml", "children", lambda array: array.fill(0)),
    ("pfastrexml", "children", lambda array: array.fill(0)),
    ("ldsm", "children", lambda array: array.fill(0)),
    ("fastxml", "children", lambda array: array.__setitem__(0, -(1 << 31))),
    ("fastxml", "counts", lambda array: array.__setitem__(0, 0)),
    ("swnn", "places", lambda array: array.fill(0)),
    ("swnn", "words", lambda array: array.fill((1 << 64) - 1)),
    ("swnn", "postings", lambda array: array.fill((1 << 32) - 1)),
    ("sparse", "siblings", lambda array: array.__setitem__(0, 60000)),
    ("dense", "features", lambda array: array.fill(0)),
]


@pytest.mark.parametrize(("name", "array", "edit"), CASES)
def test_array_that_kernels_cannot_use_is_named(name, array, edit, tmp_path):
    X, Y = random_multilabel(60, 20, 12, seed=1)
    if array == "postings":  # only rare features have postings
        X, Y = random_multilabel(300, 60, 12, seed=1, density=0.02)
    MODELS[name]().fit(X, Y).save(tmp_path)
    content = np.load(tmp_path / f"{array}.npy")
    assert content.size
    edit(content)
    np.save(tmp_path / f"{array}.npy", content)
    list_files(tmp_path)
    with raises_with(XmlcError, array.removesuffix("_0"), str(tmp_path)):
        load_model(tmp_path)


TEXTS = ["boil rice", "fry onions", "prune roses"], [["cooking"], ["cooking"], ["garden"]]


@pytest.mark.parametrize(
    "name", ["idf.npy", "texts.json", "checksums.json", "model", "model/coefficients_.npy"]
)
@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_links_and_pipes_in_a_model_are_refused_unopened(name, kind, tmp_path):
    TextClassifier().fit(*TEXTS).save(tmp_path / "texts")
    file = tmp_path / "texts" / name
    file.rename(tmp_path / "elsewhere")
    if kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to(tmp_path / "elsewhere")
    with raises_with(XmlcError, str(file) if name != "model" or kind == "link" else "model"):
        TextClassifier.load(tmp_path / "texts")


def test_pipe_without_a_checksum_is_not_opened(tmp_path):
    from sklearn.feature_extraction.text import HashingVectorizer

    TextClassifier(vectorizer=HashingVectorizer(n_features=64)).fit(*TEXTS).save(tmp_path / "texts")
    os.mkfifo(tmp_path / "texts" / "idf.npy")
    os.mkfifo(tmp_path / "texts" / "vocabulary.json")
    assert TextClassifier.load(tmp_path / "texts").predict(["roses"], 1)


def test_folder_of_a_model_may_be_a_link(tmp_path):
    TextClassifier().fit(*TEXTS).save(tmp_path / "texts")
    (tmp_path / "link").symlink_to(tmp_path / "texts")
    assert TextClassifier.load(tmp_path / "link").predict(["roses"], 1)[0][0][0] == "garden"
