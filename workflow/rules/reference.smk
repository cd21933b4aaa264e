# What is accepted and what is tolerated, taken from finished tables; neither of these targets runs an experiment.
rule accept_references:
    input:
        sources("accept"),
    log:
        "logs/accept_references.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    shell:
        "xmlc accept results/tables results/reference 2>&1 | tee {log}"


rule deviations:
    input:
        sources("deviations"),
    log:
        "logs/deviations.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    shell:
        "xmlc deviations results/tables --out config/tolerances.yaml 2>&1 | tee {log}"
