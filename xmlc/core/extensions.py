"""Users' own Python files: models, threshold and inference methods that configuration names by their path."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from xmlc.core.errors import XmlcError


def import_file(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module.

    Raises
    ------
    XmlcError
        There is no such file, or it is no Python file.
    """
    file = Path(file)
    if not file.is_file() or file.suffix != ".py":
        raise XmlcError(f"{file}: no such Python file; the configuration names it as a model or method")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise XmlcError(f"{file}: Python cannot import this file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
