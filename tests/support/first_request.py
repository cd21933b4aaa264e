"""Send a server's first requests to a model of another process, and print the kernels that numba
compiled.
"""

import json
import sys

import numpy as np
from numba.core import event
from scipy import sparse

from xmlc.models import PLT

rng = np.random.default_rng(0)
# The values are float64, as scikit-learn's vectorizers return them.
X = sparse.csr_array(sparse.random_array((300, 90), density=0.2, rng=rng))
Y = sparse.csr_array(rng.random((300, 30)) > 0.9)
with event.install_recorder("numba:compile") as compiled:
    if sys.argv[1] == "train":
        PLT(n_jobs=2).fit(X, Y).save(sys.argv[2])
    else:
        model = PLT.load(sys.argv[2])
        labels, _ = model.predict_top_k(X, 3)
        model.predict_top_k(X.astype(np.float32), 3)
        model.predict(X, 0.3)
        alone, _ = model.rank_one(X.indices[: X.indptr[1]], X.data[: X.indptr[1]], 3)
        assert (alone == labels[0]).all()
print(
    json.dumps(sorted({one.data["dispatcher"].py_func.__qualname__ for _, one in compiled.buffer}))
)
