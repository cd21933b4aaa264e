"""Import the public names of a package when they are first used (PEP 562)."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any


def lazy_names(package: str, *own: str) -> None:
    """Make a package import its public names on demand (``__getattr__``, ``__dir__``, ``__all__``).

    These are ``own``, and the names that it imports under ``if TYPE_CHECKING``. Type checkers still
    report unknown names, because they do not see a ``__getattr__`` that is set at run time.
    """
    tree = ast.parse(Path(str(sys.modules[package].__file__)).read_bytes())
    modules: dict[str, str] = {}
    for block in tree.body:
        if isinstance(block, ast.If):
            for node in block.body:
                if isinstance(node, ast.ImportFrom):
                    modules |= dict.fromkeys((name.name for name in node.names), str(node.module))
    public = [*own, *modules]

    def get(name: str) -> Any:
        if name in modules:
            return getattr(importlib.import_module(modules[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    vars(sys.modules[package]).update(
        __getattr__=get, __dir__=lambda: sorted(public), __all__=public
    )
