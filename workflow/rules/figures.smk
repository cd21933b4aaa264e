# Figures from records.


rule figure:
    input:
        sources("figure"),
        records=lambda wildcards: threshold_records(wildcards.paper),
    output:
        multiext("results/figures/{paper}/{figure}", ".svg", ".png"),
    params:
        prefix="results/figures/{paper}/{figure}",
    log:
        "logs/figures/{paper}/{figure}.log",
    localrule: True
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input.records} --out {params.prefix}"
        " > {log} 2>&1"
