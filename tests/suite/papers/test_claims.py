"""Test claims and effects: declaration, verdicts, and the table of claims."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from facts import absent, raises_with
from record_files import as_record
from report_cases import ranking, thresholds
from repository import ROOT

from xmlc.suite.config.planned import RANKINGS, THRESHOLDS
from xmlc.suite.papers.claims import Claim, Claims, Statement, by_model, datasets, ranked_apart
from xmlc.suite.papers.claims_table import claims_line, claims_table, counted
from xmlc.suite.papers.outcome import OTHER_SPLITS, Effect, Scale, outcome_of
from xmlc.suite.papers.printing import fingerprint_of, to_csv, to_markdown
from xmlc.suite.papers.resampling import errors_on_tests
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.frame import Source


def manifest(table, *given):
    """Build a table of claims from the records of each need."""
    sources = [[Source(Path(str(i)), record) for i, record in enumerate(records)] for records in given]
    return made(table, sources)


def made(definition, sources, suite=None):
    table = definition.table("plt2016", sources, None, suite)
    table.notes = definition.notes[0](table)
    return table


def points(records, *others):
    return (Effect(r.dataset.name, r.model, r.seed, 100 * r.metrics["p@1"] - 50) for r in records)


def declared(name="high", needs=(RANKINGS,), measure=points, about=None, printed=None, margin=(None, ""), **said):
    said = {"source": "Section 1, page 2", "unit": "points", "stated": "verbatim"} | said
    said = Statement(statement=f"P@1 is {name}.", margin=margin[0], because=margin[1], **said)
    return Claim(name=name, said=said, needs=needs, measure=measure, about=about, printed=printed or {})


def ranked(*scores, name="yeast", model="mine"):
    return [as_record(ranking(name, model, seed, p1)) for seed, p1 in enumerate(scores)]


def test_each_claim_has_a_row_and_a_panel_of_its_cases():
    table = claims_table([declared(), declared("low", margin=(50.0, "all is lower"))])
    made = manifest(table, [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")])
    assert made.frame["claim"].tolist() == ["high", "low"]
    assert made.frame["verdict"].tolist() == ["holds", "does not hold"]
    assert made.frame.loc[0, ["effect", "supports", "contradicts", "cases", "seeds"]].tolist() == [17.5, 2, 0, 2, 2]
    text = " ".join(to_markdown(made).split())
    first = ["P@1 is high.", "Section 1, page 2", "points", "verbatim", "+17.50", "–", "", "holds on 2 of 2"]
    assert made.panels[0].cells()[0] == [(cell, False) for cell in first]
    assert "| yeast | mine | +25.00 [+12.58, +37.42] | – | 3 | for |" in text
    assert "| scene | mine | +10.00 [+10.00, +10.00] | – | 2 | for |" in text
    assert any(absent(note, "P@1 is low.", 50, "all is lower") == [] for note in made.notes)


def test_verbatim_claims_are_counted_by_verdict_without_costs():
    low = {"margin": (50.0, "all is lower")}
    claims = [declared(), declared("low", **low), declared("drawn", stated="derived"), declared("own", stated="ours")]
    table = claims_table([*claims, declared("dear", cost=True)])
    made = manifest(table, [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")])
    assert counted(made) == {"holds": 1, "does not hold": 1}
    assert absent(claims_line(counted(made)), "1 of 2", "1") == []
    assert made.frame["stated"].tolist() == ["verbatim", "verbatim", "derived", "ours", "verbatim"]
    assert counted(manifest(table, [])) == {"not run": 2}
    assert [panel.detail for panel in made.panels] == [False, True, True, True, True, True]


def test_claim_counts_only_the_records_that_it_is_about():
    yeast = declared(about=("yeast", lambda record: record.dataset.name == "yeast"))
    made = manifest(claims_table([yeast]), [*ranked(0.7, 0.705), *ranked(0.1, 0.1, name="scene")])
    assert made.frame[["verdict", "cases"]].values.tolist() == [["holds", 1]]
    assert any(absent(note, "P@1 is high.", "about yeast") == [] for note in made.notes)
    assert yeast.outcome(ranked(0.7, 0.75, name="scene")).word == "not run"


def test_same_instances_are_one_case_on_the_split_of_the_authors():
    given = [*ranked(0.7, 0.7), *ranked(0.6, 0.6, name="delicious"), *ranked(0.8, 0.8, name="delicious-ldsm")]
    found = declared().outcome([*given, *ranked(0.9, 0.9, name="scene")])
    assert [case.dataset for case in found.cases] == ["yeast", "delicious-ldsm", "scene"]
    assert found.effect.mean == pytest.approx((20 + 30 + 40) / 3)
    assert found.effect.has_interval
    assert not declared().outcome(given).effect.has_interval  # two datasets
    about = declared(about=datasets("one of the paper", "delicious"))
    assert [case.dataset for case in about.outcome(given).cases] == ["delicious-ldsm"]
    # A subject that was run only on the other split keeps its case, and both are one dataset in the mean.
    other = ranked(0.9, 0.9, name="delicious", model="other")
    both = declared().outcome([*given, *other, *ranked(0.9, 0.9, name="scene")])
    assert [case.dataset for case in both.cases] == ["yeast", "delicious-ldsm", "delicious", "scene"]
    assert both.effect.mean == pytest.approx((20 + (30 + 40) / 2 + 40) / 3)


def test_numbers_and_statements_count_the_same_splits():
    judge = Judge.of_project(ROOT / "config", {})
    counted = {(name, other) for (_, name), other in judge.report_on.items()}
    assert counted == {(name, split) for split, name in OTHER_SPLITS.items()}


def test_case_within_margin_and_against_published_sign_is_opposite_sign():
    margin = (-5.0, "behind by so much is as good")
    one = declared(margin=margin, printed={"": {"yeast": 1.5, "delicious": 2.5}})
    assert one.outcome(ranked(0.49, 0.491)).verdict == "undecided: 0 of 1 for, 0 against, 1 with opposite sign"
    assert one.outcome(ranked(0.44, 0.441)).word == "does not hold"
    for same in (ranked(0.51, 0.511), ranked(0.4995, 0.5005), ranked(0.49, 0.491, name="scene")):
        # The cases have the published sign, an unclear sign, and no published value.
        assert one.outcome(same).word == "holds"
    both = [*ranked(0.49, 0.491), *ranked(0.51, 0.511, model="other")]
    assert (one.outcome(both).word, one.outcome(both).sides) == ("undecided", (1, 0, 1))
    split = one.outcome(ranked(0.49, 0.491, name="delicious-ldsm"))
    assert (split.word, split.cases[0].printed) == ("undecided", 2.5)
    of_other = declared(margin=margin, printed={"other": {"yeast": 1.5}}).outcome(both)
    assert [case.printed for case in of_other.cases] == [pytest.approx(math.nan, nan_ok=True), 1.5]
    made = manifest(claims_table([one]), both)
    assert made.frame[["printed", "supports", "opposites"]].values.tolist() == [[2, 1, 1]]
    assert "| yeast | mine | -0.95 [-1.59, -0.31] | +1.50 | 2 | opposite sign |" in " ".join(to_markdown(made).split())


def test_distance_holds_within_margin_on_either_side():
    one = declared(margin=(-5.0, "so far apart is alike"), scale="distance")
    words = [one.outcome(ranked(p1, p1)).word for p1 in (0.44, 0.46, 0.54, 0.56)]
    assert words == ["does not hold", "holds", "holds", "does not hold"]
    assert one.outcome(ranked(0.54, 0.54)).effect.mean == pytest.approx(4)


def test_claims_on_settings_fitted_to_published_results_are_marked():
    suite = SimpleNamespace(
        all_models={
            "mine": SimpleNamespace(fitted_settings="C: on Table 1", selected={}),
            "br": SimpleNamespace(fitted_settings="", selected={}),
        }
    )
    own = declared("own", about=("mine", lambda record: record.model == "mine"))
    other = declared("other", about=("br", lambda record: record.model == "br"))
    given = [Source(Path("1"), record) for record in [*ranked(0.7, 0.7), *ranked(0.8, 0.8, model="br")]]
    table = made(claims_table([own, other]), [given], suite)
    lines = to_markdown(table).splitlines()
    assert [" ‡ |" in line for line in lines if line.startswith(("| P@1 is own", "| P@1 is other"))] == [True, False]
    assert any(note.startswith("‡") and note.endswith(": “P@1 is own.”") for note in table.notes)


def test_claim_about_a_quantity_that_chose_settings_is_marked():
    origin = SimpleNamespace(fitted=("depth",))
    suite = SimpleNamespace(all_models={"mine": SimpleNamespace(fitted_settings="", selected={"yeast": origin})})
    claims = [declared("deep", quantity="depth"), declared("high", quantity="p@1"), declared("other")]
    given = [Source(Path("1"), record) for record in ranked(0.7, 0.7)]
    table = made(claims_table(claims), [given], suite)
    assert [row["verdict"].text.endswith("‡") for row in table.rows.values()] == [True, False, False]
    elsewhere = [Source(Path("1"), record) for record in ranked(0.7, 0.7, name="scene")]
    table = made(claims_table(claims), [elsewhere], suite)
    assert not any(row["verdict"].text.endswith("‡") for row in table.rows.values())


def test_claim_gets_the_records_of_its_needs():
    taken = []

    def both(*records):
        taken.extend(records)
        return []

    table = claims_table([declared("one"), declared("both", (THRESHOLDS, RANKINGS), both)])
    assert [need.kind for need in table.needs] == ["ranking", "thresholds"]
    ranked_, tuned = ranked(0.7), [as_record(thresholds())]
    manifest(table, ranked_, tuned)
    assert taken == [tuned, ranked_]


def test_effects_on_time_and_memory_do_not_change_fingerprint():
    table = claims_table([declared(cost=True)])
    made, other = (manifest(table, ranked(*scores)) for scores in ((0.9, 0.91), (0.1, 0.12)))
    assert to_csv(made) != to_csv(other)
    assert fingerprint_of(made) == fingerprint_of(other)
    assert made.frame["cost_verdict"].tolist() == ["holds"]
    assert any(note.endswith(": “P@1 is high.”") for note in made.notes)


@pytest.mark.parametrize(
    "about", [{"margin": (0.0, "why")}, {"margin": (1.0, "")}, {"margin": (1.0, "why"), "scale": "ratio"}]
)
def test_margin_needs_a_reason_only_if_it_differs_from_no_effect(about):
    with raises_with(ValueError, about["margin"][0]):
        declared(**about)


def test_statement_without_measure_is_refused():
    claims = Claims({name: declared().said for name in ("first", "second")})
    claims.claim("second", RANKINGS)(points)
    with raises_with(ValueError, "first"):
        claims.all()
    claims.claim("first", RANKINGS)(points)
    assert [claim.name for claim in claims.all()] == ["first", "second"]


CLEAR, OPEN = (1.0, 1.1, 0.9), (3.0, -3.0, 0.5)  # The effects of three seeds are clearly above 0, or undecided.
AGAINST = tuple(-value for value in CLEAR)


def effects(**cases):
    """Return effects of cases ``dataset_subject``, with a value for each seed."""
    return [
        Effect(*name.split("_"), seed, value) for name, values in cases.items() for seed, value in enumerate(values)
    ]


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
        ({"a_x": (-1.0,), "b_x": (-1.1,), "c_x": (-1.2,)}, "does not hold", "does not hold in the mean of 3 datasets"),
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


def test_interval_with_test_set_error_is_wider_and_decides_nothing():
    values, errors = effects(a_x=CLEAR), {("a", "x"): 1.0}
    (case,) = outcome_of(values, 0, errors=errors).cases
    assert case.on_tests.upper - 1 == pytest.approx(math.hypot(case.effect.upper - 1, 1.959964), abs=1e-6)
    assert (case.on_tests.side_of(0), case.side) == (0, 1)
    assert not outcome_of(values, 0).cases[0].on_tests.has_interval
    assert not outcome_of(values[1:2], 0, errors=errors).cases[0].on_tests.has_interval


def test_effects_have_bootstrap_standard_error_of_test_set():
    rng = np.random.default_rng(0)
    pairs = []
    for seed in range(3):
        apart = {model: {"p@1": rng.uniform(-0.05, 0.05, 50).tolist()} for model in ("mine", "other")}
        pairs += [as_record(ranking("yeast", name, seed, 0.6, resampled=kept)) for name, kept in apart.items()]

    def ahead(records):
        for models in by_model(records).values():
            yield ranked_apart("", models["mine"], models["other"], "p@1")

    one = declared(measure=ahead)
    apart = [
        np.subtract(mine.resampled["p@1"], other.resampled["p@1"]) * 100  # in percentage points
        for mine, other in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    (errors,) = errors_on_tests([one], {RANKINGS: pairs}).values()
    # This is not the mean of the errors of seeds. The part specific to a seed shrinks with more seeds.
    assert errors == {("yeast", ""): pytest.approx(np.mean(apart, axis=0).std(ddof=1))}
    (case,) = one.outcome(pairs, errors=errors).cases
    assert case.on_tests.upper == pytest.approx(1.959964 * errors["yeast", ""], abs=1e-6)
    still = [replace(record, resampled={"p@1": [0.0] * 50}) for record in pairs]
    assert errors_on_tests([one], {RANKINGS: still}) == {one: {}}


def test_claim_on_records_of_earlier_version_has_no_test_set_error():
    kept = [as_record(ranking("yeast", name, 0, 0.6, resampled={"p@1": [0.5, 0.6] * 25})) for name in ("a", "b")]
    earlier = [replace(record, dataset=replace(record.dataset, name="scene"), resampled={}) for record in kept]

    def first(records):
        for record in records:
            yield Effect(record.dataset.name, record.model, record.seed, record.metrics["p@1"])

    of_all = declared(measure=first)
    of_yeast = replace(of_all, about=datasets("yeast", "yeast"))
    given = {RANKINGS: [*kept, *earlier]}
    assert {*errors_on_tests([of_all, of_yeast, replace(of_all, said=replace(of_all.said, scale="ratio"))], given)} == {
        of_yeast
    }
    assert {*errors_on_tests([of_all], {RANKINGS: kept})} == {of_all}


def test_cases_whose_interval_with_test_set_error_has_margin_are_counted():
    found = outcome_of(effects(a_x=CLEAR, b_x=CLEAR, c_x=CLEAR), 0, errors={("a", "x"): 1.0, ("b", "x"): 0.01})
    assert [case.side for case in found.cases] == [1, 1, 1]
    assert (found.lost, found.tested) == (1, 2)
    assert outcome_of(effects(c_x=CLEAR), 0).lost is None


def test_margin_shifts_the_verdict():
    values = effects(a_x=CLEAR)
    assert [outcome_of(values, margin).word for margin in (-2, 1, 2)] == ["holds", "undecided", "does not hold"]


def test_mean_over_datasets_uses_mean_over_cases_of_each():
    found = outcome_of(effects(a_x=(1.0,), a_y=(3.0,), b_x=(6.0,), c_x=(7.0,)), margin=0)
    assert found.effect.mean == 5
    assert found.effect.has_interval
    assert not outcome_of(effects(a_x=CLEAR, a_y=CLEAR, b_x=CLEAR), margin=0).effect.has_interval  # two datasets
    assert [case.seeds for case in found.cases] == [1, 1, 1, 1]


def test_ratios_are_averaged_as_logarithms():
    found = outcome_of(effects(a_x=(2.0, 2.0), b_x=(8.0, 8.0)), margin=1, scale=Scale("ratio"))
    assert found.effect.mean == pytest.approx(4)
    assert [case.effect.lower for case in found.cases] == [pytest.approx(2), pytest.approx(8)]
    assert found.word == "holds"
    assert outcome_of(effects(a_x=(0.5, 0.5)), margin=1, scale=Scale("ratio")).word == "does not hold"


@pytest.mark.parametrize("wrong", [[Effect("a", "x", 0, 1.0)] * 2, [Effect("a", "x", 0, math.nan)]])
def test_repeated_and_nan_effects_are_refused(wrong):
    with raises_with(ValueError, "dataset='a'"):
        outcome_of(wrong, margin=0)


def simulated(rng, datasets, subjects, seeds, effect, shared):
    """Draw effects of standard deviation 1 over seeds. Subjects of a dataset share part of their noise."""
    common = rng.normal(0, 1, (datasets, 1, seeds))
    own = rng.normal(0, 1, (datasets, subjects, seeds))
    noise = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
    return [
        Effect(f"d{d}", f"s{s}", k, effect + float(noise[d, s, k]))
        for d in range(datasets)
        for s in range(subjects)
        for k in range(seeds)
    ]


@pytest.mark.parametrize("shared", [0.0, 1.0])
@pytest.mark.parametrize(("datasets", "subjects", "seeds"), [(1, 1, 5), (1, 4, 2), (2, 2, 3), (3, 1, 1), (6, 2, 5)])
def test_noise_makes_a_statement_hold_in_at_most_1_of_20_runs(datasets, subjects, seeds, shared):
    rng = np.random.default_rng([datasets, subjects, seeds])
    words = [outcome_of(simulated(rng, datasets, subjects, seeds, 0.0, shared), 0).word for _ in range(1000)]
    assert words.count("holds") <= 50
    assert words.count("does not hold") <= 50


def test_dataset_that_disagrees_refutes_universal_statement():
    rng, words = np.random.default_rng(1), []
    for _ in range(200):
        drawn = simulated(rng, 3, 1, 5, 2.0, 0.0)
        drawn = [replace(one, value=one.value - 4) if one.dataset == "d0" else one for one in drawn]
        words.append(outcome_of(drawn, 0, every=True).word)
    assert words.count("does not hold") >= 180


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_noise_refutes_universal_statement_in_1_of_40_runs_per_case_and_mean(shared):
    rng = np.random.default_rng(7)
    words = [outcome_of(simulated(rng, 4, 1, 5, 0.0, shared), 0, every=True).word for _ in range(1000)]
    assert words.count("does not hold") <= 1000 * (4 + 1) / 40


def test_record_of_several_trials_decides_with_one_seed():
    error = 1 / 2.0095752  # the quantile of Student's t with 49 degrees of freedom is 2.0095752
    (case,) = outcome_of([Effect("a", "", 0, 3.0, error, 50)], margin=1.5).cases
    assert (case.effect.lower, case.effect.upper) == (pytest.approx(2, abs=1e-6), pytest.approx(4, abs=1e-6))
    assert case.side == 1
    exact = Effect("a", "", 0, 3.0, 0)
    assert [outcome_of([exact], margin).word for margin in (2, 3, 4)] == ["holds", "undecided", "does not hold"]
    (ratio,) = outcome_of([Effect("a", "", 0, 4.0, 0)], 1, Scale("ratio")).cases
    assert ratio.effect.upper == pytest.approx(4)
    several = [Effect("a", "", seed, value, 0) for seed, value in enumerate((3.0, -3.0))]
    assert outcome_of(several, 0).word == "undecided"  # Standard errors do not decide the verdict.
