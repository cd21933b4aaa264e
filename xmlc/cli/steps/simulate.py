"""`xmlc simulate`: inference from samples of known distributions, as in Figure 1 of gfm2011."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, SEED, threads_option


@click.command(help="Infer label sets from samples of known distributions, score them exactly, time the methods.")
@click.option(
    "--trials", default=50, show_default=True, type=click.IntRange(min=2), help="Trials for each sample size."
)
@click.option("--seed", default=0, show_default=True, type=SEED, help="Seed of all samples.")
@click.option("--labels", default=25, show_default=True, type=click.IntRange(min=1), help="Labels of the two models.")
@click.option(
    "--rounds",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="Measurements of each time; the best counts.",
)
@threads_option
@click.option("--out", type=FILE, required=True, help="Record to write.")
def command(trials: int, seed: int, labels: int, rounds: int, threads: int, out: Path) -> None:
    """Simulate, measure, write."""
    from xmlc.core.passport import step_costs, with_passport
    from xmlc.records.simulation import SimulationRecord
    from xmlc.steps.simulation import PAIRED, PRIOR, SAMPLE_SIZES, measure_growth, simulate

    models = simulate(seed, trials, SAMPLE_SIZES, labels, threads)
    SimulationRecord(
        seed=seed,
        trials=trials,
        paired_trials=PAIRED * trials,
        labels=labels,
        prior=PRIOR,
        sample_sizes=SAMPLE_SIZES,
        scoring="exact expected F under the model that the sample is from; 0/0 = 1",
        models=models,
        growth=measure_growth(seed, trials, rounds=rounds),
        **with_passport(step_costs("simulate", threads, "simulation")),
    ).write(out)
