# Tables and figures need only records, so they run on the machine on which Snakemake was started.
from xmlc.suite.papers import table_of


rule table:
    input:
        table_records,
    output:
        report(
            "results/tables/{paper}/{table}.csv",
            caption="../report/table.rst",
            category="{paper}",
            labels={"table": "{table}"},
        ),
        multiext("results/tables/{paper}/{table}", ".md", ".tex", ".manifest.json"),
    log:
        "logs/tables/{paper}/{table}.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=lambda wildcards: plan.code_of("table", wildcards.paper),
        order=lambda wildcards: plan.order_of("table", wildcards.paper, table_records(wildcards)),
        read=lambda wildcards: plan.sources_of_table(project, wildcards.paper, wildcards.table),
        caption=lambda wildcards: table_of(wildcards.table, wildcards.paper).caption,
        published=paths.PUBLISHED,
        suite=lambda wildcards: options(
            "--suite", plan.suite_of_table(project, wildcards.paper, wildcards.table)
        ),
        titles=titles,
        methods=method_order,
        prefix=prefix,
    message:
        "Build {wildcards.table} of {wildcards.paper}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc table {wildcards.table} --paper {wildcards.paper} --published {params.published}"
        " {params.suite:q} {params.titles:q} {params.methods} {input} --out {params.prefix} > {log} 2>&1"


rule figure:
    input:
        figure_records,
    output:
        report(
            "results/figures/{paper}/{figure}.svg",
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{figure}"},
        ),
        "results/figures/{paper}/{figure}.pdf",
    log:
        "logs/figures/{paper}/{figure}.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=lambda wildcards: plan.code_of("figure", wildcards.paper),
        order=lambda wildcards: plan.order_of("figure", wildcards.paper, figure_records(wildcards)),
        titles=titles,
        methods=method_order,
        prefix=prefix,
    message:
        "Draw {wildcards.figure} of {wildcards.paper}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc figure {wildcards.figure} --paper {wildcards.paper} {params.titles:q} {params.methods} {input}"
        " --out {params.prefix} > {log} 2>&1"
