# The suite's entry. `snakemake --cores 8` reproduces what config/config.yaml lists; README.md names the other targets.
from snakemake.utils import min_version

min_version("9.19")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/records.smk"
include: "workflow/rules/peer_records.smk"
include: "workflow/rules/options.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/tuning.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/nearest.smk"
include: "workflow/rules/forests.smk"
include: "workflow/rules/progressive.smk"
include: "workflow/rules/spe.smk"
include: "workflow/rules/thresholds.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/simulation.smk"
include: "workflow/rules/peers.smk"
include: "workflow/rules/scale.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/reference.smk"


localrules:
    all,
    tables,
    demo,


rule all:
    default_target: True
    input:
        [results_of_paper(paper) for paper in config["papers"]],


rule tables:
    input:
        [tables_of_paper(paper) for paper in config["papers"]],


rule demo:
    input:
        results_of_paper("demo"),


# One target for each paper and for each dataset, named after it.
for paper in SUITES:
    if paper != "demo":

        rule:
            name:
                paper
            input:
                results_of_paper(paper),
            localrule: True


for dataset in selected_datasets():
    if dataset != "demo":

        rule:
            name:
                dataset
            input:
                records_of_dataset(dataset),
            localrule: True
