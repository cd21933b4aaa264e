# Helpers of the rules: functions of a job's wildcards that look up what the configuration says of it.
import atexit
import os
from contextlib import suppress
from pathlib import Path

from xmlc.core.checksums import checksum_now, contents
from xmlc.core.errors import XmlcError
from xmlc.core.sources import command_files, source_digest
from xmlc.suite.papers import table_of
from xmlc.suite.config.command_options import inference_options, options, search_options, sweep_options
from xmlc.suite.results.made_of import in_project
from xmlc.suite.config.job_costs import memory_mb, minutes
from xmlc.suite.config.run_costs import Machine, cost_report

# Datasets whose models and estimates are deleted when nothing of the run needs them any more (`keep_models`), and others.
dropped = jobs.dropped(project)
kept = rf"(?!(?:{dropped})/){paths.NAME}"
# Of models with the key `quick`: on datasets whose models are kept, `train_and_rank_...` trains and ranks them, and no other
# rule does. On the others each seed is trained and ranked by itself, so that one model is there at a time.
quick_models = jobs.one_of(name for names in jobs.quick_models(project).values() for name in names)


def code(command, wildcards):
    """Return a digest of the code of a step: as a parameter, it has an edit rerun the steps that it concerns.

    Steps of a model depend on its estimator's files too, and steps of a method on the files that register methods.
    """
    model = wildcards.get("model")
    return source_digest(project.files_for(command, model) if model else command_files(command))


def memory(step, wildcards, attempt):
    """Return the megabytes that a step requests; when it is tried again, twice and three times as much."""
    return attempt * memory_mb(project, step, wildcards)


def time(step, wildcards, attempt, runs=1):
    """Return the minutes that a step requests, or several runs of it; when it is tried again, more."""
    return attempt * runs * minutes(project, step, wildcards)


def threads(wildcards, most=None):
    """Return the threads of a job: those of its model, or of the settings, and no more than the step can use."""
    given = project.models[wildcards.model].threads or project.settings.threads
    return min(given, most or given)


def catalogued(wildcards):
    """Return a dataset's entry of the catalogue as text: an edit of it makes the dataset anew."""
    return repr(project.entry(wildcards.dataset))


def propensity(wildcards):
    """Return A and B of a dataset's propensities."""
    return project.propensity(wildcards.dataset)


def source(wildcards):
    """Return what a dataset is copied or fetched from; raise an error that planning ends with, if it is nowhere."""
    return project.source_of(wildcards.dataset)


def mirror(wildcards, output):
    """Return the option of a mirror. A function of the output does not count as changed: equal files are as good elsewhere."""
    return ["--mirror", project.settings.mirror] if project.settings.mirror else []


def estimator(wildcards):
    """Return a model's estimator."""
    return project.models[wildcards.model].estimator


def hyperparameters(wildcards):
    """Return a model's hyperparameters on a dataset, as JSON."""
    return project.hyperparameters(wildcards.model, wildcards.dataset)


def search_result(wildcards):
    """Return the file of the search whose best hyperparameters a model is trained with, if there is one."""
    return project.tuned_by(wildcards.model, wildcards.dataset) or []


def given(wildcards, seeds=None):
    """Return the checksums of the files that a model reads itself, because inputs of rules count by their times."""
    files = project.given(wildcards.model, wildcards.dataset, seeds or [wildcards.get("seed")])
    return [checksum_now(Path(file)) for file in files]


def earlier_search(wildcards):
    """Return the file of the search that a model's own search begins with, if there is one."""
    return project.searched_after(wildcards.model, wildcards.dataset) or []


def tuned(wildcards, input):
    """Return the option of a search's result."""
    return ["--tuned", input.tuned] if input.tuned else []


def extensions(wildcards):
    """Return the options of the files that register methods of the user's own."""
    return options("--extension", project.extensions)


def inferred_from(wildcards):
    """Return what label sets are inferred from: a model of the whole training set, or estimates of one of 80 %."""
    basis = {"full": "model", "80": "spe"}[wildcards.portion]
    return f"results/{wildcards.dataset}/{wildcards.model}/seed{wildcards.seed}/{wildcards.portion}/{basis}"


def table_records(wildcards):
    """Return what the rules make that a table is made from."""
    return plan.outputs_of_table(project, wildcards.paper, wildcards.table)


def figure_records(wildcards):
    """Return what the rules make that a figure is made from."""
    return plan.outputs_of_figure(project, wildcards.paper, wildcards.figure)


def method_order(wildcards):
    """Return the options that name the methods of a suite, in the order of tables."""
    return options("--method", project.suites[wildcards.paper].every_method)


def titles(wildcards):
    """Return the options that name models in print as the suite has it."""
    return plan.titles_of(project, wildcards.paper)


def prefix(wildcards, output):
    """Return the path of a table or figure without its ending."""
    return output[0].rpartition(".")[0]


def tell_plan():
    """Print the omissions of this run's tables, the cost of its jobs, and whether this machine is large enough."""
    cores = workflow.resource_settings.cores or 1  # by default 1 in a dry run, and None on a cluster
    jobs = workflow.dag.needrun_jobs(exclude_finished=False) if workflow.dag else ()
    made = {in_project(Path(file)) for job in jobs for file in job.output}
    told = cost_report(project, made, Machine.here(cores if cores > 1 else os.cpu_count()), plan.remarks(project, made))
    print(told, end="\n" if told else "", file=sys.stderr, flush=True)


@atexit.register
def tell_plan_of_dry_run():
    """Print it below the list of jobs; a dry run has no handler, and is known as one when it has begun."""
    if workflow.dryrun:
        with suppress(XmlcError):  # with which planning has ended
            tell_plan()
