# Tables from records, and how they compare.
rule table:
    input:
        sources("table"),
        records=lambda wildcards: table_records(wildcards.paper, wildcards.table)(wildcards.paper),
        published=lambda wildcards: sorted(map(str, Path("results/published").glob(f"{wildcards.paper}/*.csv"))),
        suite=suite_of_table,
    output:
        report("results/tables/{paper}/{table}.csv", **in_report("table", "{table}")),
        multiext("results/tables/{paper}/{table}", ".md", ".tex", ".made-of.json"),
    log:
        "logs/tables/{paper}/{table}.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
        suite=lambda wildcards, input: ["--suite", input.suite] if input.suite else [],
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published results/published"
        " {params.suite:q} {input.records} --out {params.prefix} > {log} 2>&1"
