"""Test the summary of a comparison: changed settings, largest changes, tables, and its length."""

from itertools import zip_longest

import pytest
from compare_cases import MIXED, TABLE, change
from facts import absent
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.suite.report.changes import changes_between, changes_line
from xmlc.suite.report.compare import compare, compared_fingerprints
from xmlc.suite.report.summary import (
    LIMIT,
    Section,
    Summary,
    summary_as_markdown,
    summary_as_text,
    summary_of_published,
    summary_of_runs,
)
from xmlc.suite.report.verdicts import Judge, Spread
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.settings import settings_of

STO = ("yeast", "plt", "sto")


def summary_lines(left, right, runs=None):
    return summary_of_runs(compare(left, right, runs=runs), *compared_fingerprints(left, right), "old, new")


def settings(**changes):
    """Return the settings stored next to the tables of a run of PLT on two datasets."""
    environment = {"python": "3.13.0", "cpu": "any", "threads": 2}
    records = [
        make(name, seed=seed, environment=environment)
        for name in ("scene", "yeast") for make in (ranking, thresholds) for seed in (0, 1)
    ]  # fmt: skip
    found = settings_of(map(as_record, records))
    found[""] |= {"code": "34cd", "commit": "5e6f"}
    return found | {subject: found[subject] | values for subject, values in changes.items()}


def changes(old, new):
    return list(map(str, changes_between([(old, new)])))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"yeast / plt": {"arity": 8}, "scene / plt": {"arity": 8.0}}, ["plt: arity 16 -> 8"]),
        ({"yeast / plt": {"arity": 8}}, ["plt on yeast: arity 16 -> 8"]),
        ({"yeast / plt": {"beam": 3}}, ["plt on yeast: beam none -> 3"]),
        ({"yeast / plt / fta": {"grid": "2 10"}}, ["plt fta on yeast: grid 2 10 100 -> 2 10"]),
        ({"yeast": {"data": "12ab"}}, ["yeast: data 796561737400 -> 12ab"]),
        ({"yeast / plt": {"seeds": [1]}, "scene / plt": {"seeds": [1]}}, ["seeds 0 1 -> 1"]),
        ({"yeast / plt": {"seeds": [1]}}, ["plt on yeast: seeds 0 1 -> 1"]),
        ({"": {"code": "12ab"}}, ["code 34cd -> 12ab"]),
        ({"": {"code": "12ab", "commit": "9f8e"}}, ["code 34cd (5e6f) -> 12ab (9f8e)"]),
        ({"": {"python": "3.14.0", "code": "12ab"}}, ["python 3.13.0 -> 3.14.0", "code 34cd -> 12ab"]),
        ({"yeast": {"propensity": "0.5 0.4"}}, []),  # earlier versions did not record this setting
    ],
)
def test_differences_between_two_runs_are_named(changed, said):
    old = settings()
    assert changes(old, old | settings(**changed)) == said
    assert absent(changes_line([(old, old | settings(**changed))], True), *said) == []


@pytest.mark.parametrize("name", ["validation_share", "propensity", "model code", "files", "method code"])
def test_every_other_setting_is_named_if_it_differs(name):
    old, new = (settings_of([as_record(thresholds(settings={name: value}))]) for value in ("12ab", "34cd"))
    (said,) = changes(old, new)
    assert said.endswith(f": {name} 12ab -> 34cd")


def test_settings_are_compared_for_tables_with_settings_on_both_sides():
    one, other = settings(), settings(**{"yeast / plt": {"arity": 8}})
    assert absent(changes_line([(one, other), ({}, other)], True), "arity", "1 of 2 tables", "old") == []
    assert absent(changes_line([(one, one), ({}, other)], False), "arity") == ["arity"]
    assert absent(changes_line([({}, one), (one, {})], True), "old and new") == []
    assert absent(changes_line([], True), "both") == []
    assert changes_line([({}, one)], False) == "", "nothing changed, so unknown settings do not matter"


VERSIONS = dict.fromkeys(("xmlc", "python", "scipy", "numba"), "1.0") | {"numpy": "2.4.6"}
MACHINE = {"machine": "x86_64", "cpu": "one", "threads": 2}


def of_records(*changes_of_each, **common):
    """Return the settings of the rankings and thresholds of two seeds."""
    makers = [(make, seed) for make in (ranking, thresholds) for seed in (0, 1)]
    records = []
    for (make, seed), changed in zip_longest(makers, changes_of_each, fillvalue={}):
        content = {"seed": seed} | common | changed
        environment = content.pop("environment", {})
        if environment is not None:
            content["environment"] = VERSIONS | MACHINE | environment
        records.append(as_record(make(**content)))
    return settings_of(records)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"environment": {"numpy": "1.26.4"}}, ["numpy", "1.26.4", "2.4.6"]),
        ({"environment": {"python": "3.11.7"}}, ["python", "3.11.7", "1.0"]),
        ({"environment": {"cpu": "another"}}, ["cpu", "another", "one"]),
        ({"environment": {"threads": 1}}, ["threads", "1", "2"]),
        ({"environment": {"sklearn": "1.5"}}, ["sklearn", "1.5"]),
        ({"environment": None}, ["numpy", "unknown", "2.4.6"]),
        ({"settings": {"model code": "12ab"}}, ["model code", "12ab", "34cd"]),
        ({"settings": {"files": "12ab"}}, ["files", "12ab", "34cd"]),
        ({"hyperparameters": {"arity": 8}}, ["arity", "8", "16"]),
        ({"estimator": "oplt"}, ["estimator", "oplt", "plt"]),
    ],
)
@pytest.mark.parametrize("place", range(4))
def test_each_record_of_a_table_counts(change, said, place):
    common = {"settings": {"model code": "34cd", "files": "34cd"}}
    one = of_records(*[{}] * place, change, **common)
    line = changes_line([(of_records(**common), one)], True)
    assert absent(line, *said) == []
    assert "no setting" not in line
    assert "no setting" in changes_line([(one, one)], True)


@pytest.mark.parametrize("name", ["numpy", "cpu"])
@pytest.mark.parametrize(("old", "new"), [("1222", "2122"), ("1122", "2211"), ("1212", "1221")])
def test_values_swapped_between_records_are_a_change(name, old, new):
    one, other = (of_records(*({"environment": {name: value}} for value in values)) for values in (old, new))
    assert name in changes_line([(one, other)], True)
    assert changes(one, one) == []


def test_seeds_of_each_method_count():
    one = settings_of([as_record(make(seed=seed)) for make, seed in ((ranking, 0), (ranking, 1), (thresholds, 0))])
    other = settings_of([as_record(make(seed=seed)) for make, seed in ((ranking, 0), (thresholds, 0), (thresholds, 1))])
    (said,) = changes(one, other)
    assert absent(said, "plt fta", "seeds 0") == []


def test_values_swapped_between_tables_are_a_change():
    one, other = (of_records(environment={"numpy": value}) for value in ("1.26.4", "2.4.6"))
    line = changes_line([(one, other), (other, one), (one, one)], True)
    assert absent(line, "numpy 1.26.4 -> 2.4.6", "numpy 2.4.6 -> 1.26.4") == []


def test_manifest_names_the_records_of_each_value():
    found = of_records({"environment": {"numpy": "1.26.4"}})
    (earlier,), others = (found[""]["numpy"]["differs"][version] for version in ("1.26.4", "2.4.6"))
    assert absent(earlier, "yeast / plt", "ranking", "seed 0") == []
    assert len(others) == 3
    assert found[""]["python"] == "1.0"


def test_settings_of_an_earlier_version_are_compared():
    new = of_records()
    run = {name: value for name, value in new[""].items() if name not in MACHINE}
    old = {"": run | {"numpy": "1.26.4"}, "yeast / plt": {"seeds": [0, 1], "arity": 8, "estimator": ""}}
    assert changes(old, new) == ["plt: arity 8 -> 16", "numpy 1.26.4 -> 2.4.6"]


def test_unknown_versions_are_said():
    one = of_records({"environment": None})
    assert absent(changes_line([(one, one)], True), "unknown") == []
    assert "unknown" not in changes_line([(of_records(), of_records())], True)


def test_file_shared_by_seeds_is_named_once():
    records = [as_record(ranking(seed=seed, settings={"files": f"both of-{seed}"})) for seed in (0, 1, 0)]
    found = settings_of(records)["yeast / plt"]["files"]["differs"]
    assert [(files, len(names)) for files, names in found.items()] == [("both of-0", 1), ("both of-1", 1)]


def test_summary_has_headline_largest_changes_and_a_line_per_table(files):
    left, right = files(TABLE, MIXED)
    for path, arity in ((left, 16), (right, 8)):
        made = settings(**{"yeast / plt": {"arity": arity}, "scene / plt": {"arity": arity}})
        Manifest("table2", "plt2016", (), titles={"plt": "Mine"}, settings=made).write(path.with_suffix(""))
    found = summary_lines(left, right, {("plt2016", "table2", STO, "macro_f"): Spread(3, 1.0)})
    assert absent(found.head[1], "3 of 6 cells", "2 rows") == []
    assert absent(found.head[2], "plt: arity 16 -> 8") == []
    assert found.head[3] == "old, new"
    # The smaller change is first because it is not known to be noise.
    assert [row[:6] for row in found.moves.rows] == [
        ["yeast", "Mine, FTA", "Macro-F", "40.00", "40.10", "+0.10"],
        ["yeast", "Mine, STO", "Macro-F", "35.12", "36.00", "+0.88"],
    ]
    assert len(found.moves.headings) == 7
    table, costs = found.sections
    assert absent(table.line, "table2", "3 of 6 cells", "macro_f by up to 0.877", "inner_products in 1 row") == []
    assert ["yeast / plt / sto", "inner_products", "60.0", "–", "", "missing"] in table.rows
    assert costs.rows == [("table2", "test_ms", "1.00", "2.00")]  # the smallest and the largest ratio
    lines = summary_as_text(found, every_cell=True).splitlines()
    assert lines[:4] == found.head
    assert len(lines) > len(summary_as_text(found).splitlines()) + len(table.rows)


def test_headline_of_a_study_is_macro_f_over_present_labels(tmp_path):
    text = "dataset,model,method,macro_f,macro_f_present\nmine,plt,fta,{},{}\n"
    for side, values in (("old", (40, 4)), ("new", (41, 6))):
        (tmp_path / side / "suite").mkdir(parents=True)
        (tmp_path / side / "suite/table2.csv").write_text(text.format(*values))
    moves = summary_lines(tmp_path / "old", tmp_path / "new").moves
    assert moves.rows == [["mine", "PLT, FTA", "Macro-F, labels present", "4.00", "6.00", "+2.00", "unknown"]]


def test_noise_is_estimated_on_side_with_more_seeds_and_listed_once(files):
    one = "dataset,model,method,macro_f,seeds\nyeast,plt,fta,40,1\nyeast,plt,sto,40,1\nyeast,br,sto,40,1\n"
    five = (
        "dataset,model,method,macro_f,macro_f_std,seeds\n"
        "yeast,plt,fta,41.53,0.5,5\nyeast,plt,sto,41.51,0.5,5\nyeast,br,sto,41,0,5\n"
    )
    left, right = files(one, five)
    for side in (left, right):
        (side.parent / "measures.csv").write_text(side.read_text().replace("method", "tuned_for"))
    rows = summary_lines(left.parent, right.parent).moves.rows
    # Student's t with 4 degrees of freedom times 0.5 sqrt(1 + 1 / 5) is 1.52. Seeds of BR give the same number.
    assert [row[1] for row in rows] == ["PLT, FTA", "BR, STO", "PLT, STO"]
    assert [row[-1] for row in rows] == ["± 1.5", "± 0", "± 1.5"]


def test_equal_tables_missing_parts_and_changed_claims_are_summarized(files):
    claims = "claim,effect,verdict\nprecision-on-par,2.5,holds\nbetter,1,undecided\nnew,1,\n"
    left, right = files(claims, change(claims, "2.5,holds", "2.4,undecided"), "claims.csv")
    for side in (left, right):
        Manifest("claims", "plt2016", (), digests={"yeast": "12ab"}).write(side.with_suffix(""))
        (side.parent / "table2.csv").write_text(TABLE)
        (side.parent / "table1.csv").write_text(f"dataset,model,p@1\n{side.parent.name},plt,1\n")
    (right.parent / "table4.csv").write_text("model,dataset,a\nplt,yeast,1\n")
    found = summary_lines(left.parent, right.parent)
    assert absent(found.head[1], "2 of 12 cells", "1 of 4 tables", "1 row missing", "1 row new", "1 table new") == []
    facts = [
        ["table1", "left / plt", "right / plt"],
        ["table4", "new"],
        [
            "claims",
            "2 of 6 cells",
            "PLT's precision@1 is on a par with FastXML's: holds -> undecided",
            "effect by up to 0.1",
        ],
        ["table2"],
    ]
    assert [absent(section.line, *some) for section, some in zip(found.sections, facts)] == [[]] * 4


def test_comparison_with_a_paper_lists_measured_numbers_first_with_intervals(files):
    for deviation in (0.1, 0.0):
        judge = Judge({("left", "table2", STO, "macro_f"): Spread(3, deviation)}, same_split={("left", "yeast")})
        found = summary_of_published(compare(*files(TABLE, MIXED), judge), "old, new")
        assert absent(found.head[0], "3 of 4", "1 equal", "1 above", "1 undecided", "2 of 2") == []
        kinds = ["measured, equal", "measured, above", "measured, undecided", "measured, not run"]
        assert [section.line.partition(":")[0] for section in found.sections[:4]] == kinds
        outside = [["yeast", "PLT, STO", "Macro-F", "35.12", "36.00", "+0.88", "± 0.608"]]
        assert found.moves.rows == outside * (deviation > 0)
        certain = ["1 cell without chance variation", "2.5 %"]
        assert absent(found.sections[1].line, *certain) == certain * (deviation > 0)


def test_markdown_has_a_limited_length_and_counts_omissions():
    sections = [
        Section(f"table{place}: moved", ("row", "x"), [(f"row {i}|", "9" * 80)] * 2000) for place, i in enumerate("abc")
    ]
    few = Section("table9: moved", ("row", "x"), [("here", "1")])
    summary = Summary(["first"], Section("Largest:", rows=[("p", "1 -> 2", "+1", "")]), [few, *sections])
    text = summary_as_markdown(summary)
    assert 0.98 * LIMIT < len(text) <= LIMIT
    assert text.startswith("- first\n\nLargest:\n\n")
    assert "| here | 1 |" in text
    assert "| row a&#124; |" in text
    counts = [int(line.split()[0].replace(",", "")) for line in text.splitlines() if line.endswith("left out")]
    assert sum(counts) + text.count("9" * 80) == 6000
    assert text.count("<details>") == text.count("</details>") == 4
    crowd = summary_as_markdown(Summary([], Section(""), [Section(f"table: {'moved ' * 400}")] * 500))
    assert len(crowd) <= LIMIT
    assert absent(crowd.splitlines()[-1], 500 - crowd.count("table: ")) == []
