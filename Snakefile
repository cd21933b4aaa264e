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
from xmlc.slurm import before_submission
from xmlc.sources import command_files, source_digest
from xmlc.suites import paths
from xmlc.suites.controller import guard, remove_old_logs
from xmlc.suites.existing import files_of_page, finished_results
from xmlc.suites.jobs import inference_jobs, threshold_jobs
from xmlc.suites.project import Project
from xmlc.suites.resources import Requests
from xmlc.suites.rule_text import folder_above, gathered, one_of, options, without_ending

min_version("9.19")


configfile: "config/config.yaml"


guard(workflow)
project = Project.read(config)


onstart:
    before_submission(workflow)
    remove_old_logs(workflow)


include: "workflow/rules/common.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/measuring.smk"
include: "workflow/rules/results.smk"


rule all:
    default_target: True
    input:
        [result_files(project, paper) for paper in project.settings.papers],
    localrule: True


rule tables:
    input:
        [table_files(project, paper) for paper in project.settings.papers],
    localrule: True


# One target for each suite and for each dataset, named after it; what is named demo is the suite.
for paper in project.suites:

    rule:
        name:
            paper
        input:
            result_files(project, paper),
        localrule: True


for dataset in project.selected_datasets():
    if dataset not in project.suites:

        rule:
            name:
                dataset
            input:
                records_of_dataset(project, dataset),
            localrule: True
