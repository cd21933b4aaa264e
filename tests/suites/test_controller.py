"""One run works in a folder at a time; what a killed run left does not stop the next."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.core.files import OURS, atomic_folder, write_json
from xmlc.suites.controller import check_installed, check_targets, datasets_left_out, sweep

# Without the trap bash goes on where Ctrl-C comes just as one of its children ends by itself.
SNAKEFILE = """
from xmlc.core.job_lines import note_interrupts
from xmlc.suites.controller import end_if_interrupted, guard, remove_old_logs

guard(workflow)

onstart:
    remove_old_logs(workflow)
    note_interrupts()

onerror:
    end_if_interrupted()

rule wait:
    output: "made"
    shell: "trap 'exit 130' INT; touch begun; while [ ! -e go ]; do sleep 0.1; done; touch {output}"

rule other:
    output: "other"
    shell: "touch {output}"

rule silent:
    output: "never"
    log: "silent.log"
    shell: "exit 1"

rule finished:
    log: "finished.log"
    output: "kept"
    shell: "touch {output}"
"""
COMMAND = [sys.executable, "-m", "snakemake", "--cores", "1", "--rerun-incomplete"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


def run(folder, *arguments):
    command, where = [*COMMAND, *arguments], {"cwd": folder, "env": ENVIRONMENT}
    done = subprocess.run(command, **where, capture_output=True, text=True, timeout=120)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def begun(folder, stderr=subprocess.DEVNULL):
    """Start a run, in the background, that is in the midst of its only job."""
    where = {"cwd": folder, "env": ENVIRONMENT, "start_new_session": True}
    running = subprocess.Popen([*COMMAND, "wait"], **where, stdout=subprocess.DEVNULL, stderr=stderr)
    while not (folder / "begun").exists():
        assert running.poll() is None
        time.sleep(0.05)
    return running


@pytest.mark.slow
def test_a_second_run_is_refused_and_the_first_goes_on(folder):
    running = begun(folder)
    code, said = run(folder, "wait")
    assert code == 1
    assert f"another run works in this folder (process {running.pid} on " in said
    assert "snakemake --cores 1 --rerun-incomplete wait). Wait until it ends, or stop it" in said
    assert "since 2" in said
    assert run(folder, "other")[0] == 1, "no other target either: both would clean up after themselves"
    assert run(folder, "--unlock")[0] == 1
    assert run(folder, "--dry-run", "other")[0] == 0
    assert run(folder, "--summary")[0] == 0
    assert run(folder, "--nolock", "other")[0] == 0, "who says so knows better"
    (folder / "go").touch()
    assert running.wait(60) == 0
    assert (folder / "made").exists()
    assert run(folder, "--unlock")[0] == 0


@pytest.mark.slow
def test_the_same_command_goes_on_after_a_kill(folder):
    running = begun(folder)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert list((folder / ".snakemake/locks").iterdir()), "Snakemake's own lock is on"
    unfinished = folder / f"results/demo/.model{OURS}0a1b2c3d"
    unfinished.mkdir(parents=True)
    (folder / "go").touch()
    code, said = run(folder, "wait")
    assert code == 0, said
    assert (folder / "made").exists()
    assert not unfinished.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_in_place_of_errors_and_goes_on(folder, number):
    running = begun(folder, subprocess.PIPE)
    os.killpg(running.pid, number)
    said = running.communicate(timeout=60)[1].decode().splitlines()
    assert said[-1] == "interrupted; give the same command again, and it goes on"
    assert not [line for line in said if "rror" in line or "failed" in line or "status" in line]
    assert running.returncode == 128 + number
    (folder / "go").touch()
    assert run(folder, "wait")[0] == 0


def test_a_job_that_says_nothing_is_not_shown_with_what_an_earlier_attempt_said(folder):
    for name in ("silent.log", "finished.log", "kept"):
        (folder / name).write_text("said before\n")
    run(folder, "silent", "--dry-run")
    assert (folder / "silent.log").exists()
    code, said = run(folder, "silent", "kept", "--show-failed-logs")
    assert code == 1
    assert "failed: silent silent.log is empty" in said
    assert "said before" not in said
    assert not (folder / "silent.log").read_text()  # Snakemake makes an empty one
    assert (folder / "finished.log").read_text() == "said before\n"  # its job did not run again


def test_a_target_is_a_rule_or_a_file():
    check_targets(["plt2016", "results/yeast/data"], ["plt2016"], ["yeast"])
    with pytest.raises(XmlcError, match=r"no target plt2061, expected plt2016; .* datasets='\[plt2061\]'"):
        check_targets(["plt2061"], ["plt2016", "demo"], [])
    with pytest.raises(XmlcError, match=r"yeast: this dataset is not selected; add --config datasets='\[yeast\]'"):
        check_targets(["yeast"], ["plt2016"], ["yeast"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plt2016", "--config", "datasets=bibtec"], "dataset bibtec: the catalogue knows no address for it"),
        (["plt2016", "--config", "datasets=bibtex", "mirror=/nowhere"], "/nowhere is no folder on this machine"),
    ],
)
def test_a_dry_run_ends_with_one_sentence(tmp_path, words, said):
    for name in ("Snakefile", "config", "workflow", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert "File " not in done.stderr


def test_datasets_of_earlier_runs_that_tables_leave_out_are_named(tmp_path):
    papers = {"a": suite({"plt": {}}), "b": suite({"br": {}}), "demo": suite({"plt": {}}, datasets=["toy"])}
    project = project_of(tmp_path / "config", {"datasets": ["mine"]}, **papers)
    for run in ("scene/plt", "scene/br", "mine/plt", "toy/plt", "old/none"):
        write_json(tmp_path / f"results/{run}/seed0/80/train.json", {})
    (tmp_path / "results/begun/plt/seed0/80/model").mkdir(parents=True)
    found = {paper: datasets_left_out(project, [paper], tmp_path) for paper in papers}
    assert found == {"a": ["scene"], "b": ["scene"], "demo": []}
    assert datasets_left_out(project, papers, tmp_path) == ["scene"]


def test_an_installed_copy_of_other_files_is_refused(tmp_path):
    clone, installed = tmp_path / "clone/xmlc", tmp_path / "site-packages/xmlc"
    check_installed(clone, installed)  # the folder of a run need not be a clone
    (clone / "core").mkdir(parents=True)
    for name in ("__init__.py", "core/a.py"):
        (clone / name).write_text("1")
    shutil.copytree(clone, installed)
    check_installed(clone, installed)
    (clone / "core/a.py").write_text("2")
    with pytest.raises(XmlcError, match=r"clone/xmlc/core/a\.py differs from .*packages/xmlc/core/a\.py"):
        check_installed(clone, installed)


def test_what_ended_processes_left_is_swept(tmp_path):
    left = [tmp_path / name for name in (f"plt/.model{OURS}0a1b2c3d", f"a/b/.table.csv{OURS}0a1b2c3d.csv")]
    for path in left:
        (path / f"inner/.model{OURS}0a1b2c3d").mkdir(parents=True)
        os.utime(path, (0, 0))
    with atomic_folder(tmp_path / "plt/model") as unfinished:
        sweep(tmp_path)
        assert unfinished.exists()
    assert not any(path.exists() for path in left)
    assert (tmp_path / "plt/model").exists()
