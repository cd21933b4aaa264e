# Helper functions of the rules, most of which look up a job's settings by its wildcards.
import atexit
import shutil
from contextlib import suppress
from pathlib import Path

from xmlc.core.checksums import checksum_now
from xmlc.core.errors import XmlcError
from xmlc.core.memory import machine_memory
from xmlc.suite.config.costs import Costs
from xmlc.suite.config.jobs import inference_options, options, search_options, sweep_options
from xmlc.suite.provenance.data import contents
from xmlc.suite.provenance.planned_code import planned_code
from xmlc.suite.results.manifest import in_project

costs = Costs.read(project)
# Datasets whose models are kept (`keep_models`). Rules in dropped.smk use all other models.
kept = rf"(?!(?:{jobs.one_of(project.dropped)})/){paths.NAME}"
# Only `train_and_rank_...` trains kept models with the key `batch_seeds`.
batched_models = jobs.one_of(
    name for names in jobs.batched_models(project).values() for name in names
)


def code(command, wildcards):
    """Return a digest of a step's code, a parameter of rules with which Snakemake reruns edited steps.

    Jobs compare it with their own code. For a model's step it includes the files of the estimator, and for `thresholds`
    and `infer` also those in `extensions`, which register users' methods.
    """
    model = wildcards.get("model")
    return planned_code(command, project.modules_for(command, model) if model else [])


def memory(step, wildcards, attempt):
    """Return the MB of memory that a step requests, times the number of the attempt."""
    return attempt * costs.request([step], wildcards)[0]


def time(steps, wildcards, attempt, runs=1):
    """Return the minutes that steps of one job request for ``runs`` runs, times the number of the attempt."""
    return attempt * runs * costs.request(steps, wildcards)[1]


def scratch(path):
    """Return a folder that Snakemake deletes after the job. Snakemake 9.27 cannot delete it if jobs share no files."""
    return (
        directory(path)
        if workflow.storage_settings.default_storage_provider
        else temp(directory(path))
    )


def threads(wildcards, most=None):
    """Return a job's number of threads from the model or the settings, but at most ``most``."""
    given = project.models[wildcards.model].threads or project.settings.threads
    return min(given, most or given)


def data_settings(wildcards):
    """Return the keys of a dataset's catalogue entry whose change rebuilds the dataset."""
    return project.entry(wildcards.dataset).data_settings


def source(wildcards):
    """Return the source of a dataset's files. Without one, planning ends with an error."""
    return project.source_of(wildcards.dataset)


def mirror(wildcards, output):
    """Return the option `--mirror`. The unused argument `output` keeps a new mirror from rerunning jobs."""
    return ["--mirror", project.settings.mirror] if project.settings.mirror else []


def estimator(wildcards):
    return project.models[wildcards.model].estimator


def hyperparameters(wildcards):
    return project.hyperparameters(wildcards.model, wildcards.dataset)


def search_result(wildcards):
    """Return the result file of the search for a model, or an empty list."""
    return project.tuned_by(wildcards.model, wildcards.dataset) or []


def given(wildcards, seeds=None):
    """Return the checksums of a model's input files, because Snakemake compares times instead of contents."""
    files = project.existing_files(
        wildcards.model, wildcards.dataset, seeds or [wildcards.get("seed")]
    )
    return [checksum_now(Path(file)) for file in files]


def earlier_search(wildcards):
    """Return the result file of another model's search from which a search starts, or an empty list."""
    return project.searched_after(wildcards.model, wildcards.dataset) or []


def tuned(wildcards, input):
    """Return the option `--tuned` with the result file of a search, or an empty list."""
    return ["--tuned", input.tuned] if input.tuned else []


def extensions(wildcards):
    """Return the options for the files that register a user's methods."""
    return options("--extension", project.extensions)


def inferred_from(wildcards):
    """Return the input of inference: a model of the whole training set, or estimates of a model of 80 % of it."""
    basis = {"full": "model", "80": "spe"}[wildcards.split]
    return f"results/{wildcards.dataset}/{wildcards.model}/seed{wildcards.seed}/{wildcards.split}/{basis}"


def table_records(wildcards):
    return plan.outputs_for(project, "table", wildcards.table, wildcards.paper)


def figure_records(wildcards):
    return plan.outputs_for(project, "figure", wildcards.figure, wildcards.paper)


def method_order(wildcards):
    """Return the options that list a suite's methods in the order of its tables."""
    return options("--method", project.suites[wildcards.paper].every_method)


def titles(wildcards):
    """Return the options with the printed names of models."""
    return plan.titles_of(project, wildcards.paper)


def prefix(wildcards, output):
    """Return the path of a table or figure without its suffix."""
    return output[0].rpartition(".")[0]


def tell_plan():
    """Print omissions of the tables, the estimated cost of the jobs, and whether this machine is large enough."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False) if workflow.dag else ()
    made = {in_project(Path(file)) for job in jobs for file in job.output}
    free = shutil.disk_usage(Path()).free
    remarks = [*plan.remarks(project, made), *trained_again(made)]
    console.say("\n".join([*remarks, *costs.report(made, machine_memory() / 1e6, free / 1e6)]))


@atexit.register
def tell_plan_of_dry_run():
    """Print the plan and the jobs of a dry run, which calls no handler and sets `workflow.dryrun` at the start."""
    if workflow.dryrun:
        with suppress(XmlcError):  # planning has already ended with it
            tell_plan()
        console.list_jobs()
