"""Compare precision on real data from the mirror with published results."""

from xmlc.data import load
from xmlc.metrics import precision_at_k


def bibtex(mirror):
    """Return instances and label sets of bibtex: training set, test set."""
    return [load(mirror / "bibtex" / f"{part}.txt.xz") for part in ("train", "test")]


def assert_precision(Y_test, labels, expected, within):
    """Check P@1, P@3 and P@5 against three numbers, in percent."""
    found = [100 * precision_at_k(Y_test, labels, k) for k in (1, 3, 5)]
    assert all(abs(ours - theirs) < within for ours, theirs in zip(found, expected, strict=True)), (
        found
    )
