"""`xmlc compact`: the table tells the truth, and the model written is the one it tells of."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from small_data import prepare_tiny

from xmlc.cli.tools.compact import command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics.ranking import precision_at_k
from xmlc.models import PLT


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compact")
    data = prepare_tiny(folder)
    model = PLT(tree="random", arity=2, epochs=3).fit(*Prepared(data).part("train"))
    model.save(folder / "model")
    return data, folder / "model", model


def run(data, model, *options):
    result = CliRunner().invoke(command, ["--data", str(data), "--model", str(model), *options])
    if result.exception:
        raise result.exception
    return result.stdout.splitlines()


def test_the_table_is_what_the_smaller_models_do(trained):
    data, folder, model = trained
    lines = run(data, folder, "--cut", "0.05", "--cut", "0.6")
    assert lines[0].split() == ["cut", "weights", "kept", "MB", "P@1", "change", "P@3", "change", "P@5", "change"]
    X, Y = Prepared(data).part("test")
    before = [precision_at_k(Y, model.predict_top_k(X, 5)[0], k) for k in (1, 3, 5)]
    assert lines[1].split()[0] == "none"
    for line, cut in zip(lines[2:], (0.05, 0.6), strict=True):
        kept = int((np.abs(model.nodes_.weights) > np.float32(cut)).sum())
        labels, _ = model.drop_weights(cut).predict_top_k(X, 5)
        after = [precision_at_k(Y, labels, k) for k in (1, 3, 5)]
        cells = line.split()
        assert (float(cells[0]), int(cells[1].replace(",", ""))) == (cut, kept)
        assert [float(cell) for cell in cells[5::2]] == pytest.approx(after, abs=1e-4)
        assert [float(cell) for cell in cells[6::2]] == pytest.approx(np.subtract(after, before), abs=1e-4)


def test_the_model_of_one_cut_is_written(trained, tmp_path):
    data, folder, model = trained
    lines = run(data, folder, "--cut", "0.3", "--part", "val", "--out", str(tmp_path / "small"))
    assert lines[-1] == f"Written: {tmp_path / 'small'}"
    X, _ = Prepared(data).part("test")
    found, expected = PLT.load(tmp_path / "small"), model.drop_weights(0.3)
    np.testing.assert_array_equal(found.predict_proba(X).toarray(), expected.predict_proba(X).toarray())


def test_one_model_cannot_be_that_of_two_cuts(trained, tmp_path):
    data, folder, _ = trained
    with pytest.raises(XmlcError, match="--out with 2 cuts"):
        run(data, folder, "--cut", "0.1", "--cut", "0.2", "--out", str(tmp_path / "small"))
    with pytest.raises(XmlcError, match="cut=-1"):
        run(data, folder, "--cut", "-1")


def test_hashed_weights_are_refused_before_anything_is_computed(trained, monkeypatch):
    data, folder, _ = trained
    monkeypatch.setattr(PLT, "load", lambda path: PLT(hash_bits=10))
    with pytest.raises(XmlcError, match="hashed and shared by all nodes"):
        run(data, folder, "--cut", "0.1")
