# Threshold methods on the validation estimates, and what they reach on the test set.
for job in threshold_jobs(project):

    rule:
        name:
            job.name
        input:
            code_for("thresholds"),
            extensions=project.extensions,
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
        threads: project.settings.threads
        resources:
            mem_mb=memory,
        params:
            methods=job.methods,
            extensions=options("--extension", project.extensions),
            out=paths.HELD_OUT,
        shell:
            "xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
            " --estimates {input.estimates} {params.extensions:q} --threads {threads} --out {params.out} 2> {log}"
