"""Test which modules make the results of a step or of a model stale."""

from importlib.util import find_spec

import pytest
from suite_cases import project_of, suite

from xmlc.models.registry import ESTIMATORS
from xmlc.suite.provenance.code import NO_EFFECT, NO_EFFECT_ON, estimator_files, step_files


def depends(step, estimator, file):
    return any(name.endswith(file) for name in step_files(step, *estimator_files(estimator)))


def test_modules_of_the_package_have_dotted_names():
    # Paths would count as a user's files.
    for name in ESTIMATORS:
        assert not any(file.endswith(".py") for file in estimator_files(name)), name


@pytest.mark.parametrize("name", ["PLT", "xmlc.models:PLT", "xmlc.models.plt.estimator:PLT"])
def test_class_of_the_package_depends_on_its_module_under_all_names(name):
    assert estimator_files(name) == estimator_files("plt")


def test_exceptions_exist_and_affect_no_model_of_the_package():
    for name in (*NO_EFFECT, *NO_EFFECT_ON["rank"], *NO_EFFECT_ON["estimate"]):
        assert find_spec(name), name
    names = ("models/label_sets.py", "models/wrapped.py", "core/progress.py", "provenance/code.py")
    for file in names:
        assert not depends("train", "plt", file)
    assert depends("train", "sklearn.linear_model:LogisticRegression", "models/wrapped.py")
    assert not depends("train", "sklearn.linear_model:LogisticRegression", "_logistic.py")


def test_file_of_a_user_is_a_dependency_and_may_need_the_wrapper(tmp_path):
    file = tmp_path / "frequencies.py"
    file.write_text("from xmlc.models.label_sets import estimates_of_sets\n")
    assert estimator_files(f"{file}:Frequencies") == [str(file), "xmlc.models.wrapped"]
    assert depends("train", f"{file}:Frequencies", "models/label_sets.py")


def test_ensemble_depends_on_its_members(tmp_path):
    for file in ("models/plt/training.py", "models/nearest/estimator.py"):
        assert depends("train", "stacking", file)
    assert not depends("train", "stacking", "models/fastxml/estimator.py")
    members = {"estimators": [["a", "fastxml"], ["b", "sklearn.linear_model:LogisticRegression"]]}
    models = {"own": {"estimator": "stacking", "hyperparameters": members}}
    modules = project_of(tmp_path, x=suite(models)).modules_for("train", "own")
    own = " ".join(step_files("train", *modules))
    assert "models/fastxml/estimator.py" in own
    assert "models/wrapped.py" in own
