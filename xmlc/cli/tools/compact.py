"""`xmlc compact`: drop a tree's small weights, and see what that costs in P@k."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xmlc.cli._options import data_option, model_option, out_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics.ranking import K

if TYPE_CHECKING:
    from xmlc.measuring.compacting import Compacted

HEADINGS = ("cut", "weights", "kept", "MB", *(text for k in K for text in (f"P@{k}", "change")))


@click.command(help="Drop weights below each cut; report the weights kept and the loss of P@1, P@3 and P@5.")
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
@out_option("With one cut: write the smaller model here.", required=False)
def command(data: Path, model_folder: Path, cuts: tuple[float, ...], part: str, threads: int, out: Path | None) -> None:
    """Rank with all weights first, then with those that each cut keeps."""
    from xmlc.measuring.compacting import compacted
    from xmlc.models.plt import PLT

    if out is not None and len(cuts) != 1:
        raise XmlcError(f"--out with {len(cuts)} cuts: give the one whose model is to be written")
    X, Y = Prepared(data).part(part)
    model = PLT.load(model_folder).set_params(n_jobs=threads)
    if model.hash_bits is not None:
        raise XmlcError(f"{model_folder}: its weights are hashed and shared by all nodes, none can be dropped")
    click.echo(format_rows(list(compacted(model, X, Y, cuts))))
    if out is not None:
        model.drop_weights(cuts[0]).save(out)
        click.echo(f"Written: {out}")


def format_rows(rows: Sequence[Compacted]) -> str:
    """Lay rows out as a table in text; the first is what the others are compared with."""
    cells = [HEADINGS]
    for row in rows:
        share = f"{100 * row.weights / max(rows[0].weights, 1):.1f} %"
        compared = [
            text
            for value, before in zip(row.precisions, rows[0].precisions, strict=True)
            for text in (f"{value:.4f}", "" if row.cut is None else f"{value - before:+.4f}")
        ]
        cut = "none" if row.cut is None else f"{row.cut:g}"
        cells.append((cut, f"{row.weights:,}", share, f"{row.size / 1e6:.1f}", *compared))
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )
