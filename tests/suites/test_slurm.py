"""What Slurm's commands print is understood; tests/cluster asks a real Slurm."""

from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError

from xmlc.suites import slurm

MOST = {"short": 16, slurm.DEFAULT: 16, "long": 128}
RUN = "6b692cbf-b5dc-4024-bf81-e45e623283bb"


@pytest.fixture
def commands(monkeypatch):
    """Answers by command, the last one again and again; what was asked is in the list ``asked``."""
    answers, asked = {}, []

    def answer(*command):
        asked.append(list(command))
        texts = answers.get(command[0], [""])
        return texts.pop(0) if len(texts) > 1 else texts[0]

    monkeypatch.setattr(slurm, "ask", answer)
    monkeypatch.setattr(slurm, "PAUSE", 0)
    return SimpleNamespace(answers=answers, asked=asked)


def test_the_largest_node_of_each_partition_counts(commands):
    commands.answers["sinfo"] = ["short*|16\nlong|64+\nlong|128\n"]
    assert slurm.most_threads() == {"short": 16, slurm.DEFAULT: 16, "long": 128}


@pytest.mark.parametrize(("partition", "threads"), [(None, 16), ("long", 128), ("short,long", 128)])
def test_a_job_of_more_threads_than_a_node_has_is_refused(partition, threads):
    def refuse(threads):
        rule, resources = SimpleNamespace(name="train"), {"slurm_partition": partition}
        slurm.refuse_wide([SimpleNamespace(rule=rule, threads=threads, resources=resources)], MOST)

    refuse(threads)
    with pytest.raises(WorkflowError, match=f"train asks for {threads + 1} threads, and the partition"):
        refuse(threads + 1)


def test_an_unknown_partition_is_refused_with_those_that_exist():
    job = SimpleNamespace(rule=SimpleNamespace(name="train"), threads=1, resources={"slurm_partition": "main"})
    with pytest.raises(WorkflowError, match=r"the partition main has nodes of 0 .* \(this cluster has long, short\)"):
        slurm.refuse_wide([job], MOST)


def test_only_jobs_of_the_executor_in_this_folder_are_those_of_a_killed_run(commands, tmp_path):
    lines = [
        f"12|{RUN}|rule_train_wildcards_demo|{tmp_path}",
        f"13|mine_{RUN}|group_all|{tmp_path}",
        f"14|{RUN}|rule_train|{tmp_path / 'elsewhere'}",
        f"15|wrap|(null)|{tmp_path}",  # a run that is itself a job
        f"16|{RUN}|(null)|{tmp_path}",
    ]
    commands.answers["squeue"] = ["\n".join(lines)]
    assert slurm.jobs_in(str(tmp_path)) == ["12", "13"]


def test_cancelled_jobs_are_awaited(commands, tmp_path):
    lines = [f"{number}|{RUN}|rule_train|{tmp_path}" for number in (12, 13)]
    commands.answers["squeue"] = ["\n".join(lines)] * 2 + [lines[1], ""]
    slurm.cancel_left(str(tmp_path))
    assert commands.asked[1] == ["scancel", "12", "13"]
    assert [words[0] for words in commands.asked] == ["squeue", "scancel", *["squeue"] * 3]


def test_jobs_that_do_not_end_stop_the_run(commands, tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "PATIENCE", 0)
    commands.answers["squeue"] = [f"12|{RUN}|rule_train|{tmp_path}"]
    with pytest.raises(WorkflowError, match="do not end: 12"):
        slurm.cancel_left(str(tmp_path))


def test_other_executors_are_asked_nothing(commands):
    slurm.before_submission(SimpleNamespace(executor_plugin=SimpleNamespace(name="local")))
    assert commands.asked == []


def test_a_slurm_that_does_not_answer_is_named():
    with pytest.raises(WorkflowError, match="Slurm does not answer `no-such-command`"):
        slurm.ask("no-such-command")
