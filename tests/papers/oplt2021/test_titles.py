"""Names of oplt2021's models as tables print them."""

from xmlc.papers import oplt2021
from xmlc.tables.titles import model_title, without_passes


def test_names_that_differ_by_passes():
    assert without_passes("oplt-b-3-passes") == ("oplt-b", 3)
    assert without_passes("cmt-1-pass") == ("cmt", 1)
    assert without_passes("ldsm-single") == ("ldsm-single", None)
    assert model_title("oplt-b-3-passes") == f"{oplt2021.MODELS['oplt-b']}, 3 passes" == "OPLT-B, 3 passes"
    assert model_title("oplt-r-1-pass") == "OPLT-R, 1 pass"
