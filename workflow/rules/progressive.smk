# Models on a stream of the training set, each instance predicted before it is learned (oplt2021, Figure 2).
rule progressive:
    input:
        sources("progressive"),
        estimator_sources,
        data="results/{dataset}/data",
    output:
        record="results/{dataset}/{model}/seed{seed}/full/progressive.json",
        curve="results/{dataset}/{model}/seed{seed}/full/progressive.csv",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/progressive.log",
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=memory,
    params:
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
    shell:
        "xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads}"
        " --curve {output.curve} --out {output.record} 2> {log}"
