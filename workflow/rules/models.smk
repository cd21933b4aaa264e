# Models on the whole training set (ranking) or on 80 % of it (thresholds).
PORTION_PART = {"full": "train", "80": "fit"}


rule train:
    input:
        sources("train"),
        estimator_sources,
        data="results/{dataset}/data/meta.json",
    output:
        model="results/{dataset}/{model}/seed{seed}/{portion}/model/model.json",
        record="results/{dataset}/{model}/seed{seed}/{portion}/train.json",
    params:
        data="results/{dataset}/data",
        folder="results/{dataset}/{model}/seed{seed}/{portion}/model",
        part=lambda wildcards: PORTION_PART[wildcards.portion],
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
    log:
        "logs/{dataset}/{model}/seed{seed}/{portion}/train.log",
    benchmark:
        "benchmarks/{dataset}/{model}/seed{seed}/{portion}/train.jsonl"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc train --data {params.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads}"
        " --out {params.folder} --record {output.record} 2> {log}"


rule rank:
    input:
        sources("rank"),
        estimator_sources,
        model="results/{dataset}/{model}/seed{seed}/full/model/model.json",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/ranking.json",
    params:
        data="results/{dataset}/data",
        folder="results/{dataset}/{model}/seed{seed}/full/model",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/rank.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc rank --data {params.data} --model {params.folder} --training {input.training} --threads {threads}"
        " --out {output} 2> {log}"


rule tune:
    input:
        sources("tune"),
        estimator_sources,
        data="results/{dataset}/data/meta.json",
    output:
        "results/{dataset}/tuning/{model}.yaml",
    params:
        data="results/{dataset}/data",
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
        space=lambda wildcards: json.dumps(MODELS[wildcards.model]["tuning"], sort_keys=True),
        trials=config["trials"],
    log:
        "logs/{dataset}/tuning/{model}.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc tune --data {params.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " --space {params.space:q} --trials {params.trials} --threads {threads} --out {output} 2> {log}"
