"""Test `make bits`: it detects one changed bit, names the right model, and reports a run that tests
nothing.
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


def with_one_bit_changed(array, place):
    changed = array.copy()
    changed.view(np.uint8).reshape(-1)[place] ^= 1
    return changed


def result():
    matrix = sparse.csr_array(np.array([[0, 0.5, 0], [0.25, 0, 0]], dtype=np.float32))
    pair = np.arange(3), np.ones(3)
    return {"learned": {"weights": np.arange(4.0)}, "predict_proba": matrix, "pair": pair, "f": 0.1}


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("learned",
            lambda r: r["learned"].update(weights=with_one_bit_changed(r["learned"]["weights"],
                9))),
        ("predict_proba", lambda r: r["predict_proba"].data.__setitem__(1, np.float32(0.25000003))),
        ("predict_proba", lambda r: r["predict_proba"].indices.__setitem__(1, 2)),
        ("pair", lambda r: r.update(pair=(np.arange(3), with_one_bit_changed(np.ones(3), 0)))),
        ("f", lambda r: r.update(f=np.nextafter(0.1, 1))),
        ("f", lambda r: r.pop("f")),
    ],
)  # fmt: skip
def test_one_changed_bit_is_found_and_its_part_named(part, change):
    changed = result()
    change(changed)
    one = as_piece(result())
    other = as_piece(changed)
    assert one["word"] != other["word"]
    assert list(bits.differing_parts(one, other)) == [part]


def as_piece(content):
    return bits.as_piece(bits.digest_of(content))


def runs_of(**changes):
    """Return the runs of two processors. The second run has some changed results."""
    same = {"PLT": result(), "FastXML": result(), "SWNN": result()}
    other = same | changes
    return {
        "this": {"pieces": {name: as_piece(content) for name, content in same.items()}},
        "avx2": {
            "pieces": {
                name: as_piece(content) for name, content in other.items() if content is not None
            }
        },
    }


def test_a_difference_names_piece_part_and_processor():
    rows = bits.compare(runs_of(FastXML=result() | {"f": 0.2}))
    assert [row.piece for row in rows if row.differing] == ["FastXML"]
    assert (
        absent(
            "\n".join(bits.lines(rows, ["this", "avx2"])), "DIFFERS: f (avx2)", "1 of 3", "FastXML"
        )
        == []
    )
    assert "DIFFERS" not in "\n".join(bits.lines(bits.compare(runs_of()), ["this", "avx2"]))


def test_overall_digest_changes_with_any_task():
    found = runs_of(FastXML=result() | {"f": 0.2})
    assert bits.word_of_all(found["this"]) != bits.word_of_all(found["avx2"])
    assert bits.word_of_all(found["this"]) == bits.word_of_all(runs_of()["avx2"])


def test_tasks_cover_every_method():
    names = list(chain.from_iterable(pieces.GROUPS.values()))
    assert len(names) == len(set(names))
    assert {f"thresholds {name}" for name in THRESHOLDS} | {
        f"inference {name}" for name in INFERENCE
    } <= set(names)


@pytest.mark.slow
def test_worker_writes_digests_parts_and_processor_dependent_values(monkeypatch, tmp_path):
    monkeypatch.setitem(pieces.GROUPS, "fake", {"mean": lambda data: {"X": data.X.sum(axis=0)}})
    bits.main("fake", str(tmp_path / "out.json"))
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["pieces"]["mean"]["word"].startswith("1-")
    assert list(found["pieces"]["mean"]["parts"]) == ["X"]
    assert found["witnesses"].keys() == WITNESSES.keys()


@pytest.fixture
def imitating(monkeypatch):
    """Return a function that sets the results that the command finds for two processors."""

    def imitate(found):
        avx2 = Processor("avx2", "with AVX2", differs=("numba", "numpy"))
        monkeypatch.setattr(bits, "processors", lambda: (THIS, avx2))
        for run, numba in zip(found.values(), "ab", strict=True):
            run["witnesses"] = {"numba": numba, "numpy": "a", "libm": "a"}
        monkeypatch.setattr(bits, "run_pieces_as", lambda *given: found)
        return found

    return imitate


@pytest.mark.parametrize(("changed", "status"), [({}, 0), ({"PLT": result() | {"f": 0.3}}, 1)])
def test_command_exits_with_1_if_bits_differ(imitating, tmp_path, changed, status):
    found = imitating(runs_of(**changed))
    done = CliRunner().invoke(group, ["bits", "--out", str(tmp_path / "bits.json")])
    assert done.exit_code == status
    assert ("PLT" in done.output.partition("\n\n")[2]) == bool(status)
    assert WITNESSES["numpy"] in done.output
    assert WITNESSES["numba"] not in done.output
    assert (
        json.loads((tmp_path / "bits.json").read_text())["this"]["pieces"].keys()
        == found["this"]["pieces"].keys()
    )


def test_digests_of_another_machine_are_compared(imitating, tmp_path):
    imitating(runs_of())
    (tmp_path / "arm.json").write_text(
        json.dumps({"this": runs_of(SWNN=result() | {"f": 0.3})["avx2"]})
    )
    done = CliRunner().invoke(group, ["bits", "--against", str(tmp_path / "arm.json")])
    assert done.exit_code == 1
    assert absent(done.output, "1 of 3", "SWNN") == []


def test_tables_of_the_demo_are_compared_model_by_model_and_without_costs(tmp_path):
    head = "dataset,model,macro_f,train_seconds\n"
    (tmp_path / "table1.csv").write_text(head + "demo,plt,31.25,4\ndemo,fastxml,7.5,6\n")
    first = bits.demo_pieces(tmp_path)["demo table1"]
    (tmp_path / "table1.csv").write_text(head + "demo,plt,31.25,9\ndemo,fastxml,7.5,6\n")
    assert bits.demo_pieces(tmp_path)["demo table1"] == first
    (tmp_path / "table1.csv").write_text(
        head + "demo,plt,31.25,4\ndemo,fastxml,7.500000000000001,6\n"
    )
    assert list(bits.differing_parts(first, bits.demo_pieces(tmp_path)["demo table1"])) == [
        "fastxml"
    ]
