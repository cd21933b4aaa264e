"""Import of users' Python files, with models, threshold methods and inference methods."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from xmlc.core.errors import XmlcError
from xmlc.core.sources import parsed


def import_file(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module.

    Like a script, the file may import modules in its folder, and relative ones in a package. The
    module gets the name of the file unless another has it already, because pickled objects of its
    classes contain the name. Code that does not exist or run, and a module next to the file whose
    name this process has already imported from elsewhere, raise an `XmlcError`.
    """
    file = Path(file)
    if not file.is_file() or file.suffix != ".py":
        raise XmlcError(f"{file}: found no such Python file. Check the path in the configuration.")
    folders = import_folders(file)
    name = _name_in(folders[-1], file)
    other = None
    if name.isidentifier():
        other = importlib.util.find_spec(name)
    if other is not None and Path(other.origin or "").resolve() != file.resolve():
        name = ""
    _check_helpers(file.resolve(), folders, set())
    with _imports_from(folders):
        try:
            if "." in name:
                return importlib.import_module(name)
            return _run(file, name)
        except SyntaxError as error:
            found = f"{error.filename}:{error.lineno}: found a syntax error ({error.msg})"
            raise XmlcError(f"{found}, expected valid Python") from error
        except ImportError as error:
            remedy = "Install the package in this environment."
            if "relative import" in str(error):
                remedy = (
                    "Write `import name` without a dot, or add an empty __init__.py to its folder."
                )
            raise XmlcError(f"{file}: found an error in an import ({error}). {remedy}") from error


def import_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders from which a file imports: its own, and that of its package."""
    top = file.resolve().parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return tuple(dict.fromkeys((file.resolve().parent, top)))


def _check_helpers(file: Path, folders: tuple[Path, ...], checked: set[Path]) -> None:
    """Raise an error if a file would import a module next to it whose name is already taken.

    The imports of these modules are checked, too, and ``checked`` receives all files that were
    read.
    """
    checked.add(file)
    for helper, name in _helpers_of(file, folders):
        if helper in checked or not helper.is_file():
            continue
        other = getattr(sys.modules.get(name), "__file__", None) or "Python"
        if name in sys.modules and Path(other).resolve() != helper.resolve():
            raise XmlcError(
                f"{file}: found {other} for `import {name}`, expected {helper}. Rename it."
            )
        _check_helpers(helper, folders, checked)


def _helpers_of(file: Path, folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    """Yield the files that a file may import, existing or not, and their module names."""
    top = folders[-1]
    package = ".".join(file.parent.relative_to(top).parts)
    for given in sorted({package, *parsed(file)[0]} - {""}):
        parts = given.lstrip(".").split(".")
        level = len(given) - len(given.lstrip("."))
        places: Sequence[Path] = folders
        if level > 0:
            places = [
                folder for folder in file.parents[level - 1 : level] if folder.is_relative_to(top)
            ]
        for folder in places:
            packages: list[str] = []
            if level > 0:
                packages += folder.relative_to(top).parts
            for end in range(1, len(parts) + 1):
                name = ".".join([*packages, *parts[:end]])
                place = folder.joinpath(*parts[:end])
                yield place.with_name(f"{place.name}.py"), name
                yield place / "__init__.py", name


def _name_in(folder: Path, file: Path) -> str:
    return ".".join(file.resolve().relative_to(folder).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def _run(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name or file.stem, file)
    if spec is None or spec.loader is None:
        raise XmlcError(f"{file}: found a file that Python cannot import")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    if name:
        sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
        raise
    return module


@contextmanager
def _imports_from(folders: tuple[Path, ...]) -> Iterator[None]:
    """Put folders first on Python's import path during a block, and then last.

    Python writes no bytecode into a user's folder meanwhile.
    """
    places = [str(folder) for folder in folders]
    sys.path[:0] = places
    writes_none = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_none
        for place in places:
            # Only the first occurrence, which this function added
            sys.path.remove(place)
        sys.path += [place for place in places if place not in sys.path]
