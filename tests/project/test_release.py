"""A release has one number and one date, wherever they stand."""

import re

import yaml
from repository import ROOT

import xmlc

RELEASED = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_newest_release_is_the_version_of_the_package():
    number, day = RELEASED[0]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert xmlc.__version__ == citation["version"] == number
    assert str(citation["date-released"]) == day
