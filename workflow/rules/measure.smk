# Rankings, their scores, estimates, and the scores of forests, sweeps over a hyperparameter, and streams.
rule rank:
    input:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/full/model",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        directory("results/{dataset}/{model}/seed{seed}/full/ranking"),
    log:
        "logs/{dataset}/{model}/seed{seed}/full/rank.log",
    wildcard_constraints:
        # The rules `train_and_rank_...` rank with models that have the key `batch_seeds`.
        dataset=kept,
        model=rf"(?!(?:{batched_models})/)(?:{jobs.one_of(project.models)})",
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=4)
    resources:
        mem_mb=lambda wildcards, attempt: memory("rank", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["rank"], wildcards, attempt),
    params:
        code=lambda wildcards: code("rank", wildcards),
    message:
        "Rank with {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc rank --data {input.data} --model {input.model} --training {input.training}"
        " --threads {threads} --out {output} 2> {log}"


# A ranking is kept even if the model is deleted, so that a new measure needs no model.
rule score:
    input:
        data="results/{dataset}/data",
        ranking="results/{dataset}/{model}/seed{seed}/full/ranking",
    output:
        "results/{dataset}/{model}/seed{seed}/full/ranking.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/score.log",
    localrule: True  # takes seconds, less than a job of a cluster takes to start
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: memory("prepare", {"dataset": wildcards.dataset}, attempt),
        runtime=lambda wildcards, attempt: time(
            ["prepare"], {"dataset": wildcards.dataset}, attempt
        ),
    params:
        # Without the model's modules, because the ranking is read.
        code=lambda wildcards: planned_code("score"),
        propensity=lambda wildcards: project.propensity(wildcards.dataset),
    message:
        "Score the rankings of {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc score --data {input.data} --ranking {input.ranking} --propensity {params.propensity}"
        " --out {output} 2> {log}"


# Sparse probability estimates, the input of threshold methods.
rule estimate:
    input:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/80/model",
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
    output:
        directory("results/{dataset}/{model}/seed{seed}/80/spe"),
    log:
        "logs/{dataset}/{model}/seed{seed}/80/estimate.log",
    wildcard_constraints:
        dataset=kept,
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=4)
    resources:
        mem_mb=lambda wildcards, attempt: memory("estimate", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["estimate"], wildcards, attempt),
    params:
        code=lambda wildcards: code("estimate", wildcards),
        min_probability=lambda wildcards: project.min_probability(wildcards.dataset),
    message:
        "Estimate with {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc estimate --data {input.data} --model {input.model} --training {input.training} --min-probability {params.min_probability}"
        " --threads {threads} --out {output} 2> {log}"


# Scores of the first trees of a forest, for several numbers of trees.
rule forest:
    input:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/full/model",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/forest.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/forest.log",
    wildcard_constraints:
        dataset=kept,
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=4)
    resources:
        mem_mb=lambda wildcards, attempt: memory("forest", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["forest"], wildcards, attempt),
    params:
        code=lambda wildcards: code("forest", wildcards),
        sizes=lambda wildcards: options("--trees", project.ensemble_sizes(wildcards.model)),
    message:
        "Score the trees of {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc forest --data {input.data} --model {input.model} --training {input.training} {params.sizes}"
        " --threads {threads} --out {output} 2> {log}"


# A model with each of several values of one hyperparameter.
rule sweep:
    input:
        data="results/{dataset}/data",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        result="results/{dataset}/{model}/seed{seed}/full/sweeps/{paper}/{sweep}.json",
        trial=scratch("results/{dataset}/{model}/seed{seed}/full/sweeps/{paper}/{sweep}.trial"),  # as in `tune`
    log:
        "logs/{dataset}/{model}/seed{seed}/full/sweep-{paper}-{sweep}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: threads
    resources:
        mem_mb=lambda wildcards, attempt: memory("sweep", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["sweep"], wildcards, attempt),
        large_models=lambda wildcards: project.large_models(wildcards.dataset),
    params:
        code=lambda wildcards: code("sweep", wildcards),
        sweep=lambda wildcards: sweep_options(
            project, wildcards.paper, wildcards.sweep, wildcards.dataset
        ),
    message:
        "Sweep {wildcards.sweep} of {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc sweep --data {input.data} --training {input.training} {params.sweep:q} --threads {threads}"
        " --out {output.result} 2> {log} && mkdir -p {output.trial}"


# The model predicts each instance of the training set before it learns from it.
rule progressive:
    input:
        data="results/{dataset}/data",
    output:
        "results/{dataset}/{model}/seed{seed}/full/progressive.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/progressive.log",
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: memory("progressive", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["progressive"], wildcards, attempt),
    params:
        code=lambda wildcards: code("progressive", wildcards),
        estimator=estimator,
        hyperparameters=hyperparameters,
        given=given,
    message:
        "Score {wildcards.model} on the stream of {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads} --out {output} 2> {log}"
