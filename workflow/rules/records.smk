# Which records and statistics the tables and figures of a paper are made from.


def ranking_records(paper, datasets=None):
    """List the records that score rankings."""
    return [f"results/{d}/{m}/seed{s}/full/ranking.json" for d, m, s in runs(paper, datasets)]


def evaluation_records(paper, methods, datasets=None):
    """List the records of some threshold methods."""
    return [
        f"results/{d}/{m}/seed{s}/80/evaluation/{method}.json"
        for d, m, s in runs(paper, datasets)
        for method in methods
    ]


def statistics_files(paper, datasets=None):
    """List the statistics of a paper's datasets."""
    return [f"results/{dataset}/statistics.json" for dataset in (datasets or datasets_of(paper))]


def threshold_records(paper, datasets=None):
    """List the records of the threshold methods for macro-F."""
    return evaluation_records(paper, SUITES[paper]["methods"], datasets)


def measure_records(paper, datasets=None):
    """List the records of thresholds tuned for other measures too; method `for-x` is that of measure x."""
    methods = [f"for-{measure}" for measure in SUITES[paper].get("measures", [])]
    return evaluation_records(paper, methods, datasets)


def inference_records(paper, datasets=None):
    """List the records of label sets that are inferred for each instance."""
    block = SUITES[paper].get("inference", {"methods": {}})
    return [
        f"results/{d}/{m}/seed{s}/{block['portion']}/inference/{method}.json"
        for d, m, s in runs(paper, datasets)
        for method in block["methods"].get(m, [])
    ]


def instance_f_records(paper, datasets=None):
    """List the records of what is inferred from estimates, and of the threshold that it is compared with."""
    compared = ["for-instance-f"] if "instance-f" in SUITES[paper].get("measures", []) else []
    return inference_records(paper, datasets) + evaluation_records(paper, compared, datasets)


def condensed_records(paper, datasets=None):
    """List the records of nearest-neighbour indices with near-duplicates left out."""
    return [
        f"results/{dataset}/{model}/seed{seed}/full/condensed.json"
        for dataset, model, seed in runs(paper, datasets)
        if MODELS[model]["estimator"] == "swnn"
    ]


def ensemble_records(paper, datasets=None):
    """List the records of forests that are scored by their first trees."""
    models = SUITES[paper].get("ensembles", {"models": []})["models"]
    return [f"results/{d}/{m}/seed{s}/full/forest.json" for d, m, s in runs(paper, datasets) if m in models]


def ensemble_sizes(model):
    """List the numbers of trees by which a forest is scored, of all papers that ask."""
    blocks = [
        suite["ensembles"] for suite in SUITES.values() if model in suite.get("ensembles", {"models": []})["models"]
    ]
    return sorted({size for block in blocks for size in block["sizes"]})


def sweep_records(paper, datasets=None):
    """List the records of a hyperparameter that is swept; there is one for each dataset and seed."""
    model = SUITES[paper].get("sweep", {}).get("model")
    return [f"results/{d}/{m}/seed{s}/full/sweep-{paper}.json" for d, m, s in runs(paper, datasets) if m == model]


def multi_label_records(paper, datasets=None):
    """List the records that score rankings of datasets whose instances have several labels."""
    return ranking_records(paper, of_task(paper, "multi-label", datasets))


def few_shot_records(paper, datasets=None):
    """List the records that score rankings of few-shot datasets."""
    return ranking_records(paper, of_task(paper, "few-shot", datasets))


def progressive_records(paper, task):
    """List the records of models that are validated progressively on the datasets of a task."""
    return [
        f"results/{d}/{m}/seed{s}/full/progressive.json"
        for d, m, s in runs(paper, of_task(paper, task))
        if m in SUITES[paper]["progressive"]
    ]


# What a table is made from; a paper's own before that of the same name in all others, which is made from the threshold
# methods if it is not named.
TABLE_RECORDS = {
    "table1": ranking_records,
    ("gfm2011", "table1"): inference_records,
    **{("swnn2018", f"table{number}"): statistics_files for number in range(1, 6)},
    ("swnn2018", "table6"): ranking_records,
    **{("ldsm2020", f"table{number}"): ranking_records for number in (1, 2, 5, 6, 7)},
    ("ldsm2020", "table3"): statistics_files,
    ("ldsm2020", "table4"): ensemble_records,
    ("oplt2021", "table1"): statistics_files,
    ("oplt2021", "table2"): multi_label_records,
    ("oplt2021", "table3"): few_shot_records,
    "table3": ranking_records,
    "passes": ranking_records,
    "measures": measure_records,
    "condensed": condensed_records,
    "instance-f": instance_f_records,
}


# What a figure is made from, where it is not the threshold methods.
FIGURE_RECORDS = {
    ("ldsm2020", "figure1"): [ensemble_records, sweep_records, ranking_records],
    **{("ldsm2020", f"figure{number}"): [ensemble_records] for number in (2, 3, 4, 7)},
    ("ldsm2020", "figure5"): [sweep_records],
    ("ldsm2020", "figure6"): [ensemble_records, ranking_records],
    ("oplt2021", "figure2"): [lambda paper: progressive_records(paper, "few-shot")],
    ("oplt2021", "macrof"): [lambda paper: progressive_records(paper, "multi-label")],
}


def figure_records(paper, figure):
    """List the records of a figure."""
    return [record for records in FIGURE_RECORDS.get((paper, figure), [threshold_records]) for record in records(paper)]


def table_records(paper, table):
    """Give the function that lists the records of a table."""
    return TABLE_RECORDS.get((paper, table)) or TABLE_RECORDS.get(table, threshold_records)


def records_of_dataset(dataset):
    """List all records of one dataset."""
    papers = [paper for paper in SUITES if dataset in datasets_of(paper)]
    listed = dict.fromkeys(
        (paper, table_records(paper, table)) for paper in papers for table in SUITES[paper]["tables"]
    )
    return list(dict.fromkeys(record for paper, records in listed for record in records(paper, [dataset])))


def scale_steps(paper):
    """Give what each step of a suite's run wrote, and the file in it that tells the step's costs, in running order."""
    steps = []
    for dataset in datasets_of(paper):
        made = [(f"resources/{dataset}", "source.json")] if catalogue_entry(dataset, CATALOGUE).synthetic else []
        steps += [*made, (f"results/{dataset}/statistics.json", "")]
        for _, model, seed in runs(paper, [dataset]):
            run = f"results/{dataset}/{model}/seed{seed}"
            steps += [(f"{run}/{file}", "") for file in ("full/train.json", "full/ranking.json", "80/train.json")]
            steps.append((f"{run}/80/spe", "estimate.json"))
            for method in SUITES[paper]["methods"]:
                steps.append((f"{run}/80/thresholds/{method}", "tuning.json"))
                steps.append((f"{run}/80/evaluation/{method}.json", ""))
    return steps
