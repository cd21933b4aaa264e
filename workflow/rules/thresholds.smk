# Threshold methods on the validation estimates, and what they reach on the test set.


rule threshold:
    input:
        sources("threshold"),
        extensions=EXTENSIONS,
        data="results/{dataset}/data",
        estimates="results/{dataset}/{model}/seed{seed}/80/spe",
    output:
        directory("results/{dataset}/{model}/seed{seed}/80/thresholds/{method}"),
    log:
        "logs/{dataset}/{model}/seed{seed}/80/threshold/{method}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: 1
    resources:
        mem_mb=memory,
    params:
        extensions=[word for file in EXTENSIONS for word in ("--extension", file)],
    shell:
        "xmlc threshold --data {input.data} --estimates {input.estimates} --method {wildcards.method}"
        " {params.extensions:q} --threads {threads} --out {output} 2> {log}"


rule evaluate:
    input:
        sources("evaluate"),
        estimator_sources,
        data="results/{dataset}/data",
        model="results/{dataset}/{model}/seed{seed}/80/model",
        training="results/{dataset}/{model}/seed{seed}/80/train.json",
        estimates="results/{dataset}/{model}/seed{seed}/80/spe",
        thresholds="results/{dataset}/{model}/seed{seed}/80/thresholds/{method}",
    output:
        "results/{dataset}/{model}/seed{seed}/80/evaluation/{method}.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/80/evaluate/{method}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    shell:
        "xmlc evaluate --data {input.data} --model {input.model} --training {input.training}"
        " --estimates {input.estimates} --thresholds {input.thresholds} --threads {threads} --out {output} 2> {log}"


if MEASURES:

    rule measures:
        input:
            sources("measures"),
            estimator_sources,
            data="results/{dataset}/data",
            model="results/{dataset}/{model}/seed{seed}/80/model",
            training="results/{dataset}/{model}/seed{seed}/80/train.json",
            estimates="results/{dataset}/{model}/seed{seed}/80/spe",
        output:
            [directory(f"results/{{dataset}}/{{model}}/seed{{seed}}/80/thresholds/for-{name}") for name in MEASURES],
            [f"results/{{dataset}}/{{model}}/seed{{seed}}/80/evaluation/for-{name}.json" for name in MEASURES],
        log:
            "logs/{dataset}/{model}/seed{seed}/80/measures.log",
        conda:
            "../envs/xmlc.yaml"
        threads: config["threads"]
        resources:
            mem_mb=memory,
        params:
            measures=MEASURES,
            out=lambda wildcards, output: str(Path(output[0]).parents[1]),
        shell:
            "xmlc measures {params.measures} --data {input.data} --model {input.model} --training {input.training}"
            " --estimates {input.estimates} --threads {threads} --out {params.out} 2> {log}"
