# Figures from records.


rule figure:
    input:
        sources("figure"),
        records=lambda wildcards: figure_records(wildcards.paper, wildcards.figure),
    output:
        report("results/figures/{paper}/{figure}.svg", **in_report("figure", "{figure}")),
        "results/figures/{paper}/{figure}.png",
    log:
        "logs/figures/{paper}/{figure}.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input.records} --out {params.prefix}" " > {log} 2>&1"
