# Label sets inferred for each instance of the test set. All methods of one model are one job: drawing or estimating is
# done once, and starting a process takes longer than most methods. From models on the whole training set they are
# inferred by asking the model (gfm2011); from those on 80 % by its estimates, which are there for the thresholds.
INFERRED_FROM = {"full": "model", "80": "spe"}

for (model, portion), settings in INFERENCE.items():

    rule:
        name:
            f"infer_{portion}_{model}"
        input:
            sources("infer"),
            estimator_sources if portion == "full" else [],
            data="results/{dataset}/data",
            training=f"results/{{dataset}}/{{model}}/seed{{seed}}/{portion}/train.json",
            given=f"results/{{dataset}}/{{model}}/seed{{seed}}/{portion}/{INFERRED_FROM[portion]}",
        output:
            [
                f"results/{{dataset}}/{{model}}/seed{{seed}}/{portion}/inference/{method}.json"
                for method in settings["methods"]
            ],
        log:
            f"logs/{{dataset}}/{{model}}/seed{{seed}}/{portion}/infer.log",
        benchmark:
            f"benchmarks/{{dataset}}/{{model}}/seed{{seed}}/{portion}/infer.jsonl"
        wildcard_constraints:
            model=model,
        conda:
            "../envs/xmlc.yaml"
        threads: config["threads"]
        resources:
            mem_mb=memory,
        params:
            given="--model" if portion == "full" else "--estimates",
            samples=settings["samples"],
            limit=["--time-limit", settings["time_limit"]] if settings["time_limit"] else [],
            methods=[word for method in settings["methods"] for word in ("--method", method)],
            out=lambda wildcards, output: str(Path(output[0]).parent),
        shell:
            "xmlc infer --data {input.data} {params.given} {input.given} --training {input.training} {params.methods}"
            " --samples {params.samples} {params.limit} --threads {threads} --out {params.out} 2> {log}"
