"""Write which source files each estimator depends on, on standard output; docs/conf.py makes a page of it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from xmlc.core.sources import PACKAGE, source_files
from xmlc.models.registry import ESTIMATORS, estimator_files

HEAD = """# Import closures

Which source files each estimator depends on: the closure of its imports within the package (`xmlc/core/sources.py`).
The workflow gives them to the rule that trains it, beside those of the command `train`: an edit of a file trains again
the models of the estimators that list it, and no others. No estimator imports a private module from another's folder.
"""


def closure(name: str) -> list[Path]:
    """Return the files that an estimator depends on, relative to the package; those that only hold a docstring too."""
    return [Path(file).resolve().relative_to(PACKAGE.resolve()) for file in source_files(*estimator_files(name))]


def room_of(file: Path) -> str:
    """Return the room that a file lies in."""
    return file.parts[0].removesuffix(".py")


def summary(closures: dict[str, list[Path]]) -> list[str]:
    """Return the table: how many files of its own, of which other estimators, and of what is shared."""
    lines = ["| estimator | files | in `xmlc/models/` | in `xmlc/kernels/` | other rooms |", "|---|---|---|---|---|"]
    for name, files in closures.items():
        own = [file.parts[1].removesuffix(".py") for file in files if room_of(file) == "models"]
        models = ", ".join(f"{part} {own.count(part)}" for part in sorted(set(own) - {"__init__"}))
        kernels = sum(room_of(file) == "kernels" for file in files)
        rooms = ", ".join(sorted({room_of(file) for file in files} - {"models", "kernels", "__init__"}))
        lines.append(f"| `{name}` | {len(files)} | {models} | {kernels} | {rooms} |")
    return lines


def listing(files: list[Path]) -> list[str]:
    """Return a line for each folder with the modules in it."""
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.name != "__init__.py":
            folders["/".join(("xmlc", *file.parts[:-1], ""))].append(f"`{file.stem}`")
    return [f"- `{folder}`: {', '.join(modules)}" for folder, modules in sorted(folders.items())]


def page() -> str:
    """Return the whole page."""
    closures = {name: closure(name) for name in ESTIMATORS}
    parts = [HEAD, "\n".join(summary(closures)), "", "Their modules, besides `__init__`:", ""]
    for name, files in closures.items():
        parts += [f"## {name}", "", *listing(files), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
