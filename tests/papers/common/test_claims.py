"""The table of claims: what is declared, a row for each claim, whatever records there are."""

import math

import pytest
from record_files import as_record
from report_cases import ranking, thresholds
from repository import ROOT

from xmlc.papers import every_table
from xmlc.papers.common.claims import claim, claims_line, claims_table, counted
from xmlc.papers.common.effects import Effect
from xmlc.suites.needs import MULTI_LABEL_RANKINGS, RANKINGS, THRESHOLDS
from xmlc.suites.project import Project
from xmlc.tables.panels import Published
from xmlc.tables.render import fingerprint_of, to_csv, to_markdown

NOTHING = Published({}, ("claim",))


def declared(name="high", *needs, said="Source: Section 1,\n    page 2\n    ", **about):
    def measured(records, *others):
        return (Effect(r.dataset.name, r.model, r.seed, 100 * r.metrics["p@1"] - 50) for r in records)

    measured.__name__, measured.__doc__ = name, f"P@1 is {name}.\n\n    As it is measured.\n\n    {said}"
    return claim(*(needs or (RANKINGS,)), unit="points", **about)(measured)


def ranked(*scores, name="yeast", model="mine"):
    return [as_record(ranking(name, model, seed, p1)) for seed, p1 in enumerate(scores)]


def test_a_row_for_each_claim_and_a_panel_of_its_units():
    table = claims_table([declared(), declared("low", margin=(50.0, "all is lower"))])
    made = table("plt2016", [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")], NOTHING)
    assert made.frame["claim"].tolist() == ["high", "low"]
    assert made.frame["verdict"].tolist() == ["holds", "does not hold"]
    assert made.frame.loc[0, ["effect", "supports", "contradicts", "units", "seeds"]].tolist() == [17.5, 2, 0, 2, 2]
    text = " ".join(to_markdown(made).split())
    assert "| high | P@1 is high. | Section 1, page 2 | points | +17.50 | holds on 2 of 2 |" in text
    assert "| yeast | mine | +25.00 [+12.58, +37.42] | 3 | for |" in text
    assert "| scene | mine | +10.00 [+10.00, +10.00] | 2 | for |" in text
    assert "low: margin 50, all is lower." in text


def test_claims_are_counted_by_verdict_those_of_costs_among_them():
    claims = [declared(), declared("low", margin=(50.0, "all is lower")), declared("dear", cost=True)]
    made = claims_table(claims)("plt2016", [*ranked(0.7, 0.75, 0.8), *ranked(0.6, 0.6, name="scene")], NOTHING)
    assert counted(made) == {"holds": 2, "does not hold": 1}
    assert claims_line(counted(made)) == "2 of 3 claims hold, 1 does not"
    assert counted(claims_table(claims)("plt2016", [], NOTHING)) == {"no data": 3}
    assert [panel.detail for panel in made.panels] == [False, True, True, True]


def test_without_records_there_is_no_data():
    made = claims_table([declared()])("plt2016", [], NOTHING)
    assert made.frame["verdict"].tolist() == ["no data"]
    assert math.isnan(made.frame["effect"][0])
    assert "no data" in to_markdown(made)


def test_one_seed_decides_no_unit():
    made = claims_table([declared()])("plt2016", ranked(0.9), NOTHING)
    assert made.frame["verdict"].tolist() == ["cannot be told"]
    assert "one seed" in to_markdown(made)


def test_a_claim_takes_the_records_of_its_own_needs():
    taken = []

    @claim(THRESHOLDS, RANKINGS, unit="points")
    def both(*records):
        """So it is.

        Source: Section 1, page 2
        """
        taken.extend(records)
        return []

    table = claims_table([declared("one"), both])
    assert [need.kind for need in table.needs] == ["ranking", "thresholds"]
    ranked_, tuned = ranked(0.7), [as_record(thresholds())]
    table("plt2016", ranked_, NOTHING, tuned)
    assert taken == [tuned, ranked_]


def test_effects_of_clocks_and_memory_are_no_part_of_the_fingerprint():
    table = claims_table([declared(cost=True)])
    made, other = (table("plt2016", ranked(*scores), NOTHING) for scores in ((0.9, 0.91), (0.1, 0.12)))
    assert to_csv(made) != to_csv(other)
    assert fingerprint_of(made) == fingerprint_of(other)
    assert made.frame["cost_verdict"].tolist() == ["holds"]
    assert any(note.endswith("differ from run to run: high.") for note in made.notes)


def test_wrong_declarations_are_refused():
    with pytest.raises(
        ValueError, match="claim high: expected a docstring whose last paragraph begins with 'Source: '"
    ):
        declared(said="")
    with pytest.raises(ValueError, match="names that differ"):
        claims_table([declared(), declared()])
    with pytest.raises(ValueError, match="one need of each kind and portion"):
        claims_table([declared("one"), declared("two", MULTI_LABEL_RANKINGS)])


def test_each_paper_states_its_claims_first():
    suites = Project.read({"papers": []}, ROOT / "config").suites
    for paper in [room for room, table in every_table() if table.name == "claims"]:
        assert suites[paper].tables[0] == "claims"


@pytest.mark.parametrize(
    "about", [{"margin": (0.0, "why")}, {"margin": (1.0, "")}, {"margin": (1.0, "why"), "scale": "ratio"}]
)
def test_a_margin_other_than_no_difference_has_a_reason_and_no_other_has_one(about):
    with pytest.raises(ValueError, match="expected another than no difference"):
        declared(**about)
