# Tables, figures and the page, from records; what is accepted and tolerated, from finished tables.
rule table:
    input:
        unpack(lambda wildcards: table_inputs(project, wildcards.paper, wildcards.table)),
    output:
        report(f"{paths.TABLE}.csv", **in_report("table", "{table}")),
        multiext(paths.TABLE, ".md", ".tex", ".made-of.json"),
    log:
        paths.LOG_OF_TABLE,
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=lambda wildcards, output: without_ending(output[0]),
        published=paths.PUBLISHED,
        suite=lambda wildcards, input: options("--suite", input.get("suite", [])),
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published {params.published}"
        " {params.suite:q} {input.records} --out {params.prefix} > {log} 2>&1"


rule figure:
    input:
        unpack(lambda wildcards: figure_inputs(project, wildcards.paper, wildcards.figure)),
    output:
        report(f"{paths.FIGURE}.svg", **in_report("figure", "{figure}")),
        f"{paths.FIGURE}.png",
    log:
        paths.LOG_OF_FIGURE,
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=lambda wildcards, output: without_ending(output[0]),
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


# Baselines, on the same splits, scored by our metrics (extra `peers`).
rule peers:
    input:
        [paths.TABLE.of(paper=paper, table="peers") + ".md" for paper in project.with_peers],
        [paths.FIGURE.of(paper=paper, figure="pareto") + ".svg" for paper in project.with_peers],
    localrule: True


rule report:
    input:
        paths.PAGE,
        paths.FACTS,
    localrule: True


# Tables and figures are no inputs of the page and the fact table, which are about what is finished, whatever is
# configured: they never make a table, which may have been made with other settings of --config.
rule report_page:
    input:
        command_files("report"),
        sorted(map(str, PACKAGE.glob("page/templates/*"))),
        runs=paths.RUNS,
        suites=[suite.file for suite in project.suites.values()],
        reference=accepted_tables(),
    output:
        paths.PAGE,
    log:
        paths.LOG.of(step="report"),
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        finished=finished_results(),
        first=options("--paper", project.settings.papers),
    shell:
        "xmlc report {params.first} --out {output} > {log} 2>&1"


rule facts:
    input:
        command_files("facts"),
        suites=[suite.file for suite in project.suites.values()],
    output:
        paths.FACTS,
    log:
        paths.LOG.of(step="facts"),
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        finished=finished_results(),
    shell:
        "xmlc facts --out {output} > {log} 2>&1"


rule accept_references:
    input:
        command_files("accept"),
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
    input:
        command_files("deviations"),
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
