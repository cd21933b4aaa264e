"""Test which results of a run are reported as done, missing and failed."""

import base64
import json
import os
import socket
import subprocess
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from facts import absent, raises_with
from page_cases import plan_with
from suite_cases import write_suite

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder
from xmlc.suite.config.runs import LastRun
from xmlc.suite.report.commands import status_command as command
from xmlc.suite.report.status import (
    AT_WORK,
    MADE,
    Result,
    error_message,
    failures,
    of_files,
    outdated_outputs,
    run_outcome,
    status_of,
    to_text,
)
from xmlc.suite.results.manifest import Manifest

FULL = "results/{0}/{1}/seed{2}/full/ranking.json"


def put(file):
    """Write a file as a step does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(stamped({})))


TABLES = {
    "table1": [FULL.format("yeast", model, seed) for model, seed in (("plt", 0), ("plt", 1), ("fastxml", 0))],
    "table2": [FULL.format("yeast", "plt", 0), FULL.format("scene", "plt", 0)],
}
PLAN = plan_with(TABLES, {"figure1": []})


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Create a run of two datasets. yeast has one of three records and one failure. scene is complete."""
    monkeypatch.chdir(tmp_path)
    there = [FULL.format("yeast", "plt", 0), FULL.format("scene", "plt", 0), "results/tables/plt2016/table2.md"]
    for file in there:
        put(tmp_path / file)
    log = tmp_path / "logs/yeast/plt/seed1/full/train.log"
    log.parent.mkdir(parents=True)
    log.write_text("PLT: 10 % after 12 s\nxmlc: error: no room left on\n  the device\n")
    return tmp_path


def counts(plan, run, dataset):
    """Return how many results of a dataset are done, missing, and blocked."""
    states = [result.state for result in status_of(plan, run, failures(run / "logs")) if result.dataset == dataset]
    return tuple(map(states.count, ("Done", "Missing", "Blocked")))


def test_records_are_counted_by_dataset_and_tables_by_paper(run):
    assert [counts(PLAN, run, name) for name in ("yeast", "scene", MADE)] == [(1, 1, 1), (1, 0, 0), (1, 2, 0)]


@pytest.mark.parametrize(
    ("log", "failed"),
    [("full/rank", ["full/ranking", "full/train"]), ("80/thresholds", ["80/evaluation/sto", "80/inference/h"])],
)
@pytest.mark.parametrize("seeds", ["seed0", "seeds"])
def test_failed_step_blocks_records_of_its_model_seed_and_training_split(run, log, failed, seeds):
    log = run / f"logs/scene/fastxml/{seeds}/{log}.log"
    log.parent.mkdir(parents=True)
    log.write_text("Usage: xmlc x\n\nError: Missing argument 'RECORDS...'.\n")
    others = ["plt/seed0/full/train", "plt/seed0/80/train"]
    plan = plan_with(
        {"table2": [f"results/scene/{place}.json" for place in (*(f"fastxml/seed0/{one}" for one in failed), *others)]}
    )
    assert counts(plan, run, "scene") == (0, 2, 2)


def test_table_is_done_while_it_agrees_with_its_records(run):
    def is_done():
        return counts(plan_with({"table2": TABLES["table2"]}), run, MADE)[0]

    first, second = (run / record for record in TABLES["table2"])
    table = run / "results/tables/plt2016/table2"
    assert is_done()
    for one, later in ((first, True), (table.with_suffix(".md"), False)):
        os.utime(one, ns=(2**61 + later, 2**61 + later))
        assert is_done() != later
        os.utime(one, ns=(1, 1))
        assert is_done() == later
    os.utime(table.with_suffix(".md"))
    for records, done in (((first, second), True), ((first,), False), ((first, second, run / "gone.json"), False)):
        Manifest("table2", "plt2016", tuple(one.relative_to(run) for one in records)).write(table)
        assert is_done() == done
    Manifest("table2", "plt2016", (first.relative_to(run),)).write(table)
    second.unlink()
    assert not is_done(), "the table has fewer records than planned"


def test_most_urgent_lines_are_first_and_complete_ones_are_folded(run):
    reason = f"table3.csv: {'no column dataset, expected the keys dataset, model, method ' * 3}"
    log = Path("logs/tables/plt2016/table3.log")
    log.parent.mkdir(parents=True)
    log.write_text(f"xmlc: error: {reason}\n")
    status = [Result("demo", "late", False)] * 4
    status += status_of(plan_with({**TABLES, "table3": TABLES["table2"][:1]}), Path(), failures(Path("logs")))
    status += [Result("scale", dataset, True) for dataset in ("big", MADE) for _ in range(3)]
    text = to_text(status, "settings of the last run: " * 9)
    assert max(map(len, text.splitlines())) <= 90
    heading, *failed, table, done = text.split("\n\n")
    assert heading.startswith("demo, plt2016, scale on late, yeast, scene, big\nsettings")
    assert [block.splitlines()[0] for block in failed] == ["failed: yeast plt train", "failed: tables/plt2016/table3"]
    assert " ".join(reason.split()) in " ".join(failed[1].split())
    assert failed[1].endswith(f"\n  {log}")
    rows = [line.split()[:2] for line in table.splitlines()[2:]]
    assert rows == [["plt2016", "yeast"], ["tables,", "figures"], ["demo", "late"]]
    facts = [["plt2016", 1, "scene"], ["scale", "all 6"], ["9 of 17", "2 steps", "2 results"]]
    assert [absent(line, *some) for line, some in zip(done.splitlines(), facts, strict=True)] == [[]] * 3


def test_unrequested_suite_is_reported_only_if_named(run):
    def papers(*named):
        return {result.paper for result in status_of(PLAN, run, [], named)}

    (run / "results/big").mkdir()
    (run / "results/big/statistics.json").touch()
    assert papers() == {"plt2016"}
    assert papers("scale") == {"scale"}


@pytest.fixture
def configured(run):
    """Create a project whose only paper requests a table of rankings of one PLT on two datasets."""
    (run / "config").mkdir()
    (run / "config/config.yaml").write_text("papers: [plt2016]\n")
    (run / "config/datasets.yaml").write_text("")
    write_suite(run / "config/papers/plt2016.yaml", {"plt": {}}, datasets=["scene", "yeast"], tables=["table1"])
    for own in ("demo", "scale"):
        write_suite(run / f"config/{own}.yaml", {})
    for dataset, name in product(("scene", "yeast"), ("statistics.json", "plt/seed0/full/train.json")):
        put(run / f"results/{dataset}/{name}")
    (run / "results/tables/plt2016/table1.md").touch()
    return run


def status(*options):
    return CliRunner().invoke(command, options)


def test_exit_status_is_0_only_for_complete_runs(configured):
    done = status()
    assert done.exit_code == 0, done.output
    assert absent(done.output, "plt2016", "7 of 7") == []
    assert status("seeds=[0, 1]").exit_code == 1
    assert status("datasets=[scene]").exit_code == 0
    (configured / FULL.format("scene", "plt", 0)).unlink()
    assert status("datasets=[scene]").exit_code == 1


def test_status_uses_settings_of_last_run_by_default(configured):
    assert status().output.startswith("plt2016 on scene, yeast\n\n"), "there was no earlier run"
    LastRun().write()
    assert status().exit_code == 0
    LastRun({"datasets": ["scene", "none"], "seeds": [0], "mirror": "a b"}, ["tables"]).write()
    done = status()
    assert done.exit_code == 1
    heading = " ".join(done.output.partition("\n\n")[0].split())
    assert absent(heading, "scene, none", "tables", "datasets=[scene, none]", "seeds=[0]", "mirror=a b") == []
    assert status("datasets=[scene]").exit_code == 0, "given settings replace all settings of the last run"


@pytest.mark.parametrize(
    "damage",
    [lambda text: text[:9], lambda text: text.replace("{", '{"edited": 1, '), lambda text: "", lambda text: "[]"],
)
def test_damaged_record_is_not_done_and_its_target_is_named(configured, damage):
    record = configured / FULL.format("scene", "plt", 0)
    record.write_text(damage(record.read_text()))
    os.utime(record, ns=(1, 1))  # The table is not older than the record.
    done = status()
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    facts = ["damaged: scene plt ranking.json", f"snakemake {FULL.format('scene', 'plt', 0)}"]
    assert absent(said, *facts, "6 of 7", "0 steps", "1 record", "1 result") == []


def test_record_removed_from_folder_of_a_step_is_named_with_the_folder(tmp_path):
    folder = "results/scene/plt/seed0/80/evaluation"
    with atomic_folder(tmp_path / folder) as temporary:
        for name in ("fta.json", "sto.json"):
            put(temporary / name)
    plan = plan_with({"table2": [f"{folder}/{name}" for name in ("fta.json", "sto.json", "new.json")]}, {})
    (tmp_path / folder / "fta.json").unlink()
    assert counts(plan, tmp_path, "scene") == (1, 1, 1)
    assert absent(status_of(plan, tmp_path, [])[0].causes[0].reason, f"snakemake {folder}") == []


def test_run_of_one_table_counts_only_its_inputs(configured):
    table = "results/tables/plt2016/table1.md"
    plt, statistics = FULL.format("yeast", "plt", 0), "results/yeast/statistics.json"
    LastRun(targets=[table], files=[table, plt, FULL.format("scene", "plt", 0)]).write()
    output = status().output
    assert "3 of 3 results are done" in output
    assert f": {table}" in " ".join(output.split())
    LastRun(targets=["yeast"], files=[plt, statistics]).write()
    assert "2 of 2 results are done" in status().output
    assert "7 of 7 results are done" in status("--paper", "plt2016").output


def test_unfinished_and_outdated_results_are_not_done(configured, monkeypatch):
    ranking, model = FULL.format("scene", "plt", 0), "results/scene/plt/seed0/full/model"
    coded = {name: base64.urlsafe_b64encode(name.encode()).decode() for name in (ranking, model)}
    marks = configured / ".snakemake/incomplete"
    marks.mkdir(parents=True)
    (marks / coded[ranking]).touch()
    assert "6 of 7 results" in status().output
    (marks / coded[ranking]).unlink()
    assert status().exit_code == 0
    head = "output_file\tdate\trule\tlog-file(s)\tstatus\tplan"
    rows = [f"{ranking}\t-\trank\t\tparams changed\tupdate pending", f"{model}\t-\ttrain\t\tok\tno update"]
    said = "\n".join(["a line before the table", head, *rows])
    calls = []

    def run(command, **options):
        calls.append(command)
        return subprocess.CompletedProcess(command, 0, said, "")

    monkeypatch.setattr(subprocess, "run", run)
    assert status().exit_code == 0, "this folder has no Snakefile"
    (configured / "Snakefile").touch()
    assert "6 of 7 results" in status().output
    assert "6 of 7 results" in status("--paper", "plt2016").output
    assert calls[-1][-2:] == ["--summary", "plt2016"]


def test_failing_summary_of_snakemake_is_reported(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "xmlc: error: found no dataset\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **options: failed)
    with raises_with(XmlcError, "found no dataset"):
        outdated_outputs({"mirror": "a b", "datasets": ["yeast"]}, [])


def test_target_of_a_run_is_named_next_to_its_done_results(configured):
    table = "results/tables/plt2016/table1.md"
    records = [FULL.format(name, "plt", 0) for name in ("yeast", "scene")]
    LastRun(targets=[table], files=[table, *records]).write()
    line = next(line for line in status().output.splitlines() if line.startswith("done"))
    assert absent(" ".join(status().output.split()), f"all 3 results of target {table}") == [], line


def test_shared_records_count_for_the_requested_paper():
    plan = plan_with(TABLES)
    other = {"other": plan_with({"table2": TABLES["table2"]})["plt2016"]}
    found = of_files(other | plan, ["results/tables/plt2016/table2.md", *TABLES["table2"]])
    assert found["plt2016"].steps == TABLES["table2"]
    assert [*found["plt2016"].tables] == ["table2"]
    assert not found["other"].requested


def test_killed_and_active_runs_are_reported_with_their_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_outcome(LastRun()) == ""
    name = base64.urlsafe_b64encode(b"results/yeast/plt/seed0/full/model").decode()
    for part in (Path(name), Path(f"@{name[:8]}", name[8:])):
        (AT_WORK / part).parent.mkdir(parents=True, exist_ok=True)
        (AT_WORK / part).touch()
        made = "results/yeast/plt/seed0/full/model"
        here = LastRun(host=socket.gethostname(), process=os.getpid(), ended=False)
        assert absent(run_outcome(here), "active", made) == []
        (AT_WORK / part).unlink()
    child = subprocess.Popen(["true"])
    child.wait()
    killed = LastRun(host=socket.gethostname(), process=child.pid, ended=False)
    assert absent(run_outcome(killed), "killed", "snakemake --unlock") == []
    assert absent(run_outcome(LastRun(host="far", ended=False)), "far") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", None),
        ("error 12 % after 3 s\n", None),
        ("xmlc: error: first\nxmlc: error: last\n", "last"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad\n", "ValueError: bad"),
    ],
)
def test_last_error_of_a_log_is_the_reason(text, reason):
    assert error_message(text) == reason


def test_failures_are_reported_with_dataset_and_model(tmp_path):
    for name in ("yeast/prepare", "yeast/tuning/plt", "yeast/plt/seed3/80/thresholds", "tables/plt2016/table1"):
        log = tmp_path / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("xmlc: error: x\n")
    assert {(f.step, f.dataset, f.model, f.seed, f.split) for f in failures(tmp_path)} == {
        ("prepare", "yeast", "", None, ""),
        ("tune", "yeast", "plt", None, ""),
        ("thresholds", "yeast", "plt", 3, "80"),
        ("tables/plt2016/table1", "", "", None, ""),
    }
