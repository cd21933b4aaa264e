"""Test `xmlc figure` in a study."""

from command_line import run
from report_cases import every_method, write

from xmlc.suite.papers import figure_of
from xmlc.suite.results import titles


def test_study_can_give_a_model_of_a_paper_another_title(tmp_path, monkeypatch):
    figure_of("figure1", "suite")  # imports the names of models
    monkeypatch.setattr(titles, "_MODELS", dict(titles._MODELS))
    options = ("--paper", "suite", "--title", "plt=My $x$", "--out", tmp_path / "x")
    assert run("figure", "figure1", *write(tmp_path, every_method()), *options) == 0
    assert titles.model_title("plt") == "My $x$"
    assert ">My $x$</text>" in (tmp_path / "x.svg").read_text()
