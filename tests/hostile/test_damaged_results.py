"""Test that each step refuses a file with a changed byte, and names the file and how to rebuild
it.
"""

import shlex
from pathlib import Path

import pytest
from command_line import run
from small_data import random_multilabel

from xmlc.core.checksums import NAME
from xmlc.data.writer import save_repository
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.steps.download import download

TRAIN = "--data {data} --estimator plt --name plt --tuned {tuned}"
ABOUT = "--data {data} --model {held_out}/model --training {held_out}/train.json"
PLACES = {
    "data": "results/tiny/data",
    "tuned": "results/tiny/tuning/plt.json",
    "full": "results/tiny/plt/seed0/full",
    "held_out": "results/tiny/plt/seed0/80",
    "tables": "results/tables/plt2016",
}
#: The commands of a run. Each step has a name.
COMMANDS = {
    "prepare": "prepare tiny --source resources/tiny --out {data} "
    "--statistics results/tiny/statistics.json",
    "tune": """tune --data {data} --estimator plt --stages '[[{{"C": 1.0}}]]' --out {tuned}""",
    "train": f"train {TRAIN} --part train --out {{full}}/model --record {{full}}/train.json",
    "train-80": f"train {TRAIN} --part fit --out {{held_out}}/model "
    "--record {held_out}/train.json",
    "rank": "rank --data {data} --model {full}/model --training {full}/train.json "
    "--out {full}/ranking",
    "score": "score --data {data} --ranking {full}/ranking --out {full}/ranking.json",
    "sweep": "sweep --data {data} --training {full}/train.json --hyperparameter C --value 1.0 "
    "--out {full}/sweeps/p/C.json",
    "estimate": f"estimate {ABOUT} --min-probability 0.001 --out {{held_out}}/spe",
    "thresholds": f"thresholds sto {ABOUT} --estimates {{held_out}}/spe "
    "--out {held_out}/evaluation",
    "table2": "table table2 --paper plt2016 {held_out}/evaluation/sto.json --out {tables}/table2",
    "table1": "table table1 --paper plt2016 {full}/ranking.json --out {tables}/table1",
}
# The files and folders that each step reads
READ = {
    "prepare": "resources/tiny",
    "train": "{data}/meta.json {data}/train {tuned}",
    "train-80": "{data}/split.npy",
    "rank": f"{{data}}/test {{full}}/model {{full}}/train.json {{data}}/{NAME}",
    "score": "{full}/ranking",
    "sweep": "{full}/train.json",
    "estimate": "{held_out}/model {held_out}/train.json",
    "thresholds": "{held_out}/spe",
    "table2": "{held_out}/evaluation/sto.json",
    "table1": "{full}/ranking.json",
}


def words(text):
    """Return the words of a command or list of places."""
    return shlex.split(text.format(**PLACES))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with a finished run of a tiny dataset."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for part, seed in (("train", 1), ("test", 2)):
            save_repository(
                Path("mirror/tiny") / f"{part}.txt", *random_multilabel(120, 20, 8, seed=seed)
            )
        download(Dataset("tiny"), Path("resources/tiny"), mirror="mirror")
        for name, command in COMMANDS.items():
            assert run(*words(command)) == 0, name
        yield folder


def files_read(whole):
    """Yield each step with each file that the step reads."""
    for step, places in READ.items():
        for place in words(places):
            inside = sorted(file for file in (whole / place).rglob("*") if file.is_file())
            for file in inside or [whole / place]:
                yield step, file.relative_to(whole)


@pytest.mark.slow
def test_every_step_refuses_changed_byte(whole, monkeypatch, capsys):
    monkeypatch.chdir(whole)
    cases = [*files_read(whole)]
    assert len(cases) > 30
    for step, file in cases:
        content = file.read_bytes()
        changed = bytearray(content)
        changed[len(content) // 2] ^= 1
        file.write_bytes(changed)
        assert run(*words(COMMANDS[step])) == 1, (step, file)
        said = capsys.readouterr().err
        assert str(file) in said or f"{file.parent}/{NAME}" in said, (step, file, said)
        assert "rebuild it" in said, (step, file, said)
        file.write_bytes(content)
