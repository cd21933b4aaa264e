"""Test twelve kinds of mistakes in four places: a suite, a study, `--config` and `from_suite`.

Each mistake is refused when the configuration is read, with its place, the user's value and the
nearest valid one.
"""

from pathlib import Path

import pytest
import yaml
from facts import raises_with
from suite_cases import suite, write_config

from xmlc.core.errors import XmlcError
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import read_config
from xmlc.suite.papers.plan import check_tables

WHY = "too large"
STAGES = {"stages": [[{"arity": 2}]]}
SEARCH = {"search": STAGES | {"always": True, "trial_overrides": {"epochs": 1}}}
# Maps a kind of mistake to the content of a suite, and to facts of the message.
IN_SUITES = {
    "unknown key": (suite() | {"tabels": []}, "tabels tables"),
    "unknown dataset": (
        suite({"plt": {"without": {"yeats": WHY}}}),
        "models.plt.without yeats yeast",
    ),
    "unknown model": (suite(skip_thresholds={"ptl": WHY}), "skip_thresholds ptl plt"),
    "unknown estimator": (suite({"plt": {"estimator": "pltt"}}), "models.plt pltt plt"),
    "unknown method": (suite(methods=["fat"]), "methods fat fta"),
    "unknown table": (suite(tables=["tabel1"]), "tables tabel1 table1"),
    "wrong type": (suite(seeds="0"), "seeds '0' list"),
    "value outside its domain": (
        suite({"plt": {"hyperparameters": {"arity": 63}}}),
        "models.plt arity=63",
    ),
    "unknown hyperparameter": (
        suite({"plt": {"hyperparameters": {"arty": 2}}}),
        "models.plt arty arity",
    ),
    "repeated entry": (suite(datasets=["yeast", "yeast"]), "datasets yeast"),
    "empty list": (suite(datasets=[]), "datasets []"),
    "contradiction": (suite({"plt": SEARCH}), "models.plt.search trial_overrides always"),
}
# A repeated name counts once on the command line, which has no names of tables.
ON_COMMAND_LINE = {
    "unknown key": ("modls=[plt]", "modls models"),
    "unknown dataset": ("models={yeats: [plt]}", "models yeats yeast"),
    "unknown model": ("models=[ptl]", "models ptl plt"),
    "unknown estimator": ("papers=[mien]", "papers mien mine"),
    "wrong type": ("threads=abc", "threads abc"),
    "value outside its domain": ("validation_share=2", "validation_share 2 0.999"),
    "unknown method": ("tuning={method: smacc, budget: 2}", "tuning.method smacc smac"),
    "unknown hyperparameter": ("tuning={methd: smac, budget: 2}", "tuning methd method"),
    "empty list": ("models=[]", "models []"),
    "contradiction": ("datasets=[yeast, small]", "datasets small datasets=small"),
}
# Maps a kind to the model that copies, to the suite from which it copies, and to facts of the
# message. Methods and tables are not copied, and keys cannot be empty lists.
COPY = {"from_suite": "other"}
WRONG = {"plt": {"hyperparameters": {"arity": 63}}}
FROM_SUITES = {
    "unknown key": (
        COPY | {"hyperparameters": {"arity": 2}},
        suite(),
        "models.plt.hyperparameters title without",
    ),
    "unknown dataset": (
        COPY | {"without": {"yeats": WHY}},
        suite(),
        "models.plt.without yeats yeast",
    ),
    "unknown model": (COPY, suite({"ptl": {}}), "models.plt.from_suite other ptl"),
    "unknown estimator": ({"from_suite": "othr"}, suite(), "models.plt.from_suite othr other"),
    "wrong type": ({"from_suite": 3}, suite(), "models.plt.from_suite 3"),
    "value outside its domain": (COPY, suite(WRONG), "models.plt arity=63"),
    "unknown hyperparameter": (
        COPY,
        suite({"plt": {"hyperparameters": {"arty": 2}}}),
        "arty arity",
    ),
    "contradiction": (
        COPY,
        suite({"plt": {"from_suite": "mine"}}),
        "models.plt.from_suite other mine",
    ),
    "search of a model that is not copied": (
        COPY,
        suite({"plt": {"share_search_with": "br"}, "br": {}}),
        "models.plt.share_search_with br",
    ),
}


def read(folder, *settings):
    """Read and check the configuration in a folder, as the Snakefile does."""
    file = folder / "config.yaml"
    if not file.exists():
        file.write_text("papers: []\n")
    project = Project.read(read_config(file, settings), folder)
    check_tables(project)
    return project


@pytest.mark.parametrize("kind", IN_SUITES)
def test_mistake_in_a_suite_is_refused(tmp_path, kind):
    content, facts = IN_SUITES[kind]
    with raises_with(XmlcError, "mine.yaml", *facts.split()):
        read(write_config(tmp_path, mine=content))


@pytest.mark.parametrize("kind", IN_SUITES)
def test_mistake_in_a_study_is_refused(tmp_path, kind):
    content, facts = IN_SUITES[kind]
    Path(tmp_path, "suite.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    with raises_with(XmlcError, "suite.yaml", *facts.split()):
        read(tmp_path)


@pytest.mark.parametrize("kind", ON_COMMAND_LINE)
def test_mistake_on_the_command_line_is_refused(tmp_path, kind):
    setting, facts = ON_COMMAND_LINE[kind]
    with raises_with(XmlcError, "config", *facts.split()):
        read(write_config(tmp_path, mine=suite()), setting)


@pytest.mark.parametrize("kind", FROM_SUITES)
def test_mistake_in_a_copied_model_is_refused(tmp_path, kind):
    copy, other, facts = FROM_SUITES[kind]
    with raises_with(XmlcError, "mine.yaml", *facts.split()):
        read(write_config(tmp_path, mine=suite({"plt": copy}), other=other))


def test_suites_without_a_mistake_are_read(tmp_path):
    config = write_config(
        tmp_path, mine=suite({"plt": COPY}, tables=["table1"]), other=suite({"plt": {}})
    )
    assert read(config, "papers=[mine]", "models={yeast: [plt]}").models_on("mine", "yeast") == [
        "plt"
    ]


def test_planned_suite_without_tables_and_figures_is_refused(tmp_path):
    with raises_with(XmlcError, "mine.yaml", "tables", "table1"):
        read(write_config(tmp_path, mine=suite()), "papers=[mine]")
