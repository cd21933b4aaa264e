"""The source files that a module imports, in the package or next to a user's file.

Imports on demand by a package's ``__getattr__`` are not followed, so that an edit of one estimator
in `xmlc.models` leaves the files of the others unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from xmlc.core.extensions import import_folders
from xmlc.core.sources import PACKAGE, content_digest, parsed, short_name


def forget_sources() -> None:
    """Forget all files, so that edits are noticed."""
    for remembered in (content_digest, parsed, _closure, _module_file):
        remembered.cache_clear()


def source_files(*modules: str, package: bool = True, without: tuple[str, ...] = ()) -> list[str]:
    """Return the sorted files that modules (dotted names or paths) import, directly or indirectly.

    They include the modules' files and the `__init__` of each package on the way, because an import
    runs it first. Imports from the folder of a user's file are followed, but not imports of other
    installed packages. Paths in the working directory are relative.

    The files of xmlc that users' files import count only with ``package``, and modules ``without``
    only if a user's file imports them.
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
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            file = _module_file(".".join(parts[:length]))
            if file is not None:
                yield file


def _files_beside(file: Path, folders: tuple[Path, ...], names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        if not folders or _is_ours(name):
            continue
        # leading dots of a relative import
        level = len(name) - len(name.lstrip("."))
        search = [str(folder) for folder in folders]
        if level:
            search = [str(file.resolve().parents[level - 1])]
        for part in name[level:].split("."):
            spec = PathFinder.find_spec(part, search)
            # An attribute, or a module that is installed elsewhere.
            if spec is None:
                break
            if spec.origin:
                yield Path(spec.origin)
            search = spec.submodule_search_locations or []


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE.name


@cache
def _module_file(name: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None
    )
