# From a source to models: on the whole training set (ranking), or on 80 % of it (thresholds).
# With the key `scatter`, the trees of a forest are grown by so many jobs, which a cluster can spread.
scattergather:
    trees=project.settings.scatter,


rule download:
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="download"),
    retries: 1  # the command tries often enough itself
    # Where Snakemake was started: compute nodes of a cluster often have no internet.
    localrule: True
    params:
        code=code_of("download"),
        mirror=["--mirror", project.settings.mirror] if project.settings.mirror else [],
        limits=list(vars(project.settings.download).values()),
        entry=entry,
    shell:
        "xmlc download {wildcards.dataset} --out {output} {params.mirror:q} --limits {params.limits} 2> {log}"


rule synthesise:
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="synthesise"),
    wildcard_constraints:
        dataset=jobs.one_of(project.made),
    threads: project.settings.threads
    resources:
        **requests.of("synth"),
    params:
        code=code_of("synth"),
        entry=entry,
    shell:
        "xmlc synth {wildcards.dataset} --out {output} --threads {threads} --plan synth {resources.mem_mb} 2> {log}"


rule prepare:
    input:
        source=paths.RESOURCE,
    output:
        data=directory(paths.DATA),
        statistics=paths.STATISTICS,
    log:
        paths.LOG_OF_DATASET.of(step="prepare"),
    resources:
        **requests.of("prepare"),
    params:
        code=code_of("prepare"),
        entry=entry,
        share=project.settings.validation_share,
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share}"
        " --plan prepare {resources.mem_mb} 2> {log}"


# Models with the key `search` are trained with what it finds, and with the key `tuning` of config.yaml all with ranges.
rule tune:
    input:
        data=paths.DATA,
    output:
        paths.TUNING,
    log:
        paths.LOG_OF_TUNING,
    threads: requests.threads("tune")
    resources:
        **requests.of("tune"),
    params:
        code=code_for("tune"),
        estimator=estimator,
        hyperparameters=hyperparameters,
        search=lambda wildcards: project.search_options(wildcards.model, wildcards.dataset),
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " {params.search:q} --threads {threads} --plan tune {resources.mem_mb}"
        " --out {output} 2> {log}"


rule train:
    input:
        data=paths.DATA,
        tuned=tuned,
    output:
        model=directory(paths.MODEL),
        record=paths.TRAINING,
    log:
        paths.LOG_OF_RUN.of(step="train"),
    threads: requests.threads("train")
    resources:
        **requests.of("train"),
    params:
        code=code_for("train"),
        part=lambda wildcards: {"full": "train", "80": "fit"}[wildcards.portion],
        estimator=estimator,
        hyperparameters=hyperparameters,
        tuned=tuned_option,
        trees=lambda wildcards: ["--trees", wildcards.scatteritem] if hasattr(wildcards, "scatteritem") else [],
    shell:
        "xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} {params.tuned:q} {params.trees} --seed {wildcards.seed}"
        " --threads {threads} --plan train {resources.mem_mb} --out {output.model} --record {output.record} 2> {log}"


use rule train as train_trees with:
    output:
        model=temp(directory(f"{paths.SHARE}/model")),
        record=temp(f"{paths.SHARE}/train.json"),
    log:
        paths.LOG_OF_RUN.of(step="train-{scatteritem}"),
    wildcard_constraints:
        model=jobs.one_of(project.scattered),


rule join_trees:
    input:
        models=gather.trees(jobs.gather_pattern(f"{paths.SHARE}/model")),
        records=gather.trees(jobs.gather_pattern(f"{paths.SHARE}/train.json")),
    output:
        model=directory(paths.MODEL),
        record=paths.TRAINING,
    log:
        paths.LOG_OF_RUN.of(step="join"),
    wildcard_constraints:
        model=jobs.one_of(project.scattered),
    resources:
        **requests.of("join"),
    params:
        code=code_for("join"),
        shares=lambda wildcards, input: [jobs.folder_above(model) for model in input.models],
    shell:
        "xmlc join {params.shares:q} --out {output.model} --record {output.record} 2> {log}"


# Models with the key `quick`, which train in minutes: all seeds are one job, and training and ranking are.
for job in quick:

    rule:
        name:
            f"train_and_rank{job.suffix}"
        input:
            data=paths.DATA,
            tuned=tuned,
        output:
            model=[directory(folder) for folder in job.of(paths.MODEL, portion="full")],
            record=job.of(paths.TRAINING, portion="full"),
            ranking=job.of(paths.RANKING),
        log:
            paths.LOG_OF_RUN.of(seed=job.seed, portion="full", step="train_and_rank"),
        wildcard_constraints:
            model=jobs.one_of(job.models),
        threads: requests.threads("train")
        resources:
            **requests.of("train", "rank", times=len(job.seeds)),
        params:
            code=code_for("train"),
            ranking=code_for("rank"),
            estimator=estimator,
            hyperparameters=hyperparameters,
            tuned=tuned_option,
            trained=lambda wildcards, output, job=job: jobs.each(seed=job.seeds, out=output.model, record=output.record),
            ranked=lambda wildcards, output: jobs.each(model=output.model, training=output.record, out=output.ranking),
        shell:
            "xmlc train --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
            " --parameters {params.hyperparameters:q} {params.tuned:q} {params.trained}"
            " --threads {threads} --plan train-and-rank {resources.mem_mb} 2> {log}"
            " && xmlc rank --data {input.data} {params.ranked}"
            " --threads {threads} --plan train-and-rank {resources.mem_mb} 2>> {log}"


workflow.ruleorder(*(f"train_and_rank{job.suffix}" for job in quick), "train", "rank")


ruleorder: synthesise > download
ruleorder: join_trees > train
