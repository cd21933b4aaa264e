# Hyperparameter search on the 80/20 split. Models with the key `search` are trained with what it finds, and with the
# key `tuning` of config.yaml set those that have ranges.


def tuned(wildcards):
    """Name the search result that a model is trained with: none, or the one file of its dataset."""
    model = MODELS[wildcards.model]
    searched = model.get("search") or (config["tuning"] and model.get("tuning"))
    return "results/{dataset}/tuning/{model}.yaml" if searched else []


def search_options(wildcards):
    """Give the options of `xmlc tune`; a rule that is asked for by name may find that no search is configured."""
    model = MODELS[wildcards.model]
    if model.get("search"):
        return ["--stages", json.dumps(model["search"], sort_keys=True)]
    if not config["tuning"]:
        raise ValueError("config: tuning is null; add, such as --config tuning='{method: smac, budget: 30}'")
    method, budget = config["tuning"]["method"], int(config["tuning"]["budget"])
    return ["--space", json.dumps(model["tuning"], sort_keys=True), "--method", method, "--budget", str(budget)]


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
        search=search_options,
    shell:
        "xmlc tune --data {input.data} --estimator {params.estimator:q} --parameters {params.hyperparameters:q}"
        " {params.search:q} --threads {threads}"
        " --out {output} 2> {log}"
