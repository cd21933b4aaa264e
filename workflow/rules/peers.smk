# Programs of others on the same splits, scored by our metrics: `snakemake peers` (extra `peers`).
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
        report("results/tables/{paper}/peers.csv", **in_report("table", "peers")),
        multiext("results/tables/{paper}/peers", ".md", ".tex", ".made-of.json"),
    log:
        "logs/tables/{paper}/peers.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc table peers --paper {wildcards.paper} --suite {input.suite} {input.records} --out {params.prefix}"
        " > {log} 2>&1"


rule pareto:
    input:
        sources("figure"),
        records=lambda wildcards: peer_rankings(wildcards.paper),
    output:
        report("results/figures/{paper}/pareto.svg", **in_report("figure", "pareto")),
        "results/figures/{paper}/pareto.png",
    log:
        "logs/figures/{paper}/pareto.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc figure pareto --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


ruleorder: peers_table > table
ruleorder: pareto > figure
