"""Users' own Python files: models, threshold and inference methods that configuration names by their path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from xmlc.core.errors import XmlcError


def import_file(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module, known by the name of the file unless another is.

    Stored objects of its classes, and processes that are given some, look for the module by this name.

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
    known = importlib.util.find_spec(file.stem) if file.stem.isidentifier() else spec
    if known is None or Path(known.origin or "").resolve() == file.resolve():
        sys.modules[file.stem] = module
        if (folder := str(file.parent.resolve())) not in sys.path:
            sys.path.append(folder)
    return module
