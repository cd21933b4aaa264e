# This file is the entry point of the suite. `snakemake --cores 8` builds everything that config/config.yaml lists.
# README.md and docs/running.md list other targets. The files data, train, measure, labels and tables in workflow/rules/
# have a rule for each step of `xmlc`. In dropped.smk, one rule runs all steps of a model. The helper functions of all
# rules are in common.smk.
from pathlib import Path

from snakemake.logging import logger
from snakemake.utils import min_version

from xmlc.suite.config.folders import config_folder
from xmlc.suite.papers import plan
from xmlc.suite.config import jobs
from xmlc.suite.config import paths
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import begin, check_settings, end
from xmlc.suite.config.runs import in_one_line, made_by, trained_again
from xmlc.suite.config.sources import mirror_at
from xmlc.suite.console import Console

min_version("9.19")

console = Console(workflow.output_settings)

if workflow.is_main_process:
    console.attach(logger)
    check_settings(workflow.config_settings.configfiles, workflow.config_settings.config_args)


# A study (`xmlc new`) includes this file and has its settings in its own Snakefile. A study may have no config.yaml.
if (config_folder() / "config.yaml").is_file():

    configfile: config_folder() / "config.yaml"


with in_one_line():
    project = Project.read(config, checked=workflow.is_main_process)
    if workflow.is_main_process:
        plan.check_tables(project)
    # Jobs on other machines may not see the mirror, and do not read it.
    if workflow.is_main_process and project.settings.mirror:
        mirror_at(project.settings.mirror)


wildcard_constraints:
    **paths.WILDCARDS,
    model=jobs.one_of(project.models),
    paper=jobs.one_of(project.suites),


onstart:
    begin(
        config,
        project,
        workflow.dag_settings.targets,
        (Path(file) for job in workflow.dag.jobs for file in job.output),
    )
    tell_plan()
    # To limit jobs per second, Snakemake 9.27 keeps waking its scheduler every second for each finished job. After 900
    # jobs, the wake-ups of the scheduler took 40 % of a core.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    end()
    console.end(made_by(project))


onerror:
    end()
    console.end(
        "Run `xmlc status` to see the failed jobs. Run the same command again to continue."
    )


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/labels.smk"
include: "workflow/rules/dropped.smk"
include: "workflow/rules/tables.smk"


# Targets are all, tables, baselines, and the names of suites and datasets. The files of a target are looked up only if
# the target is requested, because each job on a cluster reads this Snakefile.
for target, files in plan.targets(project).items():

    rule:
        name:
            target
        default_target: target == "all"
        input:
            lambda wildcards, files=in_one_line()(files): files(),  # Rules of a study may use `target` as input.
        localrule: True
        message:
            f"Check that target {target} is complete"


# A wrong target ends planning with a one-line message, and so does an error in an input function.
if workflow.is_main_process:
    workflow.is_rule = plan.check_targets(workflow, project)
for each in workflow.rules:
    each.apply_input_function = in_one_line()(each.apply_input_function)
