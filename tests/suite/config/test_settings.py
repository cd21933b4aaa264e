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


MISTAKES = {
    "mirorr mirror": {"mirorr": "x"},
    "datasets[0] '../x'": {"datasets": ["../x"]},
    "seeds[0] 4294967295": {"seeds": ["9" * 23]},
    "seeds []": {"seeds": []},
    "seeds 3 '[3]'": {"seeds": 3},
    "datasets='[yeast, scene]'": {"datasets": "yeast,scene"},
    "models='[plt, fastxml]'": {"models": "plt fastxml"},
    "threads -1 4096": {"threads": -1},
    "validation_share 2 0.999": {"validation_share": 2},
    "keep_models maybe null": {"keep_models": "maybe"},
    "tuning 'smac' auto": {"tuning": "smac"},
}


@pytest.mark.parametrize("facts", MISTAKES)
def test_a_mistake_is_named_with_its_place(facts):
    with raises_with(XmlcError, "config", *([facts] if "=" in facts else facts.split())):
        Settings.read({"papers": []} | MISTAKES[facts])


def test_settings_are_put_over_the_file(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("papers: [plt2016]\nthreads: 8\n")
    found = read_config(file, ["datasets=[yeast, bibtex]", "threads=2", "mirror=/data=here"])
    assert found == {"papers": ["plt2016"], "threads": 2, "datasets": ["yeast", "bibtex"], "mirror": "/data=here"}


@pytest.mark.parametrize(
    ("text", "settings", "facts"),
    [
        ("papers: []", ["datasets"], ["'datasets'", "key=value"]),
        ("papers: []", ["datasets=[yeast"], ["datasets=[yeast"]),
        ("[papers]", [], ["config.yaml", "['papers']"]),
        (None, [], ["config.yaml"]),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, settings, facts):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with raises_with(XmlcError, *facts):
        read_config(file, settings)


def test_one_name_is_a_list_of_one():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert (settings.papers, settings.datasets, settings.models) == (["plt2016"], ["medical"], ["plt"])
    assert Settings.read({"papers": ["plt2016"], "datasets": "null"}).datasets is None
    for large in ("large", ["large"]):
        assert Settings.read({"papers": [], "datasets": large}).datasets == "large"


def test_a_name_that_is_given_twice_counts_once():
    assert Settings.read({"papers": [], "datasets": ["yeast", "scene", "yeast"]}).datasets == ["yeast", "scene"]
