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
    wildcard_constraints:
        model=one_seed,
    conda:
        "../envs/xmlc.yaml"
    threads: requests.threads("rank")
    resources:
        **requests.of("rank"),
    params:
        code=code_for("rank"),
    shell:
        rank_with("{input.model}", "{input.training}", "{output}", "{log}")


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
        " --threads {threads} --plan estimate {resources.mem_mb} --out {output} 2> {log}"


# Threshold methods on the validation estimates, and what they reach on the test set; beside them, from the same
# estimates, label sets inferred for each instance of the test set.
for job in thresholds:
    beside = [job.inference] if job.inference else []

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
            [record for inference in beside for record in inference.records],
        log:
            paths.LOG_OF_RUN.of(portion="80", step=job.log),
            [paths.LOG_OF_RUN.of(portion="80", step="infer") for _ in beside],
        wildcard_constraints:
            dataset=job.datasets,
            model=one_of(job.models),
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("infer" if beside else "thresholds")
        resources:
            **requests.of("thresholds", *["infer" for _ in beside]),
        params:
            code=code_for("thresholds", *project.extensions),
            inferring=code_of("infer", *project.extensions) if beside else "",
            methods=job.methods,
            inferred=job.inference.options if beside else [],
            extensions=options("--extension", project.extensions),
            out=lambda wildcards, output: folder_above(output[0], 2),
            then=infer_beside(job, project.extensions),
        shell:
            "log=({log}); xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
            " --estimates {input.estimates} {params.extensions:q} --threads {threads}"
            " --plan thresholds {resources.mem_mb} --out {params.out} 2> ${{log[0]}}"
            "{params.then}"


# Label sets inferred for each instance of the test set.
for job in inference_jobs(project):

    rule:
        name:
            job.name
        input:
            data=paths.DATA,
            training=paths.TRAINING.of(portion=job.portion),
            given=job.source,
        output:
            job.records,
        log:
            paths.LOG_OF_RUN.of(portion=job.portion, step="infer"),
        benchmark:
            paths.BENCHMARK_OF_RUN.of(portion=job.portion, step="infer")
        wildcard_constraints:
            dataset=paths.NAME if job.predicts else datasets_inferred_alone(thresholds),
            model=job.model,
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("infer")
        resources:
            **requests.of("infer"),
        params:
            code=(code_for if job.predicts else code_of)("infer", *project.extensions),
            given=job.option,
            options=job.options,
            extensions=options("--extension", project.extensions),
            out=lambda wildcards, output: folder_above(output[0]),
        shell:
            "xmlc infer --data {input.data} {params.given} {input.given} --training {input.training} {params.options}"
            " {params.extensions:q} --threads {threads} --plan infer {resources.mem_mb}"
            " --out {params.out} 2> {log}"


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
        " --threads {threads} --plan forest {resources.mem_mb} --out {output} 2> {log}"


rule sweep:
    input:
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.SWEEP,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="sweep-{paper}-{sweep}"),
    wildcard_constraints:
        model=one_seed,
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
        sweep_with("{input.training}", "{output}", "{log}")


# Models on a stream of the training set, each instance predicted before it is learned.
rule progressive:
    input:
        data=paths.DATA,
    output:
        record=paths.PROGRESSIVE,
        curve=paths.CURVE,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="progressive"),
    wildcard_constraints:
        model=one_seed,
    conda:
        "../envs/xmlc.yaml"
    resources:
        **requests.of("progressive"),
    params:
        code=code_for("progressive"),
        estimator=lambda wildcards: project.models[wildcards.model].estimator,
        hyperparameters=hyperparameters,
    shell:
        progress_with("{wildcards.seed}", "{output.curve}", "{output.record}", "{log}")


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
        " --plan condense {resources.mem_mb} --out {output} 2> {log}"


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
        "xmlc simulate --threads {threads}" " --plan simulate {resources.mem_mb} --out {output} > {log} 2>&1"
