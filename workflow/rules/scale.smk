# What the largest sets cost, step by step, and how costs grow: `snakemake scale`.


def scale_steps(paper):
    """Give what each step of a suite's run wrote, and the file in it that tells the step's costs, in running order."""
    steps = []
    for dataset in datasets_of(paper):
        made = [(f"resources/{dataset}", "source.json")] if catalogue_entry(dataset, CATALOGUE).synthetic else []
        steps += [*made, (f"results/{dataset}/statistics.json", "")]
        for _, model, seed in runs(paper, [dataset]):
            run = f"results/{dataset}/{model}/seed{seed}"
            steps += [(f"{run}/{file}", "") for file in ("full/train.json", "full/ranking.json", "80/train.json")]
            steps.append((f"{run}/80/spe", "estimate.json"))
            for method in SUITES[paper]["methods"]:
                steps.append((f"{run}/80/thresholds/{method}", "tuning.json"))
                steps.append((f"{run}/80/evaluation/{method}.json", ""))
    return steps


rule scale_table:
    input:
        sources("table"),
        made=lambda wildcards: [made for made, _ in scale_steps(wildcards.paper)],
    output:
        multiext("results/tables/{paper}/scale", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/scale.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/scale",
        steps=lambda wildcards: [str(Path(made, file)) for made, file in scale_steps(wildcards.paper)],
    shell:
        "xmlc table scale --paper {wildcards.paper} {params.steps:q} --out {params.prefix} > {log} 2>&1"


rule growth_table:
    input:
        sources("table"),
        records=lambda wildcards: ranking_records(wildcards.paper, SUITES[wildcards.paper]["growth"]),
    output:
        multiext("results/tables/{paper}/growth", ".csv", ".md", ".tex"),
    log:
        "logs/tables/{paper}/growth.log",
    localrule: True
    params:
        prefix="results/tables/{paper}/growth",
    shell:
        "xmlc table growth --paper {wildcards.paper} {input.records} --out {params.prefix} > {log} 2>&1"


ruleorder: scale_table > table
ruleorder: growth_table > table
