"""The folder of a model is a model's, or the error names the file and the command that makes it again."""

import numpy as np
import pytest
from hostile_cases import good_pair

from xmlc.checksums import list_files
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.models import PLT


@pytest.fixture(scope="module")
def whole():
    X, Y = good_pair()
    return PLT(epochs=1, arity=2, max_leaf=2).fit(X, Y)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("arrays", ["../secret"], r"model\.json: arrays are .*, expected names"),
        ("n_labels", -1, "n_labels is -1, expected 0"),
        ("n_labels", 7, "the tree has 6 labels, expected 7"),
        ("n_features", 3, r"features\.npy: entry \d+ is \d+, expected 0 \.\. 2"),
        ("n_features", "12", "n_features is '12', expected int"),
        ("hyperparameters", {"arity": 2}, r"hyperparameters are \['arity'\], expected C, arity"),
    ],
)
def test_a_description_that_is_none(whole, tmp_path, entry, value, message):
    whole.save(tmp_path / "model")
    file = tmp_path / "model/model.json"
    write_json(file, read_json(file) | {entry: value})
    list_files(file.parent)
    with pytest.raises(XmlcError, match=message + r".*; delete .* and train the model again \(xmlc train\)"):
        PLT.load(tmp_path / "model")


def test_a_hyperparameter_that_fit_would_refuse_is_refused_on_disk(whole, tmp_path):
    whole.save(tmp_path / "model")
    file = tmp_path / "model/model.json"
    content = read_json(file)
    write_json(file, content | {"hyperparameters": content["hyperparameters"] | {"gamma": 0.0}})
    list_files(file.parent)
    with pytest.raises(XmlcError, match=r"model\.json: PLT: gamma=0\.0: expected a number above 0.*; delete"):
        PLT.load(tmp_path / "model")


def test_a_missing_array_and_one_of_another_type(whole, tmp_path):
    whole.save(tmp_path / "model")
    np.save(tmp_path / "model/bias.npy", np.zeros(3))
    list_files(tmp_path / "model")
    with pytest.raises(XmlcError, match=r"model/bias\.npy: found float64 of shape \(3,\), expected float32"):
        PLT.load(tmp_path / "model")
    (tmp_path / "model/bias.npy").unlink()
    with pytest.raises(XmlcError, match=r"model/bias\.npy: cannot be read \(No such file"):
        PLT.load(tmp_path / "model")
