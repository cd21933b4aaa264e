"""Estimators with scikit-learn's tools, and imports that do not load scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest
from facts import raises_with
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import estimator_html_repr

from xmlc.kernels.estimator import check_hyperparameters
from xmlc.models import PLT
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import ESTIMATORS, estimator_class


class Constant(SparseProbabilityEstimator):
    """An estimator without kernels that scores best with share 0.25."""

    def __init__(self, share=0.5, extra=(1, 2)):
        self.share = share
        self.extra = extra

    def fit(self, X, Y):
        self._training_data(X, Y)
        return self

    def score(self, X, Y):
        return -abs(self.share - 0.25)


def test_hyperparameters_follow_scikit_learn():
    model = PLT(arity=4, n_jobs=2)
    assert clone(model).get_params() == model.unfitted().get_params() == model.get_params()
    assert repr(model) == "PLT(arity=4, n_jobs=2)"
    assert repr(Constant()) == "Constant()"
    extra = [1]
    assert Constant(extra=extra).unfitted().extra is not extra
    with raises_with(ValueError, "Constant", "'arty'", "extra", "share"):
        Constant().set_params(arty=3)


def test_estimators_work_in_grid_search_and_pipeline(multilabel):
    X, Y = multilabel(30, 5, 3)
    search = GridSearchCV(Constant(), {"share": [0.1, 0.25, 0.7]}, cv=2).fit(X, Y.toarray())
    assert search.best_params_ == {"share": 0.25}
    pipeline = make_pipeline(MaxAbsScaler(), Constant()).fit(X, Y)
    assert pipeline.set_params(constant__share=0.1).get_params()["constant__share"] == 0.1
    assert pipeline.score(X, Y) == -0.15
    assert "Constant(share=0.1)" in estimator_html_repr(pipeline)


def test_package_works_without_scikit_learn():
    """Modules that are None in sys.modules cannot be imported, like modules that are not
    installed.
    """
    code = """
import sys
sys.modules.update(dict.fromkeys(["sklearn", "sklearn.exceptions", "threadpoolctl"]))
import numpy as np
import benchmarks.inference
import benchmarks.logistic
import benchmarks.plt
from xmlc.core.errors import XmlcError
from xmlc.models import BinaryRelevance
from xmlc.suite.provenance.environment import environment
environment(1)
X = np.eye(6, 4, dtype=np.float32)
try:
    BinaryRelevance().predict_proba(X)
except XmlcError as error:
    assert isinstance(error, ValueError) and isinstance(error, AttributeError)
    assert "BinaryRelevance is not fitted" in str(error)
    model = BinaryRelevance(n_jobs=1).fit(X, np.eye(6, 2, dtype=bool))
    assert model.predict_proba(X).shape == (6, 2)
    sys.exit(0)
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "-" not in name])
def test_defaults_are_valid_and_unfitted_models_refuse_to_predict(name):
    model = estimator_class(name)()
    check_hyperparameters(model)
    for predict in (model.predict_proba, lambda X: model.predict_top_k(X, 1)):
        with raises_with((ValueError, AttributeError), "fit"):
            predict(np.eye(3))
