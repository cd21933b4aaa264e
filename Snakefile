# The suite's entry. `snakemake --cores 8` reproduces what config/config.yaml lists; README.md and docs/running.md name others.
import json

from snakemake.utils import min_version

from xmlc.papers import figure_of, table_of
from xmlc.papers.plan import (
    records_of_dataset,
    result_files,
    sources_of_figure,
    sources_of_table,
    suite_of_table,
    table_files,
)
from xmlc.suites.slurm import before_submission
from xmlc.core.sources import command_files, source_digest
from xmlc.suites import paths
from xmlc.suites.controller import check_downloads, guard, read_project, refuse_typos, remove_old_logs
from xmlc.suites.jobs import (
    models_outside,
    datasets_inferred_alone,
    folder_above,
    for_each,
    gather_pattern,
    infer_beside,
    inference_jobs,
    one_of,
    options,
    progress_with,
    quick_jobs,
    rank_with,
    sweep_with,
    threshold_jobs,
    train_with,
    without_ending,
)
from xmlc.suites.resources import Requests

min_version("9.19")


configfile: "config/config.yaml"


project = read_project(config)
refuse_typos(workflow, project)
guard(workflow)


onstart:
    check_downloads(workflow, project)
    before_submission(workflow)
    remove_old_logs(workflow)


include: "workflow/rules/common.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/measuring.smk"
include: "workflow/rules/quick.smk"
include: "workflow/rules/results.smk"


rule all:
    default_target: True
    input:
        lambda wildcards: [file for paper in project.planned_papers for file in result_files(project, paper)],
    localrule: True


rule tables:
    input:
        lambda wildcards: [file for paper in project.planned_papers for file in table_files(project, paper)],
    localrule: True


# One target for each suite and for each dataset, named after it; what is named demo is the suite. Their files are looked
# up when they are asked for: each job of a cluster reads this file, and needs no table.
for paper in project.suites:

    rule:
        name:
            paper
        input:
            lambda wildcards, paper=paper: result_files(project, paper),
        localrule: True


for dataset in project.selected_datasets():
    if dataset not in project.suites:

        rule:
            name:
                dataset
            input:
                lambda wildcards, dataset=dataset: records_of_dataset(project, dataset),
            localrule: True
