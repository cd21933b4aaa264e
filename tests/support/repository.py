"""Define the folder of the project, whatever folder pytest starts in, and read the measurements in
it.
"""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def measurements(name):
    """Return the rows of a file of measurements in results/benchmarks."""
    with (ROOT / "results/benchmarks" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
