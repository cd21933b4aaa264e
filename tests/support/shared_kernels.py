"""Run kernels that other processes use at the same time, and print the number compiled and all
results.

The argument is the folder of a file of kernels.
"""

import importlib
import json
import random
import sys
import time

import numpy as np
from numba.core import caching

NAMES = [f"sum_{number}" for number in range(4)]
SOURCE = "import numpy as np\nfrom xmlc.core.kernel_cache import njit\n" + "\n".join(
    f"""
@njit
def {name}(values):
    total = np.float32({number})
    for i in range(values.size):
        total += values[i]
    return total
"""
    for number, name in enumerate(NAMES)
)


def slowed(function):
    """Return a function with a random delay."""

    def slow(*arguments):
        result = function(*arguments)
        time.sleep(random.uniform(0, 0.1))
        return result

    return slow


def main(folder):
    caching.dumps = slowed(caching.dumps)
    sys.path.insert(0, folder)
    module = importlib.import_module("kernels_of_a_test")
    kernels = [getattr(module, name) for name in NAMES]
    random.shuffle(kernels)
    values = (np.arange(4096, dtype=np.float32) * np.float32(0.0048) - np.float32(9.8)) ** 2
    results = {}
    for kernel in kernels:
        parts = [values[i:] for i in range(20)] + [values[::2]]  # two signatures
        results[kernel.__name__] = [float(kernel(part)).hex() for part in parts]
    compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
    print(json.dumps({"compiled": compiled, "results": results}))


if __name__ == "__main__":
    main(*sys.argv[1:])
