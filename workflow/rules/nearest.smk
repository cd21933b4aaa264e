# How small the index of nearest neighbours can be: near-duplicates with the same label set are left out.
SIMILARITIES = [0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]


rule condense:
    input:
        sources("condense"),
        estimator_sources,
        data="results/{dataset}/data",
        training="results/{dataset}/{model}/seed{seed}/full/train.json",
    output:
        "results/{dataset}/{model}/seed{seed}/full/condensed.json",
    log:
        "logs/{dataset}/{model}/seed{seed}/full/condense.log",
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        similarities=[word for similarity in SIMILARITIES for word in ("--similarity", str(similarity))],
    shell:
        "xmlc condense --data {input.data} --training {input.training} {params.similarities} --threads {threads}"
        " --out {output} 2> {log}"
