"""`xmlc estimate`: sparse probability estimates for the validation set and the test set."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli.options import out_option
from xmlc.core.files import atomic_folder
from xmlc.suite.results.records.thresholds import EstimatesRecord, PartEstimates
from xmlc.suite.steps.run import TrainedStep, on_trained_model, write_estimates


@click.command(help="Write a model's estimates for the validation and test set.")
@on_trained_model("estimate")
@click.option(
    "--min-probability",
    type=float,
    required=True,
    help="Write only estimates above this probability.",
)
@out_option("Folder to write.")
def command(step: TrainedStep, min_probability: float, out: Path) -> None:
    """Write the estimates."""
    with atomic_folder(out) as folder:
        parts = {}
        for part in ("val", "test"):
            _, ms = write_estimates(step, part, min_probability, folder)
            parts[part] = PartEstimates(ms_per_instance=ms)
        record = EstimatesRecord(
            min_probability=min_probability, parts=parts, **step.finish(written=folder)
        )
        record.write(folder / EstimatesRecord.FILE)
