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
        There is no such file, it is no Python file, or it imports a package that is not here.
    """
    file = Path(file)
    if not file.is_file() or file.suffix != ".py":
        raise XmlcError(f"{file}: no such Python file; the configuration names it as a model or method")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise XmlcError(f"{file}: Python cannot import this file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise XmlcError(f"{file}: it cannot be imported ({error}); install what it imports here") from error
    return module
