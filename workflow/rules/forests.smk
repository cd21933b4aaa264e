# Forests by their first trees, and what the size of a tree does (ldsm2020).


rule forest:
    input:
        sources("forest"),
        estimator_sources,
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/full/model",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/forest.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/forest.log",
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        sizes=lambda wildcards: [word for size in ensemble_sizes(wildcards.model) for word in ("--trees", str(size))],
    shell:
        "xmlc forest --data {input.data} --model {input.model} --training {input.training} {params.sizes}"
        " --threads {threads} --out {output} 2> {log}"


rule sweep:
    input:
        sources("sweep"),
        estimator_sources,
        data="results/{dataset}/data",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/sweep-{paper}.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/sweep-{paper}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        hyperparameter=lambda wildcards: SUITES[wildcards.paper]["sweep"]["hyperparameter"],
        values=lambda wildcards: [w for v in SUITES[wildcards.paper]["sweep"]["values"] for w in ("--value", str(v))],
        hyperparameters=lambda wildcards: json.dumps(SUITES[wildcards.paper]["sweep"]["hyperparameters"]),
    shell:
        "xmlc sweep --data {input.data} --training {input.training} --parameters {params.hyperparameters:q}"
        " --hyperparameter {params.hyperparameter:q} {params.values} --threads {threads} --out {output} 2> {log}"
