# Threshold methods on the validation estimates, and what they reach on the test set.


rule threshold:
    input:
        sources("threshold"),
        extensions=EXTENSIONS,
        estimates="results/{dataset}/{model}/seed{seed}/80/spe/estimate.json",
    output:
        "results/{dataset}/{model}/seed{seed}/80/thresholds/{method}/tuning.json",
    params:
        data="results/{dataset}/data",
        extensions=[word for file in EXTENSIONS for word in ("--extension", file)],
        estimates="results/{dataset}/{model}/seed{seed}/80/spe",
        folder="results/{dataset}/{model}/seed{seed}/80/thresholds/{method}",
    log:
        "logs/{dataset}/{model}/seed{seed}/80/threshold/{method}.log",
    threads: 1
    resources:
        mem_mb=memory,
    shell:
        "xmlc threshold --data {params.data} --estimates {params.estimates} --method {wildcards.method}"
        " {params.extensions:q} --threads {threads} --out {params.folder} 2> {log}"


rule evaluate:
    input:
        sources("evaluate"),
        estimator_sources,
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
        estimates="results/{dataset}/{model}/seed{seed}/80/spe/estimate.json",
        tuning="results/{dataset}/{model}/seed{seed}/80/thresholds/{method}/tuning.json",
    output:
        "results/{dataset}/{model}/seed{seed}/80/evaluation/{method}.json",
    params:
        data="results/{dataset}/data",
        folder="results/{dataset}/{model}/seed{seed}/80",
    log:
        "logs/{dataset}/{model}/seed{seed}/80/evaluate/{method}.log",
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc evaluate --data {params.data} --model {params.folder}/model --training {input.training}"
        " --estimates {params.folder}/spe --thresholds {params.folder}/thresholds/{wildcards.method}"
        " --threads {threads} --out {output} 2> {log}"
