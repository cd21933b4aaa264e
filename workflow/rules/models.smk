# Models on the whole training set (ranking) or on 80 % of it (thresholds).
PORTION_PART = {"full": "train", "80": "fit"}


rule train:
    input:
        sources("train"),
        estimator_sources,
        data="results/{dataset}/data",
    output:
        model=directory("results/{dataset}/{model}/seed{seed}/{portion}/model"),
        record="results/{dataset}/{model}/seed{seed}/{portion}/train.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/{portion}/train.log",
    benchmark:
        "benchmarks/{dataset}/{model}/seed{seed}/{portion}/train.jsonl"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        part=lambda wildcards: PORTION_PART[wildcards.portion],
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
    shell:
        "xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads}"
        " --out {output.model} --record {output.record} 2> {log}"


rule rank:
    input:
        sources("rank"),
        estimator_sources,
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/full/model",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/ranking.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/rank.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training} --threads {threads}"
        " --out {output} 2> {log}"


rule tune:
    input:
        sources("tune"),
        estimator_sources,
        data="results/{dataset}/data",
    output:
        "results/{dataset}/tuning/{model}.yaml",
    log:
        "logs/{dataset}/tuning/{model}.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
        space=lambda wildcards: json.dumps(MODELS[wildcards.model]["tuning"], sort_keys=True),
        trials=config["trials"],
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " --space {params.space:q} --trials {params.trials} --threads {threads} --out {output} 2> {log}"
