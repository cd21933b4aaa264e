# Models that are deleted after use (`keep_models`). A job trains a model, runs all steps that read it, and leaves the
# records. The model and the estimates are in the folder `temporary`, which Snakemake deletes when the job ends, even
# with an error. A job with a large model holds the resource `large_models`, of which a run has one, so that two large
# models are never on the disk at the same time.

# Not in a profile, because the option `--resources mem_mb=...` replaces all limits of a profile.
if "large_models" not in workflow.global_resources:
    workflow.register_resource("large_models", 1)

TRAIN = (
    "XMLC_PLANNED_CODE={params.code:q}"
    " xmlc train --data {input.data} --part {params.part} --estimator {params.estimator:q} --name {wildcards.model}"
    " --parameters {params.hyperparameters:q} {params.tuned:q} --seed {wildcards.seed}"
    " --threads {threads} --out {output.temporary}/model --record {output.record} 2> {log}"
)
# Outputs, parameters and command of each step that reads a model, as in the rules for kept models.
AFTER_TRAINING = {
    "rank": dict(
        command="rank",
        output=dict(ranking=directory("results/{dataset}/{model}/seed{seed}/{split}/ranking")),
        params=dict(code_of_rank=lambda wildcards: code("rank", wildcards)),
        shell="XMLC_PLANNED_CODE={params.code_of_rank:q}"
        " xmlc rank --data {input.data} --model {output.temporary}/model --training {output.record}"
        " --threads {params.up_to_4} --out {output.ranking} 2>> {log}",
    ),
    "forest": dict(
        command="forest",
        output=dict(forest="results/{dataset}/{model}/seed{seed}/{split}/forest.json"),
        params=dict(
            code_of_forest=lambda wildcards: code("forest", wildcards),
            sizes=lambda wildcards: options("--trees", project.ensemble_sizes(wildcards.model)),
        ),
        shell="XMLC_PLANNED_CODE={params.code_of_forest:q}"
        " xmlc forest --data {input.data} --model {output.temporary}/model --training {output.record}"
        " {params.sizes} --threads {params.up_to_4} --out {output.forest} 2>> {log}",
    ),
    "thresholds_without_validation": dict(
        command="thresholds",
        output=dict(
            evaluation=directory("results/{dataset}/{model}/seed{seed}/{split}/evaluation")
        ),
        params=dict(
            code_of_thresholds=lambda wildcards: code("thresholds", wildcards),
            methods=lambda wildcards: jobs.unlabelled_methods(
                project, wildcards.model, wildcards.dataset
            ),
            min_probability=lambda wildcards: project.min_probability(wildcards.dataset),
        ),
        shell="XMLC_PLANNED_CODE={params.code_of_thresholds:q}"
        " xmlc thresholds {params.methods} --data {input.data} --model {output.temporary}/model"
        " --training {output.record} --min-probability {params.min_probability} --threads {params.up_to_2}"
        " --out {output.evaluation} 2>> {log}",
    ),
    "infer": dict(
        command="infer",
        output=dict(inference=directory("results/{dataset}/{model}/seed{seed}/{split}/inference")),
        params=dict(
            code_of_infer=lambda wildcards: code("infer", wildcards),
            inference=lambda wildcards: inference_options(
                project, wildcards.model, wildcards.split
            ),
            basis=lambda wildcards: {"full": "model", "80": "spe"}[wildcards.split],
            extensions=extensions,
        ),
        shell="XMLC_PLANNED_CODE={params.code_of_infer:q}"
        " xmlc infer {params.inference} --data {input.data} --from {output.temporary}/{params.basis}"
        " --training {output.record} {params.extensions:q} --threads {params.up_to_4} --out {output.inference} 2>> {log}",
    ),
    "estimate": dict(
        command="estimate",
        output={},
        params=dict(
            code_of_estimate=lambda wildcards: code("estimate", wildcards),
            min_probability=lambda wildcards: project.min_probability(wildcards.dataset),
        ),
        shell="XMLC_PLANNED_CODE={params.code_of_estimate:q}"
        " xmlc estimate --data {input.data} --model {output.temporary}/model --training {output.record}"
        " --min-probability {params.min_probability} --threads {params.up_to_4}"
        " --out {output.temporary}/spe 2>> {log}",
    ),
    "thresholds": dict(
        command="thresholds",
        output=dict(
            evaluation=directory("results/{dataset}/{model}/seed{seed}/{split}/evaluation"),
            thresholds=directory("results/{dataset}/{model}/seed{seed}/{split}/thresholds"),
            calibration="results/{dataset}/{model}/seed{seed}/{split}/calibration.json",
        ),
        params=dict(
            code_of_thresholds=lambda wildcards: code("thresholds", wildcards),
            methods=lambda wildcards: jobs.threshold_methods(
                project, wildcards.model, wildcards.dataset
            ),
            extensions=extensions,
        ),
        shell="XMLC_PLANNED_CODE={params.code_of_thresholds:q}"
        " xmlc thresholds {params.methods} --data {input.data} --model {output.temporary}/model"
        " --training {output.record} --estimates {output.temporary}/spe {params.extensions:q}"
        " --threads {params.up_to_2} --thresholds {output.thresholds} --calibration {output.calibration}"
        " --out {output.evaluation} 2>> {log}",
    ),
}


def train_and_use(split, steps, models):
    """Define the rule that trains some models, runs the same steps with each of them, and deletes them.

    A function is necessary because Snakemake evaluates `shell` when a job runs, not in the loop below.
    """
    after = [AFTER_TRAINING[step] for step in steps]
    commands = ["train", *(step["command"] for step in after)]

    rule:
        name:
            "_".join(["train", split, *steps])
        input:
            data="results/{dataset}/data",
            tuned=search_result,
        output:
            **{name: output for step in after for name, output in step["output"].items()},
            temporary=scratch("results/{dataset}/{model}/seed{seed}/{split}/temporary"),
            record="results/{dataset}/{model}/seed{seed}/{split}/train.json",
        log:
            "logs/{dataset}/{model}/seed{seed}/{split}/train_and_use.log",
        wildcard_constraints:
            dataset=rf"(?=(?:{jobs.one_of(models)})/seed\d+/{split}/){paths.NAME}",
        conda:
            "../envs/xmlc.yaml"
        threads: threads
        resources:
            large_models=lambda wildcards: project.large_models(wildcards.dataset),
            mem_mb=lambda wildcards, attempt: max(
                memory(step, wildcards, attempt) for step in commands
            ),
            runtime=lambda wildcards, attempt: time(commands, wildcards, attempt),
        params:
            **{name: value for step in after for name, value in step["params"].items()},
            code=lambda wildcards: code("train", wildcards),
            part=lambda wildcards: {"full": "train", "80": "fit"}[wildcards.split],
            estimator=estimator,
            hyperparameters=hyperparameters,
            given=given,
            tuned=tuned,
            up_to_4=lambda wildcards, threads: min(threads, 4),
            up_to_2=lambda wildcards, threads: min(threads, 2),
        message:
            "Train and use {wildcards.model} on {wildcards.dataset}, split {wildcards.split}, seed {wildcards.seed}"
        shell:
            # Snakemake does not delete temporary outputs of a job that writes a target.
            " && ".join([TRAIN, *(step["shell"] for step in after), "rm -r {output.temporary}/*"])


for (split, steps), models in plan.jobs_of_dropped_models(project).items():
    train_and_use(split, steps, models)
