# What is measured of trained models: rankings, estimates, forests by their first trees, sweeps, streams, small indices.
rule rank:
    input:
        code_for("rank"),
        data=paths.DATA,
        model=paths.MODEL.of(portion="full"),
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.RANKING,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="rank"),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training} --threads {threads}"
        " --out {output} 2> {log}"


# Sparse probability estimates: the waist between models and threshold methods.
rule estimate:
    input:
        code_for("estimate"),
        data=paths.DATA,
        model=paths.MODEL.of(portion="80"),
        training=paths.TRAINING.of(portion="80"),
    output:
        directory(paths.ESTIMATES),
    log:
        paths.LOG_OF_RUN.of(portion="80", step="estimate"),
    benchmark:
        paths.BENCHMARK_OF_RUN.of(portion="80", step="estimate")
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    params:
        floor=lambda wildcards: project.floor(wildcards.dataset),
    shell:
        "xmlc estimate --data {input.data} --model {input.model} --training {input.training} --floor {params.floor}"
        " --threads {threads} --out {output} 2> {log}"


rule forest:
    input:
        code_for("forest"),
        data=paths.DATA,
        model=paths.MODEL.of(portion="full"),
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.FOREST,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="forest"),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    params:
        sizes=lambda wildcards: options("--trees", project.ensemble_sizes(wildcards.model)),
    shell:
        "xmlc forest --data {input.data} --model {input.model} --training {input.training} {params.sizes}"
        " --threads {threads} --out {output} 2> {log}"


rule sweep:
    input:
        code_for("sweep"),
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.SWEEP,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="sweep-{paper}"),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    params:
        hyperparameter=lambda wildcards: project.sweep(wildcards.paper).hyperparameter,
        values=lambda wildcards: options("--value", project.sweep(wildcards.paper).values),
        hyperparameters=lambda wildcards: json.dumps(project.sweep(wildcards.paper).hyperparameters),
    shell:
        "xmlc sweep --data {input.data} --training {input.training} --parameters {params.hyperparameters:q}"
        " --hyperparameter {params.hyperparameter:q} {params.values} --threads {threads} --out {output} 2> {log}"


# Models on a stream of the training set, each instance predicted before it is learned.
rule progressive:
    input:
        code_for("progressive"),
        data=paths.DATA,
    output:
        record=paths.PROGRESSIVE,
        curve=paths.CURVE,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="progressive"),
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=memory,
    params:
        estimator=lambda wildcards: project.models[wildcards.model].estimator,
        hyperparameters=hyperparameters,
    shell:
        "xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads}"
        " --curve {output.curve} --out {output.record} 2> {log}"


# How small an index of nearest neighbours can be: near-duplicates with the same label set are left out.
rule condense:
    input:
        code_for("condense"),
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.CONDENSED,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="condense"),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    params:
        similarities=options("--similarity", [0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]),
    shell:
        "xmlc condense --data {input.data} --training {input.training} {params.similarities} --threads {threads}"
        " --out {output} 2> {log}"


# Inference from samples of known distributions.
rule simulate:
    input:
        command_files("simulate"),
    output:
        paths.SIMULATION,
    log:
        paths.LOG_OF_SIMULATION,
    benchmark:
        paths.BENCHMARK_OF_SIMULATION
    conda:
        "../envs/xmlc.yaml"
    shell:
        "xmlc simulate --threads {threads} --out {output} > {log} 2>&1"
