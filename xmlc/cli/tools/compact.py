"""`xmlc compact`: drop a tree's small weights, and see what that costs in P@k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FOLDER, data_option, model_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics.ranking import precision_at_k

K = (1, 3, 5)
HEADINGS = ("cut", "weights", "kept", "MB", *(text for k in K for text in (f"P@{k}", "change")))


@click.command(help="Drop weights below each cut: what is kept, and what that costs in P@1, P@3 and P@5.")
@data_option
@model_option
@click.option("--cut", "cuts", type=float, multiple=True, required=True, help="A weight w with |w| <= cut is dropped.")
@click.option(
    "--part",
    type=click.Choice(("test", "val")),
    default="test",
    show_default=True,
    help="Instances to rank labels for; val to choose a cut by, with a model trained on the 80 %.",
)
@threads_option
@click.option("--out", type=FOLDER, help="With one cut: write the smaller model here.")
def command(data: Path, model_folder: Path, cuts: tuple[float, ...], part: str, threads: int, out: Path | None) -> None:
    """Rank with all weights first, then with those that each cut keeps."""
    from xmlc.models.plt import PLT

    if out is not None and len(cuts) != 1:
        raise XmlcError(f"--out with {len(cuts)} cuts: give the one whose model is to be written")
    X, Y = Prepared(data).part(part)
    model = PLT.load(model_folder).set_params(n_jobs=threads)
    if model.hash_bits is not None:
        raise XmlcError(f"{model_folder}: its weights are hashed and shared by all nodes, none can be dropped")
    rows = []
    for cut in (None, *cuts):
        smaller = model if cut is None else model.drop_weights(cut)
        labels, _ = smaller.predict_top_k(X, max(K))
        nodes: Any = smaller.nodes_
        size = sum(array.nbytes for array in nodes if hasattr(array, "nbytes"))
        rows.append((cut, nodes.weights.size, size, [precision_at_k(Y, labels, k) for k in K]))
    click.echo(format_rows(rows))
    if out is not None:
        smaller.save(out)
        click.echo(f"Written: {out}")


def format_rows(rows: list[tuple[float | None, int, int, list[float]]]) -> str:
    """Lay out (cut, weights, bytes, P@k) as a table in text; the first row is what the others are compared with."""
    _, all_weights, _, reference = rows[0]
    cells = [HEADINGS]
    for cut, weights, size, precisions in rows:
        share = f"{100 * weights / max(all_weights, 1):.1f} %"
        compared = [
            text
            for value, before in zip(precisions, reference, strict=True)
            for text in (f"{value:.4f}", "" if cut is None else f"{value - before:+.4f}")
        ]
        cells.append(("none" if cut is None else f"{cut:g}", f"{weights:,}", share, f"{size / 1e6:.1f}", *compared))
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
