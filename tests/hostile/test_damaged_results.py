"""Test that each step refuses a file with a changed byte, and names the file and how to rebuild
it.
"""

from pathlib import Path

import pytest
from command_line import run
from small_data import random_multilabel

from xmlc.core.checksums import NAME
from xmlc.data.writer import save_repository
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.report.verify import verify
from xmlc.suite.steps.download import download

TUNED = "results/tiny/tuning/plt.json"
FULL = "results/tiny/plt/seed0/full"
HELD_OUT = "results/tiny/plt/seed0/80"
STATISTICS = "results/tiny/statistics.json"
DATA = "results/tiny/data"
MODEL = f"{FULL}/model"
RECORD = f"{FULL}/train.json"
HELD_OUT_MODEL = f"{HELD_OUT}/model"
SPE = f"{HELD_OUT}/spe"
RANKED = f"{FULL}/ranking"
RANKING = f"{FULL}/ranking.json"
SWEEP = f"{FULL}/sweeps/p/C.json"
EVALUATION = f"{HELD_OUT}/evaluation/sto.json"
TRAIN = ("--data", DATA, "--estimator", "plt", "--name", "plt", "--tuned", TUNED)
ABOUT = ("--data", DATA, "--model", HELD_OUT_MODEL, "--training", f"{HELD_OUT}/train.json")
STEPS = {
    "prepare": (
        "prepare",
        "tiny",
        "--source",
        "resources/tiny",
        "--out",
        DATA,
        "--statistics",
        STATISTICS,
    ),
    "tune": (
        "tune",
        "--data",
        DATA,
        "--estimator",
        "plt",
        "--stages",
        '[[{"C": 1.0}]]',
        "--out",
        TUNED,
    ),
    "train": ("train", *TRAIN, "--part", "train", "--out", MODEL, "--record", RECORD),
    "train-80": (
        "train",
        *TRAIN,
        "--part",
        "fit",
        "--out",
        HELD_OUT_MODEL,
        "--record",
        f"{HELD_OUT}/train.json",
    ),
    "rank": ("rank", "--data", DATA, "--model", MODEL, "--training", RECORD, "--out", RANKED),
    "score": ("score", "--data", DATA, "--ranking", RANKED, "--out", RANKING),
    "sweep": (
        "sweep",
        "--data",
        DATA,
        "--training",
        RECORD,
        "--hyperparameter",
        "C",
        "--value",
        "1.0",
        "--out",
        SWEEP,
    ),
    "estimate": ("estimate", *ABOUT, "--min-probability", "0.001", "--out", SPE),
    "thresholds": (
        "thresholds",
        "sto",
        *ABOUT,
        "--estimates",
        SPE,
        "--out",
        f"{HELD_OUT}/evaluation",
    ),
    "table2": (
        "table",
        "table2",
        "--paper",
        "plt2016",
        EVALUATION,
        "--out",
        "results/tables/plt2016/table2",
    ),
    "table1": (
        "table",
        "table1",
        "--paper",
        "plt2016",
        RANKING,
        "--out",
        "results/tables/plt2016/table1",
    ),
}
# Maps each step to the files and folders that it reads.
READ = {
    "prepare": ["resources/tiny"],
    "train": [f"{DATA}/meta.json", f"{DATA}/train", TUNED],
    "train-80": [f"{DATA}/split.npy"],
    "rank": [f"{DATA}/test", MODEL, RECORD, f"{DATA}/{NAME}"],
    "score": [RANKED],
    "sweep": [RECORD],
    "estimate": [HELD_OUT_MODEL, f"{HELD_OUT}/train.json"],
    "thresholds": [SPE],
    "table2": [EVALUATION],
    "table1": [RANKING],
}


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
        for name, step in STEPS.items():
            assert run(*step) == 0, name
        yield folder


def files_read(whole):
    """Yield each step with each file that the step reads."""
    for step, places in READ.items():
        for place in places:
            inside = sorted(file for file in (whole / place).rglob("*") if file.is_file())
            for file in inside or [whole / place]:
                yield step, file.relative_to(whole)


@pytest.mark.slow
def test_every_step_refuses_changed_byte(whole, monkeypatch, capsys):
    monkeypatch.chdir(whole)
    tried = 0
    for step, file in files_read(whole):
        content = file.read_bytes()
        changed = bytearray(content)
        changed[len(content) // 2] ^= 1
        file.write_bytes(changed)
        assert run(*STEPS[step]) == 1, (step, file)
        said = capsys.readouterr().err
        assert str(file) in said or f"{file.parent}/{NAME}" in said, (step, file, said)
        assert "rebuild it" in said, (step, file, said)
        assert [damage.file for damage in verify([Path("results"), Path("resources")]).damaged] == [
            file
        ]
        file.write_bytes(content)
        tried += 1
    assert verify([Path("results"), Path("resources")]).damaged == []
    assert tried > 30
