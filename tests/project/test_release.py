"""A release has one number and one date, wherever they stand."""

import re
from datetime import date

import yaml
from repository import ROOT

import xmlc

RELEASED = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_newest_release_is_the_version_of_the_package():
    number, day = RELEASED[0]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert xmlc.__version__ == citation["version"] == number
    assert str(citation["date-released"]) == day


def test_releases_stand_newest_first():
    numbers = [tuple(map(int, number.split("."))) for number, _ in RELEASED]
    days = [date.fromisoformat(day) for _, day in RELEASED]
    assert numbers == sorted(numbers, reverse=True)
    assert days == sorted(days, reverse=True)
