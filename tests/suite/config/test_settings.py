"""Test the settings of a run: config.yaml, and overrides on the command line."""

import pytest
from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.settings import RequestedSearch, Settings, read_config


def test_project_settings_equal_defaults_except_papers():
    content = read_config(ROOT / "config/config.yaml")
    assert Settings.read(content) == Settings(papers=content["papers"])


def test_numbers_given_as_text_are_converted():
    settings = Settings.read(
        {"papers": [], "seeds": ["0", 1], "tuning": {"method": "smac", "budget": "30"}}
    )
    assert settings.seeds == [0, 1]
    assert settings.tuning == RequestedSearch("smac", 30)


@pytest.mark.parametrize(("given", "expected"), [("auto", "auto"), (None, None), ("null", None)])
def test_command_line_can_leave_search_to_models_or_turn_it_off(given, expected):
    assert Settings.read({"papers": [], "tuning": given, "mirror": "null"}) == Settings(
        [], tuning=expected
    )


MISTAKES = {
    "mirorr mirror": {"mirorr": "x"},
    "datasets[0] '../x'": {"datasets": ["../x"]},
    "seeds[0] 4294967295": {"seeds": ["9" * 23]},
    "seeds []": {"seeds": []},
    "seeds 3 [3]": {"seeds": 3},
    "datasets='[yeast, scene]'": {"datasets": "yeast,scene"},
    "models='[plt, fastxml]'": {"models": "plt fastxml"},
    "threads -1 4096": {"threads": -1},
    "validation_share 2 0.999": {"validation_share": 2},
    "keep_models maybe null": {"keep_models": "maybe"},
    "tuning 'smac' auto": {"tuning": "smac"},
}


@pytest.mark.parametrize("facts", MISTAKES)
def test_mistake_is_refused_with_its_place(facts):
    with raises_with(XmlcError, "config", *([facts] if "=" in facts else facts.split())):
        Settings.read({"papers": []} | MISTAKES[facts])


def test_command_line_settings_override_the_file(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("papers: [plt2016]\nthreads: 8\n")
    found = read_config(file, ["datasets=[yeast, bibtex]", "threads=2", "mirror=/data=here"])
    assert found == {
        "papers": ["plt2016"],
        "threads": 2,
        "datasets": ["yeast", "bibtex"],
        "mirror": "/data=here",
    }


@pytest.mark.parametrize(
    ("text", "settings", "facts"),
    [
        ("papers: []", ["datasets"], ["'datasets'", "key=value"]),
        ("papers: []", ["datasets=[yeast"], ["datasets=[yeast"]),
        ("papers: []", ["models="], ["--config", "models="]),
        ("papers: []", ["seeds=yes"], ["seeds=yes", "'yes'"]),
        ("papers: []", ["seeds=[yes]"], ["seeds=[yes]", "'yes'"]),
        ("seeds: yes", [], ["config.yaml:1", "'yes'"]),
        ("keep_models: yes", [], ["config.yaml:1", "write true"]),
        ("mirror: no", [], ["config.yaml:1", "'no'"]),
        ("[papers]", [], ["config.yaml", "['papers']"]),
        (None, [], ["config.yaml"]),
    ],
)
def test_invalid_settings_are_refused(tmp_path, text, settings, facts):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with raises_with(XmlcError, *facts):
        read_config(file, settings)


def test_single_name_becomes_a_list():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert (settings.papers, settings.datasets, settings.models) == (
        ["plt2016"],
        ["medical"],
        ["plt"],
    )
    assert Settings.read({"papers": ["plt2016"], "datasets": "null"}).datasets is None
    for large in ("large", ["large"]):
        assert Settings.read({"papers": [], "datasets": large}).datasets == "large"


def test_repeated_names_count_once():
    assert Settings.read({"papers": [], "datasets": ["yeast", "scene", "yeast"]}).datasets == [
        "yeast",
        "scene",
    ]
