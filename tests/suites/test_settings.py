"""The settings of a run: config.yaml, and what the command line puts over it."""

from dataclasses import MISSING, fields

import pytest
from schema_defaults import compared

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import read_yaml
from xmlc.suites.settings import Search, Settings, read_config
from xmlc.suites.suite import FOLDER

SCHEMA = read_yaml(FOLDER / "config.schema.yaml")


def test_fields_and_defaults_are_those_of_the_schema():
    said, found = compared(SCHEMA, Settings)
    assert said == found
    assert [field.name for field in fields(Settings) if field.default is MISSING] == SCHEMA["required"]
    said, found = compared(SCHEMA["properties"]["tuning"], Search)
    assert said == found


def test_the_projects_own_settings_are_the_defaults_but_for_the_papers():
    content = read_config(FOLDER.parents[1] / "config/config.yaml")
    assert Settings.read(content) == Settings(papers=content["papers"])


def test_numbers_that_the_command_line_gives_as_text_are_numbers():
    settings = Settings.read({"papers": [], "seeds": ["0", 1], "tuning": {"method": "smac", "budget": "30"}})
    assert settings.seeds == [0, 1]
    assert settings.tuning == Search("smac", 30)


@pytest.mark.parametrize(("given", "expected"), [("auto", "auto"), (None, None), ("null", None)])
def test_a_search_may_be_left_to_the_models_or_out_on_the_command_line_too(given, expected):
    assert Settings.read({"papers": [], "tuning": given, "mirror": "null"}) == Settings([], tuning=expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"papers": [], "mirorr": "x"}, r"config: \$: unknown key 'mirorr', expected mirror$"),
        ({}, r"config: \$: 'papers' is a required property"),
        ({"papers": [], "threads": 0}, r"\$\.threads: 0 is less than the minimum of 1; expected threads of the jobs"),
        ({"papers": [], "models": {"yeast": "plt"}}, r"\$\.models\.yeast: 'plt' is not of type 'array'"),
        ({"papers": [], "datasets": ["../x"]}, r"\$\.datasets\[0\]: found '\.\./x'; expected the name of a dataset"),
        ({"papers": [], "validation_share": 1}, r"\$\.validation_share: 1 is greater than the maximum"),
        ({"papers": [], "seeds": ["9" * 23]}, r"\$\.seeds\[0\]: 9{23} is greater than the maximum of 4294967295; exp"),
        ({"papers": [], "seeds": []}, r"\$\.seeds: \[\] names nothing; expected these seeds"),
        ({"papers": [], "datasets": ["yeast", "yeast"]}, r"\$\.datasets: .* has non-unique elements"),
        ({"papers": [], "tuning": "smac"}, r"\$\.tuning: found 'smac'; expected hyperparameter search, auto"),
    ],
)
def test_a_mistake_is_named_with_its_place(content, message):
    with pytest.raises(XmlcError, match=message):
        Settings.read(content)


def test_settings_are_put_over_the_file(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("papers: [plt2016]\nthreads: 8\n")
    found = read_config(file, ["datasets=[yeast, bibtex]", "threads=2", "mirror=/data=here"])
    assert found == {"papers": ["plt2016"], "threads": 2, "datasets": ["yeast", "bibtex"], "mirror": "/data=here"}


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("papers: []", ["datasets"], "setting 'datasets': expected key=value"),
        ("papers: []", ["datasets=[yeast"], r"setting 'datasets=\[yeast': '\[yeast' is not YAML"),
        ("[papers]", [], r"config\.yaml: expected keys and values, such as papers: \[plt2016\]"),
        (None, [], r"config\.yaml: No such file"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, settings, message):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(XmlcError, match=message):
        read_config(file, settings)


def test_one_name_is_a_list_of_one():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert (settings.papers, settings.datasets, settings.models) == (["plt2016"], ["medical"], ["plt"])
    assert Settings.read({"papers": ["plt2016"], "datasets": "null"}).datasets is None
