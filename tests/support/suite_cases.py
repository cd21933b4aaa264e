"""Make suites as in their YAML files, with only the keys that a suite needs."""

from pathlib import Path

import yaml

from xmlc.suite.config.project import Project

OWN = ("demo", "scale")


def as_plt(model):
    """Return a model with the estimator `plt`, if it names neither an estimator nor a suite."""
    if "from_suite" in model:
        return model
    return {"estimator": "plt"} | model


def suite(models=None, **further):
    """Return the content of a suite with one PLT by default.

    By default, a model or baseline is a PLT.
    """
    content = {
        "title": "A paper",
        "datasets": ["yeast"],
        "seeds": [0],
        "methods": [],
        "tables": [],
        "figures": [],
    }
    entries = {"models": models or {"plt": {}}, "baselines": further.pop("baselines", {})}
    for key, by_name in entries.items():
        if by_name:
            content[key] = {name: as_plt(model) for name, model in by_name.items()}
    return content | further


def suite_of(text):
    """Return the content of a suite with these keys in YAML."""
    return suite(**yaml.safe_load(text))


def write_suite(file, models=None, **further):
    """Write a suite's file and return its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(suite(models, **further), sort_keys=False))
    return file


def write_config(folder, catalogue=None, **suites):
    """Write a folder of configurations and return it.

    By default, the suites `demo` and `scale` have one PLT.
    """
    folder = Path(folder)
    contents = {own: suite(datasets=[f"of-{own}"]) for own in OWN} | suites
    for name, content in contents.items():
        file = folder / "papers" / f"{name}.yaml"
        if name in OWN:
            file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "datasets.yaml").write_text(yaml.safe_dump(catalogue or {}))
    return folder


def project_of(folder, settings=None, catalogue=None, **suites):
    """Return the project of some suites, with settings that override the defaults."""
    return Project.read(
        {"papers": []} | (settings or {}), write_config(folder, catalogue, **suites)
    )
