# Label sets come from a threshold for each label, or from inference for each instance. The first rule tunes all
# threshold methods of a model on the validation estimates and evaluates them on the test set. Its output is the folder
# of all records, because each model has other methods.
rule thresholds:
    input:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/80/model",
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
        estimates="results/{dataset}/{model}/seed{seed}/80/spe",
    output:
        records=directory("results/{dataset}/{model}/seed{seed}/80/evaluation"),
        thresholds=directory("results/{dataset}/{model}/seed{seed}/80/thresholds"),
        calibration="results/{dataset}/{model}/seed{seed}/80/calibration.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/80/thresholds.log",
    wildcard_constraints:
        dataset=kept,
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=2)
    resources:
        mem_mb=lambda wildcards, attempt: memory("thresholds", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["thresholds"], wildcards, attempt),
    params:
        code=lambda wildcards: code("thresholds", wildcards),
        methods=lambda wildcards: jobs.threshold_methods(
            project, wildcards.model, wildcards.dataset
        ),
        extensions=extensions,
    message:
        "Tune thresholds on estimates of {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
        " --estimates {input.estimates} {params.extensions:q} --threads {threads}"
        " --thresholds {output.thresholds} --calibration {output.calibration} --out {output.records} 2> {log}"


# Methods that need no validation set, with the model of the whole training set.
rule thresholds_without_validation:
    input:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/full/model",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        directory("results/{dataset}/{model}/seed{seed}/full/evaluation"),
    log:
        "logs/{dataset}/{model}/seed{seed}/full/thresholds.log",
    wildcard_constraints:
        dataset=kept,
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=2)
    resources:
        mem_mb=lambda wildcards, attempt: memory("thresholds", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["thresholds"], wildcards, attempt),
    params:
        code=lambda wildcards: code("thresholds", wildcards),
        methods=lambda wildcards: jobs.unlabelled_methods(
            project, wildcards.model, wildcards.dataset
        ),
        min_probability=lambda wildcards: project.min_probability(wildcards.dataset),
    message:
        "Choose thresholds for {wildcards.model} on {wildcards.dataset} without validation, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
        " --min-probability {params.min_probability} --threads {threads} --out {output} 2> {log}"


# All inference methods of a model. With the full training set, they share samples or marginals, which are drawn or
# estimated only once. With 80 % of it, they use the estimates on which thresholds are tuned.
rule infer:
    input:
        data="results/{dataset}/data",
        training="results/{dataset}/{model}/seed{seed}/{split}/train.json",
        basis=inferred_from,
    output:
        directory("results/{dataset}/{model}/seed{seed}/{split}/inference"),
    log:
        "logs/{dataset}/{model}/seed{seed}/{split}/infer.log",
    wildcard_constraints:
        dataset=kept,
    conda:
        "../envs/xmlc.yaml"
    threads: lambda wildcards: threads(wildcards, most=4)
    resources:
        mem_mb=lambda wildcards, attempt: memory("infer", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["infer"], wildcards, attempt),
    params:
        code=lambda wildcards: code("infer", wildcards),
        methods=lambda wildcards: inference_options(project, wildcards.model, wildcards.split),
        extensions=extensions,
    message:
        "Infer label sets with {wildcards.model} on {wildcards.dataset}, split {wildcards.split}, seed {wildcards.seed}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc infer {params.methods} --data {input.data} --from {input.basis} --training {input.training}"
        " {params.extensions:q} --threads {threads} --out {output} 2> {log}"
