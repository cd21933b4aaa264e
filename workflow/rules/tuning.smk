# Hyperparameter search on the 80/20 split; with the key `tuning` set, models are trained with what it finds.


def tuned(wildcards):
    """Name the search result that a model is trained with: none, or the one file of its dataset."""
    searched = config["tuning"] and MODELS[wildcards.model].get("tuning")
    return "results/{dataset}/tuning/{model}.yaml" if searched else []


def tuning_method(wildcards):
    """Name the search; a rule that is asked for by name may find that none is configured."""
    if not config["tuning"]:
        raise ValueError("config: tuning is null; add, such as --config tuning='{method: smac, budget: 30}'")
    return config["tuning"]["method"]


rule tune:
    input:
        sources("tune"),
        estimator_sources,
        data="results/{dataset}/data",
    output:
        "results/{dataset}/tuning/{model}.yaml",
    log:
        "logs/{dataset}/tuning/{model}.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        estimator=lambda wildcards: MODELS[wildcards.model]["estimator"],
        hyperparameters=lambda wildcards: hyperparameters(wildcards.model, wildcards.dataset),
        space=lambda wildcards: json.dumps(MODELS[wildcards.model]["tuning"], sort_keys=True),
        method=tuning_method,
        budget=int(config["tuning"]["budget"]) if config["tuning"] else None,
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " --space {params.space:q} --method {params.method} --budget {params.budget} --threads {threads}"
        " --out {output} 2> {log}"
