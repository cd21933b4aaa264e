"""Records from elsewhere: the new ones are shown with their origin, or what differs is refused by name."""

import json
import re
import shutil
from pathlib import Path

import pytest
from archive_cases import unpack_tar
from command_line import run
from page_cases import PAPER, make_table, passport, small_run, step
from report_cases import ranking, write

from xmlc.core.checksums import stamped
from xmlc.suite.report.contributed import with_contributed
from xmlc.suite.results.made_of import finished_tables

ALICE = Path("results/reference/contributed/alice")
NEW = Path("results/rcv1-2k/plt/000.json")
OURS = Path("results/yeast/rankings/000.json")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Our runs; a second clone has the same and a set more, whose archive is unpacked beside ours."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("here", "there"):
            (folder / name).mkdir()
            patch.chdir(folder / name)
            small_run(Path())
        records = [ranking("rcv1-2k", seed=seed, p1=0.9) for seed in (0, 1)]
        paths = write(NEW.parent, [record | {"passport": passport(), "step": step("rank")} for record in records])
        make_table(Path(), "table1", [*paths, *Path(OURS.parent).glob("*.json")])
        assert run("archive", "--out", folder / "records.tar.xz") == 0
    unpack_tar(folder / "records.tar.xz", folder / "here" / ALICE)
    shutil.rmtree(folder / "here/logs")
    return folder / "here"


@pytest.fixture
def here(runs, tmp_path, monkeypatch):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def edit(file, change):
    """Edit a record as one who knows would: its own checksum agrees with it."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(stamped(content)))


def test_new_records_are_shown_with_their_origin(here):
    assert run("verify", ALICE) == 0
    pages = []
    for more in ([], ["--contributed"]):
        assert run("report", *more, "--out", "page.html") == 0
        pages.append(Path("page.html").read_text())
    plain, page = pages
    assert "contributed" not in plain
    assert "rcv1-2k" not in plain
    rows = page[page.index("<article") :].split("<tr>")
    assert [row for row in rows if ">90.00" in row]
    assert all("rcv1-2k" in row for row in rows if "contributed by alice" in row or ">90.00" in row)
    assert all("§" in row for row in rows if ">90.00" in row)
    assert '"contributed by: alice"' in page
    assert f'"record: {NEW}"' in page, "under the name that it has where it was made"


def test_each_run_is_taken_once_whoever_has_it(here):
    shutil.copytree(ALICE, ALICE.with_name("bob"))
    ours = finished_tables(Path("results/tables"), [PAPER])
    before, after = ({made.table: set(made.records) for made in tables} for tables in (ours, with_contributed(ours)))
    assert after == before | {"table1": before["table1"] | {ALICE / NEW, ALICE / NEW.with_name("001.json")}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: edit(ALICE / OURS, lambda content: content["metrics"].update({"p@1": 0.5})),
         rf"{OURS}: p@1: found 50\.0, expected 75\.0 as in {OURS}; a result of both must be the same"),
        (lambda: edit(ALICE / OURS, lambda content: content["hyperparameters"].update(arity=2)),
         rf'{OURS}: hyperparameters: found {{"arity": 2}}, expected {{"arity": 16}}'),
        (lambda: (ALICE / OURS).write_text((ALICE / OURS).read_text().replace("0.75", "0.76")),
         f"{OURS}: was edited since it was written"),
        (lambda: (ALICE / NEW).unlink(), f"{NEW}: not a readable JSON"),
        (lambda: shutil.rmtree(ALICE / "results/tables"), "alice: found no record that is here too"),
        (lambda: edit(ALICE / NEW, lambda content: content["dataset"].update(digest="f" * 64)),
         rf"001\.json: dataset 'rcv1-2k' has digest 726376312d32, but ffffffffffff in .*{NEW}: two editions"),
    ],
)  # fmt: skip
def test_what_differs_is_refused_by_name(here, capsys, change, message):
    change()
    assert run("report", "--contributed", "--out", "page.html") == 1
    assert re.search(message, capsys.readouterr().err)
    assert not Path("page.html").exists()
