"""What Slurm's commands print is understood; tests/cluster asks a real Slurm."""

from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError

from xmlc.suites import slurm
from xmlc.suites.slurm import DEFAULT, Demand, Size

INFINITE = float("inf")
SMALL, LARGE = Size(16, 64_000, 240.0), Size(64, 512_000, INFINITE)
NODES = {"short": [SMALL], DEFAULT: [SMALL], "long": [LARGE]}
RUN = "6b692cbf-b5dc-4024-bf81-e45e623283bb"


def needs(partition=DEFAULT, threads=8, memory_mb=4000, minutes=60):
    return Demand(Size(threads, memory_mb, minutes), "train (demo, plt)", partition)


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


def test_kinds_of_nodes_are_read(commands):
    commands.answers["sinfo"] = ["short*|16|64000|4:00:00\nlong|64|512000+|infinite\nlong|128|512000|infinite\n"]
    assert slurm.partitions() == NODES | {"long": [LARGE, LARGE._replace(threads=128)]}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("infinite", INFINITE), ("n/a", INFINITE), ("30:00", 30), ("4:00:30", 240.5), ("2-01:00:00", 2940), ("45", 0.75)],
)
def test_time_limits_are_read(limit, expected):
    assert slurm.minutes(limit) == expected


@pytest.mark.parametrize(
    "demand",
    [
        needs(),
        needs(threads=16, memory_mb=64_000, minutes=240),
        needs(partition="long", threads=64),
        needs(partition="short,long", minutes=999),
    ],
)
def test_what_a_node_has_is_accepted(demand):
    slurm.refuse_misfits([demand], NODES)


@pytest.mark.parametrize(
    "excess", [{"threads": 17}, {"memory_mb": 64_001}, {"minutes": 241}, {"partition": "long", "threads": 65}]
)
def test_what_no_node_has_is_refused(excess):
    with pytest.raises(WorkflowError, match=r"would wait for ever \(1\), such as train"):
        slurm.refuse_misfits([needs(), needs(**excess)], NODES)


def test_threads_and_memory_must_be_of_the_same_node():
    nodes = {DEFAULT: [Size(4, 512_000, INFINITE), Size(64, 8_000, INFINITE)]}
    with pytest.raises(WorkflowError, match=r"asks for 8 threads, 9,000 MB"):
        slurm.refuse_misfits([needs(threads=8, memory_mb=9_000)], nodes)


def test_an_unknown_partition_is_refused_with_those_that_exist():
    with pytest.raises(WorkflowError, match=r"no partition main; it has long, short. Edit `slurm_partition`"):
        slurm.refuse_misfits([needs(partition="main")], NODES)


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
