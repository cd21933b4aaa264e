# What rules of several files ask.
def code_of(command, *further):
    """Give a digest of the files that a command depends on; editing one, not touching it, reruns what it concerns."""
    return lambda wildcards: source_digest([*command_files(command), *further])


def code_for(command, *further):
    """Give a digest of the files that a command and a model's estimator depend on."""
    return lambda wildcards: source_digest([*project.files_for(command, wildcards.model), *further])


# What jobs request of a machine: memory and minutes, in one place; and how many threads a step can use.
requests = Requests(project, workflow)


def entry(wildcards):
    """Give a dataset's catalogue entry as text: a change of this entry, and of no other, reruns its steps."""
    return repr(project.entry(wildcards.dataset))


def hyperparameters(wildcards):
    """Give a model's hyperparameters on a dataset as JSON."""
    return project.hyperparameters(wildcards.model, wildcards.dataset)


def swept(wildcards):
    """Give the sweep that a job makes."""
    return project.sweep(wildcards.paper, wildcards.sweep)


def in_report(kind, name):
    """Give where a table or figure stands in Snakemake's own report (`snakemake --report report.zip`)."""
    place = {"category": "{paper}", "subcategory": f"{kind.capitalize()}s", "labels": {kind: name}}
    return {"caption": f"../report/{kind}.rst", **place}


quick = quick_jobs(project)
one_seed = models_outside(quick, project.models)
thresholds = threshold_jobs(project)


wildcard_constraints:
    dataset=paths.NAME,
    model=one_of(project.models),
    seed=paths.WILDCARDS["seed"],
    portion=paths.WILDCARDS["portion"],
    method=paths.WILDCARDS["method"],
    paper=one_of(project.suites),
    table=r"[a-z0-9-]+",
    figure=r"[a-z0-9]+",
    sweep=r"[a-z0-9-]+",
