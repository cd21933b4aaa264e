"""A synthetic dataset as text files, with the true posteriors and a description of the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import click
from scipy import sparse

from xmlc.cli.options import out_option, threads_option
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import atomic_folder
from xmlc.core.parallel import row_blocks
from xmlc.data.matrices import save_csr
from xmlc.data.synthetic.few_shot import ObjectViews, ShortTexts
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.data.synthetic.subjects import SubjectTexts
from xmlc.data.writer import repository_writer
from xmlc.suite.config.catalogue import Dataset, catalogue_entry, file_facts, load_catalogue
from xmlc.suite.files import write_record
from xmlc.suite.options import catalogue_option, entry_option
from xmlc.suite.provenance.environment import step_costs

# Rows of X and Y in memory at once, in contrast to the posteriors
ROWS_AT_A_TIME = 1 << 16
SIZES = ("n_train", "n_test", "n_features", "n_labels")


KINDS: dict[str, Callable[..., Any]] = {
    "labels": SyntheticModel,
    "subjects": SubjectTexts,
    "objects": ObjectViews,
    "texts": ShortTexts,
}


def make_dataset(name: str, kind: str, given: Mapping[str, Any], out: Path, n_jobs: int) -> None:
    """Draw a dataset at random, and write it to the folder ``out``, which appears when it is
    complete.

    ``kind`` is a key of `KINDS`, whose parameters ``given`` include those in `SIZES`.
    """
    known = signature(KINDS[kind]).parameters.items()
    defaults = {key: parameter.default for key, parameter in known if key not in SIZES}
    parameters = {**defaults, **given}
    unknown = ", ".join(key for key in parameters if key not in (*SIZES, *defaults))
    if unknown:
        raise XmlcError(
            f"{name}: found {unknown}, expected parameters of kind {kind}: {', '.join(defaults)}"
        )
    sizes = [int(parameters[key]) for key in SIZES]
    n_train, n_test, d, m = sizes
    model = KINDS[kind](
        **{key: value for key, value in parameters.items() if key not in ("n_train", "n_test")}
    )
    with atomic_folder(out) as folder:
        for part, start, n in (("train", 0, n_train), ("test", n_train, n_test)):
            posteriors = []
            with repository_writer(folder / f"{part}.txt", n, d, m) as write:
                for a, b in row_blocks(n, ROWS_AT_A_TIME):
                    X, Y, P = model.draw(start + a, start + b, n_jobs)
                    write(X, Y)
                    if P is not None:
                        posteriors.append(P)
            if posteriors:
                save_csr(folder, f"{part}.P", sparse.vstack(posteriors, format="csr"))
        files = file_facts(folder)
        source = {"name": name, "origin": "synthetic", "kind": kind, **Dataset(name).layout}
        costs = step_costs("synth", n_jobs, name, written=folder)
        write_record(
            folder / "source.json",
            source | {"parameters": parameters, "files": files, "step": costs},
        )


@click.command()
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@click.option(
    "--one-in",
    type=click.IntRange(1),
    help="Use the key `shape` of the dataset, its numbers of instances divided by this number.",
)
@catalogue_option
@entry_option
@threads_option
def command(
    dataset: str,
    out: Path,
    one_in: int | None,
    catalogue: tuple[Path, ...],
    entry: str | None,
    threads: int,
) -> None:
    """Generate a synthetic dataset that is described in the catalogue.

    The key `synthetic` of the catalogue entry describes multi-label data with known posteriors, or
    few-shot multi-class data. With --one-in, the key `shape` of the entry is used instead. This key
    contains the sizes of a real dataset.
    """
    known = load_catalogue(*catalogue)
    described = catalogue_entry(dataset, known, entry)
    listed = described.synthetic if one_in is None else described.in_its_shape(one_in)
    if listed is None:
        expected = nearest(dataset, [name for name, one in known.items() if one.synthetic])
        raise XmlcError(
            f"DATASET: found {dataset}, expected {expected}, which are synthetic in the catalogue"
        )
    given = {key: value for key, value in listed.items() if key != "kind"}
    make_dataset(dataset, listed.get("kind", "labels"), given, out, threads)
