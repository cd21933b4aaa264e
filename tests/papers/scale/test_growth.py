"""The table of how costs grow with the data."""

import pytest
from built_tables import build_from
from report_cases import ranking

from xmlc.errors import XmlcError
from xmlc.tables.render import to_csv, to_markdown


@pytest.fixture
def build(tmp_path):
    return lambda records: build_from(tmp_path, "growth", "scale", records)


def grown(name, factor=1.0, model="plt"):
    record = ranking(name=f"growth-{name}", model=model, seconds=4.0 * factor)
    record["costs"] |= {"model_bytes": 1e6 * factor**2, "predict_ms_per_instance": 0.5}
    return record


def test_growth_is_the_ratio_to_the_base_of_the_same_model(build):
    records = [grown("base"), grown("n-x2", 2.5), grown("labels-x8", 3.0)]
    records += [grown("n-x2", 3.0, "plt-batch"), grown("base", 2.0, "plt-batch")]
    table = build(records)
    frame = table.frame
    assert frame["multiplied"].tolist() == ["base", "n x 2", "labels x 8", "n x 2", "base"]
    assert frame["train_seconds"].tolist() == [4, 10, 12, 12, 8]
    assert frame["train_seconds_ratio"].tolist() == [1, 2.5, 3, 1.5, 1]
    assert frame["model_mb_ratio"].tolist() == [1, 6.25, 9, 2.25, 1]
    assert frame["predict_ms_ratio"].tolist() == [1] * 5
    assert [panel.title for panel in table.panels] == ["PLT", "PLT, batch"]
    assert "| n x 2 | 10 | 2.50 | 0.500 | 1.00 | 6.25 | 6.25 | 200 | 1.00 |" in " ".join(to_markdown(table).split())
    assert to_csv(table).startswith("model,dataset,multiplied,n_train,d,m,")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["growth-n-x2"], "found none to compare with"),
        (["growth-base", "other-base"], "found growth-base, other-base to compare with"),
        (["growth-base", "yeast"], "expected a name such as growth-base or growth-n-x2"),
    ],
)
def test_growth_needs_one_base_and_names_that_tell_the_factor(build, names, message):
    with pytest.raises(XmlcError, match=message):
        build([ranking(name=name) for name in names])
