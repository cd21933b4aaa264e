"""What of a run is done, missing and failed."""

import os
import re
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from page_cases import plan_with
from suite_cases import write_suite

from xmlc.cli.results import status_command as command
from xmlc.numbers.made_of import MadeOf
from xmlc.report.failures import failures
from xmlc.report.status import MADE, FileCounts, status_of, to_text
from xmlc.suites.settings import remember

FULL = "results/{0}/{1}/seed{2}/full/ranking.json"


TABLES = {
    "table1": [FULL.format("yeast", model, seed) for model, seed in (("plt", 0), ("plt", 1), ("fastxml", 0))],
    "table2": [FULL.format("yeast", "plt", 0), FULL.format("scene", "plt", 0)],
}
PLAN = plan_with(TABLES, {"figure1": []})


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Two datasets: of yeast one record of three is there and one failed, of scene all is there."""
    monkeypatch.chdir(tmp_path)
    there = [FULL.format("yeast", "plt", 0), FULL.format("scene", "plt", 0), "results/tables/plt2016/table2.md"]
    for file in there:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    log = tmp_path / "logs/yeast/plt/seed1/full/train.log"
    log.parent.mkdir(parents=True)
    log.write_text("PLT: 10 % after 12 s\nxmlc: error: no room left on\n  the device\n")
    return tmp_path


def test_files_are_counted_by_dataset_and_those_made_of_them_by_paper(run):
    found = status_of(PLAN, run, failures(run / "logs"))
    counts = {key[1]: (part.done, part.missing, part.failed) for key, part in found.items()}
    assert counts == {"yeast": (1, 1, 1), "scene": (1, 0, 0), MADE: (1, 2, 0)}


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ("full/rank", ["full/ranking", "full/train"]),
        ("80/thresholds", ["80/evaluation/sto", "80/inference/h"]),
    ],
)
@pytest.mark.parametrize("seeds", ["seed0", "seeds"])
def test_a_record_is_missing_because_of_a_step_of_its_model_seed_and_portion(run, log, failed, seeds):
    log = run / f"logs/scene/fastxml/{seeds}/{log}.log"
    log.parent.mkdir(parents=True)
    log.write_text("Usage: xmlc x\n\nError: Missing argument 'RECORDS...'.\n")
    others = ["plt/seed0/full/train", "plt/seed0/80/train"]
    plan = plan_with(
        {"table2": [f"results/scene/{place}.json" for place in (*(f"fastxml/seed0/{one}" for one in failed), *others)]}
    )
    progress = status_of(plan, run, failures(run / "logs"))["plt2016", "scene"]
    assert (progress.done, progress.missing, progress.failed) == (0, 2, 2)


def test_a_table_is_done_while_it_is_of_the_records_that_are_there(run):
    def is_done():
        plan = plan_with({"table2": TABLES["table2"]})
        return status_of(plan, run, failures(run / "logs"))["plt2016", MADE].done

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
        MadeOf("table2", "plt2016", tuple(one.relative_to(run) for one in records)).write(table)
        assert is_done() == done
    MadeOf("table2", "plt2016", (first.relative_to(run),)).write(table)
    second.unlink()
    assert not is_done(), "it is of fewer records than are planned"


def test_the_most_urgent_comes_first_and_what_is_complete_is_folded(run):
    reason = f"table3.csv: {'no column dataset, expected the keys dataset, model, method ' * 3}"
    log = Path("logs/tables/plt2016/table3.log")
    log.parent.mkdir(parents=True)
    log.write_text(f"xmlc: error: {reason}\n")
    status = {("demo", "late"): FileCounts(missing=4)}
    status |= status_of(plan_with({**TABLES, "table3": TABLES["table2"][:1]}), Path(), failures(Path("logs")))
    complete = {("scale", dataset): FileCounts(done=3) for dataset in ("big", MADE)}
    text = to_text(status | complete, "settings of the last run: " * 9)
    assert max(map(len, text.splitlines())) <= 90
    heading, *failed, table, done = text.split("\n\n")
    assert heading.startswith("demo, plt2016, scale on late, yeast, scene, big\nsettings")
    assert [block.splitlines()[0] for block in failed] == ["failed: yeast plt train", "failed: tables/plt2016/table3"]
    assert " ".join(reason.split()) in " ".join(failed[1].split())
    assert failed[1].endswith(f"\n  {log}")
    rows = [line.split()[:2] for line in table.splitlines()[2:]]
    assert rows == [["plt2016", "yeast"], ["tables,", "figures"], ["demo", "late"]]
    assert done.splitlines()[:2] == ["done: plt2016, 1 of 7 results: scene", "done: scale, all 6 results"]


def test_a_suite_that_nobody_asks_for_is_told_of_when_it_is_named(run):
    def papers(*named):
        return {paper for paper, _ in status_of(PLAN, run, [], named)}

    (run / "results/big").mkdir()
    (run / "results/big/statistics.json").touch()
    assert papers() == {"plt2016"}
    assert papers("scale") == {"scale"}


@pytest.fixture
def configured(run):
    """A project with one paper, which asks for a table of rankings of one PLT on two datasets."""
    (run / "config").mkdir()
    (run / "config/config.yaml").write_text("papers: [plt2016]\n")
    (run / "config/datasets.yaml").write_text("")
    write_suite(run / "config/papers/plt2016.yaml", {"plt": {}}, datasets=["scene", "yeast"], tables=["table1"])
    for own in ("demo", "scale"):
        write_suite(run / f"config/{own}.yaml", {})
    for dataset, name in product(("scene", "yeast"), ("statistics.json", "plt/seed0/full/train.json")):
        (run / f"results/{dataset}/{name}").touch()
    (run / "results/tables/plt2016/table1.md").touch()
    return run


def test_the_exit_status_is_0_only_when_all_is_there(configured):
    def status(*options):
        return CliRunner().invoke(command, options)

    done = status()
    assert done.exit_code == 0, done.output
    assert "plt2016, all 7 results" in done.output
    assert status("seeds=[0, 1]").exit_code == 1
    assert status("datasets=[scene]").exit_code == 0
    (configured / FULL.format("scene", "plt", 0)).unlink()
    assert status("datasets=[scene]").exit_code == 1


def test_the_settings_are_by_default_those_of_the_last_run(configured):
    def status(*options):
        done = CliRunner().invoke(command, options)
        return done.exit_code, " ".join(done.output.partition("\n\n")[0].split())

    assert status() == (0, "plt2016 on scene, yeast"), "there was none"
    remember({})
    assert status()[0] == 0
    remember({"datasets": ["scene", "none"], "seeds": [0], "mirror": "a b"})
    code, heading = status()
    assert code == 1
    assert re.fullmatch(
        r"plt2016 on scene, none settings of the last run, \d{4}-\d\d-\d\d \d\d:\d\d: "
        r"datasets=\[scene, none\] seeds=\[0\] mirror=a b",
        heading,
    )
    assert status("datasets=[scene]")[0] == 0, "settings that are given are the only ones"
