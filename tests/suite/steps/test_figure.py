"""`xmlc figure` draws for a study too."""

from command_line import run
from report_cases import every_method, write

from xmlc.suite.papers import figure_of
from xmlc.suite.results import titles


def test_a_study_gives_a_model_of_a_paper_a_title_of_its_own(tmp_path, monkeypatch):
    figure_of("figure1", "suite")  # loads what names models
    monkeypatch.setattr(titles, "_MODELS", dict(titles._MODELS))
    options = ("--paper", "suite", "--title", "plt=Mine", "--out", tmp_path / "x")
    assert run("figure", "figure1", *write(tmp_path, every_method()), *options) == 0
    assert titles.model_title("plt") == "Mine"
