# Threshold methods on the validation estimates, and what they reach on the test set. All methods of one model are one
# job: starting a process, reading the estimates and loading the model take longer than most of them.


def threshold_groups():
    """List (place, methods, models): what is tuned in one job. A place is a suite with datasets of its own, or "papers".

    Of a model that several papers have, the methods of all are one job. A measure `x` is threshold method `for-x`.
    """
    found = {}
    for paper, suite in SUITES.items():
        place = paper if paper in OWN_SUITES else "papers"
        methods = [*suite["methods"], *(f"for-{measure}" for measure in suite.get("measures", []))]
        for_peers = [method for method in PEER_METHODS if method in methods]
        for models, wanted in ((suite["models"], methods), (suite.get("peers", {}), for_peers)):
            for model in models:
                found.setdefault((place, model), {}).update(dict.fromkeys(wanted))
    groups = {}
    for (place, model), methods in found.items():
        if methods:
            groups.setdefault((place, tuple(methods)), []).append(model)
    return [(place, list(methods), models) for (place, methods), models in groups.items()]


def datasets_at(place):
    """Give the datasets of a place as a regular expression; the papers' are those of no suite of its own."""
    own = {suite: "|".join(map(re.escape, SUITES[suite]["datasets"] + SUITES[suite]["growth"])) for suite in OWN_SUITES}
    others = rf"(?!(?:{'|'.join(own.values())})/)" if place == "papers" else ""
    return own.get(place) or rf"{others}[a-z0-9][a-z0-9._-]*"


# Any other method can be asked for by the name of its record, and is a job by itself.
GROUPS = [*threshold_groups(), ("anywhere", ["{method}"], list(MODELS))]
named = {}

for place, methods, models in GROUPS:
    name = f"thresholds_{place}" if f"thresholds_{place}" not in named else f"thresholds_{place}_{models[0]}"
    named[name] = f"thresholds/{methods[0]}" if place == "anywhere" else "thresholds"

    rule:
        name:
            name
        input:
            sources("thresholds"),
            estimator_sources,
            extensions=EXTENSIONS,
            data="results/{dataset}/data",
            model="results/{dataset}/{model}/seed{seed}/80/model",
            training="results/{dataset}/{model}/seed{seed}/80/train.json",
            estimates="results/{dataset}/{model}/seed{seed}/80/spe",
        output:
            [directory(f"results/{{dataset}}/{{model}}/seed{{seed}}/80/thresholds/{method}") for method in methods],
            [f"results/{{dataset}}/{{model}}/seed{{seed}}/80/evaluation/{method}.json" for method in methods],
        log:
            f"logs/{{dataset}}/{{model}}/seed{{seed}}/80/{named[name]}.log",
        wildcard_constraints:
            dataset=datasets_at(place),
            model="|".join(models),
        conda:
            "../envs/xmlc.yaml"
        threads: config["threads"]
        resources:
            mem_mb=memory,
        params:
            methods=methods,
            extensions=[word for file in EXTENSIONS for word in ("--extension", file)],
            out=lambda wildcards, output: str(Path(output[0]).parents[1]),
        shell:
            "xmlc thresholds {params.methods} --data {input.data} --model {input.model} --training {input.training}"
            " --estimates {input.estimates} {params.extensions:q} --threads {threads} --out {params.out} 2> {log}"


workflow.ruleorder(*named)
