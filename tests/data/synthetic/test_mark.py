"""Test that tables and claims mark synthetic data, and show no published numbers for such data."""

import shutil
from itertools import product
from zipfile import ZipFile

import pytest
from built_tables import build_from
from command_line import run
from facts import absent
from file_server import serve
from report_cases import ranking
from small_data import train

from xmlc.data.synthetic import DEMO, is_made, is_synthetic, name_in_records, without_mark
from xmlc.suite.papers.printing import to_csv, to_markdown
from xmlc.suite.results.records.base import TrainingRecord
from xmlc.suite.results.records.statistics import Statistics
from xmlc.suite.steps.prepared import Prepared

SIZES = (
    "n_train: 60, n_test: 30, n_features: 40, n_labels: 9, labels_per_instance: 2.0, nonzeros: 9, "
    "seed: 3"
)
NAME = "amazon-670k"
MARKED = "amazon-670k (synthetic)"


@pytest.fixture
def made(tmp_path):
    """Make a synthetic dataset with the name of a real dataset in a mirror.

    Return the mirror and a catalogue.
    """
    catalogue = tmp_path / "made.yaml"
    empty = tmp_path / "datasets.yaml"
    catalogue.write_text(f"{NAME}: {{synthetic: {{{SIZES}}}}}")
    empty.write_text("{}")
    synth = f"synth {NAME} --out {tmp_path}/mirror/{NAME} --catalogue {catalogue}"
    assert run(*synth.split()) == 0
    return tmp_path / "mirror", empty


def names(tmp_path, mirror, catalogue, name=NAME):
    """Download and prepare a dataset of a mirror. Return the dataset's names in records."""
    source = tmp_path / "resources" / name
    data = tmp_path / "data"
    known = f"--catalogue {catalogue}"
    download = f"download {name} --out {source} --mirror {mirror} {known}"
    assert run(*download.split()) == 0
    statistics = tmp_path / "statistics.json"
    prepare = f"prepare {name} --source {source} --out {data} --statistics {statistics} {known}"
    assert run(*prepare.split()) == 0
    shutil.rmtree(tmp_path / "resources")  # The records do not need the source files for the mark.
    train(tmp_path, data, "swnn")
    record = TrainingRecord.read(tmp_path / "train.json")
    assert record.run_names[0] == record.step["dataset"] == Prepared(data).meta["name"] == name
    return {Statistics.read(statistics).dataset_name, record.dataset_name}


def test_a_renamed_copy_in_another_mirror_is_marked(tmp_path, made):
    mirror, catalogue = made
    second = tmp_path / "second"
    copied = f"download {NAME} --out {second}/mine --mirror {mirror} --catalogue {catalogue}"
    assert run(*copied.split()) == 0
    assert names(tmp_path, second, catalogue, "mine") == {"mine (synthetic)"}


def test_an_archive_of_synthetic_data_is_marked(tmp_path, made):
    mirror, catalogue = made
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("train.txt", "test.txt", "source.json"):
            archive.write(mirror / NAME / name, name)
    shutil.rmtree(mirror / NAME)
    (mirror / NAME).mkdir()
    shutil.move(tmp_path / "all.zip", mirror / NAME)
    assert names(tmp_path, mirror, catalogue) == {MARKED}


def test_web_mirror_is_checked_for_synthetic_mark(tmp_path, made):
    mirror, catalogue = made
    with serve() as server:
        server.files = {
            f"/{NAME}/{file.name}": file.read_bytes() for file in (mirror / NAME).iterdir()
        }
        assert names(tmp_path, server.url, catalogue) == {MARKED}
        del server.files[f"/{NAME}/source.json"]
        assert names(tmp_path, server.url, catalogue) == {NAME}


@pytest.mark.parametrize("content", [[], {}, "synthetic", {"origin": "/mirror"}, {"data": "real"}])
def test_other_descriptions_count_as_real_data(content):
    assert not is_made(content)


def test_only_demo_keeps_unmarked_name():
    assert name_in_records(DEMO, made=True) == DEMO
    assert name_in_records("yeast", made=False) == "yeast"
    assert without_mark(name_in_records("yeast", made=True)) == "yeast"
    names = [DEMO, MARKED, NAME, "synthetic-biology"]
    assert [*filter(is_synthetic, names)] == [DEMO, MARKED]


def test_synthetic_data_have_no_published_numbers(tmp_path):
    printed = {"table2": "dataset,model,p@1\namazon-670k,fastxml,41.43\n"}
    records = [ranking(MARKED, "fastxml", 0, 0.29), ranking("yeast", "fastxml", 0, 0.5)]
    table = build_from(tmp_path, "table2", "oplt2021", records, printed)
    assert [line.split(",")[0] for line in to_csv(table).splitlines()[1:]] == [MARKED, "yeast"]
    text = to_markdown(table)
    assert f"| {MARKED} |" in text
    assert absent(text, f"- {MARKED}: ", "`xmlc synth`") == []
    assert not (table.means.loc[table.means["is_run"], "published"] != "").any()


def test_no_claim_is_tested_on_synthetic_data(tmp_path):
    records = [
        ranking(MARKED, name, seed, 0.5 + 0.01 * seed)
        for name, seed in product(("plt", "fastxml"), range(5))
    ]
    table = build_from(tmp_path, "claims", "plt2016", records, models={"plt": {}})
    verdicts = table.means[table.means["quantity"].isin(["verdict", "cost_verdict"])][
        "value"
    ].dropna()
    assert {*verdicts} == {"not run"}
    assert any(absent(note, f"{MARKED}: ", "`xmlc synth`") == [] for note in table.notes)
