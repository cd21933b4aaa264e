"""`xmlc simulate`: inference from samples of known distributions, as in Figure 1 of gfm2011."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, threads_option


@click.command(help="Infer label sets from samples of known distributions, score them exactly, time the methods.")
@threads_option
@click.option("--out", type=FILE, required=True, help="Record to write.")
def command(threads: int, out: Path) -> None:
    """Simulate, measure, write."""
    from xmlc.core.passport import step_costs, with_passport
    from xmlc.suite.results.records.simulation import SimulationRecord
    from xmlc.suite.steps.simulation import (
        N_LABELS,
        N_TRIALS,
        PAIRED,
        PRIOR,
        SAMPLE_SIZES,
        SEED,
        measure_growth,
        simulate,
    )

    SimulationRecord(
        seed=SEED,
        trials=N_TRIALS,
        paired_trials=PAIRED * N_TRIALS,
        labels=N_LABELS,
        prior=PRIOR,
        sample_sizes=SAMPLE_SIZES,
        scoring="exact expected F under the model that the sample is from; 0/0 = 1",
        models=simulate(SEED, N_TRIALS, SAMPLE_SIZES, N_LABELS, threads),
        growth=measure_growth(SEED, N_TRIALS),
        **with_passport(step_costs("simulate", threads, "simulation")),
    ).write(out)
