"""The PLT's line in the table of limits: what is counted, and that the bare accesses touch it all once."""

from itertools import pairwise

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.harness import Data
from xmlc.bench.limits import plt as limits_of
from xmlc.bench.plt.limits import by_width
from xmlc.bench.plt.pairs import block_degrees, training_pairs, training_reach
from xmlc.csr import kernel_csr
from xmlc.models.plt import PLT


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data.read(prepare_tiny(tmp_path_factory.mktemp("tiny")))


def test_a_training_is_counted_by_the_pairs_that_its_passes_visit(data):
    works = list(limits_of.works(data))
    assert [work.contender for work in works] == ["PLT, adagrad", "PLT, batch", "PLT, batch, with steps"]
    for work in works:
        one, two = work.call(1), work.call(2)
        assert {name: array.tobytes() for name, array in one.items()} == {n: a.tobytes() for n, a in two.items()}
        work.bare(2)
    adagrad = PLT().set_params(**limits_of.solver_settings(data.name)["adagrad"]).fit(data.X, data.Y)
    assert works[0].units == adagrad.epochs * training_pairs(data.X, data.Y, adagrad.tree_)


@pytest.mark.parametrize("pairs_per_piece", [1, 50, 1 << 22])
def test_pieces_of_bare_accesses_are_all_instances_of_all_blocks(data, monkeypatch, pairs_per_piece):
    monkeypatch.setattr(limits_of, "PAIRS_PER_PIECE", pairs_per_piece)
    model = PLT(tree="random", arity=4, solver="adagrad", epochs=1).fit(data.X, data.Y)
    touched = []
    bare, pairs = limits_of.bare_pass(data, model, lambda *arguments: touched.append(arguments), 2)
    bare(1)
    reach = training_reach(data.X, data.Y, model.tree_)
    groups = by_width(kernel_csr(data.X), reach, block_degrees(model.tree_), data.X.shape[1])
    expected = [tuple(ids[a:b]) for ends, ids, _ in groups.values() for a, b in pairwise(ends)]
    assert [tuple(ids[a:b]) for ends, ids, *_ in touched for a, b in pairwise(ends)] == expected
    assert pairs == 16 * sum(len(ids) for ids in expected)
    for _, ids, _, rows, sums in touched:
        assert rows.size >= 2 * sums.size * (int(ids.max()) + 1)
        assert (np.abs(rows) <= 1e-2).all()
