"""Test claims and effects: declaration, verdicts, and the table of claims."""

import math
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claim_cases import numbers_of
from facts import absent, raises_with
from report_cases import ranking, thresholds
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import RANKINGS, THRESHOLDS
from xmlc.suite.papers import claims as module
from xmlc.suite.papers.claims import Claim, claims_of, claims_table, counted
from xmlc.suite.papers.effects import about, common, least, ratio, scores, union
from xmlc.suite.papers.outcome import OTHER_SPLITS, Effect, by_case, error_on_tests, outcome_of
from xmlc.suite.papers.printing import fingerprint_of, to_csv, to_markdown
from xmlc.suite.report.verdicts import Judge

PAPERS = ["gfm2011", "ldsm2020", "oplt2021", "plt2016", "swnn2018"]
NOT_PUBLISHED = pd.DataFrame(columns=["claim", "quantity", "value"], dtype=object)


def table_of(claims, *given, suite=None):
    """Build a table of claims from the records of each need."""
    spec = claims_table(claims)
    numbers = [numbers_of(records).assign(need=place) for place, records in enumerate(given)]
    return spec.build("plt2016", pd.concat(numbers, ignore_index=True), NOT_PUBLISHED, suite)


def points(numbers):
    """Return effects of each model: P@1 minus 50 points."""
    return about(scores(numbers, "p@1") - 50)


def outcome(claim, *given):
    return claim.outcome(numbers_of(*given))


def declared(name="high", needs=(RANKINGS,), measure=points, only=None, margin=(None, ""), **said):
    said = {"source": "Section 1, page 2", "unit": "points", "stated": "verbatim"} | said
    said |= {"statement": f"P@1 is {name}.", "margin": margin[0], "because": margin[1]}
    return Claim(name=name, needs=needs, measured_by=measure, chosen_by=only, **said)


def ranked(*scores, name="yeast", model="mine"):
    return [ranking(name, model, seed, p1) for seed, p1 in enumerate(scores)]


def test_each_claim_has_a_row_and_a_panel_of_its_cases():
    claims = [declared(), declared("low", margin=(50.0, "all is lower"))]
    made = table_of(claims, [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")])
    assert made.content["claim"].tolist() == ["high", "low"]
    assert made.content["verdict"].tolist() == ["holds", "does not hold"]
    assert made.content.loc[
        0, ["effect", "supports", "contradicts", "cases", "seeds"]
    ].tolist() == [17.5, 2, 0, 2, 2]
    text = " ".join(to_markdown(made).split())
    first = [
        "P@1 is high.",
        "Section 1, page 2",
        "points",
        "verbatim",
        "+17.50",
        "–",
        "",
        "holds on 2 of 2",
    ]
    assert made.panels[0].printed()[1][0] == [(cell, False) for cell in first]
    assert "| yeast | mine | +25.00 [+12.58, +37.42] | – | 3 | for |" in text
    assert "| scene | mine | +10.00 [+10.00, +10.00] | – | 2 | for |" in text
    assert any(absent(note, "P@1 is low.", 50, "all is lower") == [] for note in made.notes)


def value_counts(table):
    return Counter(counted(table).values())


def test_verbatim_claims_are_counted_by_verdict_without_costs():
    low = {"margin": (50.0, "all is lower")}
    claims = [
        declared(),
        declared("low", **low),
        declared("drawn", stated="derived"),
        declared("own", stated="ours"),
    ]
    claims.append(declared("dear", cost=True))
    made = table_of(claims, [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")])
    assert value_counts(made) == {"holds": 1, "does not hold": 1}
    assert made.content["stated"].tolist() == [
        "verbatim",
        "verbatim",
        "derived",
        "ours",
        "verbatim",
    ]
    assert value_counts(table_of(claims, [])) == {"not run": 2}
    assert [panel.details for panel in made.panels] == [False, True, True, True, True, True]


def test_claim_counts_only_the_records_that_it_is_about():
    yeast = declared(about="yeast", only=lambda numbers: numbers["dataset"] == "yeast")
    made = table_of([yeast], [*ranked(0.7, 0.705), *ranked(0.1, 0.1, name="scene")])
    assert made.content[["verdict", "cases"]].values.tolist() == [["holds", 1]]
    assert any(absent(note, "P@1 is high.", "about yeast") == [] for note in made.notes)
    assert outcome(yeast, ranked(0.7, 0.75, name="scene")).word == "not run"


def test_same_instances_are_one_case_on_the_split_of_the_authors():
    given = [
        *ranked(0.7, 0.7),
        *ranked(0.6, 0.6, name="delicious"),
        *ranked(0.8, 0.8, name="delicious-ldsm"),
    ]
    found = outcome(declared(), given, ranked(0.9, 0.9, name="scene"))
    assert [case.dataset for case in found.cases] == ["yeast", "delicious-ldsm", "scene"]
    assert found.effect.mean == pytest.approx((20 + 30 + 40) / 3)
    assert found.effect.has_interval
    assert not outcome(declared(), given).effect.has_interval  # two datasets
    of_one = declared(about="one of the paper", datasets=["delicious"])
    assert [case.dataset for case in outcome(of_one, given).cases] == ["delicious-ldsm"]
    # A subject that was run only on the other split keeps its case, and both are one dataset in the
    # mean.
    other = ranked(0.9, 0.9, name="delicious", model="other")
    both = outcome(declared(), given, other, ranked(0.9, 0.9, name="scene"))
    assert [case.dataset for case in both.cases] == [
        "yeast",
        "delicious",
        "delicious-ldsm",
        "scene",
    ]
    assert both.effect.mean == pytest.approx((20 + (30 + 40) / 2 + 40) / 3)


def test_numbers_and_statements_count_the_same_splits():
    judge = Judge.of_project(ROOT / "config")
    counted = {
        (name, split["report_on"])
        for (_, name), split in judge.splits.items()
        if "report_on" in split
    }
    assert counted == {(name, split) for split, name in OTHER_SPLITS.items()}


def test_case_within_margin_and_against_published_sign_is_opposite_sign():
    margin = (-5.0, "behind by so much is as good")
    one = declared(margin=margin, printed={"": {"yeast": 1.5, "delicious": 2.5}})
    assert (
        outcome(one, ranked(0.49, 0.491)).verdict
        == "undecided: 0 of 1 for, 0 against, 1 with opposite sign"
    )
    assert outcome(one, ranked(0.44, 0.441)).word == "does not hold"
    for same in (ranked(0.51, 0.511), ranked(0.4995, 0.5005), ranked(0.49, 0.491, name="scene")):
        # The cases have the published sign, an unclear sign, and no published value.
        assert outcome(one, same).word == "holds"
    both = [*ranked(0.49, 0.491), *ranked(0.51, 0.511, model="other")]
    assert (outcome(one, both).word, outcome(one, both).sides) == ("undecided", (1, 0, 1))
    split = outcome(one, ranked(0.49, 0.491, name="delicious-ldsm"))
    assert (split.word, split.cases[0].printed) == ("undecided", 2.5)
    of_other = declared(margin=margin, printed={"other": {"yeast": 1.5}})
    of_other = outcome(of_other, both)
    assert [case.printed for case in of_other.cases] == [pytest.approx(math.nan, nan_ok=True), 1.5]
    made = table_of([one], both)
    assert made.content[["printed", "supports", "opposites"]].values.tolist() == [[2, 1, 1]]
    assert "| yeast | mine | -0.95 [-1.59, -0.31] | +1.50 | 2 | opposite sign |" in " ".join(
        to_markdown(made).split()
    )


def test_distance_holds_within_margin_on_either_side():
    one = declared(margin=(-5.0, "so far apart is alike"), scale="distance")
    words = [outcome(one, ranked(p1, p1)).word for p1 in (0.44, 0.46, 0.54, 0.56)]
    assert words == ["does not hold", "holds", "holds", "does not hold"]
    assert outcome(one, ranked(0.54, 0.54)).effect.mean == pytest.approx(4)


def test_claims_on_settings_fitted_to_published_results_are_marked():
    suite = SimpleNamespace(
        all_models={
            "mine": SimpleNamespace(fitted_settings="C: on Table 1", selected={}),
            "br": SimpleNamespace(fitted_settings="", selected={}),
        }
    )
    own = declared("own", about="mine", only=lambda numbers: numbers["model"] == "mine")
    other = declared("other", about="br", only=lambda numbers: numbers["model"] == "br")
    table = table_of([own, other], [*ranked(0.7, 0.7), *ranked(0.8, 0.8, model="br")], suite=suite)
    lines = to_markdown(table).splitlines()
    assert [
        " ‡ |" in line for line in lines if line.startswith(("| P@1 is own", "| P@1 is other"))
    ] == [True, False]
    assert any(note.startswith("‡") and note.endswith(": “P@1 is own.”") for note in table.notes)


def is_marked(table, claim):
    (verdict,) = [cells[-1] for cells in table.panels[0].cells if cells[-1].key == (claim,)]
    return verdict.text.endswith("‡")


def test_claim_about_a_quantity_that_chose_settings_is_marked():
    origin = SimpleNamespace(fitted=("depth",))
    suite = SimpleNamespace(
        all_models={"mine": SimpleNamespace(fitted_settings="", selected={"yeast": origin})}
    )
    claims = [
        declared("deep", quantity="depth"),
        declared("high", quantity="p@1"),
        declared("other"),
    ]
    table = table_of(claims, ranked(0.7, 0.7), suite=suite)
    assert [is_marked(table, name) for name in ("deep", "high", "other")] == [True, False, False]
    table = table_of(claims, ranked(0.7, 0.7, name="scene"), suite=suite)
    assert not any(is_marked(table, name) for name in ("deep", "high", "other"))


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.filterwarnings("error")
def test_claims_of_papers_are_not_run_without_numbers(paper):
    claims = import_module(f"xmlc.suite.papers.{paper}.claims").claims.claims
    content = table_of(claims, []).content
    assert {*content["verdict"].fillna(content["cost_verdict"])} == {"not run"}
    other = table_of(claims, [ranking("far", "mine"), thresholds("far", "mine")]).content
    assert {*other["verdict"].fillna(other["cost_verdict"])} == {"not run"}


def test_claim_gets_the_records_of_its_needs():
    taken = []

    def measure(numbers):
        taken.append({*numbers["quantity"]} & {"p@1", "macro_f"})
        return []

    claims = [declared("one", measure=measure), declared("both", (THRESHOLDS, RANKINGS), measure)]
    assert [need.kind for need in claims_table(claims).needs] == ["ranking", "thresholds"]
    table_of(claims, ranked(0.7), [thresholds()])
    assert taken == [{"p@1"}, {"p@1", "macro_f"}]


def test_effects_on_time_and_memory_do_not_change_fingerprint():
    made = table_of([declared(cost=True)], ranked(0.9, 0.91))
    other = table_of([declared(cost=True)], ranked(0.1, 0.12))
    assert to_csv(made) != to_csv(other)
    assert fingerprint_of(made) == fingerprint_of(other)
    assert made.content["cost_verdict"].tolist() == ["holds"]
    assert any(note.endswith(": “P@1 is high.”") for note in made.notes)


@pytest.mark.parametrize("paper", PAPERS)
def test_margin_has_a_reason_and_differs_from_no_effect(paper):
    for claim in import_module(f"xmlc.suite.papers.{paper}.claims").claims.claims:
        assert (claim.margin is None) == (not claim.because), claim.name
        assert claim.margin != replace(claim, margin=None).level, claim.name


@pytest.mark.parametrize("paper", PAPERS)
def test_each_record_belongs_to_one_need(paper):
    needs = import_module(f"xmlc.suite.papers.{paper}.claims").claims.needs
    assert len({(need.kind, need.split) for need in needs}) == len(needs)


def test_statement_names_functions_and_selections_that_exist(tmp_path, monkeypatch):
    file = tmp_path / "claims.yaml"
    monkeypatch.setattr(module, "statements_of", lambda paper: file)
    entry = "{statement: A., source: Page 1, unit: points, stated: verbatim, records: [RANKINGS]"
    file.write_text(
        f"is-high: {entry}, options: {{sign: -1}}}}\nlow: {entry}, measure: is_high, only: few}}\n"
    )
    functions = {"is_high": points, "few": ahead}
    high, low = claims_of("mine", functions).claims
    assert (high.name, high.needs, high.measured_by, high.chosen_by) == (
        "is-high",
        (RANKINGS,),
        points,
        None,
    )
    assert high.options == {"sign": -1}
    assert (low.measured_by, low.chosen_by) == (points, ahead)
    for name in functions:
        with raises_with(XmlcError, file, repr(name)):
            claims_of(
                "mine", {other: function for other, function in functions.items() if other != name}
            )


def test_scores_are_matched_by_run():
    numbers = numbers_of(
        ranked(0.7, 0.6), ranked(0.5, model="other"), ranked(0.9, name="scene", model="other")
    )
    mine, other = (scores(numbers, "p@1", model=name)[0] for name in ("mine", "other"))
    assert (mine - other).dropna().to_dict() == {("yeast", 0): pytest.approx(20)}
    assert [one.to_dict() for one in common(mine, other)] == [
        {("yeast", 0): 70},
        {("yeast", 0): 50},
    ]
    assert scores(numbers, "p@1")[0]["yeast", "other", 0] == 50
    assert scores(numbers, "unknown").empty
    with raises_with(ValueError, "p@1", "yeast"):
        scores(numbers_of(ranked(0.7), ranked(0.8)), "p@1")


def test_scores_of_several_methods_have_a_level():
    numbers = numbers_of(
        [thresholds(method=name, f=f) for name, f in (("fta", 0.5), ("sto", 0.25))]
    )
    assert scores(numbers, "macro_f", method=("fta", "sto"))[0].to_dict() == {
        ("yeast", "plt", 0, "fta"): 50,
        ("yeast", "plt", 0, "sto"): 25,
    }
    assert scores(numbers, "macro_f", model="plt", method="sto")[0].to_dict() == {("yeast", 0): 25}


def test_least_effect_counts_and_costs_that_are_0_give_no_ratio():
    numbers = numbers_of(
        ranked(0.7, 0.2), [ranking(model="other", p1=0.5, seconds=seed) for seed in (0,)]
    )
    first = about(scores(numbers, "p@1", model="mine"), "x")
    second = about(40 - scores(numbers, "p@1", model="mine").iloc[:1], "x")
    assert least(first, second)[0].to_dict() == {("yeast", "x", 0): -30, ("yeast", "x", 1): 20}
    assert least().empty
    assert union().empty
    seconds = scores(numbers, "train_seconds")
    assert ratio(seconds, seconds)[0].dropna().index.get_level_values("model").tolist() == [
        "mine",
        "mine",
    ]


# The effects of three seeds are clearly above 0, or undecided.
CLEAR = (1.0, 1.1, 0.9)
OPEN = (3.0, -3.0, 0.5)
AGAINST = tuple(-value for value in CLEAR)


def effects(**cases):
    """Return effects of cases ``dataset_subject``, with a value for each seed."""
    found = []
    for name, values in cases.items():
        for seed, value in enumerate(values):
            found.append(Effect(*name.split("_"), seed, value))
    return found


@pytest.mark.parametrize(
    ("cases", "word", "verdict"),
    [
        ({}, "not run", "not run"),
        ({"a_x": CLEAR}, "holds", "holds on 1 of 1"),
        ({"a_x": AGAINST}, "does not hold", "does not hold: 1 of 1 against"),
        ({"a_x": OPEN}, "undecided", "undecided"),
        ({"a_x": CLEAR, "a_y": OPEN}, "undecided", "undecided: 1 of 2 for, 0 against"),
        ({"a_x": CLEAR, "a_y": CLEAR, "b_x": AGAINST}, "holds", "holds on 2 of 3"),
        ({"a_x": CLEAR, "b_x": AGAINST}, "undecided", "undecided: 1 of 2 for, 1 against"),
        ({"a_x": (1.0,), "b_x": (1.1,)}, "undecided", "undecided"),
        ({"a_x": (1.0,), "b_x": (1.1,), "c_x": (1.2,)}, "holds", "holds in the mean of 3 datasets"),
        (
            {"a_x": (-1.0,), "b_x": (-1.1,), "c_x": (-1.2,)},
            "does not hold",
            "does not hold in the mean of 3 datasets",
        ),
        # With a case against the claim, the mean cannot decide.
        (
            {"a_x": (8.0,), "b_x": (8.1,), "c_x": (8.2,), "c_y": AGAINST},
            "undecided",
            "undecided: 0 of 4 for, 1 against",
        ),
    ],
)
def test_verdict_follows_from_cases_and_mean(cases, word, verdict):
    found = outcome_of(effects(**cases), margin=0)
    assert (found.word, found.verdict) == (word, verdict)


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        ({"a_x": CLEAR, "a_y": OPEN}, "undecided: 1 of 2 for, 0 against"),
        ({"a_x": CLEAR, "a_y": CLEAR, "a_z": OPEN}, "holds on 2 of 3"),
        ({"a_x": CLEAR, "a_y": CLEAR, "a_z": AGAINST}, "does not hold: 1 of 3 against"),
    ],
)
def test_one_case_refutes_a_universal_statement(cases, verdict):
    assert outcome_of(effects(**cases), 0, every=True).verdict == verdict


def with_error(values, error):
    """Return effects with values on two resampled test sets, whose standard deviation is
    ``error``.
    """
    half = error / math.sqrt(2)
    return [replace(one, resampled=(-half, half)) for one in values]


def test_interval_with_test_set_error_is_wider_and_decides_nothing():
    values = effects(a_x=CLEAR)
    (case,) = outcome_of(with_error(values, 1.0), 0).cases
    assert case.on_tests.upper - 1 == pytest.approx(
        math.hypot(case.effect.upper - 1, 1.959964), abs=1e-6
    )
    assert (case.on_tests.side_of(0), case.side) == (0, 1)
    assert not outcome_of(values, 0).cases[0].on_tests.has_interval
    assert not outcome_of(with_error(values[1:2], 1.0), 0).cases[0].on_tests.has_interval


def ahead(numbers):
    return about(scores(numbers, "p@1", model="mine") - scores(numbers, "p@1", model="other"), "")


def test_equal_scores_have_no_negative_effect():
    claim = declared(measure=lambda numbers: -points(numbers))
    made = table_of([claim], ranked(0.5, 0.5))
    assert "| +0.00 [+0.00, +0.00] |" in " ".join(to_markdown(made).split())


def lowest(numbers):
    return about(scores(numbers, "p@1").groupby(level=["dataset", "seed"]).min(), "")


def share_above(numbers):
    shares = (scores(numbers, "p@1") > 60).groupby(level="seed").mean()
    return pd.concat({("all", ""): shares}, names=["dataset", "subject"])


def test_effects_have_bootstrap_standard_error_of_test_set():
    rng = np.random.default_rng(0)
    drawn = {
        (name, seed): rng.uniform(-0.05, 0.05, 50)
        for name, seed in product(("mine", "other"), range(3))
    }
    records = [
        ranking("yeast", *run, 0.6, resampled={"p@1": list(values)})
        for run, values in drawn.items()
    ]
    # in percentage points
    apart = [100 * (drawn["mine", seed] - drawn["other", seed]) for seed in range(3)]
    one = declared(measure=ahead)
    # This is not the mean of the errors of seeds. The part specific to a seed shrinks with more
    # seeds.
    error = error_on_tests(one.effects(numbers_of(records)))
    assert error == pytest.approx(np.mean(apart, axis=0).std(ddof=1))
    (case,) = outcome(one, records).cases
    assert case.on_tests.upper == pytest.approx(1.959964 * error, abs=1e-6)
    still = [record | {"resampled": {"p@1": [0.0] * 50}} for record in records]
    assert math.isnan(error_on_tests(one.effects(numbers_of(still))))
    assert not outcome(replace(one, cost=True), records).tested


def with_known_error(claim, records):
    cases = by_case(claim.effects(numbers_of(records)))
    return {case for case, runs in cases.items() if not math.isnan(error_on_tests(runs))}


def test_case_on_records_of_earlier_version_has_no_test_set_error():
    drawn = {"p@1": [-0.1, 0.1] * 25}
    earlier = ranked(0.6, name="scene")
    both = [ranking(model="mine", p1=0.6, resampled=drawn), *earlier]
    assert with_known_error(declared(), both) == {("yeast", "mine")}
    assert with_known_error(declared(scale="ratio"), both) == set()
    mixed = [ranking(model="mine", p1=0.6, resampled=drawn), ranking(model="other", p1=0.5)]
    assert with_known_error(declared(measure=ahead), mixed) == set()
    assert with_known_error(declared(measure=lowest), mixed) == set()
    assert (
        with_known_error(declared(measure=share_above), [*mixed, *ranked(0.6, name="scene")])
        == set()
    )


def test_cases_whose_interval_with_test_set_error_has_margin_are_counted():
    cases = [
        *with_error(effects(a_x=CLEAR), 1.0),
        *with_error(effects(b_x=CLEAR), 0.01),
        *effects(c_x=CLEAR),
    ]
    found = outcome_of(cases, 0)
    assert [case.side for case in found.cases] == [1, 1, 1]
    assert [case.lost for case in found.cases] == [True, False, False]
    assert found.tested == 2
    assert outcome_of(effects(c_x=CLEAR), 0).tested == 0


def test_margin_shifts_the_verdict():
    values = effects(a_x=CLEAR)
    assert [outcome_of(values, margin).word for margin in (-2, 1, 2)] == [
        "holds",
        "undecided",
        "does not hold",
    ]


def test_mean_over_datasets_uses_mean_over_cases_of_each():
    found = outcome_of(effects(a_x=(1.0,), a_y=(3.0,), b_x=(6.0,), c_x=(7.0,)), margin=0)
    assert found.effect.mean == 5
    assert found.effect.has_interval
    # two datasets
    assert not outcome_of(effects(a_x=CLEAR, a_y=CLEAR, b_x=CLEAR), margin=0).effect.has_interval
    assert [case.seeds for case in found.cases] == [1, 1, 1, 1]


def test_ratios_are_averaged_as_logarithms():
    found = outcome_of(effects(a_x=(2.0, 2.0), b_x=(8.0, 8.0)), margin=1, scale="ratio")
    assert found.effect.mean == pytest.approx(4)
    assert [case.effect.lower for case in found.cases] == [pytest.approx(2), pytest.approx(8)]
    assert found.word == "holds"
    assert outcome_of(effects(a_x=(0.5, 0.5)), margin=1, scale="ratio").word == "does not hold"


@pytest.mark.parametrize("wrong", [[Effect("a", "x", 0, 1.0)] * 2, [Effect("a", "x", 0, math.nan)]])
def test_repeated_and_nan_effects_are_refused(wrong):
    with raises_with(ValueError, "dataset='a'"):
        outcome_of(wrong, margin=0)


def simulated(rng, datasets, subjects, seeds, effect, shared):
    """Draw effects of standard deviation 1 over seeds.

    Subjects of a dataset share part of their noise.
    """
    common = rng.normal(0, 1, (datasets, 1, seeds))
    own = rng.normal(0, 1, (datasets, subjects, seeds))
    noise = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
    return [
        Effect(f"d{d}", f"s{s}", k, effect + float(noise[d, s, k]))
        for d, s, k in product(range(datasets), range(subjects), range(seeds))
    ]


@pytest.mark.parametrize("shared", [0.0, 1.0])
@pytest.mark.parametrize(
    ("datasets", "subjects", "seeds"), [(1, 1, 5), (1, 4, 2), (2, 2, 3), (3, 1, 1), (6, 2, 5)]
)
def test_noise_makes_a_statement_hold_in_at_most_1_of_20_runs(datasets, subjects, seeds, shared):
    rng = np.random.default_rng([datasets, subjects, seeds])
    words = [
        outcome_of(simulated(rng, datasets, subjects, seeds, 0.0, shared), 0).word
        for _ in range(1000)
    ]
    assert words.count("holds") <= 50
    assert words.count("does not hold") <= 50


def test_dataset_that_disagrees_refutes_universal_statement():
    rng = np.random.default_rng(1)
    words = []
    for _ in range(200):
        drawn = simulated(rng, 3, 1, 5, 2.0, 0.0)
        drawn = [replace(one, value=one.value - 4) if one.dataset == "d0" else one for one in drawn]
        words.append(outcome_of(drawn, 0, every=True).word)
    assert words.count("does not hold") >= 180


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_noise_refutes_universal_statement_in_1_of_40_runs_per_case_and_mean(shared):
    rng = np.random.default_rng(7)
    words = [
        outcome_of(simulated(rng, 4, 1, 5, 0.0, shared), 0, every=True).word for _ in range(1000)
    ]
    assert words.count("does not hold") <= 1000 * (4 + 1) / 40


def test_record_of_several_trials_decides_with_one_seed():
    error = 1 / 2.0095752  # the quantile of Student's t with 49 degrees of freedom is 2.0095752
    (case,) = outcome_of([Effect("a", "", 0, 3.0, error, 50)], margin=1.5).cases
    assert (case.effect.lower, case.effect.upper) == (
        pytest.approx(2, abs=1e-6),
        pytest.approx(4, abs=1e-6),
    )
    assert case.side == 1
    exact = Effect("a", "", 0, 3.0, 0)
    assert [outcome_of([exact], margin).word for margin in (2, 3, 4)] == [
        "holds",
        "undecided",
        "does not hold",
    ]
    (ratio,) = outcome_of([Effect("a", "", 0, 4.0, 0)], 1, "ratio").cases
    assert ratio.effect.upper == pytest.approx(4)
    several = [Effect("a", "", seed, value, 0) for seed, value in enumerate((3.0, -3.0))]
    assert outcome_of(several, 0).word == "undecided"  # Standard errors do not decide the verdict.
