"""Run all pieces, and the demo, as for each processor, in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from xmlc.errors import XmlcError
from xmlc.files import read_json
from xmlc.samebits.pieces import GROUPS, Piece, Processed
from xmlc.samebits.processors import Processor
from xmlc.suites import paths
from xmlc.suites.reading import read_suite, suite_file

ON_ESTIMATORS = ("trees", "forests", "online", "linear")  # that a real dataset is for
PROJECT = ("Snakefile", "workflow", "config", "profiles", "pyproject.toml")  # what the demo needs of the project
TAIL = 2000  # characters of a failed process's output


def run_pieces_as(
    processors: Iterable[Processor], scratch: Path, cores: int, folders: Sequence[Path] = ()
) -> dict[str, Processed]:
    """Run every group on the synthetic set, and those of estimators on each prepared dataset, as for each processor.

    Parameters
    ----------
    processors : iterable of Processor
    scratch : Path
        Folder for what the processes write.
    cores : int
        Processes at a time, of one thread each.
    folders : sequence of Path
        Folders that `xmlc prepare` wrote.

    Returns
    -------
    dict of Processed
        By processor.

    Raises
    ------
    XmlcError
        A process failed.
    """
    chosen = list(processors)
    tasks: list[tuple[Processor, str, Path | None]] = []
    for group in GROUPS:
        tasks += [(processor, group, None) for processor in chosen]
    for folder in folders:
        tasks += [(processor, group, folder) for group in ON_ESTIMATORS for processor in chosen]

    def run(number: int) -> Processed:
        processor, group, folder = tasks[number]
        out = scratch / f"{number}.json"
        given = [] if folder is None else [str(folder)]
        command = [sys.executable, "-m", "xmlc.samebits.worker", group, str(out), *given]
        _run(command, processor, f"pieces of group {group}", None)
        content: Processed = read_json(out)
        return content

    with ThreadPoolExecutor(cores) as pool:
        results = list(pool.map(run, range(len(tasks))))
    found: dict[str, Processed] = {}
    for (processor, _, source), result in zip(tasks, results, strict=True):
        ending = "" if source is None else f" ({_name(source)})"
        of_processor = found.setdefault(processor.name, {"features": result["features"], "pieces": {}})
        of_processor["pieces"] |= {name + ending: piece for name, piece in result["pieces"].items()}
    return found


def run_demo_as(processors: Iterable[Processor], scratch: Path, cores: int) -> dict[str, dict[str, Piece]]:
    """Make the demo's tables in a copy of the project as for each processor; return them as pieces, by processor.

    A piece is a table and its parts are the rows of each model, costs left out. Kernels are compiled once for each
    processor, because the copies run the installed package.

    Raises
    ------
    XmlcError
        This is no copy of the project, or the workflow failed.
    """
    if not Path("Snakefile").exists():
        raise XmlcError("no Snakefile here; the demo can be run from the project's own folder only")
    found = {}
    for processor in processors:
        folder = scratch / f"demo-{processor.name}"
        folder.mkdir()
        for name in PROJECT:
            _copy(Path(name), folder / name)
        (folder / "xmlc").symlink_to(Path("xmlc").resolve())
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "all", "--", *_tables()]
        _run(command, processor, "the demo", folder)
        found[processor.name] = demo_pieces(folder / "results" / "tables" / "demo")
    return found


def demo_pieces(folder: Path) -> dict[str, Piece]:
    """Return the tables of a folder as pieces, whose parts are the rows of each model."""
    from xmlc.tables.fingerprint import of_parts, of_table, read_table

    pieces: dict[str, Piece] = {}
    for file in sorted(folder.glob("*.csv")):
        table = read_table(file)
        rows = table.groupby("model") if "model" in table else [("all rows", table)]
        digest = of_parts({str(name): of_table(part) for name, part in rows})
        parts = {name: part.digest for name, part in digest.parts.items()}
        pieces[f"demo {file.stem}"] = {"word": digest.word, "parts": parts}
    return pieces


def _name(folder: Path) -> str:
    """Return the name of a prepared dataset: of its folder, or of that above where it is results/<name>/data."""
    return folder.parent.name if folder.name == "data" else folder.name


def _tables() -> list[str]:
    demo = read_suite(suite_file("demo"))
    return [paths.TABLE.of(paper=demo.name, table=name) + ".csv" for name in demo.tables]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copy(source, target)


def _run(command: list[str], processor: Processor, what: str, folder: Path | None) -> None:
    """Run a process as for a processor; raise an XmlcError with the end of what it printed if it fails."""
    # The workflow's rules call `xmlc`, which stands beside this Python, in the PATH or not.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    environment: Mapping[str, str] = {**os.environ, **processor.environment, "PATH": path}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise XmlcError(f"{what}, as for {processor.title}, failed:\n{(done.stdout + done.stderr)[-TAIL:]}")
