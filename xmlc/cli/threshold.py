"""`xmlc threshold`: tune one threshold method on the validation estimates."""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from xmlc.cli._options import FOLDER, data_option, threads_option
from xmlc.csr import load_csr
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import atomic_folder, read_json, write_json
from xmlc.metrics import macro_f
from xmlc.passport import passport
from xmlc.thresholds import apply_thresholds
from xmlc.thresholds.bounds import GRID, priors
from xmlc.thresholds.tune import METHODS


@click.command(help="Try every value of a method's grid on the validation set and keep the best thresholds.")
@data_option
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.option("--method", required=True, help=f"One of {', '.join(METHODS)}.")
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Folder to write.")
def command(data: Path, estimates: Path, method: str, threads: int, out: Path) -> None:
    """Sweep the grid in one job; choose by validation macro-F, report the test's for Figure 1."""
    if method not in METHODS:
        raise XmlcError(f"threshold method {method!r} is unknown; expected one of {', '.join(METHODS)}")
    prepared = Prepared(data)
    (_, Y_fit), (_, Y_val), (_, Y_test) = (prepared.part(part) for part in ("fit", "val", "test"))
    spe_val, spe_test = load_csr(estimates, "val"), load_csr(estimates, "test")
    floor = np.float32(read_json(estimates / "estimate.json")["floor"])
    points, best, best_thresholds = [], None, None
    seconds, started = 0.0, time.perf_counter()
    for point in METHODS[method](spe_val, Y_val, priors(Y_fit), GRID):
        # Estimates say nothing below their floor, so a threshold below it means the floor.
        thresholds = np.maximum(point.thresholds, floor)
        validation = macro_f(Y_val, apply_thresholds(spe_val, thresholds))
        # The grid runs from the cheapest sets to the largest; a later value must be better to be chosen.
        if best is None or validation > points[best]["validation"]["macro_f"]:
            best, best_thresholds = len(points), thresholds
        seconds += time.perf_counter() - started
        test = macro_f(Y_test, apply_thresholds(spe_test, thresholds))
        points.append(
            {"c": point.c, "a": point.a, "b": point.b, "validation": {"macro_f": validation}, "test": {"macro_f": test}}
        )
        started = time.perf_counter()
    with atomic_folder(out) as folder:
        np.save(folder / "thresholds.npy", best_thresholds)
        content = {"method": method, "grid": points, "best": best, "tune_seconds": seconds}
        write_json(folder / "tuning.json", content | {"passport": passport(threads)})
