# Sparse probability estimates: the waist between models and threshold methods.
from xmlc.thresholds.bounds import GRID


rule estimate:
    input:
        sources("estimate"),
        estimator_sources,
        model="results/{dataset}/{model}/seed{seed}/80/model/model.json",
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/80/spe/estimate.json",
    params:
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/80/model",
        folder="results/{dataset}/{model}/seed{seed}/80/spe",
        floor=1 / max(GRID),
    log:
        "logs/{dataset}/{model}/seed{seed}/80/estimate.log",
    benchmark:
        "benchmarks/{dataset}/{model}/seed{seed}/80/estimate.jsonl"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc estimate --data {params.data} --model {params.model} --training {input.training} --floor {params.floor}"
        " --threads {threads} --out {params.folder} 2> {log}"
