# Tables from records, and how they compare.
CONFIGURED_TABLES = ["table3"]


def suite_of_table(wildcards):
    """Name the paper's configuration for the tables that tell something of it."""
    own = (wildcards.paper, wildcards.table) in TABLE_RECORDS  # another table of the same name
    return suite_file(wildcards.paper) if wildcards.table in CONFIGURED_TABLES and not own else []


rule table:
    input:
        sources("table"),
        records=lambda wildcards: table_records(wildcards.paper, wildcards.table)(wildcards.paper),
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
