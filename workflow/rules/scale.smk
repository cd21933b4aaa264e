# What the largest sets cost, step by step, and how costs grow: `snakemake scale`.


rule scale_table:
    input:
        sources("table"),
        made=lambda wildcards: [made for made, _ in scale_steps(wildcards.paper)],
    output:
        report("results/tables/{paper}/scale.csv", **in_report("table", "scale")),
        multiext("results/tables/{paper}/scale", ".md", ".tex", ".made-of.json"),
    log:
        "logs/tables/{paper}/scale.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
        steps=lambda wildcards: [str(Path(made, file)) for made, file in scale_steps(wildcards.paper)],
    shell:
        "xmlc table scale --paper {wildcards.paper} {params.steps:q} --out {params.prefix} > {log} 2>&1"


rule growth_table:
    input:
        sources("table"),
        records=lambda wildcards: ranking_records(wildcards.paper, SUITES[wildcards.paper]["growth"]),
    output:
        report("results/tables/{paper}/growth.csv", **in_report("table", "growth")),
        multiext("results/tables/{paper}/growth", ".md", ".tex", ".made-of.json"),
    log:
        "logs/tables/{paper}/growth.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc table growth --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


ruleorder: scale_table > table
ruleorder: growth_table > table
