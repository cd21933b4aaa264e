"""One run of the workflow in a folder at a time, and what a killed one left is removed by the next.

Snakemake has a lock of its own, on the files that a run makes. It stays on; but it names nobody, a killed run leaves it
behind, and which of both is the case is then for the user to find out.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from xmlc.core.advice import sentence_of
from xmlc.core.errors import INTERRUPTED, XmlcError, is_of_the_machine
from xmlc.core.files import locked, remove_leftovers
from xmlc.core.job_lines import INTERRUPTS, end_in_a_sentence, planned_jobs, show_lines
from xmlc.core.schemas import nearest
from xmlc.core.sources import PACKAGE
from xmlc.data.download import check_sources
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.settings import remember
from xmlc.suites.suite import suite_file

T = TypeVar("T")
RUN = Path(".snakemake/run.lock")  # says which run has it, or had it last
SNAKEMAKES_LOCKS = Path(".snakemake/locks")


def guard(workflow: Any) -> None:
    """Have a workflow refuse to run where another run works, and to be unlocked while that is so.

    Jobs that a run starts, dry runs, reports and the like are no runs, nor is what the user tells not to lock.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Whose Snakefile is being read. Only when this is done does Snakemake say what it was called for.
    """
    execute, unlock = workflow.execute, workflow.unlock
    end_in_a_sentence()

    def execute_alone(executor_plugin: Any, *others: Any, **named: Any) -> None:
        if not workflow.is_main_process:
            return execute(executor_plugin, *others, **named)
        by_lines, is_dry = show_lines(workflow.output_settings), executor_plugin.common_settings.dryrun_exec
        with nullcontext() if is_dry or not workflow.execution_settings.lock else _alone(workflow):
            execute(executor_plugin, *others, **named)
        said = planned_jobs(workflow.dag) if is_dry else _made_by(workflow.dag)
        if said and by_lines and (is_dry or not workflow.output_settings.quiet):
            print(said, file=sys.stdout if is_dry else sys.stderr, flush=True)  # as Snakemake does

    def unlock_if_alone() -> None:
        with _run_locked():
            unlock()

    workflow.execute, workflow.unlock = execute_alone, unlock_if_alone


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """End a run with one sentence about a mistake of the user, or about the machine."""
    try:
        yield
    except XmlcError as error:
        refuse(str(error))
    except OSError as error:
        if not is_of_the_machine(error):
            raise
        refuse(sentence_of(error) or str(error))


@contextmanager
def _alone(workflow: Any) -> Iterator[None]:
    """Let no other run begin meanwhile, and remember the settings of this one."""
    with _in_a_sentence(), _run_locked() as is_locked:
        if is_locked:  # longer than Snakemake locks anything, so who did that has ended
            shutil.rmtree(SNAKEMAKES_LOCKS, ignore_errors=True)
        since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %Z}"
        who = f"process {os.getpid()} on {os.uname().nodename}, since {since}"
        RUN.write_text(f"{who}: {' '.join(['snakemake', *sys.argv[1:]])}", encoding="utf-8")
        papers = [target for target in workflow.dag_settings.targets if suite_file(target).is_file()]
        remember({**workflow.config_settings.overwrite_config, **({"papers": papers} if papers else {})})
        for folder in paths.MADE:
            sweep(folder)
        yield


@contextmanager
def _run_locked() -> Iterator[bool]:
    """Lock the folder against other runs, where its file system has locks; refuse where another run works."""
    with ExitStack() as stack:
        try:
            is_locked = stack.enter_context(locked(RUN, wait=False))
        except BlockingIOError:
            refuse(
                f"another run works in this folder ({RUN.read_text(encoding='utf-8')}). Wait until it ends, or stop it "
                "(Ctrl-C where it was started, or `kill -INT` with its number), then give the command again."
            )
        yield is_locked


def _made_by(dag: Any) -> str:
    """Name the folders of the tables and figures that a run was to make, and how to look at them."""
    folders = sorted({os.path.dirname(file) for job in dag.jobs for file in job.output})
    lines = [f"tables:  xmlc show {folder}/*.md" for folder in folders if folder.startswith(paths.TABLES)]
    lines += [f"figures: {folder}/" for folder in folders if folder.startswith(paths.FIGURES)]
    return "\n".join([*lines, "all finished results on one page: make report"]) if lines else ""


def remove_old_logs(workflow: Any) -> None:
    """Remove what earlier attempts of the jobs of a run said.

    A job whose submission is refused writes no log, and Snakemake would show the old one as the reason.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Whose jobs are about to be started.
    """
    for job in workflow.dag.needrun_jobs():
        for log in job.log:
            Path(log).unlink(missing_ok=True)


def in_a_sentence(found: Callable[[], T]) -> T:
    """Call a function; a mistake of the user that it finds ends the run with one sentence."""
    with _in_a_sentence():
        return found()


@_in_a_sentence()
def read_project(config: Mapping[str, object]) -> Project:
    """Read the configuration for a workflow; a mistake in it ends the run with one sentence."""
    if not os.environ.get("PYTHONPATH"):  # which goes before
        check_installed(Path(PACKAGE.name), Path(sysconfig.get_path("purelib"), PACKAGE.name))
    return Project.read(config)


def check_installed(clone: Path, installed: Path) -> None:
    """Refuse to plan by the package of the folder, which Snakemake imports, where jobs run an installed copy of others.

    Parameters
    ----------
    clone, installed : Path
        Both packages, if they are there; an editable installation has no copy.

    Raises
    ------
    XmlcError
        Files differ.
    """
    for file in clone.rglob("*.py") if (installed / "__init__.py").is_file() else ():
        copy = installed / file.relative_to(clone)
        if not copy.is_file() or copy.read_bytes() != file.read_bytes():
            raise XmlcError(
                f"{file} differs from {copy}, which jobs would run; to run what is here: "
                f"{shlex.quote(sys.executable)} -m pip install --editable ."
            )


def refuse_typos(workflow: Any, project: Project) -> None:
    """Have a workflow end with one sentence where a target, a dataset or a mirror does not exist.

    Targets are checked before jobs are planned; which datasets are to be fetched is known behind that.
    """
    execute = workflow.execute

    def execute_checked(executor_plugin: Any, *others: Any, **named: Any) -> None:
        if workflow.is_main_process:
            with _in_a_sentence():
                rules = [*workflow.rules]
                targets = [one for one in workflow.dag_settings.targets if not any(r.is_producer(one) for r in rules)]
                check_targets(targets, [rule.name for rule in rules], project.catalogue)
        execute(executor_plugin, *others, **named)
        if executor_plugin.common_settings.dryrun_exec:
            check_downloads(workflow, project)
            tell_left_out(workflow, project)

    workflow.execute = execute_checked


@_in_a_sentence()
def check_downloads(workflow: Any, project: Project) -> None:
    """End a run with one sentence where a dataset that it is to fetch has no source."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False)
    made = [found for job in jobs for file in job.output if (found := paths.RESOURCE.read(file))]
    entries = [entry for one in made if not (entry := project.entry(one["dataset"])).synthetic]
    check_sources(entries, project.settings.mirror, Path(paths.RESOURCE).parent, project.catalogue)


def end_if_interrupted() -> None:
    """End a run that was interrupted with one sentence and the exit status of its signal."""
    if INTERRUPTS:
        print(INTERRUPTED, file=sys.stderr, flush=True)
        sys.exit(128 + INTERRUPTS[0])


def tell_left_out(workflow: Any, project: Project) -> None:
    """Say which datasets of earlier runs are left out of the tables that a run is to make."""
    files = [file for job in workflow.dag.needrun_jobs(exclude_finished=False) for file in job.output]
    tables = [found for file in files if (found := paths.TABLE.read(file.removesuffix(".csv")))]
    if missing := datasets_left_out(project, {table["paper"] for table in tables}):
        said = f"tables leave out {', '.join(missing)}, run earlier: to keep them add them to `datasets`"
        print(said, file=sys.stderr, flush=True)


def datasets_left_out(project: Project, papers: Iterable[str], folder: Path = Path()) -> list[str]:
    """Name the datasets of which there are records for tables of some papers, and which are not selected."""
    pattern = paths.TRAINING.of(dataset="*", model="*", seed="*", portion="*")
    trained = [found for file in folder.glob(pattern) if (found := paths.TRAINING.read(file.relative_to(folder)))]
    of_own = {name for suite in project.suites.values() if suite.own for name in suite.datasets}
    missing: set[str] = set()
    for paper in papers:
        suite = project.suites[paper]
        names = {found["dataset"] for found in trained if found["model"] in suite.models and not suite.own}
        missing |= names - of_own - {*project.datasets_of(paper)}
    return sorted(missing)


def refuse(message: str) -> NoReturn:
    """End a run of Snakemake with one sentence; its own exceptions come with frames of this package's files."""
    sys.exit(f"xmlc: error: {message}")


def check_targets(targets: Iterable[str], rules: Collection[str], known: Collection[str]) -> None:
    """Refuse targets that are neither rules nor files of a run, which all lie in folders.

    Parameters
    ----------
    targets : iterable of str
    rules : collection of str
    known : collection of str
        Datasets of the catalogue.

    Raises
    ------
    XmlcError
        With the nearest name, or the way to select a dataset.
    """
    for target in targets:
        if target in rules or "/" in target or Path(target).exists():
            continue
        if target in known:
            raise XmlcError(f"target {target}: this dataset is not selected; add --config datasets='[{target}]'")
        dataset = f"for a dataset of yours add --config datasets='[{target}]' mirror=<folder>"
        raise XmlcError(f"no target {target}, expected {nearest(target, rules)}; {dataset}")


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove, below a folder, what processes that have ended were writing or had replaced."""
    for place, folders, _ in os.walk(folder):
        kept = remove_leftovers(Path(place))
        folders[:] = [name for name in folders if name not in kept]
