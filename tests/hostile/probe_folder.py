"""Damage a prepared folder, or one of estimates, again and again, and use what is loaded, in a process of its own."""

import sys
import warnings

import numpy as np
from fuzzing import folder_in_memory, limited_time
from hostile_cases import damage, forget_what_was_proven
from scipy import sparse
from small_data import prepare_tiny

from xmlc.checksums import NAME, Damaged
from xmlc.csr import load_csr, save_csr
from xmlc.data.prepared import PARTS, Prepared
from xmlc.errors import XmlcError
from xmlc.files import atomic_folder
from xmlc.measuring.estimation import estimate_part
from xmlc.metrics.classification import classification_metrics
from xmlc.models import PLT
from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.tune import tune

N, M = 24, 8
TRUTH = sparse.csr_array(np.random.default_rng(5).random((N, M)) < 0.3)


def make_estimates(folder):
    """Write estimates of a validation and a test set, as `xmlc estimate` does."""
    rng = np.random.default_rng(3)
    with atomic_folder(folder / "spe") as spe:
        for part in ("val", "test"):
            values = rng.random((N, M)) * (rng.random((N, M)) < 0.5)
            save_csr(spe, part, sparse.csr_array(values.astype(np.float32)))
    return folder / "spe"


def open_data(folder):
    """Read all that a step may read of a prepared folder."""
    prepared = Prepared(folder)
    return prepared, [prepared.part(part) for part in PARTS]


def use_data(opened):
    """Train on one part, and estimate another."""
    prepared, parts = opened
    model = PLT(epochs=1, arity=2, n_jobs=1).fit(*parts[2])
    estimate_part(model, prepared, "test", 0.01)


def open_estimates(folder):
    """Read the estimates of both parts."""
    return [load_csr(folder, part, made_by="estimate") for part in ("val", "test")]


def use_estimates(opened):
    """Tune thresholds on one part, and score the other."""
    for method in ("sto", "fta", "for-micro-f"):
        tuned = tune(method, opened[0], TRUTH, priors(TRUTH), floor=0.01)
        classification_metrics(TRUTH, apply_thresholds(opened[1], tuned.thresholds))


KINDS = {"data": (prepare_tiny, open_data, use_data), "spe": (make_estimates, open_estimates, use_estimates)}


def run(kind, times, seed):
    """Change one file: the list of the folder lets nothing be opened."""
    make, opened, use = KINDS[kind]
    rng, refused = np.random.default_rng(seed), 0
    warnings.simplefilter("ignore")
    with folder_in_memory() as memory, limited_time() as start:
        folder = make(memory)
        use(opened(folder))
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != NAME)
        whole = {file: file.read_bytes() for file in files}
        for number in range(times):
            file = files[rng.integers(len(files))]
            what = damage(file, rng)
            print(f"{number} {file.name}: {what}", flush=True)
            forget_what_was_proven()
            start()
            try:
                opened(folder)
                print(f"WRONG {number} {file.name}: {what}: accepted")
            except Damaged as error:
                refused += 1
                if str(file) not in str(error):
                    print(f"WRONG {number} {file.name}: {what}: {error}")
            except XmlcError:
                refused += 1
            except Exception as error:
                print(f"WRONG {number} {file.name}: {what}: {type(error).__name__}: {error}")
            file.write_bytes(whole[file])
    print(f"{refused} refused")


run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
