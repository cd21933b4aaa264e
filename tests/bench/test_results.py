"""What a benchmark measured, as JSON and back."""

from dataclasses import dataclass, field

import pytest

from xmlc.bench.results import INLINE, OPTIONAL, PRECISION, as_json, from_json, mean_percent, std_percent


@dataclass(frozen=True)
class Inner:
    ratio: float


@dataclass(frozen=True)
class Outer:
    rows: dict[str, Inner]
    precision: list[float] = field(metadata=PRECISION)
    gone: float | None = field(metadata=OPTIONAL)
    null: float | None
    inner: Inner | None = field(metadata=INLINE | OPTIONAL)
    named: dict[str, Inner] = field(metadata=INLINE)


def test_json_has_the_keys_that_fields_say():
    content = as_json(Outer({"a": Inner(1.0)}, [0.5], None, None, Inner(2.0), {"b": Inner(3.0)}))
    expected = {"rows": {"a": {"ratio": 1.0}}, "p@k": [0.5], "null": None, "ratio": 2.0, "b": {"ratio": 3.0}}
    assert content == expected
    assert list(content) == list(expected)
    assert "ratio" not in as_json(Outer({}, [], None, None, None, {}))


def test_plain_fields_come_back():
    @dataclass(frozen=True)
    class Run:
        seconds: float
        precision: list[float] = field(metadata=PRECISION)

    assert from_json(Run, as_json(Run(1.5, [0.25]))) == Run(1.5, [0.25])


def test_scores_are_summarised_over_seeds_in_percent():
    scores = [[0.1, 0.4], [0.3, 0.4]]
    assert mean_percent(scores) == pytest.approx([20, 40])
    assert std_percent(scores) == pytest.approx([200**0.5, 0])
    assert std_percent(scores[:1]) is None


def test_a_ratio_to_nothing_measured_is_null_in_json():
    assert as_json({"ratios": [float("nan"), 1.5]}) == {"ratios": [None, 1.5]}
