# From a source to arrays that can be memory-mapped.


rule download:
    input:
        sources("download"),
    output:
        directory("resources/{dataset}"),
    log:
        "logs/{dataset}/download.log",
    wildcard_constraints:
        dataset=rf"(?!(?:{SYNTHETIC})(?:/|$))[a-z0-9][a-z0-9._-]*",
    retries: 2
    conda:
        "../envs/xmlc.yaml"
    params:
        mirror=["--mirror", config["mirror"]] if config["mirror"] else [],
        entry=entry_text,
        catalogue=CATALOGUE_FILE,
    shell:
        "xmlc download {wildcards.dataset} --out {output} --catalogue {params.catalogue} {params.mirror:q}" " 2> {log}"


rule synthesise:
    input:
        sources("synth"),
    output:
        directory("resources/{dataset}"),
    log:
        "logs/{dataset}/synthesise.log",
    wildcard_constraints:
        dataset=SYNTHETIC,
    conda:
        "../envs/xmlc.yaml"
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        entry=entry_text,
        catalogue=CATALOGUE_FILE,
    shell:
        "xmlc synth {wildcards.dataset} --out {output} --catalogue {params.catalogue} --threads {threads} 2> {log}"


rule prepare:
    input:
        sources("prepare"),
        source="resources/{dataset}",
    output:
        data=directory("results/{dataset}/data"),
        statistics="results/{dataset}/statistics.json",
    log:
        "logs/{dataset}/prepare.log",
    benchmark:
        "benchmarks/{dataset}/prepare.jsonl"
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=memory,
    params:
        entry=entry_text,
        catalogue=CATALOGUE_FILE,
        share=config["validation_share"],
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share} --catalogue {params.catalogue} 2> {log}"
