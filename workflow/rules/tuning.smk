# Hyperparameter search on the 80/20 split. Models with the key `search` are trained with what it finds, and with the
# key `tuning` of config.yaml set those that have ranges.


rule tune:
    input:
        sources("tune"),
        estimator_sources,
        data="results/{dataset}/data",
    output:
        "results/{dataset}/tuning/{model}.yaml",
    log:
        "logs/{dataset}/tuning/{model}.log",
    conda:
        "../envs/xmlc.yaml"
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
