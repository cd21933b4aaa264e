# Sparse probability estimates: the waist between models and threshold methods.
rule estimate:
    input:
        sources("estimate"),
        estimator_sources,
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/80/model",
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
    output:
        directory("results/{dataset}/{model}/seed{seed}/80/spe"),
    log:
        "logs/{dataset}/{model}/seed{seed}/80/estimate.log",
    benchmark:
        "benchmarks/{dataset}/{model}/seed{seed}/80/estimate.jsonl"
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        floor=floor,
    shell:
        "xmlc estimate --data {input.data} --model {input.model} --training {input.training} --floor {params.floor}"
        " --threads {threads} --out {output} 2> {log}"
