"""Test napkinXC's PLT as an estimator. The tests need the extra `baselines`, which CI installs."""

import sys

import pytest
from facts import raises_with
from scipy import sparse

from benchmarks.baselines.napkinxc_trees import NapkinXCPLT
from xmlc.core.errors import XmlcError


@pytest.mark.needs("baselines")
def test_wrapper_ranks_labels_like_napkinxc(multilabel):
    X, Y = multilabel(300, 20, 12, density=0.5)
    model = NapkinXCPLT(n_jobs=1).fit(X, Y)
    assert model.predict_top_k(X, 5)[0].tolist() == model.model_.predict(
        sparse.csr_matrix(X), top_k=5
    )


def test_missing_program_error_names_install_command(multilabel, monkeypatch):
    monkeypatch.setitem(sys.modules, "napkinxc.models", None)
    with raises_with(XmlcError, "napkinxc", "pip install '.[baselines]'"):
        NapkinXCPLT().fit(*multilabel(50, 20, 6))
