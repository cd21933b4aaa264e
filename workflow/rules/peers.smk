# Programs of others on the same splits, scored by our metrics: `snakemake peers` (extra `peers`).


def peer_records(paper):
    """List the ranking records of a paper's models and of the peers beside them, dataset by dataset."""
    suite = SUITES[paper]
    return [
        f"results/{dataset}/{model}/seed{seed}/full/ranking.json"
        for dataset in datasets_of(paper)
        for model in [*models_for(paper, dataset), *suite.get("peers", {})]
        for seed in suite["seeds"]
    ]


rule peers:
    input:
        [f"results/tables/{paper}/peers.md" for paper in config["papers"] if SUITES[paper].get("peers")],
    localrule: True


rule peers_table:
    input:
        sources("table"),
        records=lambda wildcards: peer_records(wildcards.paper),
    output:
        multiext("results/tables/{paper}/peers", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/peers.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/peers",
    shell:
        "xmlc table peers --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


ruleorder: peers_table > table
