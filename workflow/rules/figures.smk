# Figures from records.


rule figure:
    input:
        sources("figure"),
        records=lambda wildcards: figure_records(wildcards.paper, wildcards.figure),
    output:
        multiext("results/figures/{paper}/{figure}", ".svg", ".png"),
    log:
        "logs/figures/{paper}/{figure}.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input.records} --out {params.prefix}" " > {log} 2>&1"
