"""Test claims and effects: declaration, verdicts, and the table of claims."""

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from claim_cases import numbers_of
from claim_cases import outcome_of as outcome
from facts import absent, raises_with
from report_cases import ranking, thresholds

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import RANKINGS, THRESHOLDS
from xmlc.suite.papers import read_declared
from xmlc.suite.papers import table_of as declared_table
from xmlc.suite.papers.claims import Claim, claims_table, counted
from xmlc.suite.papers.effects import about, common, least, ratio, scores, union
from xmlc.suite.papers.outcome import Effect, by_case, error_on_tests, outcome_of
from xmlc.suite.papers.printing import fingerprint_of, to_csv, to_markdown
from xmlc.suite.results.intervals import Estimate

PAPERS = ["gfm2011", "ldsm2020", "oplt2021", "plt2016", "swnn2018"]
NOT_PUBLISHED = pd.DataFrame(columns=["claim", "quantity", "value"], dtype=object)


def table_of(claims, *given, suite=None):
    """Build a table of claims from the records of each need."""
    spec = claims_table(claims)
    numbers = [numbers_of(records).assign(need=place) for place, records in enumerate(given)]
    return spec.build("plt2016", pd.concat(numbers, ignore_index=True), NOT_PUBLISHED, suite)


def markdown(table):
    """Return the Markdown of a table with single spaces."""
    return " ".join(to_markdown(table).split())


def points(numbers):
    """Return effects of each model: P@1 minus 50 points."""
    return about(scores(numbers, "p@1") - 50)


def ahead(numbers):
    return about(scores(numbers, "p@1", model="mine") - scores(numbers, "p@1", model="other"), "")


def declared(name="high", needs=(RANKINGS,), measure=points, only=None, **said):
    said = {"source": "Section 1, page 2", "unit": "points", "stated": "verbatim"} | said
    statement = f"P@1 is {name}."
    return Claim(
        name=name, needs=needs, measured_by=measure, chosen_by=only, statement=statement, **said
    )


LOW = declared("low", margin=50.0, because="all is lower")


def ranked(*scores, name="yeast", model="mine"):
    return [ranking(name, model, seed, p1) for seed, p1 in enumerate(scores)]


TWO_DATASETS = [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")]


def test_each_claim_has_a_row_and_a_panel_of_its_cases():
    table = table_of([declared(), LOW], TWO_DATASETS)
    assert table.content["claim"].tolist() == ["high", "low"]
    assert table.content["verdict"].tolist() == ["holds", "does not hold"]
    numbers = ["effect", "supports", "contradicts", "cases", "seeds"]
    assert table.content.loc[0, numbers].tolist() == [17.5, 2, 0, 2, 2]
    assert [panel.details for panel in table.panels] == [False, True, True]
    text = markdown(table)
    row = (
        "| P@1 is high. | Section 1, page 2 | points | verbatim | +17.50 | – | | holds on 2 of 2 |"
    )
    assert row in text
    assert "| yeast | mine | +25.00 [+12.58, +37.42] | – | 3 | for |" in text
    assert any(absent(note, LOW.statement, 50, LOW.because) == [] for note in table.notes)


def test_verbatim_claims_are_counted_by_verdict_without_costs():
    others = [declared("drawn", stated="derived"), declared("own", stated="xmlc")]
    claims = [declared(), LOW, *others, declared("dear", cost=True)]
    table = table_of(claims, TWO_DATASETS)
    assert counted(table) == {"P@1 is high.": "holds", "P@1 is low.": "does not hold"}
    assert table.content["stated"].tolist() == [claim.stated for claim in claims]
    assert Counter(counted(table_of(claims, [])).values()) == {"not run": 2}


def test_claim_counts_only_the_records_that_it_is_about():
    yeast = declared(about="yeast", only=lambda numbers: numbers["dataset"] == "yeast")
    scene = ranked(0.1, 0.1, name="scene")
    table = table_of([yeast], [*ranked(0.7, 0.705), *scene])
    assert table.content[["verdict", "cases"]].values.tolist() == [["holds", 1]]
    assert any(absent(note, yeast.statement, "about yeast") == [] for note in table.notes)
    assert outcome(yeast, scene).word == "not run"


def datasets_of(found):
    return [case.dataset for case in found.cases]


def test_same_instances_are_one_case_on_the_split_of_the_authors():
    both = [
        *ranked(0.7, 0.7),
        *ranked(0.6, 0.6, name="delicious"),
        *ranked(0.8, 0.8, name="delicious-ldsm"),
    ]
    scene = ranked(0.9, 0.9, name="scene")
    found = outcome(declared(), both, scene)
    assert datasets_of(found) == ["yeast", "delicious-ldsm", "scene"]
    assert found.effect.mean == pytest.approx((20 + 30 + 40) / 3)
    assert found.effect.has_interval
    assert not outcome(declared(), both).effect.has_interval  # two datasets
    assert datasets_of(outcome(declared(datasets=["delicious"]), both)) == ["delicious-ldsm"]
    # A subject that was run only on the other split keeps its case, and both are one dataset in the
    # mean.
    found = outcome(declared(), both, ranked(0.9, 0.9, name="delicious", model="other"), scene)
    assert datasets_of(found) == ["yeast", "delicious", "delicious-ldsm", "scene"]
    assert found.effect.mean == pytest.approx((20 + (30 + 40) / 2 + 40) / 3)


def test_case_within_margin_and_against_published_sign_is_opposite_sign():
    one = declared(margin=-5.0, printed={"": {"yeast": 1.5, "delicious": 2.5}})
    found = outcome(one, ranked(0.49, 0.491))
    assert found.verdict == "undecided: 0 of 1 for, 0 against, 1 with opposite sign"
    assert outcome(one, ranked(0.44, 0.441)).word == "does not hold"
    for same in (ranked(0.51, 0.511), ranked(0.4995, 0.5005), ranked(0.49, 0.491, name="scene")):
        # The cases have the published sign, an unclear sign, and no published value.
        assert outcome(one, same).word == "holds"
    both = [*ranked(0.49, 0.491), *ranked(0.51, 0.511, model="other")]
    assert outcome(one, both).word == "undecided"
    assert outcome(one, both).sides == (1, 0, 1)
    split = outcome(one, ranked(0.49, 0.491, name="delicious-ldsm"))
    assert (split.word, split.cases[0].printed) == ("undecided", 2.5)
    of_other = outcome(replace(one, printed={"other": {"yeast": 1.5}}), both)
    printed = [case.printed for case in of_other.cases]
    assert printed == pytest.approx([math.nan, 1.5], nan_ok=True)
    table = table_of([one], both)
    assert table.content[["printed", "supports", "opposites"]].values.tolist() == [[2, 1, 1]]
    assert "| yeast | mine | -0.95 [-1.59, -0.31] | +1.50 | 2 | opposite sign |" in markdown(table)


def test_distance_holds_within_margin_on_either_side():
    one = declared(margin=-5.0, scale="distance")
    words = [outcome(one, ranked(p1, p1)).word for p1 in (0.44, 0.46, 0.54, 0.56)]
    assert words == ["does not hold", "holds", "holds", "does not hold"]
    assert outcome(one, ranked(0.54, 0.54)).effect.mean == pytest.approx(4)


def marked(table):
    """Return the names of claims whose verdict is marked."""
    verdicts = [cells[-1] for cells in table.panels[0].cells]
    return [verdict.key[0] for verdict in verdicts if verdict.text.endswith("‡")]


def model_of_suite(fitted_settings="", **selected):
    return SimpleNamespace(fitted_settings=fitted_settings, selected=selected)


def test_claims_whose_settings_depend_on_published_results_are_marked():
    chosen = model_of_suite(yeast=SimpleNamespace(fitted=("depth",)))
    suite = SimpleNamespace(all_models={"mine": chosen, "br": model_of_suite("C: on Table 1")})
    claims = [declared("deep", quantity="depth", only=lambda numbers: numbers["model"] == "mine")]
    claims += [declared("all"), replace(claims[0], name="mine", quantity="p@1")]
    of_br = ranked(0.8, 0.8, model="br")
    table = table_of(claims, [*ranked(0.7, 0.7), *of_br], suite=suite)
    assert marked(table) == ["deep", "all"]
    quoted = ": “P@1 is deep.” “P@1 is all.”"
    assert any(note.startswith("‡") and note.endswith(quoted) for note in table.notes)
    table = table_of(claims, [*ranked(0.7, 0.7, name="scene"), *of_br], suite=suite)
    assert marked(table) == ["all"]


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.filterwarnings("error")
def test_claims_of_papers_are_not_run_without_numbers(paper):
    claims = declared_table("claims", paper).claims
    far = [ranking("far", "mine"), thresholds("far", "mine")]
    for records in ([], far):
        content = table_of(claims, records).content
        assert {*content["verdict"].fillna(content["cost_verdict"])} == {"not run"}


@pytest.mark.parametrize("paper", PAPERS)
def test_margins_have_reasons_and_each_record_belongs_to_one_need(paper):
    table = declared_table("claims", paper)
    for claim in table.claims:
        assert (claim.margin is None) == (not claim.because), claim.name
        assert claim.margin != replace(claim, margin=None).level, claim.name
    assert len({(need.kind, need.split) for need in table.needs}) == len(table.needs)


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
    table = table_of([declared(cost=True)], ranked(0.9, 0.91))
    other = table_of([declared(cost=True)], ranked(0.1, 0.12))
    assert to_csv(table) != to_csv(other)
    assert fingerprint_of(table) == fingerprint_of(other)
    assert table.content["cost_verdict"].tolist() == ["holds"]
    assert any(note.endswith(": “P@1 is high.”") for note in table.notes)


def test_statement_names_functions_and_selections_that_exist(tmp_path):
    file = tmp_path / "claims.yaml"
    known = {"RANKINGS": RANKINGS, "is_high": points, "few": ahead}
    entry = "{statement: A., source: Page 1, unit: points, stated: verbatim, needs: [RANKINGS]"
    high = f"high: {entry}, measured_by: is_high, options: {{sign: -1}}}}\n"
    file.write_text(f"{high}low: {entry}, measured_by: is_high, chosen_by: few}}\n")
    claims = read_declared(file, Claim, known)
    assert (claims["high"].needs, claims["high"].options) == ((RANKINGS,), {"sign": -1})
    assert (claims["high"].measured_by, claims["high"].chosen_by) == (points, None)
    assert (claims["low"].measured_by, claims["low"].chosen_by) == (points, ahead)
    with raises_with(XmlcError, file, "'is_high'"):
        read_declared(file, Claim, {"RANKINGS": RANKINGS, "few": ahead})
    with raises_with(XmlcError, file, "'few'"):
        read_declared(file, Claim, {"RANKINGS": RANKINGS, "is_high": points})


def test_scores_are_matched_by_run():
    scene = ranked(0.9, name="scene", model="other")
    numbers = numbers_of(ranked(0.7, 0.6), ranked(0.5, model="other"), scene)
    mine = scores(numbers, "p@1", model="mine")[0]
    other = scores(numbers, "p@1", model="other")[0]
    assert (mine - other).dropna().to_dict() == {("yeast", 0): pytest.approx(20)}
    assert [one.tolist() for one in common(mine, other)] == [[70], [50]]
    assert scores(numbers, "p@1")[0]["yeast", "other", 0] == 50
    assert scores(numbers, "unknown").empty
    with raises_with(ValueError, "p@1", "yeast"):
        scores(numbers_of(ranked(0.7), ranked(0.8)), "p@1")


def test_least_effect_counts_and_costs_that_are_0_give_no_ratio():
    numbers = numbers_of(ranked(0.7, 0.2), [ranking(model="other", p1=0.5, seconds=0)])
    mine = scores(numbers, "p@1", model="mine")
    effects = least(about(mine, "x"), about(40 - mine.iloc[:1], "x"))
    assert effects[0].to_dict() == {("yeast", "x", 0): -30, ("yeast", "x", 1): 20}
    assert least().empty
    assert union().empty
    seconds = scores(numbers, "train_seconds")
    ratios = ratio(seconds, seconds)[0].dropna()
    assert [*ratios.index] == [("yeast", "mine", 0), ("yeast", "mine", 1)]


# The effects of three seeds: clearly above 0, undecided, and clearly below 0
EFFECTS = {"clear": (1.0, 1.1, 0.9), "open": (3.0, -3.0, 0.5), "against": (-1.0, -1.1, -0.9)}


def effects(**cases):
    """Return effects of cases ``dataset_subject``, with values of seeds or their name in
    `EFFECTS`.
    """
    found = []
    for name, values in cases.items():
        for seed, value in enumerate(EFFECTS.get(str(values), values)):
            found.append(Effect(*name.split("_"), seed, value))
    return found


VERDICTS = yaml.safe_load("""
not run: {}
holds on 1 of 1: {a_x: clear}
"does not hold: 1 of 1 against": {a_x: against}
undecided: {a_x: open}
"undecided: 1 of 2 for, 0 against": {a_x: clear, a_y: open}
holds on 2 of 3: {a_x: clear, a_y: clear, b_x: against}
"undecided: 1 of 2 for, 1 against": {a_x: clear, b_x: against}
holds in the mean of 3 datasets: {a_x: [1.0], b_x: [1.1], c_x: [1.2]}
does not hold in the mean of 3 datasets: {a_x: [-1.0], b_x: [-1.1], c_x: [-1.2]}
# With a case against the claim, the mean cannot decide.
"undecided: 0 of 4 for, 1 against": {a_x: [8.0], b_x: [8.1], c_x: [8.2], c_y: against}
""")


@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdict_follows_from_cases_and_mean(verdict):
    found = outcome_of(effects(**VERDICTS[verdict]), margin=0)
    assert found.verdict == verdict
    assert verdict.startswith(found.word)
    assert outcome_of(effects(a_x=[1.0], b_x=[1.1]), margin=0).verdict == "undecided"


@pytest.mark.parametrize(
    ("verdict", "last"),
    [("holds on 2 of 3", "open"), ("does not hold: 1 of 3 against", "against")],
)
def test_one_case_refutes_a_universal_statement(verdict, last):
    cases = effects(a_x="clear", a_y="clear", a_z=last)
    assert outcome_of(cases, 0, every=True).verdict == verdict


def with_error(error, **cases):
    """Return effects with values on two resampled test sets, whose standard deviation is
    ``error``.
    """
    half = error / math.sqrt(2)
    return [replace(one, resampled=(-half, half)) for one in effects(**cases)]


def test_cases_whose_interval_with_test_set_error_has_margin_are_counted():
    known = with_error(1.0, a_x="clear") + with_error(0.01, b_x="clear")
    found = outcome_of(known + effects(c_x="clear"), 0)
    cases = [(case.side, case.lost, case.on_tests.has_interval) for case in found.cases]
    assert cases == [(1, True, True), (1, False, True), (1, False, False)]
    assert found.tested == 2
    case = found.cases[0]
    upper = math.hypot(case.effect.upper - 1, 1.959964)
    assert case.on_tests.upper - 1 == pytest.approx(upper, abs=1e-6)
    assert case.on_tests.side_of(0) == 0
    (one_seed,) = outcome_of(known[:1], 0).cases
    assert not one_seed.on_tests.has_interval


def test_case_of_one_seed_has_no_side_and_equal_scores_no_negative_effect():
    one_seed = table_of([declared()], ranked(0.7))
    assert "| yeast | mine | +20.00 | – | 1 | one seed |" in markdown(one_seed)
    negated = declared(measure=lambda numbers: -points(numbers))
    assert "| +0.00 [+0.00, +0.00] |" in markdown(table_of([negated], ranked(0.5, 0.5)))


def test_effects_have_bootstrap_standard_error_of_test_set():
    drawn = np.random.default_rng(0).uniform(-0.05, 0.05, (2, 3, 50))
    records = []
    for (model, seed), _ in np.ndenumerate(drawn[..., 0]):
        values = {"p@1": drawn[model, seed].tolist()}
        records.append(ranking("yeast", ("mine", "other")[model], seed, 0.6, resampled=values))
    one = declared(measure=ahead)
    # This is not the mean of the errors of seeds. The part specific to a seed shrinks with more
    # seeds.
    points_apart = 100 * (drawn[0] - drawn[1]).mean(axis=0)
    error = error_on_tests(one.effects(numbers_of(records)))
    assert error == pytest.approx(points_apart.std(ddof=1))
    (case,) = outcome(one, records).cases
    assert case.on_tests.upper == pytest.approx(1.959964 * error, abs=1e-6)
    assert not outcome(replace(one, cost=True), records).tested
    still = [record | {"resampled": {"p@1": [0.0] * 50}} for record in records]
    assert math.isnan(error_on_tests(one.effects(numbers_of(still))))


def lowest(numbers):
    return about(scores(numbers, "p@1").groupby(level=["dataset", "seed"]).min(), "")


def share_above(numbers):
    shares = (scores(numbers, "p@1") > 60).groupby(level="seed").mean()
    return pd.concat({("all", ""): shares}, names=["dataset", "subject"])


def with_known_error(records, **about):
    cases = by_case(declared(**about).effects(numbers_of(records)))
    return {case for case, runs in cases.items() if not math.isnan(error_on_tests(runs))}


def test_case_on_records_of_earlier_version_has_no_test_set_error():
    mine = ranking(model="mine", p1=0.6, resampled={"p@1": [-0.1, 0.1] * 25})
    scene = ranked(0.6, name="scene")
    assert with_known_error([mine, *scene]) == {("yeast", "mine")}
    assert with_known_error([mine, *scene], scale="ratio") == set()
    mixed = [mine, ranking(model="other", p1=0.5)]
    for measure in (ahead, lowest, share_above):
        assert with_known_error([*mixed, *scene], measure=measure) == set()


def test_ratios_are_averaged_as_logarithms():
    found = outcome_of(effects(a_x=(2.0, 2.0), b_x=(8.0, 8.0)), margin=1, scale="ratio")
    assert found.effect.mean == pytest.approx(4)
    assert [case.effect.lower for case in found.cases] == pytest.approx([2, 8])
    assert found.word == "holds"
    assert outcome_of(effects(a_x=(0.5, 0.5)), margin=1, scale="ratio").word == "does not hold"
    shown = [declared(scale="ratio").shown(Estimate(ratio)) for ratio in (1.234, 123.4)]
    assert shown == ["1.23", "123"]


@pytest.mark.parametrize("wrong", [[Effect("a", "x", 0, 1.0)] * 2, [Effect("a", "x", 0, math.nan)]])
def test_repeated_and_nan_effects_are_refused(wrong):
    with raises_with(ValueError, "dataset='a'"):
        outcome_of(wrong, margin=0)


def verdicts_on_noise(datasets, subjects, seeds, shared, every=False):
    """Count verdicts on effects of mean 0 and standard deviation 1 over seeds.

    Subjects of a dataset share part of their noise.
    """
    rng = np.random.default_rng([7, datasets, subjects, seeds])
    words = Counter()
    for _ in range(1000):
        common = rng.normal(size=(datasets, 1, seeds))
        own = rng.normal(size=(datasets, subjects, seeds))
        values = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
        drawn = []
        for (dataset, subject, seed), value in np.ndenumerate(values):
            drawn.append(Effect(f"d{dataset}", f"s{subject}", seed, float(value)))
        words[outcome_of(drawn, 0, every=every).word] += 1
    return words


@pytest.mark.parametrize("shared", [0.0, 1.0])
@pytest.mark.parametrize("sizes", [(1, 1, 5), (1, 4, 2), (2, 2, 3), (3, 1, 1), (6, 2, 5)])
def test_noise_makes_a_statement_hold_in_at_most_1_of_20_runs(sizes, shared):
    words = verdicts_on_noise(*sizes, shared)
    assert max(words["holds"], words["does not hold"]) <= 50


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_noise_refutes_universal_statement_in_1_of_40_runs_per_case_and_mean(shared):
    words = verdicts_on_noise(4, 1, 5, shared, every=True)
    assert words["does not hold"] <= 1000 * (4 + 1) / 40


def test_record_of_several_trials_decides_with_one_seed():
    error = 1 / 2.0095752  # the quantile of Student's t with 49 degrees of freedom is 2.0095752
    (case,) = outcome_of([Effect("a", "", 0, 3.0, error, 50)], margin=1.5).cases
    assert (case.effect.lower, case.effect.upper) == pytest.approx((2, 4), abs=1e-6)
    assert case.side == 1
    exact = Effect("a", "", 0, 3.0, 0)
    words = [outcome_of([exact], margin).word for margin in (2, 3, 4)]
    assert words == ["holds", "undecided", "does not hold"]
    (ratio,) = outcome_of([exact], 1, "ratio").cases
    assert ratio.effect.upper == pytest.approx(3)
    # Standard errors do not decide the verdict.
    several = [exact, replace(exact, seed=1, value=-3.0)]
    assert outcome_of(several, 0).word == "undecided"
