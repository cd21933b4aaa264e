# From a source to models: on the whole training set (ranking), or on 80 % of it (thresholds).
rule download:
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="download"),
    retries: 0  # the command tries often enough itself
    # Where Snakemake was started: compute nodes of a cluster often have no internet.
    localrule: True
    params:
        code=code_of("download"),
        entry=entry,
        source=lambda wildcards: project.source_of(wildcards.dataset),
        # As a function of the output it is left out where parameters are compared: the same files are as good elsewhere.
        mirror=lambda wildcards, output: ["--mirror", project.settings.mirror] if project.settings.mirror else [],
    shell:
        "xmlc download {wildcards.dataset} --out {output} {params.mirror:q} 2> {log}"


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
        "xmlc synth {wildcards.dataset} --out {output} --threads {threads} 2> {log}"


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
        source=lambda wildcards: contents(Path(paths.RESOURCE.of(dataset=wildcards.dataset))),
        share=project.settings.validation_share,
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share}"
        " 2> {log}"


# Models with the key `search` are trained with what it finds, and with the key `tuning` of config.yaml all with ranges.
rule tune:
    input:
        data=paths.DATA,
        tuned=searched_after,
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
        tuned=tuned_option,
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " {params.search:q} {params.tuned:q} --threads {threads}"
        " --out {output} 2> {log}"


rule train:
    input:
        data=paths.DATA,
        tuned=tuned,
        given=given,
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
    shell:
        "xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
        " --parameters {params.hyperparameters:q} {params.tuned:q} --seed {wildcards.seed}"
        " --threads {threads} --out {output.model} --record {output.record} 2> {log}"


# What is measured of trained models: rankings, estimates, label sets, forests by their trees, sweeps, streams.
rule rank:
    input:
        **trained("full"),
    output:
        paths.RANKING,
    log:
        paths.LOG_OF_RUN.of(portion="full", step="rank"),
    threads: requests.threads("rank")
    resources:
        **requests.of("rank"),
    params:
        code=code_for("rank"),
        propensity=propensity,
    shell:
        "xmlc rank --data {input.data} --model {input.model} --training {input.training} --propensity {params.propensity}"
        " --threads {threads} --out {output} 2> {log}"


# Models with the key `quick`, which train in minutes: all seeds are one job, and training and ranking are.
for job in quick:

    rule:
        name:
            f"train_and_rank{job.suffix}"
        input:
            data=paths.DATA,
            tuned=tuned,
            given=lambda wildcards, job=job: project.given(wildcards.model, wildcards.dataset, job.seeds),
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
            propensity=propensity,
            trained=lambda wildcards, output, job=job: jobs.each(seed=job.seeds, out=output.model, record=output.record),
            ranked=lambda wildcards, output: jobs.each(model=output.model, training=output.record, out=output.ranking),
        shell:
            "xmlc train --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
            " --parameters {params.hyperparameters:q} {params.tuned:q} {params.trained}"
            " --threads {threads} 2> {log}"
            " && xmlc rank --data {input.data} {params.ranked} --propensity {params.propensity}"
            " --threads {threads} 2>> {log}"


# Sparse probability estimates: the waist between models and threshold methods.
rule estimate:
    input:
        **trained("80"),
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
        " --threads {threads} --out {output} 2> {log}"


# Threshold methods on the validation estimates, and what they reach on the test set; beside them, from the same
# estimates, label sets inferred for each instance of the test set.
for job in jobs.threshold_jobs(project):

    rule:
        name:
            job.name
        input:
            **trained("80"),
            estimates=paths.ESTIMATES,
            full=[paths.MODEL.of(portion="full"), paths.TRAINING.of(portion="full")] if unlabelled(job.methods) else [],
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
            full=lambda wildcards, input: ["--full", input.full[1].rpartition("/")[0]] if input.full else [],
            extensions=jobs.options("--extension", project.extensions),
            folder=lambda wildcards, output: output[0].rsplit("/", 2)[0],
        shell:
            "xmlc thresholds {params.methods} {params.inferred} {params.full} --data {input.data} --model {input.model}"
            " --training {input.training} --estimates {input.estimates} {params.extensions:q} --threads {threads}"
            " --out {params.folder} 2> {log}"


# Label sets inferred from models on the whole training set: all methods of a model are one job.
for job in jobs.inference_jobs(project, "full").values():

    rule:
        name:
            f"infer_{job.model}"
        input:
            **trained("full"),
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
            folder=lambda wildcards, output: output[0].rsplit("/", 1)[0],
        shell:
            "xmlc infer --data {input.data} --model {input.model} --training {input.training} {params.methods}"
            " --samples {params.samples} {params.extensions:q} --threads {threads}"
            " --out {params.folder} 2> {log}"


rule forest:
    input:
        **trained("full"),
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
        " --threads {threads} --out {output} 2> {log}"


# One hyperparameter tried with several values, and models on a stream of the training set, each instance predicted
# before it is learned. Of models that train in minutes, all seeds are one job.
for job in [jobs.one_seed(project), *quick]:

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
            "xmlc sweep --data {input.data} {params.sweep:q} {params.runs} --threads {threads}" " 2> {log}"

    rule:
        name:
            f"progressive{job.suffix}"
        input:
            data=paths.DATA,
        output:
            job.of(paths.PROGRESSIVE),
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
            runs=lambda wildcards, output, job=job: jobs.each(seed=job.seeds_of(wildcards), out=output),
        shell:
            "xmlc progressive --data {input.data} --estimator {params.estimator:q} --name {wildcards.model}"
            " --parameters {params.hyperparameters:q} {params.runs} --threads {threads}"
            " 2> {log}"


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
        "xmlc simulate --threads {threads} --out {output} > {log} 2>&1"


# Tables and figures, from records.
rule table:
    input:
        lambda wildcards: table_of(wildcards.table, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.TABLE}.csv", caption="../report/table.rst", category="{paper}", labels={"table": "{table}"}),
        multiext(paths.TABLE, ".md", ".tex", ".made-of.json"),
    log:
        paths.LOG_OF_TABLE,
    localrule: True
    params:
        code=lambda wildcards: plan.sources_of_table(project, wildcards.paper, wildcards.table),
        prefix=lambda wildcards, output: output[0].rpartition(".")[0],
        published=paths.PUBLISHED,
        suite=lambda wildcards: jobs.options("--suite", plan.suite_of_table(project, wildcards.paper, wildcards.table)),
        titles=lambda wildcards: plan.titles_of(project, wildcards.paper),
    shell:
        "xmlc table {wildcards.table} --paper {wildcards.paper} --published {params.published}"
        " {params.suite:q} {params.titles:q} {input} --out {params.prefix} > {log} 2>&1"


rule figure:
    input:
        lambda wildcards: figure_of(wildcards.figure, wildcards.paper).files(project, wildcards.paper),
    output:
        report(f"{paths.FIGURE}.svg", caption="../report/figure.rst", category="{paper}", labels={"figure": "{figure}"}),
        multiext(paths.FIGURE, ".png", ".pdf"),
    log:
        paths.LOG_OF_FIGURE,
    localrule: True
    params:
        code=lambda wildcards: plan.sources_of_figure(wildcards.paper),
        prefix=lambda wildcards, output: output[0].rpartition(".")[0],
        titles=lambda wildcards: plan.titles_of(project, wildcards.paper),
    shell:
        "xmlc figure {wildcards.figure} --paper {wildcards.paper} {params.titles:q} {input} --out {params.prefix}"
        " > {log} 2>&1"
