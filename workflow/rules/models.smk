# From a source to models: on the whole training set (ranking), or on 80 % of it (thresholds).


# With the key `scatter`, the trees of a forest are grown by so many jobs, which a cluster can spread.
scattergather:
    trees=project.settings.scatter,


rule download:
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="download"),
    wildcard_constraints:
        dataset=rf"(?!(?:{one_of(project.made)})(?:/|$)){paths.NAME}",
    retries: 1  # the command tries often enough itself
    # Where Snakemake was started: compute nodes of a cluster often have no internet.
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=code_of("download"),
        mirror=["--mirror", project.settings.mirror] if project.settings.mirror else [],
        limits=list(vars(project.settings.download).values()),
        entry=entry,
        catalogue=paths.CATALOGUE,
    shell:
        "xmlc download {wildcards.dataset} --out {output} --catalogue {params.catalogue} {params.mirror:q}"
        " --limits {params.limits} 2> {log}"


rule synthesise:
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="synthesise"),
    wildcard_constraints:
        dataset=one_of(project.made),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        **requests.of("synth"),
    params:
        code=code_of("synth"),
        entry=entry,
        catalogue=paths.CATALOGUE,
    shell:
        "xmlc synth {wildcards.dataset} --out {output} --catalogue {params.catalogue} --threads {threads}"
        " --plan synth {resources.mem_mb} 2> {log}"


rule prepare:
    input:
        source=paths.RESOURCE,
    output:
        data=directory(paths.DATA),
        statistics=paths.STATISTICS,
    log:
        paths.LOG_OF_DATASET.of(step="prepare"),
    benchmark:
        paths.BENCHMARK_OF_DATASET.of(step="prepare")
    conda:
        "../envs/xmlc.yaml"
    resources:
        **requests.of("prepare"),
    params:
        code=code_of("prepare"),
        entry=entry,
        catalogue=paths.CATALOGUE,
        share=project.settings.validation_share,
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share} --catalogue {params.catalogue}"
        " --plan prepare {resources.mem_mb} 2> {log}"


# Models with the key `search` are trained with what it finds, and with the key `tuning` of config.yaml all with ranges.
rule tune:
    input:
        data=paths.DATA,
    output:
        paths.TUNING,
    log:
        paths.LOG_OF_TUNING,
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("tune")
    resources:
        **requests.of("tune"),
    params:
        code=code_for("tune"),
        estimator=lambda wildcards: project.models[wildcards.model].estimator,
        hyperparameters=hyperparameters,
        search=lambda wildcards: project.search_options(wildcards.model, wildcards.dataset),
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " {params.search:q} --threads {threads} --plan tune {resources.mem_mb}"
        " --out {output} 2> {log}"


rule train:
    input:
        data=paths.DATA,
        tuned=lambda wildcards: project.tuned_by(wildcards.model, wildcards.dataset) or [],
    output:
        model=directory(paths.MODEL),
        record=paths.TRAINING,
    log:
        paths.LOG_OF_RUN.of(step="train"),
    benchmark:
        paths.BENCHMARK_OF_RUN.of(step="train")
    wildcard_constraints:
        model=models_outside(quick, [name for name in project.models if name not in project.scattered]),
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("train")
    resources:
        **requests.of("train"),
    params:
        code=code_for("train"),
        part=lambda wildcards: {"full": "train", "80": "fit"}[wildcards.portion],
        estimator=lambda wildcards: project.models[wildcards.model].estimator,
        hyperparameters=hyperparameters,
        tuned=lambda wildcards, input: ["--tuned", input.tuned] if input.tuned else [],
        trees=lambda wildcards: ["--trees", wildcards.scatteritem] if hasattr(wildcards, "scatteritem") else [],
    shell:
        train_with("{wildcards.seed}", "{output.model}", "{output.record}", "{log}")


use rule train as train_trees with:
    output:
        model=temp(directory(f"{paths.SHARE}/model")),
        record=temp(f"{paths.SHARE}/train.json"),
    log:
        paths.LOG_OF_RUN.of(step="train-{scatteritem}"),
    benchmark:
        paths.BENCHMARK_OF_RUN.of(step="train-{scatteritem}")
    wildcard_constraints:
        model=one_of(project.scattered),


rule join_trees:
    input:
        models=gather.trees(gather_pattern(f"{paths.SHARE}/model")),
        records=gather.trees(gather_pattern(f"{paths.SHARE}/train.json")),
    output:
        model=directory(paths.MODEL),
        record=paths.TRAINING,
    log:
        paths.LOG_OF_RUN.of(step="join"),
    wildcard_constraints:
        model=one_of(project.scattered),
    conda:
        "../envs/xmlc.yaml"
    resources:
        **requests.of("join"),
    params:
        code=code_for("join"),
        shares=lambda wildcards, input: [folder_above(model) for model in input.models],
    shell:
        "xmlc join {params.shares:q} --out {output.model} --record {output.record} 2> {log}"
