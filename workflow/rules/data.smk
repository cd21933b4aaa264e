# From a source to arrays that can be memory-mapped.


def entry_text(wildcards):
    """Give a dataset's catalogue entry as text: a change of this entry, and of no other, reruns its steps."""
    return repr(catalogue_entry(wildcards.dataset, CATALOGUE))


SYNTHETIC = "|".join(re.escape(name) for name, entry in CATALOGUE.items() if entry.synthetic)


rule download:
    input:
        sources("download"),
    output:
        "resources/{dataset}/source.json",
    params:
        folder="resources/{dataset}",
        mirror=["--mirror", config["mirror"]] if config["mirror"] else [],
        entry=entry_text,
    wildcard_constraints:
        dataset=rf"(?!(?:{SYNTHETIC})(?:/|$))[a-z0-9][a-z0-9._-]*",
    log:
        "logs/{dataset}/download.log",
    retries: 2
    shell:
        "xmlc download {wildcards.dataset} --out {params.folder} --catalogue {CATALOGUE_FILE} {params.mirror:q}"
        " 2> {log}"


rule synthesise:
    input:
        sources("synth"),
    output:
        "resources/{dataset}/source.json",
    params:
        folder="resources/{dataset}",
        entry=entry_text,
    wildcard_constraints:
        dataset=SYNTHETIC,
    log:
        "logs/{dataset}/synthesise.log",
    shell:
        "xmlc synth {wildcards.dataset} --out {params.folder} --catalogue {CATALOGUE_FILE} 2> {log}"


rule prepare:
    input:
        sources("prepare"),
        source="resources/{dataset}/source.json",
    output:
        meta="results/{dataset}/data/meta.json",
        statistics="results/{dataset}/statistics.json",
    params:
        source="resources/{dataset}",
        data="results/{dataset}/data",
        entry=entry_text,
    log:
        "logs/{dataset}/prepare.log",
    benchmark:
        "benchmarks/{dataset}/prepare.jsonl"
    resources:
        mem_mb=memory,
    shell:
        "xmlc prepare {wildcards.dataset} --source {params.source} --out {params.data}"
        " --statistics {output.statistics} --catalogue {CATALOGUE_FILE} 2> {log}"
