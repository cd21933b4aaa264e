"""Tables and words that all benchmarks share."""

from xmlc.bench.results import InTurns
from xmlc.bench.text import (
    Claim,
    claims_table,
    counted,
    machine_text,
    same_bits,
    shape_text,
    table,
    turns_text,
    with_deviations,
)

PASSPORT = {"cpu": "a processor", "xmlc": "1.2", "numba": "0.61", "time": "noon"}


def test_a_table_has_texts_to_the_left_and_numbers_to_the_right():
    rows = [["plt", "1.50"], ["a longer name", "12.00"]]
    assert table(["", "seconds"], rows, "Training").splitlines() == [
        "**Training**",
        "",
        "|               |   seconds |",
        "|:--------------|----------:|",
        "| plt           |      1.50 |",
        "| a longer name |     12.00 |",
    ]
    assert table(["", "what"], [["a", "b"]], n_texts=2).splitlines()[1] == "|:---|:-------|"


def test_claims_say_whether_they_are_reached():
    claims = [Claim("time", "at most 2", "1.50", True), Claim("memory", "at most 1", "3.00", False)]
    (text,) = claims_table(claims, "measured", "What is asked")
    assert text.startswith("**What is asked**")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    assert rows[0] == ["", "asked", "measured", "reached"]
    assert rows[2:] == [["time", "at most 2", "1.50", "yes"], ["memory", "at most 1", "3.00", "no"]]
    assert claims_table([]) == []


def test_words_that_benchmarks_share():
    assert [counted(n, "thread") for n in (1, 2)] == ["1 thread", "2 threads"]
    assert [same_bits([]), same_bits(["weights", "scores"])] == ["yes", "no: weights, scores"]
    assert shape_text([9, 8, 7], "classes") == "9 training instances, 8 features, 7 classes"
    assert machine_text(PASSPORT) == "a processor, xmlc 1.2, numba 0.61, noon"
    result = InTurns(dataset="a", shape=[], passport=PASSPORT, rounds=3, threads=2, peak_bytes=5_400_000)
    assert turns_text(result, ", P@k too") == (
        "best of 3 rounds in turns, P@k too; a processor, xmlc 1.2, numba 0.61, noon; peak of the process 5 MB"
    )
    assert with_deviations([1, 2.345], None) == ["1.00", "2.35"]
    assert with_deviations([1, 2.5], [0.1, 0.25]) == ["1.00 ± 0.10", "2.50 ± 0.25"]
