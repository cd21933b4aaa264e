# Tables from records, and how they compare.
RANKING_TABLES = ["table1", "table3"]
CONFIGURED_TABLES = ["table3"]
MEASURE_TABLES = ["measures"]


def records_of_table(wildcards):
    """List the records that a table is made from."""
    if wildcards.table in RANKING_TABLES:
        return ranking_records(wildcards.paper)
    if wildcards.table in MEASURE_TABLES:
        return measure_records(wildcards.paper)
    return threshold_records(wildcards.paper)


def suite_of_table(wildcards):
    """Name the paper's configuration for the tables that tell something of it."""
    return suite_file(wildcards.paper) if wildcards.table in CONFIGURED_TABLES else []


rule table:
    input:
        sources("table"),
        records=records_of_table,
        published=lambda wildcards: sorted(map(str, Path("results/published").glob(f"{wildcards.paper}/*.csv"))),
        suite=suite_of_table,
    output:
        multiext("results/tables/{paper}/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/{table}.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/{table}",
        suite=lambda wildcards, input: ["--suite", input.suite] if input.suite else [],
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published results/published"
        " {params.suite:q} {input.records} --out {params.prefix} > {log} 2>&1"
