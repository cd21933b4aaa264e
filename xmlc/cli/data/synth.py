"""`xmlc synth`: a synthetic dataset, with known posteriors or with few examples of each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FOLDER, catalogue_option, threads_option
from xmlc.csr import save_csr
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.few_shot import ObjectViews, ShortTexts
from xmlc.data.synthetic import SyntheticModel
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError
from xmlc.files import atomic_folder, sha256, write_json
from xmlc.passport import step_costs

# By kind: who draws, and what stands where neither options nor catalogue say anything.
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "labels": (SyntheticModel, {"labels_per_instance": 4.0, "nonzeros": 60, "seed": 0}),
    "objects": (ObjectViews, {"seed": 0}),
    "texts": (ShortTexts, {"nonzeros": 70, "seed": 0}),
}
SIZES = ("n_train", "n_test", "n_features", "n_labels")
COUNT = click.IntRange(min=1)


@click.command(
    help="Make sparse multi-label data whose true posteriors are known, or multi-class data with few examples of each "
    "class. Options override the catalogue's."
)
@click.argument("dataset")
@click.option("--out", type=FOLDER, required=True, help="Folder to write, such as resources/DATASET.")
@catalogue_option
@click.option(
    "--kind", type=click.Choice(list(KINDS)), help="Several labels (the default), views of objects, or texts."
)
@click.option("--n-train", type=COUNT, help="Instances of the training set.")
@click.option("--n-test", type=COUNT, help="Instances of the test set.")
@click.option("--n-features", type=COUNT, help="Features d.")
@click.option("--n-labels", type=COUNT, help="Labels m.")
@click.option("--labels-per-instance", type=float, help="Labels per instance, on average.")
@click.option("--nonzeros", type=COUNT, help="Draws of features per instance.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of everything.")
@threads_option
def command(dataset: str, out: Path, catalogue: Path | None, threads: int, **options: Any) -> None:
    """Draw both parts and write them as text, with the posteriors beside."""
    entry = catalogue_entry(dataset, load_catalogue(catalogue))
    given = {key: value for key, value in options.items() if value is not None}
    asked = (entry.synthetic or {}) | given
    kind = asked.pop("kind", "labels")
    draws_from, defaults = KINDS[kind]
    parameters = defaults | asked
    missing = [key for key in SIZES if key not in parameters]
    if missing:
        flags = ", ".join("--" + key.replace("_", "-") for key in missing)
        raise XmlcError(f"{dataset} is no synthetic set of the catalogue; give {flags}")
    if unknown := [key for key in parameters if key not in (*SIZES, *defaults)]:
        raise XmlcError(
            f"{dataset}: {', '.join(unknown)} is no parameter of kind {kind}; expected {', '.join(defaults)}"
        )
    rows = {"train": (0, parameters["n_train"])}
    rows["test"] = (parameters["n_train"], parameters["n_train"] + parameters["n_test"])
    model = draws_from(**{key: value for key, value in parameters.items() if key not in ("n_train", "n_test")})
    with atomic_folder(out) as folder:
        for part, (start, end) in rows.items():
            X, Y, P = model.draw(start, end, threads)
            save_repository(folder / f"{part}.txt", X, Y)
            if P is not None:
                save_csr(folder, f"{part}.P", P)
        files = {file.name: {"bytes": file.stat().st_size, "sha256": sha256(file)} for file in sorted(folder.iterdir())}
        content = {"name": dataset, "origin": "synthetic", "kind": kind, "format": "repository", "zero_based": True}
        content |= {"labels": None, "split_files": None, "train": ["train.txt"], "test": ["test.txt"]}
        costs = step_costs("synth", threads, dataset, written=folder)
        write_json(folder / "source.json", content | {"parameters": parameters, "files": files, "step": costs})
