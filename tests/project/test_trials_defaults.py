"""The trials behind the defaults of estimators: each on every dataset, and the best on the mean is the default."""

import inspect

import pandas as pd
import pytest
import yaml
from repository import ROOT

from xmlc.models import PLT, LdSM, SparseWeightedNearestNeighbors

TRIALS = ROOT / "results/published/tuning"
SCORES = ["p@1", "p@3", "p@5"]
ESTIMATORS = {"plt": PLT, "ldsm": LdSM, "swnn": SparseWeightedNearestNeighbors}


def trials(name):
    return pd.read_csv(TRIALS / f"{name}-defaults.csv")


def means(name):
    """P@1 on the mean by setting; what is empty takes no part."""
    frame = trials(name)
    settings = [column for column in frame if column not in ("dataset", *SCORES)]
    return frame.groupby(settings, dropna=False, sort=False)["p@1"].mean().round(3).reset_index()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_setting_was_tried_on_every_dataset(name):
    frame = trials(name)
    assert set(frame.columns) - {"dataset", *SCORES} <= set(inspect.signature(ESTIMATORS[name]).parameters)
    counts = frame.groupby([*means(name).columns[:-1]], dropna=False)["dataset"].nunique()
    assert (counts == frame["dataset"].nunique()).all()
    assert not frame.duplicated([*means(name).columns[:-1], "dataset"]).any()


@pytest.mark.parametrize(("name", "short"), [("plt", 0.0), ("ldsm", 0.1), ("swnn", 0.0)])
def test_the_defaults_are_the_best_on_the_mean(name, short):
    """LdSM has shares of all labels, as printed, although shares of the instances are better by less than 0.1."""
    found = means(name)
    defaults = {key: value.default for key, value in inspect.signature(ESTIMATORS[name]).parameters.items()}
    own = found[
        [
            all(
                row[key] == defaults[key] or (pd.isna(row[key]) and defaults[key] is None) for key in found.columns[:-1]
            )
            for row in found.to_dict("records")
        ]
    ]
    assert len(own) == 1
    assert own["p@1"].iloc[0] >= found["p@1"].max() - short


def test_the_settings_of_plt_were_tried_on_the_datasets_of_the_suite():
    suite = yaml.safe_load((ROOT / "config/papers/defaults.yaml").read_text())
    assert set(trials("plt")["dataset"]) == set(suite["datasets"])


@pytest.mark.parametrize("name", ["plt", "ldsm"])
def test_the_page_prints_the_best_of_them(name):
    page = (ROOT / "docs/defaults.md").read_text()
    for mean in means(name)["p@1"].head(5):
        assert f" {mean:.1f} |" in page
