# Label sets inferred for each instance of the test set.
for job in inference_jobs(project):

    rule:
        name:
            job.name
        input:
            code_for("infer") if job.asks_the_model else command_files("infer"),
            extensions=project.extensions,
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
        threads: project.settings.threads
        resources:
            mem_mb=memory,
        params:
            given=job.option,
            samples=job.samples,
            limit=options("--time-limit", [job.time_limit] if job.time_limit else []),
            methods=options("--method", job.methods),
            extensions=options("--extension", project.extensions),
            out=f"{paths.RUN.of(portion=job.portion)}/inference",
        shell:
            "xmlc infer --data {input.data} {params.given} {input.given} --training {input.training} {params.methods}"
            " {params.extensions:q} --samples {params.samples} {params.limit} --threads {threads} --out {params.out}"
            " 2> {log}"
