"""Replace omikuji: read the same file, and compare precision and seconds.

The example needs omikuji. Your `train.txt` and `test.txt` can replace the synthetic files.
"""

from time import perf_counter

import numpy as np
import omikuji

from xmlc import PLT, Parabel, compile_kernels
from xmlc.data import load
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.data.writer import save_repository
from xmlc.metrics import precision_at_k


def train_omikuji():
    """Train on the file, and return a function that ranks a matrix."""
    model = omikuji.Model.train_on_data("train.txt", n_threads=2)

    def rank(X, k):
        rows = (X[[i]] for i in range(X.shape[0]))
        ranked = [
            model.predict(list(zip(row.indices.tolist(), row.data.tolist())), top_k=k)
            for row in rows
        ]
        return np.array(ranked)[:, :, 0].astype(np.int64)

    return rank


def train(estimator):
    """Train on the file, and return a function that ranks a matrix."""
    model = estimator.fit(*load("train.txt"))
    return lambda X, k: model.predict_top_k(X, k)[0]


if __name__ == "__main__":
    made = SyntheticModel(n_features=5000, n_labels=1000, labels_per_instance=3.0, seed=1)
    for file, first, end in ("train.txt", 0, 10_000), ("test.txt", 10_000, 12_000):
        save_repository(file, *made.draw(first, end)[:2])
    X, Y = load("test.txt")
    compile_kernels("plt", "parabel")  # once on a machine
    programs = {
        "omikuji": train_omikuji,
        "Parabel": lambda: train(Parabel()),
        "PLT": lambda: train(PLT()),
    }
    for name, trained in programs.items():
        start = perf_counter()
        rank = trained()
        end = perf_counter()
        p_at_1 = precision_at_k(Y, rank(X, 5), 1)
        print(
            f"{name:8} P@1 {p_at_1:.3f}, trained in {end - start:.1f} s, ranked in "
            f"{perf_counter() - end:.1f} s"
        )
