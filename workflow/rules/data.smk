# Datasets are fetched from a source and converted to arrays on disk.
rule download:
    output:
        directory("resources/{dataset}"),
    log:
        "logs/{dataset}/download.log",
    wildcard_constraints:
        dataset=rf"(?!(?:{jobs.one_of(project.made)})$){paths.NAME}",
    retries: 0  # `xmlc download` itself tries again
    # On the machine on which Snakemake was started, because cluster nodes often have no internet access.
    localrule: True
    conda:
        "../envs/xmlc.yaml"
    params:
        code=lambda wildcards: code("download", wildcards),
        entry=data_settings,
        source=source,
        mirror=mirror,
    message:
        "Download {wildcards.dataset}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc download {wildcards.dataset} --out {output} {params.mirror:q} --entry {params.entry:q} 2> {log}"


rule synthesise:
    output:
        directory("resources/{dataset}"),
    log:
        "logs/{dataset}/synthesise.log",
    wildcard_constraints:
        dataset=jobs.one_of(project.made),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=lambda wildcards, attempt: memory("synth", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["synth"], wildcards, attempt),
    params:
        code=lambda wildcards: code("synth", wildcards),
        entry=data_settings,
    message:
        "Generate the synthetic dataset {wildcards.dataset}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc synth {wildcards.dataset} --out {output} --entry {params.entry:q} --threads {threads} 2> {log}"


rule prepare:
    input:
        source="resources/{dataset}",
    output:
        data=directory("results/{dataset}/data"),
        statistics="results/{dataset}/statistics.json",
    log:
        "logs/{dataset}/prepare.log",
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: memory("prepare", wildcards, attempt),
        runtime=lambda wildcards, attempt: time(["prepare"], wildcards, attempt),
    params:
        code=lambda wildcards: code("prepare", wildcards),
        entry=data_settings,
        source=lambda wildcards: contents(Path("resources", wildcards.dataset)),
        share=project.settings.validation_share,
    message:
        "Prepare {wildcards.dataset}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share} --entry {params.entry:q} 2> {log}"


# Inference on samples of known distributions, without a dataset.
rule simulate:
    output:
        "results/simulations/{paper}.json",
    log:
        "logs/simulations/{paper}.log",
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=lambda wildcards, attempt: 1200 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=lambda wildcards: code("simulate", wildcards),
    message:
        "Simulate known distributions for {wildcards.paper}"
    shell:
        "XMLC_PLANNED_CODE={params.code:q}"
        " xmlc simulate --threads {threads} --out {output} > {log} 2>&1"
