"""docs/package.md: its examples run, one after the other, with what the page leaves to the reader."""

import re

import numpy as np
import pytest
from repository import ROOT

from xmlc.data.writer import save_repository

EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/package.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_examples_run(tmp_path, monkeypatch, multilabel):
    monkeypatch.chdir(tmp_path)
    X, Y = multilabel(1300, 60, 12)
    save_repository("train.txt.xz", X[:1200], Y[:1200])
    save_repository("test.txt.xz", X[1200:], Y[1200:])
    texts = [" ".join(f"word{j}" for j in X[[i]].indices) or "nothing" for i in range(1200)]
    page = {"np": np, "texts": texts, "classes": np.array([f"label {j}" for j in range(12)])}
    for example in EXAMPLES:
        exec(example, page)
