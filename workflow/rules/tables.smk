# Tables from records, and how they compare.
RANKING_TABLES = ["table1"]
MEASURE_TABLES = ["measures"]


def records_of_table(wildcards):
    """List the records that a table is made from."""
    if wildcards.table in RANKING_TABLES:
        return ranking_records(wildcards.paper)
    if wildcards.table in MEASURE_TABLES:
        return measure_records(wildcards.paper)
    return threshold_records(wildcards.paper)


rule table:
    input:
        sources("table"),
        records=records_of_table,
        published=lambda wildcards: sorted(map(str, Path("results/published").glob(f"{wildcards.paper}/*.csv"))),
    output:
        multiext("results/tables/{paper}/{table}", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/{table}.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/{table}",
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published results/published"
        " {input.records} --out {params.prefix} > {log} 2>&1"
