"""Speed of each method that maximises the expected F of each instance, with the same samples.

The PCC model is trained, its samples are drawn and all kernels are compiled once, untimed.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.commands import benchmark, count_option, rounds_option
from benchmarks.harness import PER_INSTANCE, PERCENT, TIME, TIMES, Contender, Data, Report, Task
from benchmarks.settings import paper_setting
from xmlc.inference.samples import Samples
from xmlc.metrics.classification import instance_f
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option
from xmlc.suite.steps.simulate import task_of

METHODS = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf", "lewis")
AT_LEAST = 0.2  # seconds of each task in a round
INFERENCE = "inference from samples"


@benchmark(
    "inference",
    "Compare inference methods on samples from PCC.",
    data_option,
    count_option("--samples", 200, "For each instance."),
    count_option("--threads", 1, "Number of threads."),
    rounds_option(),
)
def bench_inference(data: Path, samples: int, threads: int, rounds: int) -> Report:
    """Measure the time and the F-measure of each method on the test set."""
    dataset = Data.read(data)
    setting = paper_setting("gfm2011", "pcc").hyperparameters
    model = (
        ProbabilisticClassifierChain(n_jobs=threads).set_params(**setting).fit(dataset.X, dataset.Y)
    )
    model.sample(dataset.X_test[:WARM_UP_ROWS], samples)
    drawn = Samples(model.sample(dataset.X_test, samples), samples)
    about = (
        f"{dataset.size}, {samples} samples for each test instance, the fastest of {rounds} "
        "interleaved rounds"
    )
    report = Report(
        "inference", dataset.name, about, [Contender(name, "inference method") for name in METHODS]
    )
    n = dataset.X_test.shape[0]
    tasks = [
        Task(name, INFERENCE, task_of(name, drawn, threads), PER_INSTANCE, n, threads)
        for name in METHODS
    ]
    for task in tasks:
        task.call()
    found = report.measure(tasks, rounds, AT_LEAST)
    least = report.value("gfm", INFERENCE, TIME, threads)
    for name in METHODS:
        own = report.value(name, INFERENCE, TIME, threads)
        report.add(name, INFERENCE, f"{TIME} / gfm's", TIMES, own / least, threads=threads)
        score = 100 * float(instance_f(dataset.Y_test, found[name, INFERENCE, threads][0]))
        report.add(name, INFERENCE, "instance-F", PERCENT, score, threads=threads)
    report.add_process()
    return report
