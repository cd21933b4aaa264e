# Inference from samples of known distributions: Figure 1 of gfm2011.
SIMULATION = "results/simulations/gfm2011.json"


rule simulate:
    input:
        sources("simulate"),
    output:
        SIMULATION,
    log:
        "logs/simulations/gfm2011.log",
    benchmark:
        "benchmarks/simulations/gfm2011.jsonl"
    conda:
        "../envs/xmlc.yaml"
    shell:
        "xmlc simulate --threads {threads} --out {output} > {log} 2>&1"


rule simulation_figure:
    input:
        sources("figure"),
        record=SIMULATION,
    output:
        report("results/figures/gfm2011/figure1.svg", **in_report("figure", "figure1", "gfm2011")),
        "results/figures/gfm2011/figure1.png",
    log:
        "logs/figures/gfm2011/figure1.log",
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        prefix=stem,
    shell:
        "xmlc figure 1 --paper gfm2011 {input.record} --out {params.prefix} > {log} 2>&1"


ruleorder: simulation_figure > figure
