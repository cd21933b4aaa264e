"""Find the source files that a module imports, directly or indirectly, in the package or next to a
user's file.

Imports on demand by a package's ``__getattr__`` are not followed to other files. After an edit of
one estimator in `xmlc.models`, the files of other estimators are therefore unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from xmlc.core.extensions import import_folders
from xmlc.core.sources import PACKAGE, content_digest, parsed, short_name


def forget_sources() -> None:
    """Forget what this process has read of source files, so that edits are noticed."""
    for remembered in (content_digest, parsed, _closure, _module_file):
        remembered.cache_clear()


def source_files(*modules: str, package: bool = True, without: tuple[str, ...] = ()) -> list[str]:
    """Return the sorted files that modules import, directly or indirectly.

    The result includes the files of the given modules, and the `__init__` of each package that
    contains an imported module, because importing a module runs the `__init__` of its packages
    first.

    Imports of modules in the folder of a user's file are followed. Imports of other installed
    packages are not followed.

    Parameters
    ----------
    *modules : str
        Dotted names within the package, or paths of Python files.
    package : bool
        Whether to include the files of xmlc that users' files import.
    without : tuple of str
        Modules and packages whose import by a module of xmlc is not followed. A user's import of
        them is followed.

    Returns
    -------
    list of str
        Paths of the files. Paths inside the working directory are returned relative to the working
        directory.
    """
    here = Path.cwd()
    return sorted(short_name(file, here) for file in _closure(modules, here, package, without))


@cache
def _closure(
    modules: tuple[str, ...], here: Path, package: bool, without: tuple[str, ...]
) -> set[Path]:
    waiting: list[tuple[Path, tuple[Path, ...]]] = []
    for name in modules:
        if not name.endswith(".py"):
            waiting += [(file, ()) for file in _package_files([name])]
            continue
        file = Path(name).resolve()
        top = import_folders(file)[-1]
        inits = [folder / "__init__.py" for folder in file.parents if top in folder.parents]
        waiting += [(own, import_folders(own)) for own in (file, *inits)]
    left_out = tuple(f"{name}." for name in without)
    files: set[Path] = set()
    while waiting:
        file, folders = waiting.pop()
        if file in files:
            continue
        files.add(file)
        imported = parsed(file)[0]
        waiting += [(found, folders) for found in _files_beside(file, folders, imported)]
        if package:
            ours = [name for name in imported if _is_ours(name)]
            if PACKAGE in file.parents:
                ours = [name for name in ours if not f"{name}.".startswith(left_out)]
            waiting += [(found, ()) for found in _package_files(ours)]
    return files


def _package_files(names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of modules of xmlc, and the `__init__` files of the packages that contain
    them.
    """
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            file = _module_file(".".join(parts[:length]))
            if file is not None:
                yield file


def _files_beside(file: Path, folders: tuple[Path, ...], names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of the modules that a user's file imports from ``folders``.

    The `__init__` files of the packages that contain the modules are included.
    """
    for name in names:
        if not folders or _is_ours(name):
            continue
        # The number of leading dots of a relative import.
        level = len(name) - len(name.lstrip("."))
        search = [str(folder) for folder in folders]
        if level:
            search = [str(file.resolve().parents[level - 1])]
        for part in name[level:].split("."):
            spec = PathFinder.find_spec(part, search)
            # This part of the dotted name is an attribute, or a module that is installed elsewhere.
            if spec is None:
                break
            if spec.origin:
                yield Path(spec.origin)
            search = spec.submodule_search_locations or []


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE.name


@cache
def _module_file(name: str) -> Path | None:
    """Return the file of a dotted name, or None if the name is an attribute rather than a
    module.
    """
    path = PACKAGE.parent.joinpath(*name.split("."))
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None
    )
