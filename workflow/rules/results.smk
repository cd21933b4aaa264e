# Tables and figures, from records.
rule table:
    input:
        lambda wildcards: table_of(wildcards.table, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.TABLE}.csv", caption="../report/table.rst", category="{paper}", labels={"table": "{table}"}),
        multiext(paths.TABLE, ".md", ".tex", ".made-of.json"),
    log:
        paths.LOG_OF_TABLE,
    localrule: True
    params:
        code=lambda wildcards: plan.sources_of_table(project, wildcards.paper, wildcards.table),
        prefix=lambda wildcards, output: output[0].rpartition(".")[0],
        published=paths.PUBLISHED,
        suite=lambda wildcards: jobs.options("--suite", plan.suite_of_table(project, wildcards.paper, wildcards.table)),
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published {params.published}"
        " {params.suite:q} {input} --out {params.prefix} > {log} 2>&1"


rule figure:
    input:
        lambda wildcards: figure_of(wildcards.figure, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.FIGURE}.svg", caption="../report/figure.rst", category="{paper}", labels={"figure": "{figure}"}),
        f"{paths.FIGURE}.png",
    log:
        paths.LOG_OF_FIGURE,
    localrule: True
    params:
        code=lambda wildcards: plan.sources_of_figure(wildcards.paper),
        prefix=lambda wildcards, output: output[0].rpartition(".")[0],
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input} --out {params.prefix} > {log} 2>&1"
