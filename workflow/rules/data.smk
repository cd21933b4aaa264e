# From a source to arrays that can be memory-mapped.
rule download:
    input:
        command_files("download"),
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="download"),
    wildcard_constraints:
        dataset=rf"(?!(?:{one_of(project.made)})(?:/|$)){paths.NAME}",
    retries: 2
    conda:
        "../envs/xmlc.yaml"
    params:
        mirror=["--mirror", project.settings.mirror] if project.settings.mirror else [],
        entry=entry,
        catalogue=paths.CATALOGUE,
    shell:
        "xmlc download {wildcards.dataset} --out {output} --catalogue {params.catalogue} {params.mirror:q} 2> {log}"


rule synthesise:
    input:
        command_files("synth"),
    output:
        directory(paths.RESOURCE),
    log:
        paths.LOG_OF_DATASET.of(step="synthesise"),
    wildcard_constraints:
        dataset=one_of(project.made),
    conda:
        "../envs/xmlc.yaml"
    threads: project.settings.threads
    resources:
        mem_mb=memory,
    params:
        entry=entry,
        catalogue=paths.CATALOGUE,
    shell:
        "xmlc synth {wildcards.dataset} --out {output} --catalogue {params.catalogue} --threads {threads} 2> {log}"


rule prepare:
    input:
        command_files("prepare"),
        source=paths.RESOURCE,
    output:
        data=directory(paths.DATA),
        statistics=paths.STATISTICS,
    log:
        paths.LOG_OF_DATASET.of(step="prepare"),
    benchmark:
        paths.BENCHMARK_OF_DATASET.of(step="prepare")
    conda:
        "../envs/xmlc.yaml"
    resources:
        mem_mb=memory,
    params:
        entry=entry,
        catalogue=paths.CATALOGUE,
        share=project.settings.validation_share,
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share} --catalogue {params.catalogue} 2> {log}"
