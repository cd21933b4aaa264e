# Models on the whole training set (ranking) or on 80 % of it (thresholds).
PORTION_PART = {"full": "train", "80": "fit"}


# With the key `scatter`, the trees of a forest are grown by so many jobs, which a cluster can spread.
scattergather:
    trees=config["scatter"],


FORESTS = [name for name, model in MODELS.items() if model["forest"] and config["scatter"] > 1]


rule train:
    input:
        sources("train"),
        estimator_sources,
        data="results/{dataset}/data",
        tuned=tuned,
    output:
        model=directory("results/{dataset}/{model}/seed{seed}/{portion}/model"),
        record="results/{dataset}/{model}/seed{seed}/{portion}/train.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/{portion}/train.log",
    benchmark:
        "benchmarks/{dataset}/{model}/seed{seed}/{portion}/train.jsonl"
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        part=lambda wildcards: PORTION_PART[wildcards.portion],
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
        tuned=lambda wildcards, input: ["--tuned", input.tuned] if input.tuned else [],
        trees=lambda wildcards: ["--trees", wildcards.scatteritem] if hasattr(wildcards, "scatteritem") else [],
    shell:
        "xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} {params.tuned:q} {params.trees:q} --seed {wildcards.seed}"
        " --threads {threads} --out {output.model} --record {output.record} 2> {log}"


if FORESTS:

    use rule train as train_trees with:
        output:
            model=temp(directory("results/{dataset}/{model}/seed{seed}/{portion}/trees/{scatteritem}/model")),
            record=temp("results/{dataset}/{model}/seed{seed}/{portion}/trees/{scatteritem}/train.json"),
        log:
            "logs/{dataset}/{model}/seed{seed}/{portion}/train-{scatteritem}.log",
        benchmark:
            "benchmarks/{dataset}/{model}/seed{seed}/{portion}/train-{scatteritem}.jsonl"

    rule join_trees:
        input:
            sources("join"),
            estimator_sources,
            models=gather.trees("results/{{dataset}}/{{model}}/seed{{seed}}/{{portion}}/trees/{scatteritem}/model"),
            records=gather.trees(
                "results/{{dataset}}/{{model}}/seed{{seed}}/{{portion}}/trees/{scatteritem}/train.json"
            ),
        output:
            model=directory("results/{dataset}/{model}/seed{seed}/{portion}/model"),
            record="results/{dataset}/{model}/seed{seed}/{portion}/train.json",
        log:
            "logs/{dataset}/{model}/seed{seed}/{portion}/join.log",
        wildcard_constraints:
            model="|".join(FORESTS),
        conda:
            "../envs/xmlc.yaml"
        resources:
            mem_mb=memory,
        params:
            shares=lambda wildcards, input: [str(Path(model).parent) for model in input.models],
        shell:
            "xmlc join {params.shares:q} --out {output.model} --record {output.record} 2> {log}"

    ruleorder: join_trees > train


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
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training} --threads {threads}"
        " --out {output} 2> {log}"
