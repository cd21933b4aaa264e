"""Suites read from config/papers/*.yaml, config/demo.yaml and config/scale.yaml."""

from __future__ import annotations

from pathlib import Path

from xmlc.errors import XmlcError
from xmlc.schemas.reading import read_yaml
from xmlc.suites.checking import check, converted
from xmlc.suites.suite import Suite

Content = dict[str, object]
CONFIG = Path("config")
OWN = ("demo", "scale")  # suites that are no paper's
P_AT_1 = "p@1"  # a key of `found`, which is no name of a field


def read_suites(config: Path = CONFIG) -> dict[str, Suite]:
    """Read all suites of a folder of configurations: the papers' by name, then those that are no paper's.

    Raises
    ------
    XmlcError
        A file cannot be read, breaks the schema, or names a model of another suite that is not there.
    """
    names = [*sorted(file.stem for file in (config / "papers").glob("*.yaml")), *OWN]
    return {name: read_suite(suite_file(name, config)) for name in names}


def suite_file(name: str, config: Path = CONFIG) -> Path:
    """Name the file of a suite."""
    return config / f"{name}.yaml" if name in OWN else config / "papers" / f"{name}.yaml"


def find_suite(name: str, config: Path = CONFIG) -> Suite | None:
    """Read a suite, or return None where a folder of configurations has none of this name."""
    file = suite_file(name, config)
    return read_suite(file) if file.is_file() else None


def read_suite(file: Path) -> Suite:
    """Read one suite; models that are as in another suite are put in from there.

    Raises
    ------
    XmlcError
        As for `read_suites`.
    """
    content = _read(file)
    models = {name: _resolved(name, model, file) for name, model in _models(content, "models").items()}
    suite = content | {
        "name": file.stem,
        "file": str(file),
        "own": file.stem in OWN,
        "models": models,
        "peers": {name: _renamed(model) for name, model in _models(content, "peers").items()},
    }
    return converted(suite, Suite, str(file))


def _read(file: Path) -> Content:
    content = read_yaml(file)
    check(content, "suite.schema.yaml", str(file))
    assert isinstance(content, dict)  # the schema says so
    return content


def _models(content: Content, key: str) -> dict[str, Content]:
    found = content.get(key, {})
    assert isinstance(found, dict)  # the schema says so
    return found


def _resolved(name: str, model: Content, file: Path) -> Content:
    """Put, for a model that is as in another suite, what stands there; its own are the datasets it is not run on."""
    other = model.get("as_in")
    if other is None:
        return _renamed(model)
    config = file.parent if file.stem in OWN else file.parent.parent
    place = suite_file(str(other), config)
    there = _read(place) if place.is_file() else {}
    found = {**_models(there, "peers"), **_models(there, "models")}.get(name, {})
    if "estimator" not in found:
        raise XmlcError(f"{file}: {file.stem} has model {name} as in {other}, which defines none of this name")
    return _renamed(found | {"without": model.get("without", {})})


def _renamed(model: Content) -> Content:
    """Give the key ``p@1`` of what was found the name of its field."""
    found = model.get("found")
    if not isinstance(found, dict):
        return model
    renamed = {
        dataset: {("p_at_1" if key == P_AT_1 else key): value for key, value in entry.items()}
        for dataset, entry in found.items()
    }
    return model | {"found": renamed}
