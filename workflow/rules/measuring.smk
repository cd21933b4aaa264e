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
    threads: requests.threads("rank")
    resources:
        **requests.of("rank"),
    params:
        code=code_for("rank"),
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training}"
        " --threads {threads} --plan rank {resources.mem_mb} --out {output} 2> {log}"


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
# estimates, label sets inferred for each instance of the test set. Of two rules for a file, the first of the list makes it.
thresholds = jobs.threshold_jobs(project)
workflow.ruleorder(*(job.name for job in thresholds))

for job in thresholds:

    rule:
        name:
            job.name
        input:
            data=paths.DATA,
            model=paths.MODEL.of(portion="80"),
            training=paths.TRAINING.of(portion="80"),
            estimates=paths.ESTIMATES,
        output:
            job.records,
            [directory(paths.THRESHOLDS.of(method=method)) for method in job.methods],
        log:
            paths.LOG_OF_RUN.of(portion="80", step=job.log),
        wildcard_constraints:
            dataset=job.datasets,
            model=jobs.one_of(job.models),
        threads: requests.threads(job.steps[-1])
        resources:
            **requests.of(*job.steps),
        params:
            code=code_for("thresholds", *project.extensions),
            methods=job.methods,
            inferred=job.inference.options("--infer") if job.inference else [],
            extensions=jobs.options("--extension", project.extensions),
            out=lambda wildcards, output: jobs.folder_above(output[0], 2),
        shell:
            "xmlc thresholds {params.methods} {params.inferred} --data {input.data} --model {input.model}"
            " --training {input.training} --estimates {input.estimates} {params.extensions:q} --threads {threads}"
            " --plan thresholds {resources.mem_mb} --out {params.out} 2> {log}"


# Label sets inferred from models on the whole training set: all methods of a model are one job.
for job in jobs.inference_jobs(project, "full").values():

    rule:
        name:
            f"infer_{job.model}"
        input:
            data=paths.DATA,
            model=paths.MODEL.of(portion="full"),
            training=paths.TRAINING.of(portion="full"),
        output:
            job.records,
        log:
            paths.LOG_OF_RUN.of(portion="full", step="infer"),
        wildcard_constraints:
            model=job.model,
        threads: requests.threads("infer")
        resources:
            **requests.of("infer"),
        params:
            code=code_for("infer", *project.extensions),
            samples=job.samples,
            methods=job.options("--method"),
            extensions=jobs.options("--extension", project.extensions),
            out=lambda wildcards, output: jobs.folder_above(output[0]),
        shell:
            "xmlc infer --data {input.data} --model {input.model} --training {input.training} {params.methods}"
            " --samples {params.samples} {params.extensions:q} --threads {threads} --plan infer {resources.mem_mb}"
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
    threads: requests.threads("forest")
    resources:
        **requests.of("forest"),
    params:
        code=code_for("forest"),
        sizes=lambda wildcards: jobs.options("--trees", project.ensemble_sizes(wildcards.model)),
    shell:
        "xmlc forest --data {input.data} --model {input.model} --training {input.training} {params.sizes}"
        " --threads {threads} --plan forest {resources.mem_mb} --out {output} 2> {log}"


# One hyperparameter tried with several values, and models on a stream of the training set, each instance predicted
# before it is learned. Of models that train in minutes, all seeds are one job.
by_seeds = [*quick, jobs.one_seed(project)]
workflow.ruleorder(*(f"sweep{job.suffix}" for job in by_seeds))
workflow.ruleorder(*(f"progressive{job.suffix}" for job in by_seeds))

for job in by_seeds:

    rule:
        name:
            f"sweep{job.suffix}"
        input:
            data=paths.DATA,
            training=job.of(paths.TRAINING, portion="full"),
        output:
            job.of(paths.SWEEP),
        log:
            paths.LOG_OF_RUN.of(seed=job.seed, portion="full", step="sweep-{paper}-{sweep}"),
        wildcard_constraints:
            model=jobs.one_of(job.models),
        threads: requests.threads("sweep")
        resources:
            **requests.of("sweep", times=len(job.seeds)),
        params:
            code=code_for("sweep"),
            sweep=lambda wildcards: project.sweep_options(wildcards.paper, wildcards.sweep, wildcards.dataset),
            runs=lambda wildcards, input, output: jobs.each(training=input.training, out=output),
        shell:
            "xmlc sweep --data {input.data} {params.sweep:q} {params.runs} --threads {threads}"
            " --plan sweep {resources.mem_mb} 2> {log}"

    rule:
        name:
            f"progressive{job.suffix}"
        input:
            data=paths.DATA,
        output:
            record=job.of(paths.PROGRESSIVE),
            curve=job.of(paths.CURVE),
        log:
            paths.LOG_OF_RUN.of(seed=job.seed, portion="full", step="progressive"),
        wildcard_constraints:
            model=jobs.one_of(job.models),
        resources:
            **requests.of("progressive", times=len(job.seeds)),
        params:
            code=code_for("progressive"),
            estimator=estimator,
            hyperparameters=hyperparameters,
            runs=lambda wildcards, output, job=job: jobs.each(
                seed=job.seeds_of(wildcards), curve=output.curve, out=output.record
            ),
        shell:
            "xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
            " --parameters {params.hyperparameters:q} {params.runs} --threads {threads}"
            " --plan progressive {resources.mem_mb} 2> {log}"


# How small an index of nearest neighbours can be: near-duplicates with the same label set are left out.
rule condense:
    input:
        data=paths.DATA,
        training=paths.TRAINING.of(portion="full"),
    output:
        paths.CONDENSED,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="condense"),
    threads: requests.threads("condense")
    resources:
        **requests.of("condense"),
    params:
        code=code_for("condense"),
    shell:
        "xmlc condense --data {input.data} --training {input.training} --threads {threads}"
        " --plan condense {resources.mem_mb} --out {output} 2> {log}"


# Inference from samples of known distributions.
rule simulate:
    output:
        paths.SIMULATION,
    log:
        paths.LOG_OF_SIMULATION,
    resources:
        **requests.of("simulate"),
    params:
        code=code_of("simulate"),
    shell:
        "xmlc simulate --threads {threads} --plan simulate {resources.mem_mb} --out {output} > {log} 2>&1"
