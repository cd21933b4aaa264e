"""Test the settings of a run: config.yaml, and overrides on the command line."""

import pytest
import yaml
from facts import raises_with
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.config.settings import RequestedSearch, Settings, read_config


def test_project_settings_equal_defaults_except_papers():
    content = read_config(ROOT / "config/config.yaml")
    assert Settings.read(content) == Settings(papers=content["papers"])


def test_texts_of_the_command_line_are_converted():
    tuning = {"method": "smac", "budget": "30"}
    settings = Settings.read({"papers": [], "seeds": ["0", 1], "tuning": tuning})
    assert settings.seeds == [0, 1]
    assert settings.tuning == RequestedSearch("smac", 30)
    assert Settings.read({"papers": [], "tuning": "null", "mirror": "null"}).tuning is None


# Maps the YAML of settings to facts of the message.
MISTAKES = {
    "mirorr: x": "mirorr mirror",
    "datasets: [../x]": "datasets[0] '../x'",
    "seeds: ['99999999999']": "seeds[0] 4294967295",
    "seeds: []": "seeds []",
    "seeds: 3": "seeds 3 [3]",
    "datasets: yeast,scene": "datasets='[yeast, scene]'",
    "models: plt fastxml": "models='[plt, fastxml]'",
    "models: []": "models []",
    "threads: -1": "threads -1 4096",
    "threads: abc": "threads abc",
    "validation_share: 2": "validation_share 2 0.999",
    "keep_models: maybe": "keep_models maybe null",
    "tuning: smac": "tuning 'smac' auto",
    "tuning: {method: smacc, budget: 2}": "tuning.method smacc smac",
    "tuning: {methd: smac, budget: 2}": "tuning methd method",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake_is_refused_with_its_place(text):
    with raises_with(XmlcError, "config", *MISTAKES[text].split()):
        Settings.read({"papers": []} | yaml.safe_load(text))


def test_command_line_settings_override_the_file(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("papers: [plt2016]\nthreads: 8\n")
    found = read_config(file, ["datasets=[yeast, bibtex]", "threads=2", "mirror=/data=here"])
    expected = {"papers": ["plt2016"], "threads": 2, "datasets": ["yeast", "bibtex"]}
    assert found == expected | {"mirror": "/data=here"}


# The content of the file, a setting of the command line, and facts of the message
INVALID = """
- ["papers: []", datasets, "'datasets'", key=value]
- ["papers: []", "datasets=[yeast", "datasets=[yeast"]
- ["papers: []", models=, --config, models=]
- ["papers: []", "seeds=[yes]", "seeds=[yes]", "'yes'"]
- ["keep_models: yes", seeds=0, "config.yaml:1", write true]
- ["mirror: no", seeds=0, "config.yaml:1", "'no'"]
- ["[papers]", seeds=0, config.yaml, "['papers']"]
"""


@pytest.mark.parametrize("case", yaml.safe_load(INVALID))
def test_invalid_settings_are_refused(tmp_path, case):
    text, setting, *facts = case
    file = tmp_path / "config.yaml"
    with raises_with(XmlcError, file):
        read_config(file)
    file.write_text(text)
    with raises_with(XmlcError, *facts):
        read_config(file, [setting])


def test_single_name_becomes_a_list_and_repeated_names_count_once():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert settings == Settings(["plt2016"], datasets=["medical"], models=["plt"])

    def datasets(value):
        return Settings.read({"papers": [], "datasets": value}).datasets

    assert datasets("null") is None
    assert datasets("large") == datasets(["large"]) == "large"
    assert datasets(["yeast", "scene", "yeast"]) == ["yeast", "scene"]
