"""A comparison of results, bit by bit, between this processor and imitated processors.

``python -m benchmarks.bits GROUP OUT [DATA ...]`` runs the tasks of one group on the processor that
environment variables imitate. It writes a JSON file with the `witnesses`, results that depend on
the processor, and for each task a short digest of its result (the word) and of the parts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from scipy import sparse

from benchmarks.harness import ROOT
from benchmarks.pieces import GROUPS, ON_ESTIMATORS, Parts, prepared_data, synthetic_data
from benchmarks.processors import THIS, Processor, doubt_lines, processors, witnesses
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.core.threads import set_process_threads
from xmlc.suite.config import paths
from xmlc.suite.config.suite import read_suite
from xmlc.suite.results.fingerprint import (
    VERSION,
    Fingerprint,
    of_array,
    of_parts,
    of_table,
    read_table,
)
from xmlc.suite.schemas import read_yaml

# Needed by the demo
PROJECT = ("Snakefile", "workflow", "config", "profiles", "pyproject.toml")
# Fewer than in the demo, because the imitated processor computes an FMA by a slow function
FEW_INSTANCES = {"n_train": 400, "n_test": 200}
TAIL = 2000  # characters of a failed process's output in the message
# Most labels of a dataset for slow estimators with one classifier per label
LINEAR_LABELS = 200
SAME = "same"
MISSING = "-"
SHOWN = 9  # characters of a word in the table


class Piece(TypedDict):
    """Digests of a task's result (the word) and its parts, as in the JSON file."""

    word: str
    parts: dict[str, str]


class Processed(TypedDict):
    """The `witnesses` and all results on one processor, as in the JSON file."""

    witnesses: dict[str, str]
    pieces: dict[str, Piece]


def check_bits(
    folders: Sequence[Path], demo: bool, cores: int, out: Path | None, against: Sequence[Path]
) -> tuple[list[str], bool]:
    """Compare the results on all processors, and return a report and whether all bits are the same.

    ``folders`` are prepared datasets for estimators. All digests are written to the JSON file
    ``out``, and ``against`` has such files from other machines.
    """
    chosen = processors()
    with tempfile.TemporaryDirectory() as scratch:
        found = run_pieces_as(chosen, Path(scratch), cores, folders)
        if demo:
            for name, tables in run_demo_as(chosen, Path(scratch), cores).items():
                found[name]["pieces"] |= tables
    if out is not None:
        write_json(out, found)
    others: dict[str, Processed] = {file.stem: read_json(file)[THIS.name] for file in against}
    rows = compare(found | others)
    doubts = doubt_lines(
        chosen, {name: processed["witnesses"] for name, processed in found.items()}
    )
    word = f"word of all pieces: {word_of_all(found[THIS.name])}"
    return [*lines(rows, [*found, *others]), *doubts, word], not any(row.differing for row in rows)


def run_pieces_as(
    processors: Iterable[Processor], scratch: Path, cores: int, folders: Sequence[Path] = ()
) -> dict[str, Processed]:
    """Return the results of all groups of tasks by processor, or raise an error if a process fails.

    Groups of estimators run on the synthetic and on all prepared datasets, in ``cores`` processes
    with one thread each.
    """
    chosen = list(processors)
    # Imitated processors first, because they compile kernels for which later processes would wait
    tasks = list(product(reversed(chosen), GROUPS))

    def run(task: tuple[Processor, str]) -> Processed:
        processor, group = task
        out = scratch / f"{processor.name}-{group}.json"
        command = [sys.executable, "-m", "benchmarks.bits", group, str(out), *map(str, folders)]
        _run(command, processor, f"pieces of group {group}", None)
        content: Processed = read_json(out)
        return content

    with ThreadPoolExecutor(cores) as pool:
        results = list(pool.map(run, tasks))
    found: dict[str, Processed] = {
        processor.name: {"witnesses": {}, "pieces": {}} for processor in chosen
    }
    for (processor, _), result in zip(tasks, results, strict=True):
        found[processor.name]["witnesses"] = result["witnesses"]
        found[processor.name]["pieces"] |= result["pieces"]
    return found


def run_demo_as(
    processors: Iterable[Processor], scratch: Path, cores: int
) -> dict[str, dict[str, Piece]]:
    """Run the demo with few instances in a copy of the project for each processor.

    A table becomes a `Piece`, whose parts are the rows of one model, without costs. All copies use
    the same package, so that kernels are compiled only once per processor.

    Raises
    ------
    XmlcError
        If the current folder is not the project's, or the workflow failed.
    """
    if not Path("Snakefile").exists():
        raise XmlcError(
            "--demo: found no Snakefile in this folder. Run the command in a clone of the project"
        )
    tables = [
        f"{paths.TABLE.of(paper='demo', table=name)}.csv"
        for name in read_suite(Path("config/demo.yaml")).tables
    ]
    found = {}
    for processor in processors:
        folder = scratch / f"demo-{processor.name}"
        folder.mkdir()
        for name in filter(os.path.exists, PROJECT):
            (shutil.copytree if Path(name).is_dir() else shutil.copy)(name, folder / name)
        (folder / "xmlc").symlink_to(Path("xmlc").resolve())
        catalogue: Any = read_yaml(folder / "config/datasets.yaml")
        catalogue["demo"]["synthetic"] |= FEW_INSTANCES
        write_json(folder / "config/datasets.yaml", catalogue)  # JSON is YAML, too
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            str(cores),
            "--quiet",
            "all",
            "--config",
            "threads=1",
        ]
        _run([*command, "--", *tables], processor, "the demo", folder)
        found[processor.name] = demo_pieces(folder / "results" / "tables" / "demo")
    return found


def demo_pieces(folder: Path) -> dict[str, Piece]:
    """Return each table in a folder, with the rows of a model as a part."""
    pieces: dict[str, Piece] = {}
    for file in sorted(folder.glob("*.csv")):
        table = read_table(file)
        rows = [("all rows", table)]
        if "model" in table:
            rows = table.groupby("model")
        pieces[f"demo {file.stem}"] = as_piece(
            of_parts({str(name): of_table(part) for name, part in rows})
        )
    return pieces


def _run(command: list[str], processor: Processor, what: str, folder: Path | None) -> None:
    """Run a process that imitates a processor, or raise an error with its last output."""
    # Rules call `xmlc` next to the running Python, whose folder PATH may lack
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    modules = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, **processor.environment, "PATH": path, "PYTHONPATH": modules}
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise XmlcError(
            f"{what} failed for {processor.title}:\n{(done.stdout + done.stderr)[-TAIL:]}"
        )


class Row(NamedTuple):
    """A task's word on each processor, or `MISSING`, and the parts that differ from the first."""

    piece: str
    words: tuple[str, ...]
    differing: Mapping[str, tuple[str, ...]]


def compare(found: Mapping[str, Processed]) -> list[Row]:
    """Return one row per task."""
    first, *others = found.values()
    names = list(dict.fromkeys(chain.from_iterable(run["pieces"] for run in found.values())))
    rows = []
    for name in names:
        absent: Piece = {"word": MISSING, "parts": {}}
        pieces = [run["pieces"].get(name, absent) for run in (first, *others)]
        differing = {
            processor: tuple(differing_parts(pieces[0], piece)) or (MISSING,)
            for processor, piece in zip(list(found)[1:], pieces[1:], strict=True)
            if piece["word"] != pieces[0]["word"]
        }
        rows.append(Row(name, tuple(piece["word"] for piece in pieces), differing))
    return rows


def lines(rows: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """Yield a table of tasks by processors, and a conclusion."""
    width = max((len(row.piece) for row in rows), default=0)
    columns = [max(len(name), SHOWN) for name in names]
    yield "  ".join(
        [
            f"{'piece':{width}}",
            *(f"{name:{size}}" for name, size in zip(names, columns, strict=True)),
        ]
    )
    for row in rows:
        short = (word.removeprefix(f"{VERSION}-")[:SHOWN] for word in row.words)
        words = (f"{word:{size}}" for word, size in zip(short, columns, strict=True))
        yield "  ".join([f"{row.piece:{width}}", *words, _verdict(row)])
    wrong = [row.piece for row in rows if row.differing]
    yield ""
    if wrong:
        yield f"{len(wrong)} of {len(rows)} pieces differ: {'; '.join(wrong)}"
    else:
        yield f"all {len(rows)} pieces are bit-identical on {', '.join(names)}"


def word_of_all(found: Processed) -> str:
    """Return one digest of all results, equal on machines that agree."""
    pieces = {}
    for name, piece in found["pieces"].items():
        pieces[name] = of_parts(
            {part: Fingerprint(word, {}) for part, word in piece["parts"].items()}
        )
    return of_parts(pieces).word


def _verdict(row: Row) -> str:
    if not row.differing:
        return SAME
    return "DIFFERS: " + "; ".join(
        f"{', '.join(parts)} ({name})" for name, parts in row.differing.items()
    )


def as_piece(digest: Fingerprint) -> Piece:
    """Convert a fingerprint to a `Piece`."""
    return {
        "word": digest.word,
        "parts": {name: part.digest for name, part in digest.parts.items()},
    }


def digest_of(result: Parts) -> Fingerprint:
    """Return the fingerprint of an array, a number, or a sequence or dict of them."""
    return of_parts({name: _part(value) for name, value in result.items()})


def _part(value: object) -> Fingerprint:
    if isinstance(value, Fingerprint):
        return value
    if isinstance(value, Mapping):
        return digest_of(value)
    if isinstance(value, sparse.csr_array):
        return digest_of({"indptr": value.indptr, "indices": value.indices, "data": value.data})
    if isinstance(value, np.ndarray):
        return of_array(value)
    if isinstance(value, tuple | list) and any(not isinstance(one, int | float) for one in value):
        return digest_of({str(i): one for i, one in enumerate(value)})
    return of_array(np.asarray(value))


def differing_parts(one: Piece, other: Piece) -> Iterator[str]:
    """Yield the parts that differ, or that only one result has."""
    for name in sorted({*one["parts"], *other["parts"]}):
        if one["parts"].get(name) != other["parts"].get(name):
            yield name


def main(group: str, out: str, *folders: str) -> None:
    """Run the tasks of one group in this process, and write their results."""
    set_process_threads(1)
    found: Processed = {"witnesses": witnesses(), "pieces": {}}
    sets = {"": synthetic_data()}
    if group in ON_ESTIMATORS:
        for folder in map(Path, folders):  # results/<name>/data is called <name>
            sets[f" ({folder.parent.name if folder.name == 'data' else folder.name})"] = (
                prepared_data(folder)
            )
    for ending, data in sets.items():
        is_large = group == "linear" and data.Y.shape[1] > LINEAR_LABELS
        for name, run in () if is_large else GROUPS[group].items():
            found["pieces"][name + ending] = as_piece(digest_of(run(data)))
    write_json(Path(out), found)


if __name__ == "__main__":
    main(*sys.argv[1:])
