"""The two ways to install pin the same versions."""

import re
import tomllib

import yaml
from repository import ROOT

CONDA_NAMES = {"matplotlib-base": "matplotlib", "python-build": "build", "snakemake-minimal": "snakemake"}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(lines, separator):
    pairs = (line.split(separator) for line in lines if re.match(rf"^[\w.-]+{separator}[\w.]+$", line))
    return {canonical(CONDA_NAMES.get(name, name)): version for name, version in pairs}


def requirements(*groups):
    """Canonical names that some groups of pyproject.toml ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = {"runtime": project["dependencies"], **project["optional-dependencies"]}
    return {canonical(re.split(r"[<>=~! ]", line)[0]) for group in groups or listed for line in listed[group]}


def conda_pins(file):
    dependencies = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    from_pip = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    return pinned([entry for entry in dependencies if isinstance(entry, str)], "=") | pinned(from_pip, "==")


def test_environment_pins_the_versions_of_the_constraints():
    constraints = pinned((ROOT / "constraints.txt").read_text().splitlines(), "==")
    assert conda_pins("environment.yml") == {name: constraints[name] for name in requirements()}


def test_the_rules_environment_has_what_the_commands_need_and_the_same_versions():
    pins = conda_pins("environment.yml")
    needed = requirements("runtime", "workflow", "peers", "tune") - {"snakemake"}
    assert conda_pins("workflow/envs/xmlc.yaml") == {name: pins[name] for name in needed}
