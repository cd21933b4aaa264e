# What rules hand to the commands, where it takes more than a wildcard.
from xmlc.thresholds.bounds import GRID


def entry_text(wildcards):
    """Give a dataset's catalogue entry as text: a change of this entry, and of no other, reruns its steps."""
    return repr(catalogue_entry(wildcards.dataset, CATALOGUE))


def tuned(wildcards):
    """Name the search result that a model is trained with: none, or the one file of its dataset."""
    model = MODELS[wildcards.model]
    searched = model.get("search") or (config["tuning"] and model.get("tuning"))
    return "results/{dataset}/tuning/{model}.yaml" if searched else []


def search_options(wildcards):
    """Give the options of `xmlc tune`; a rule that is asked for by name may find that no search is configured."""
    model = MODELS[wildcards.model]
    if model.get("search"):
        return ["--stages", json.dumps(model["search"], sort_keys=True)]
    if not config["tuning"]:
        raise ValueError("config: tuning is null; add, such as --config tuning='{method: smac, budget: 30}'")
    method, budget = config["tuning"]["method"], int(config["tuning"]["budget"])
    return ["--space", json.dumps(model["tuning"], sort_keys=True), "--method", method, "--budget", str(budget)]


def floor(wildcards):
    """Give the floor of a dataset's estimates: the smallest threshold of the grid, if no suite names a higher one."""
    named = [suite["floors"][wildcards.dataset] for suite in SUITES.values() if wildcards.dataset in suite["floors"]]
    return max([1 / max(GRID), *named])


CONFIGURED_TABLES = ["table3"]


def suite_of_table(wildcards):
    """Name the paper's configuration for the tables that tell something of it."""
    own = (wildcards.paper, wildcards.table) in TABLE_RECORDS  # another table of the same name
    return suite_file(wildcards.paper) if wildcards.table in CONFIGURED_TABLES and not own else []


def stem(wildcards, output):
    """Give the name that the files of a table or figure have in common, without its ending."""
    return output[0].rpartition(".")[0]


def in_report(kind, name, paper="{paper}"):
    """Give where a table or figure stands in Snakemake's own report (`snakemake --report report.zip`)."""
    return {
        "caption": f"../report/{kind}.rst",
        "category": paper,
        "subcategory": f"{kind.capitalize()}s",
        "labels": {kind: name},
    }
