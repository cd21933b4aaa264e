"""Which jobs the peers of a suite come to."""

import pytest
import yaml
from project_copy import Project

from xmlc.data.writer import save_repository


@pytest.mark.slow
def test_peers_run_where_the_configuration_says(tmp_path, multilabel):
    project = Project(tmp_path)
    X, Y = multilabel(100, 15, 12)
    mirror = project.folder / "peers-mirror"
    for part in ("train", "test"):
        save_repository(mirror / f"peer-set/{part}.txt", X, Y)
    # Another paper has one of the peers that are replaced here.
    project.edit_yaml("config/papers/ldsm2020.yaml", lambda content: content["models"].pop("pfastrexml"))
    suite = "config/papers/plt2016.yaml"
    ours = len(yaml.safe_load((project.folder / suite).read_text())["models"])
    estimators = {"peer-plt": "plt", "peer-fastxml": "fastxml"}  # programs that are always there
    planned = {}
    for case, keys in (
        ("both", {}),
        ("one", {"without": {"peer-set": "slow"}}),
        ("ranks", {"ranks_only": "no shares"}),
    ):
        peers = {name: {"estimator": estimator} for name, estimator in estimators.items()}
        peers["peer-plt"] |= keys
        project.edit_yaml(suite, lambda content, peers=peers: content.update(peers=peers))
        planned[case] = project.planned(
            "peers", "--config", "papers=[plt2016]", "datasets=[peer-set]", f"mirror={mirror}"
        )
    # A ranking on the whole set; on 80 % estimates and their thresholds.
    for case, ranked, estimated in (("both", 2, 2), ("one", 1, 1), ("ranks", 2, 1)):
        assert planned[case]["rank"] == ours + ranked
        assert planned[case]["estimate"] == ours + estimated
        assert planned[case]["train"] == 2 * ours + ranked + estimated
        jobs = [count for rule, count in planned[case].items() if rule.startswith("thresholds_")]
        assert sum(jobs) == ours + estimated
        assert (planned[case]["table"], planned[case]["figure"]) == (1, 1)
