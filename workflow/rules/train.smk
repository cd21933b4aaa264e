# Models are trained on the whole training set (`full`, for rankings) or on 80 % of it (`80`, for thresholds), with the
# values of a search if one runs first (`search` of the model, `tuning` of config.yaml).
rule tune:
    input:
        data="results/{dataset}/data",
        tuned=earlier_search,
    output:
        result="results/{dataset}/tuning/{model}.json",
        trial=scratch("results/{dataset}/tuning/{model}.trial"),  # a killed job leaves a model here
    log:
        "logs/{dataset}/tuning/{model}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: threads
    resources:
        mem_mb=lambda wildcards, attempt: memory("tune", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["tune"], wildcards, attempt),
        large_models=lambda wildcards: project.large_models(wildcards.dataset),
    params:
        code=lambda wildcards: code("tune", wildcards),
        estimator=estimator,
        hyperparameters=hyperparameters,
        given=given,
        search=lambda wildcards: search_options(project, wildcards.model, wildcards.dataset),
        tuned=tuned,
    message:
        "Search hyperparameters of {wildcards.model} on {wildcards.dataset}"
    shell:
        # SMAC iterates over sets of strings, whose order differs between processes without a fixed hash seed.
        "XMLC_PLANNED_CODE={params.code:q}"
        " PYTHONHASHSEED=0 xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " {params.search:q} {params.tuned:q} --threads {threads} --out {output.result} 2> {log}"
        " && mkdir -p {output.trial}"


rule train:
    input:
        data="results/{dataset}/data",
        tuned=search_result,
    output:
        model=directory("results/{dataset}/{model}/seed{seed}/{split}/model"),
        record="results/{dataset}/{model}/seed{seed}/{split}/train.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/{split}/train.log",
    wildcard_constraints:
        dataset=kept,
        # Other rules train models with the key `batch_seeds`.
        model=rf"(?!(?:{batched_models})/seed\d+/full/)(?:{jobs.one_of(project.models)})",
    conda:
        "../envs/xmlc.yaml"
    threads: threads
    resources:
        mem_mb=lambda wildcards, attempt: memory("train", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["train"], wildcards, attempt),
    params:
        code=lambda wildcards: code("train", wildcards),
        part=lambda wildcards: {"full": "train", "80": "fit"}[wildcards.split],
        estimator=estimator,
        hyperparameters=hyperparameters,
        given=given,
        tuned=tuned,
    message:
        "Train {wildcards.model} on {wildcards.dataset}, split {wildcards.split}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} {params.tuned:q} --seed {wildcards.seed}"
        " --threads {threads} --out {output.model} --record {output.record} 2> {log}"


# A model with the key `batch_seeds` trains faster than two processes start, and on a cluster each job also starts
# Snakemake. One job therefore trains and ranks with all seeds. Each list of seeds in the suites needs a rule, because
# the outputs of a rule's jobs differ only in wildcards.
for seeds, models in jobs.batched_models(project).items():

    rule:
        name:
            f"train_and_rank_seeds_{'_'.join(map(str, seeds))}"
        input:
            data="results/{dataset}/data",
            tuned=search_result,
        output:
            model=directory(
                expand("results/{{dataset}}/{{model}}/seed{seed}/full/model", seed=seeds)
            ),
            record=expand("results/{{dataset}}/{{model}}/seed{seed}/full/train.json", seed=seeds),
            ranking=directory(
                expand("results/{{dataset}}/{{model}}/seed{seed}/full/ranking", seed=seeds)
            ),
        log:
            "logs/{dataset}/{model}/seeds/full/train_and_rank.log",
        wildcard_constraints:
            dataset=kept,
            model=jobs.one_of(models),
        conda:
            "../envs/xmlc.yaml"
        threads: threads
        resources:
            mem_mb=lambda wildcards, attempt: memory("train", wildcards, attempt),
            runtime=lambda wildcards, attempt, seeds=seeds: time(
                ["train"], wildcards, attempt, runs=len(seeds)
            ),
        params:
            code=lambda wildcards: code("train", wildcards),
            code_of_ranking=lambda wildcards: code("rank", wildcards),
            estimator=estimator,
            hyperparameters=hyperparameters,
            given=lambda wildcards, seeds=seeds: given(wildcards, seeds),
            tuned=tuned,
            seeds=options("--seed", seeds),
            models=lambda wildcards, output: options("--out", output.model),
            records=lambda wildcards, output: options("--record", output.record),
            trained=lambda wildcards, output: options("--model", output.model)
            + options("--training", output.record),
            rankings=lambda wildcards, output: options("--out", output.ranking),
        message:
            "Train and rank {wildcards.model} on {wildcards.dataset}, all seeds"
        shell:
            "XMLC_PLANNED_CODE={params.code:q}"
            " xmlc train --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
            " --parameters {params.hyperparameters:q} {params.tuned:q} {params.seeds} {params.models} {params.records}"
            " --threads {threads} 2> {log}"
            " && XMLC_PLANNED_CODE={params.code_of_ranking:q}"
            " xmlc rank --data {input.data} {params.trained} {params.rankings}"
            " --threads {threads} 2>> {log}"
