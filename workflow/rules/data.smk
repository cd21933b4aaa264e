# From a source to arrays that can be memory-mapped.


def entry_text(wildcards):
    """Give a dataset's catalogue entry as text: a change of this entry, and of no other, reruns its steps."""
    return repr(catalogue_entry(wildcards.dataset, CATALOGUE))


SYNTHETIC = "|".join(re.escape(name) for name, entry in CATALOGUE.items() if entry.synthetic)


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
    params:
        mirror=["--mirror", config["mirror"]] if config["mirror"] else [],
        entry=entry_text,
    shell:
        "xmlc download {wildcards.dataset} --out {output} --catalogue {CATALOGUE_FILE} {params.mirror:q}" " 2> {log}"


rule synthesise:
    input:
        sources("synth"),
    output:
        directory("resources/{dataset}"),
    log:
        "logs/{dataset}/synthesise.log",
    wildcard_constraints:
        dataset=SYNTHETIC,
    threads: config["threads"]
    resources:
        mem_mb=memory,
    params:
        entry=entry_text,
    shell:
        "xmlc synth {wildcards.dataset} --out {output} --catalogue {CATALOGUE_FILE} --threads {threads} 2> {log}"


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
    resources:
        mem_mb=memory,
    params:
        entry=entry_text,
        share=config["validation_share"],
    shell:
        "xmlc prepare {wildcards.dataset} --source {input.source} --out {output.data}"
        " --statistics {output.statistics} --validation-share {params.share} --catalogue {CATALOGUE_FILE} 2> {log}"
