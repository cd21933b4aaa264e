"""Suites as their YAML files have them, with as little as a suite needs."""

import yaml


def suite(models=None, **further):
    """Return the content of a suite; a model or peer is a PLT where nothing else is said."""
    content = {"title": "A paper", "datasets": ["yeast"], "seeds": [0], "methods": [], "tables": [], "figures": []}
    for key, found in (("models", models or {}), ("peers", further.pop("peers", None))):
        if found is not None:
            content[key] = {name: model if "as_in" in model else {"estimator": "plt"} | model
                            for name, model in found.items()}  # fmt: skip
    return content | further


def write_suite(file, models=None, **further):
    """Write a suite and return its file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(suite(models, **further), sort_keys=False))
    return file
