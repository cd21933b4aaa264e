"""The two ways to install pin the same versions."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
CONDA_NAMES = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(lines, separator):
    pairs = (line.split(separator) for line in lines if re.match(rf"^[\w.-]+{separator}[\w.]+$", line))
    return {canonical(CONDA_NAMES.get(name, name)): version for name, version in pairs}


def test_environment_pins_the_versions_of_the_constraints():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [requirement for group in groups for requirement in group]
    named = {canonical(re.split(r"[<>=~! ]", requirement)[0]) for requirement in requirements}
    constraints = pinned((ROOT / "constraints.txt").read_text().splitlines(), "==")
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    from_pip = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    conda = pinned([entry for entry in dependencies if isinstance(entry, str)], "=") | pinned(from_pip, "==")
    assert set(conda) == named
    assert conda == {name: constraints[name] for name in named}
