# What is measured of trained models: rankings, estimates, label sets, forests by their trees, sweeps, streams.
rule rank:
    input:
        data=paths.DATA,
        model=paths.MODEL.of(portion="full"),
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.RANKING,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="rank"),
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("rank")
    resources:
        **requests.of("rank"),
    params:
        code=code_for("rank"),
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training} --threads {threads}"
        " --plan rank {resources.mem_mb} {resources.cpu_seconds} --out {output} 2> {log}"


# Sparse probability estimates: the waist between models and threshold methods.
rule estimate:
    input:
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
    threads: requests.threads("estimate")
    resources:
        **requests.of("estimate"),
    params:
        code=code_for("estimate"),
        floor=lambda wildcards: project.floor(wildcards.dataset),
    shell:
        "xmlc estimate --data {input.data} --model {input.model} --training {input.training} --floor {params.floor}"
        " --threads {threads} --plan estimate {resources.mem_mb} {resources.cpu_seconds} --out {output} 2> {log}"


# Threshold methods on the validation estimates, and what they reach on the test set.
for job in threshold_jobs(project):

    rule:
        name:
            job.name
        input:
            data=paths.DATA,
            model=paths.MODEL.of(portion="80"),
            training=paths.TRAINING.of(portion="80"),
            estimates=paths.ESTIMATES,
        output:
            [directory(paths.THRESHOLDS.of(method=method)) for method in job.methods],
            [paths.EVALUATION.of(method=method) for method in job.methods],
        log:
            paths.LOG_OF_RUN.of(portion="80", step=job.log),
        wildcard_constraints:
            dataset=job.datasets,
            model=one_of(job.models),
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("thresholds")
        resources:
            **requests.of("thresholds", len(job.methods)),
        params:
            code=code_for("thresholds", *project.extensions),
            methods=job.methods,
            extensions=options("--extension", project.extensions),
            out=lambda wildcards, output: folder_above(output[0], 2),
        shell:
            "xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
            " --estimates {input.estimates} {params.extensions:q} --threads {threads}"
            " --plan thresholds {resources.mem_mb} {resources.cpu_seconds} --out {params.out} 2> {log}"


# Label sets inferred for each instance of the test set.
for job in inference_jobs(project):

    rule:
        name:
            job.name
        input:
            data=paths.DATA,
            training=paths.TRAINING.of(portion=job.portion),
            given=job.given,
        output:
            [paths.INFERENCE.of(portion=job.portion, method=method) for method in job.methods],
        log:
            paths.LOG_OF_RUN.of(portion=job.portion, step="infer"),
        benchmark:
            paths.BENCHMARK_OF_RUN.of(portion=job.portion, step="infer")
        wildcard_constraints:
            model=job.model,
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("infer")
        resources:
            **requests.of("infer", len(job.methods)),
        params:
            code=code_for("infer", *project.extensions) if job.predicts else code_of("infer", *project.extensions),
            given=job.option,
            samples=job.samples,
            limit=options("--time-limit", [job.time_limit] if job.time_limit else []),
            methods=options("--method", job.methods),
            extensions=options("--extension", project.extensions),
            out=lambda wildcards, output: folder_above(output[0]),
        shell:
            "xmlc infer --data {input.data} {params.given} {input.given} --training {input.training} {params.methods}"
            " {params.extensions:q} --samples {params.samples} {params.limit} --threads {threads}"
            " --plan infer {resources.mem_mb} {resources.cpu_seconds} --out {params.out}"
            " 2> {log}"


rule forest:
    input:
        data=paths.DATA,
        model=paths.MODEL.of(portion="full"),
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.FOREST,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="forest"),
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("forest")
    resources:
        **requests.of("forest"),
    params:
        code=code_for("forest"),
        sizes=lambda wildcards: options("--trees", project.ensemble_sizes(wildcards.model)),
    shell:
        "xmlc forest --data {input.data} --model {input.model} --training {input.training} {params.sizes}"
        " --threads {threads} --plan forest {resources.mem_mb} {resources.cpu_seconds} --out {output} 2> {log}"


rule sweep:
    input:
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.SWEEP,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="sweep-{paper}-{sweep}"),
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("sweep")
    resources:
        **requests.of("sweep"),
    params:
        code=code_for("sweep"),
        hyperparameter=lambda wildcards: swept(wildcards).hyperparameter,
        values=lambda wildcards: options("--value", map(json.dumps, swept(wildcards).values_on(wildcards.dataset))),
        hyperparameters=lambda wildcards: json.dumps(swept(wildcards).hyperparameters),
    shell:
        "xmlc sweep --data {input.data} --training {input.training} --parameters {params.hyperparameters:q}"
        " --hyperparameter {params.hyperparameter:q} {params.values:q} --threads {threads}"
        " --plan sweep {resources.mem_mb} {resources.cpu_seconds} --out {output} 2> {log}"


# Models on a stream of the training set, each instance predicted before it is learned.
rule progressive:
    input:
        data=paths.DATA,
    output:
        record=paths.PROGRESSIVE,
        curve=paths.CURVE,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="progressive"),
    conda:
        "../envs/xmlc.yaml"
    resources:
        **requests.of("progressive"),
    params:
        code=code_for("progressive"),
        estimator=lambda wildcards: project.models[wildcards.model].estimator,
        hyperparameters=hyperparameters,
    shell:
        "xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} --seed {wildcards.seed} --threads {threads}"
        " --plan progressive {resources.mem_mb} {resources.cpu_seconds}"
        " --curve {output.curve} --out {output.record} 2> {log}"


# How small an index of nearest neighbours can be: near-duplicates with the same label set are left out.
rule condense:
    input:
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.CONDENSED,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="condense"),
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("condense")
    resources:
        **requests.of("condense"),
    params:
        code=code_for("condense"),
        similarities=options("--similarity", [0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]),
    shell:
        "xmlc condense --data {input.data} --training {input.training} {params.similarities} --threads {threads}"
        " --plan condense {resources.mem_mb} {resources.cpu_seconds} --out {output} 2> {log}"


# Inference from samples of known distributions.
rule simulate:
    output:
        paths.SIMULATION,
    log:
        paths.LOG_OF_SIMULATION,
    benchmark:
        paths.BENCHMARK_OF_SIMULATION
    conda:
        "../envs/xmlc.yaml"
    resources:
        **requests.of("simulate"),
    params:
        code=code_of("simulate"),
    shell:
        "xmlc simulate --threads {threads}"
        " --plan simulate {resources.mem_mb} {resources.cpu_seconds} --out {output} > {log} 2>&1"
