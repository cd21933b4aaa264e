"""Test `make bits`: one changed bit is found, and the report names the task, its part and the
processor.
"""

import json
from itertools import chain

import numpy as np
import pytest
from click.testing import CliRunner
from facts import absent
from scipy import sparse

from benchmarks import bits, pieces
from benchmarks.__main__ import group
from benchmarks.processors import THIS, WITNESSES, Processor
from xmlc.inference import METHODS as INFERENCE
from xmlc.thresholds.sweeps import METHODS as THRESHOLDS

WEIGHTS = np.arange(4.0)
PAIR = np.arange(3), np.ones(3)
MATRIX = sparse.csr_array(np.array([[0, 0.5, 0], [0.25, 0, 0]], dtype=np.float32))
RESULT = {"learned": {"weights": WEIGHTS}, "predict_proba": MATRIX, "pair": PAIR, "f": 0.1}
CHANGES = {
    "nested array": {"learned": {"weights": np.nextafter(WEIGHTS, [0, 1, 9, 3])}},
    "value of a sparse array": {"predict_proba": MATRIX * np.float32(1.0000001)},
    "index of a sparse array": {"predict_proba": MATRIX[:, [0, 2, 1]]},
    "array of a pair": {"pair": (PAIR[0], np.nextafter(PAIR[1], [1, 1, 2]))},
    "number": {"f": np.nextafter(0.1, 1)},
}


def piece_of(changes):
    return bits.as_piece(bits.digest_of(RESULT | changes))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_changed_bit_is_found_and_its_part_named(change):
    one = piece_of({})
    other = piece_of(change)
    assert one["word"] != other["word"]
    assert list(bits.differing_parts(one, other)) == list(change)


def test_tasks_cover_every_method():
    names = list(chain.from_iterable(pieces.GROUPS.values()))
    assert len(names) == len(set(names))
    assert {f"thresholds {name}" for name in THRESHOLDS} <= set(names)
    assert {f"inference {name}" for name in INFERENCE} <= set(names)


def processed(numba, changes):
    """Return the results of a processor. Those of FastXML have some changes."""
    pieces_of_models = {"PLT": piece_of({}), "FastXML": piece_of(changes)}
    return {"witnesses": {"numba": numba, "numpy": "a", "libm": "a"}, "pieces": pieces_of_models}


@pytest.fixture
def bits_command(monkeypatch):
    """Return a function that runs the command, which finds given results for two processors."""

    def run(this, avx2, *options):
        found = {"this": processed("a", this), "avx2": processed("b", avx2)}
        chosen = THIS, Processor("avx2", "with AVX2", differs=("numba", "numpy"))
        monkeypatch.setattr(bits, "processors", lambda: chosen)
        monkeypatch.setattr(bits, "run_pieces_as", lambda *given: found)
        return CliRunner().invoke(group, ["bits", *map(str, options)])

    return run


def test_command_names_differences_and_exits_with_1(bits_command, tmp_path):
    out = tmp_path / "bits.json"
    same = bits_command({}, {}, "--out", out)
    assert same.exit_code == 0
    assert "DIFFERS" not in same.output
    # The imitation of NumPy did not work.
    assert WITNESSES["numpy"] in same.output
    assert WITNESSES["numba"] not in same.output
    assert json.loads(out.read_text())["this"] == processed("a", {})

    done = bits_command({}, CHANGES["number"])
    assert done.exit_code == 1
    assert absent(done.output, "DIFFERS: f (avx2)", "1 of 2", "FastXML") == []
    # The last line is one digest of all results on this processor.
    other = bits_command(CHANGES["number"], {})
    assert same.output.splitlines()[-1] == done.output.splitlines()[-1]
    assert same.output.splitlines()[-1] != other.output.splitlines()[-1]


def test_digests_of_another_machine_are_compared(bits_command, tmp_path):
    arm = tmp_path / "arm.json"
    arm.write_text(json.dumps({"this": processed("a", CHANGES["number"])}))
    done = bits_command({}, {}, "--against", arm)
    assert done.exit_code == 1
    assert absent(done.output, "DIFFERS: f (arm)", "1 of 2") == []


def test_tables_of_the_demo_are_compared_model_by_model_and_without_costs(tmp_path):
    def piece(f, seconds):
        text = f"model,macro_f,train_seconds\nplt,31.25,4\nfastxml,{f},{seconds}\n"
        (tmp_path / "table1.csv").write_text(text)
        return bits.demo_pieces(tmp_path)["demo table1"]

    assert piece(7.5, 6) == piece(7.5, 9)
    assert list(bits.differing_parts(piece(7.5, 6), piece(7.500000000000001, 6))) == ["fastxml"]
