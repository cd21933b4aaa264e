# The suite's entry. `snakemake --cores 8` reproduces what config/config.yaml lists; README.md and docs/running.md name others.
from pathlib import Path

from snakemake.utils import min_version

from xmlc.core.checksums import contents
from xmlc.core.job_lines import note_interrupts
from xmlc.core.sources import command_files, source_digest
from xmlc.papers import figure_of, plan, table_of
from xmlc.suites import jobs, paths
from xmlc.suites.controller import (
    check_downloads,
    end_if_interrupted,
    guard,
    in_a_sentence,
    read_project,
    refuse_typos,
    remove_old_logs,
    tell_left_out,
)
from xmlc.suites.planned import unlabelled
from xmlc.suites.resources import Requests
from xmlc.suites.slurm import before_submission

min_version("9.19")


configfile: "config/config.yaml"


project = read_project(config)
refuse_typos(workflow, project)
guard(workflow)


onstart:
    check_downloads(workflow, project)
    tell_left_out(workflow, project)
    before_submission(workflow)
    remove_old_logs(workflow)
    note_interrupts()


onerror:
    end_if_interrupted()
    plan.make_of_the_rest(workflow, project)


# Digests of source files and of entries of the catalogue are parameters, so that an edit reruns what it concerns.
code_of = lambda command: lambda wildcards: source_digest(command_files(command))
code_for = lambda command, *more: lambda wildcards: source_digest([*project.files_for(command, wildcards.model), *more])
entry = lambda wildcards: repr(project.entry(wildcards.dataset))
propensity = lambda wildcards: project.propensity(wildcards.dataset)
estimator = lambda wildcards: project.models[wildcards.model].estimator
hyperparameters = lambda wildcards: project.hyperparameters(wildcards.model, wildcards.dataset)
tuned = lambda wildcards: project.tuned_by(wildcards.model, wildcards.dataset) or []
searched_after = lambda wildcards: project.searched_after(wildcards.model, wildcards.dataset) or []
given = lambda wildcards: project.given(wildcards.model, wildcards.dataset, [wildcards.seed])
trained = lambda portion: {
    "data": paths.DATA,
    "model": paths.MODEL.of(portion=portion),
    "training": paths.TRAINING.of(portion=portion),
}
tuned_option = lambda wildcards, input: ["--tuned", input.tuned] if input.tuned else []

# Memory and minutes that jobs request of a machine, and how many threads a step can use.
requests = Requests(project, workflow)
quick = jobs.quick_jobs(project)


wildcard_constraints:
    **paths.WILDCARDS,
    model=jobs.one_of(project.models),
    paper=jobs.one_of(project.suites),


others = set(workflow.rules)  # of a workflow that imports this one, perhaps by other names


include: "workflow/rules/steps.smk"


steps = [step for step in workflow.rules if step not in others]
before, behind = workflow.modifier.modify_rulename("*").split("*")
# Of two rules that can make a file, the one further down does.
workflow.ruleorder(*(step.name.removeprefix(before).removesuffix(behind) for step in reversed(steps)))
for step in steps:
    step.conda_env = "../envs/xmlc.yaml"  # with `snakemake --software-deployment-method conda`


# Targets by name. Their files are looked up when they are asked for: each job of a cluster reads this file, and needs no
# table.
for target, files in plan.targets(project).items():

    rule:
        name:
            target
        default_target: target == "all"
        input:
            lambda wildcards, files=files: in_a_sentence(files),
        localrule: True
