"""The settings of a run: config.yaml, and what the command line puts over it."""

import pytest
from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.settings import RequestedSearch, Settings, read_config


def test_the_projects_own_settings_are_the_defaults_but_for_the_papers():
    content = read_config(ROOT / "config/config.yaml")
    assert Settings.read(content) == Settings(papers=content["papers"])


def test_numbers_that_the_command_line_gives_as_text_are_numbers():
    settings = Settings.read({"papers": [], "seeds": ["0", 1], "tuning": {"method": "smac", "budget": "30"}})
    assert settings.seeds == [0, 1]
    assert settings.tuning == RequestedSearch("smac", 30)


@pytest.mark.parametrize(("given", "expected"), [("auto", "auto"), (None, None), ("null", None)])
def test_a_search_may_be_left_to_the_models_or_out_on_the_command_line_too(given, expected):
    assert Settings.read({"papers": [], "tuning": given, "mirror": "null"}) == Settings([], tuning=expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"papers": [], "mirorr": "x"}, ["config: ", "'mirorr'", "mirror"]),
        ({"papers": [], "datasets": ["../x"]}, ["config: datasets[0]", "'../x'"]),
        ({"papers": [], "seeds": ["9" * 23]}, ["config: seeds[0]", "9" * 23]),
        ({"papers": [], "seeds": []}, "config: seeds: found []"),
        ({"papers": [], "seeds": 3}, ["config: seeds: found 3", "'[3]'"]),
        ({"papers": [], "datasets": "yeast,scene"}, ["'yeast,scene'", "datasets='[yeast, scene]'"]),
        ({"papers": [], "models": "plt fastxml"}, "models='[plt, fastxml]'"),
        ({"papers": [], "threads": -1}, ["config: threads: found -1", "1", "4096"]),
        ({"papers": [], "validation_share": 2}, ["validation_share: found 2", "0.001", "0.999"]),
        ({"papers": [], "keep_models": "maybe"}, ["keep_models: found 'maybe'", "true", "false", "null"]),
        ({"papers": [], "tuning": "smac"}, ["config: tuning: found 'smac'", "auto", "null"]),
    ],
)
def test_a_mistake_is_named_with_its_place(content, message):
    with raises_with(XmlcError, message):
        Settings.read(content)


def test_settings_are_put_over_the_file(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("papers: [plt2016]\nthreads: 8\n")
    found = read_config(file, ["datasets=[yeast, bibtex]", "threads=2", "mirror=/data=here"])
    assert found == {"papers": ["plt2016"], "threads": 2, "datasets": ["yeast", "bibtex"], "mirror": "/data=here"}


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("papers: []", ["datasets"], ["'datasets'", "key=value"]),
        ("papers: []", ["datasets=[yeast"], ["config: datasets=[yeast", "YAML"]),
        ("[papers]", [], ["config.yaml: found ['papers']", "papers: [plt2016]"]),
        (None, [], "config.yaml: "),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, settings, message):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with raises_with(XmlcError, message):
        read_config(file, settings)


def test_one_name_is_a_list_of_one():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert (settings.papers, settings.datasets, settings.models) == (["plt2016"], ["medical"], ["plt"])
    assert Settings.read({"papers": ["plt2016"], "datasets": "null"}).datasets is None
    for large in ("large", ["large"]):
        assert Settings.read({"papers": [], "datasets": large}).datasets == "large"


def test_a_name_that_is_given_twice_counts_once():
    assert Settings.read({"papers": [], "datasets": ["yeast", "scene", "yeast"]}).datasets == ["yeast", "scene"]
