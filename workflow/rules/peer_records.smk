# Programs of others: which of them run, and the records that are made of them.
from importlib.util import find_spec

from xmlc.models.registry import ESTIMATORS

# Packages by modules of peers that are not named after theirs.
PACKAGES = {"memory_tree": "vowpalwabbit", "napkinxc_online": "napkinxc"}

# Threshold methods whose macro-F stands in the table of peers.
PEER_METHODS = ["fta", "sto", "ofo"]


def is_installed(model):
    """Tell whether a model's program is there: a peer's module is named after the package, or stands in `PACKAGES`."""
    room, _, module = ESTIMATORS.get(model["estimator"], "").partition(":")[0].rpartition(".")
    return room != "xmlc.models.peers" or find_spec(PACKAGES.get(module, module)) is not None


def peers_for(paper, dataset):
    """Name the peers that run on a dataset; the table tells of the others why they do not."""
    peers = SUITES[paper].get("peers", {})
    return [name for name, peer in peers.items() if dataset not in peer["without"] and is_installed(peer)]


def peer_rankings(paper):
    """List the ranking records of a paper's models and of the peers beside them, dataset by dataset."""
    return [
        f"results/{dataset}/{model}/seed{seed}/full/ranking.json"
        for dataset in datasets_of(paper)
        for model in [*models_for(paper, dataset), *peers_for(paper, dataset)]
        for seed in SUITES[paper]["seeds"]
    ]


def peer_thresholds(paper):
    """List the records of their threshold methods, but for peers whose scores take none."""
    suite = SUITES[paper]
    peers = suite.get("peers", {})
    return [
        f"results/{dataset}/{model}/seed{seed}/80/evaluation/{method}.json"
        for dataset in datasets_of(paper)
        for model in [*models_for(paper, dataset), *peers_for(paper, dataset)]
        if not peers.get(model, {}).get("ranks_only")
        for seed in suite["seeds"]
        for method in PEER_METHODS
        if method in suite["methods"]
    ]
