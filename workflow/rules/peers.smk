# Programs of others on the same splits, scored by our metrics: `snakemake peers` (extra `peers`).
from importlib.util import find_spec

from xmlc.models.registry import ESTIMATORS

# Threshold methods whose macro-F stands in the table of peers.
PEER_METHODS = ["fta", "sto", "ofo"]


def is_installed(model):
    """Tell whether a model's program is there: the module of a peer's estimator is named after the package."""
    room, _, package = ESTIMATORS.get(model["estimator"], "").partition(":")[0].rpartition(".")
    return room != "xmlc.models.peers" or find_spec(package) is not None


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


PAPERS_WITH_PEERS = [paper for paper in config["papers"] if SUITES[paper].get("peers")]


rule peers:
    input:
        expand("results/tables/{paper}/peers.md", paper=PAPERS_WITH_PEERS),
        expand("results/figures/{paper}/pareto.svg", paper=PAPERS_WITH_PEERS),
    localrule: True


rule peers_table:
    input:
        sources("table"),
        records=lambda wildcards: peer_rankings(wildcards.paper) + peer_thresholds(wildcards.paper),
        suite=lambda wildcards: suite_file(wildcards.paper),
    output:
        multiext("results/tables/{paper}/peers", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/peers.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/peers",
    shell:
        "xmlc table peers --paper {wildcards.paper} --suite {input.suite} {input.records} --out {params.prefix}"
        " > {log} 2>&1"


rule pareto:
    input:
        sources("figure"),
        records=lambda wildcards: peer_rankings(wildcards.paper),
    output:
        multiext("results/figures/{paper}/pareto", ".svg", ".png"),
    log:
        "logs/figures/{paper}/pareto.log",
    localrule: True
    params:
        prefix="results/figures/{paper}/pareto",
    shell:
        "xmlc figure pareto --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


ruleorder: peers_table > table
ruleorder: pareto > figure
