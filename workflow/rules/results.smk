# Tables, figures and the page, from records; what is accepted and tolerated, from finished tables.
rule table:
    input:
        lambda wildcards: table_of(wildcards.table, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.TABLE}.csv", **in_report("table", "{table}")),
        multiext(paths.TABLE, ".md", ".tex", ".made-of.json"),
    log:
        paths.LOG_OF_TABLE,
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=lambda wildcards: sources_of_table(project, wildcards.paper, wildcards.table),
        prefix=lambda wildcards, output: without_ending(output[0]),
        published=paths.PUBLISHED,
        suite=lambda wildcards: options("--suite", suite_of_table(project, wildcards.paper, wildcards.table)),
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published {params.published}"
        " {params.suite:q} {input} --out {params.prefix} > {log} 2>&1"


rule figure:
    input:
        lambda wildcards: figure_of(wildcards.figure, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.FIGURE}.svg", **in_report("figure", "{figure}")),
        f"{paths.FIGURE}.png",
    log:
        paths.LOG_OF_FIGURE,
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=lambda wildcards: sources_of_figure(wildcards.paper),
        prefix=lambda wildcards, output: without_ending(output[0]),
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input} --out {params.prefix} > {log} 2>&1"


# Baselines, on the same splits, scored by our metrics (extra `peers`).
rule peers:
    input:
        [paths.TABLE.of(paper=paper, table="peers") + ".md" for paper in project.with_peers],
        [paths.FIGURE.of(paper=paper, figure="pareto") + ".svg" for paper in project.with_peers],
    localrule: True


rule accept_references:
    log:
        paths.LOG.of(step="accept_references"),
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        folders=[paths.TABLES, paths.ACCEPTED],
    shell:
        "xmlc accept {params.folders} 2>&1 | tee {log}"


rule deviations:
    log:
        paths.LOG.of(step="deviations"),
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        tables=paths.TABLES,
        runs=paths.RUNS,
    shell:
        "xmlc deviations {params.tables} --out {params.runs} 2>&1 | tee {log}"
