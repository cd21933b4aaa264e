# Models with the key `quick`, which train in minutes: one job for all seeds, where other models have one for each.
for job in quick:

    rule:
        name:
            f"train_and_rank_{job.suffix}"
        input:
            data=paths.DATA,
            tuned=lambda wildcards: project.tuned_by(wildcards.model, wildcards.dataset) or [],
        output:
            model=[directory(folder) for folder in job.paths_by_seed(paths.MODEL, portion="full")],
            record=job.paths_by_seed(paths.TRAINING, portion="full"),
            ranking=job.paths_by_seed(paths.RANKING),
        log:
            train=job.paths_by_seed(paths.LOG_OF_RUN, portion="full", step="train"),
            rank=job.paths_by_seed(paths.LOG_OF_RUN, portion="full", step="rank"),
        benchmark:
            job.common_path(paths.BENCHMARK_OF_RUN, portion="full", step="train_and_rank")
        wildcard_constraints:
            model=one_of(job.models),
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("train")
        resources:
            **requests.of("train", "rank", times=len(job.seeds)),
        params:
            code=code_for("train"),
            ranking=code_for("rank"),
            part="train",
            estimator=lambda wildcards: project.models[wildcards.model].estimator,
            hyperparameters=hyperparameters,
            tuned=lambda wildcards, input: ["--tuned", input.tuned] if input.tuned else [],
            trees=[],
            seeds=job.seeds,
        shell:
            for_each(
                {
                    "seed": "{params.seeds}",
                    "model": "{output.model}",
                    "record": "{output.record}",
                    "ranking": "{output.ranking}",
                    "train_log": "{log.train}",
                    "rank_log": "{log.rank}",
                },
                train_with("$seed", "$model", "$record", "$train_log", job="train-and-rank")
                + "; "
                + rank_with("$model", "$record", "$ranking", "$rank_log", job="train-and-rank"),
            )

    rule:
        name:
            f"sweep_{job.suffix}"
        input:
            data=paths.DATA,
            training=job.paths_by_seed(paths.TRAINING, portion="full"),
        output:
            job.paths_by_seed(paths.SWEEP),
        log:
            job.paths_by_seed(paths.LOG_OF_RUN, portion="full", step="sweep-{paper}-{sweep}"),
        wildcard_constraints:
            model=one_of(job.models),
        conda:
            "../envs/xmlc.yaml"
        threads: requests.threads("sweep")
        resources:
            **requests.of("sweep", times=len(job.seeds)),
        params:
            code=code_for("sweep"),
            hyperparameter=lambda wildcards: swept(wildcards).hyperparameter,
            values=lambda wildcards: options("--value", map(json.dumps, swept(wildcards).values_on(wildcards.dataset))),
            hyperparameters=lambda wildcards: json.dumps(swept(wildcards).hyperparameters),
        shell:
            for_each(
                {"training": "{input.training}", "out": "{output}", "log": "{log}"},
                sweep_with("$training", "$out", "$log"),
            )

    rule:
        name:
            f"progressive_{job.suffix}"
        input:
            data=paths.DATA,
        output:
            record=job.paths_by_seed(paths.PROGRESSIVE),
            curve=job.paths_by_seed(paths.CURVE),
        log:
            job.paths_by_seed(paths.LOG_OF_RUN, portion="full", step="progressive"),
        wildcard_constraints:
            model=one_of(job.models),
        conda:
            "../envs/xmlc.yaml"
        resources:
            **requests.of("progressive", times=len(job.seeds)),
        params:
            code=code_for("progressive"),
            estimator=lambda wildcards: project.models[wildcards.model].estimator,
            hyperparameters=hyperparameters,
            seeds=job.seeds,
        shell:
            for_each(
                {
                    "seed": "{params.seeds}",
                    "record": "{output.record}",
                    "curve": "{output.curve}",
                    "log": "{log}",
                },
                progress_with("$seed", "$curve", "$record", "$log"),
            )
