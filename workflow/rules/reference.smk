# What is accepted and what is tolerated, taken from finished tables; neither of these targets runs an experiment.
localrules:
    accept_references,
    deviations,


rule accept_references:
    input:
        sources("accept"),
    log:
        "logs/accept_references.log",
    shell:
        "xmlc accept results/tables results/reference 2>&1 | tee {log}"


rule deviations:
    input:
        sources("deviations"),
    log:
        "logs/deviations.log",
    shell:
        "xmlc deviations results/tables --out config/tolerances.yaml 2>&1 | tee {log}"
