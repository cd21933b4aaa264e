"""Stored online trees are proven: what the kernels write passes, and what was changed passes only if a walk agrees."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

from xmlc.estimator import InvalidParameterError
from xmlc.gate.fields import Malformed
from xmlc.models.oplt._proof import FAULTS, check_extendable, first_fault, proven_tree
from xmlc.models.oplt._rows import stored_arrays
from xmlc.models.oplt.learning import proven_sums
from xmlc.models.oplt.tree import N_LEARNED, NODE, OnlineTree

GOLDEN = 0x9E3779B97F4A7C15
UNREAD = ("head", "next_positive")  # written before they are read
POLICIES = [
    ("best_greedy", 2, 4),
    ("best_greedy", 4, 9),
    ("random", 3, 3),
    ("complete", 3, 3),
    ("cpet", 2, 2),
    ("one_vs_rest", 2, 2),
]


def stored(policy="best_greedy", arity=2, max_leaf=4, n=60):
    """A model that has learned, and copies of the arrays that it would store."""
    X, Y = stream(n=n, m=20)
    model = oplt(policy, arity, max_leaf).partial_fit(X, Y)
    return model, {name: array.copy() for name, array in stored_arrays(model._online).items()}


def no_links(arrays):
    """The links of free rows, before a proof reads them from the rows."""
    return np.zeros(arrays["rows"].size // 8, dtype=np.uint32)


def walk(arrays, n_features):
    """Follow everything that kernels follow, one step at a time; an AssertionError says what is wrong."""
    nodes, entries, leaves = arrays["nodes"], [int(entry) for entry in arrays["entries"]], arrays["leaves"]
    links, counters = arrays["rows"].view(np.uint32), arrays["counters"]
    slots, units, met = {0, 1}, set(range(8)), []
    n_slots = links.size // 8

    def claim(taken, start, size, most):
        own = set(range(start, start + size))
        assert start >= 0
        assert start + size <= most
        assert not own & taken
        taken |= own

    def down(v, above):
        """Return leaves below and the smallest threshold."""
        assert 0 <= v < nodes.size
        assert v not in met
        met.append(v)
        node = nodes[v]
        assert node["parent"] == above
        assert -1 <= node["stamp"] <= counters[4]
        children, child = [], node["first_child"]
        while child != -1:
            assert 0 <= child < nodes.size
            assert child not in children
            children.append(child)
            child = nodes[child]["next_sibling"]
        below = [down(child, v) for child in children]
        assert node["degree"] == len(children)
        assert node["last_child"] == (children[-1] if children else -1)
        assert node["leaf_children"] == sum(nodes[child]["label"] != -1 for child in children)
        assert node["auxiliary"] in (0, 1)
        assert node["width"] == len(children) + node["auxiliary"]
        columns = sorted(nodes[child]["column"] for child in children)
        assert columns == list(range(node["auxiliary"], node["width"]))
        block(v, node)
        if not children:
            if node["label"] != -1:
                assert leaves[node["label"]] == v
            else:
                assert v == 1
                assert nodes.size == 2
            assert 0 <= node["bound"] <= 1
            assert node["n_leaves"] == (node["label"] != -1)
            return node["n_leaves"], node["bound"]
        assert node["label"] == -1
        total, smallest = sum(count for count, _ in below), min(bound for _, bound in below)
        assert node["n_leaves"] == total
        assert node["bound"] == smallest
        return total, smallest

    def block(v, node):
        padded, bits, first = int(node["padded"]), int(node["table_bits"]), int(node["table"])
        if padded == 0:
            assert node["width"] == 0 == node["n_features"]
            return
        assert padded in (4, 8, *range(16, 1000, 16))
        assert node["width"] <= padded
        size = padded // 4
        assert size < arrays["free_rows"].size
        assert 3 <= bits <= 40
        assert first % 8 == 0
        claim(slots, int(node["bias"]), size, n_slots)
        claim(units, first, 1 << bits, len(entries))
        table = entries[first : first + (1 << bits)]
        features = [entry >> 32 for entry in table if entry]
        assert len(features) == len(set(features)) == node["n_features"]
        assert max(features, default=0) < n_features
        assert 8 * len(features) <= 7 << bits
        distances = [(place - home(entry >> 32, bits)) % len(table) for place, entry in enumerate(table)]
        for place, entry in enumerate(table):
            if entry:
                claim(slots, entry & 0xFFFFFFFF, size, n_slots)
                for step in range(1, distances[place] + 1):  # on the way from its home
                    assert table[place - step]
                    assert distances[place - step] >= distances[place] - step

    assert nodes["parent"][0] == -1
    assert nodes["degree"][0] == 1
    assert nodes["first_child"][0] == 1
    assert nodes["next_sibling"][0] == -1
    down(0, -1)
    assert len(met) == nodes.size == counters[0]
    assert n_slots == counters[1]
    assert len(entries) == counters[2]
    assert all(leaf == -1 or (0 < leaf < nodes.size and nodes["label"][leaf] == i) for i, leaf in enumerate(leaves))
    assert 0 <= counters[3] < 2**62 > counters[4] >= 0
    assert 0 <= counters[5] < nodes.size
    assert -1 <= counters[6] < counters[3]
    for size, slot in enumerate(int(slot) for slot in arrays["free_rows"]):
        while slot:
            assert size
            claim(slots, slot, size, n_slots)
            slot = int(links[slot * 8])
    for bits, index in enumerate(int(index) for index in arrays["free_tables"]):
        while index:
            assert 3 <= bits <= 40
            assert index % 8 == 0
            claim(units, index, 1 << bits, len(entries))
            index = entries[index]


def home(feature, bits):
    return (feature * GOLDEN % 2**64) >> (64 - bits)


def is_whole(arrays, n_features):
    try:
        walk(arrays, n_features)
    except (AssertionError, IndexError):
        return False
    return True


@pytest.mark.parametrize(("policy", "arity", "max_leaf"), POLICIES)
def test_an_index_that_was_changed_is_refused_if_and_only_if_a_walk_refuses_it(policy, arity, max_leaf):
    model, arrays = stored(policy, arity, max_leaf)
    check_extendable(proven_tree(arrays, 25, 20), model._settings())
    assert is_whole(arrays, 25)
    rng, refused = np.random.default_rng(0), 0
    names = ["nodes"] * 6 + ["entries"] * 3 + ["leaves", "counters", "free_rows", "free_tables", "rows"]
    for _ in range(250):
        changed = {name: array.copy() for name, array in arrays.items()}
        name = names[rng.integers(len(names))]
        array = changed[name]
        if name == "nodes":
            field = NODE.names[rng.integers(len(NODE.names))]
            array = array[field]
        place = rng.integers(array.size)
        old = array[place]
        with np.errstate(all="ignore"):
            choices = [old + 1, old - 1, array[rng.integers(array.size)], 0, old * 2]
            array[place] = np.asarray(choices[rng.integers(len(choices))]).astype(array.dtype)
        try:
            proven_tree(changed, 25, 20)
        except Malformed:
            refused += 1
            assert not is_whole(changed, 25), (name, place, old, array[place])
        else:
            assert is_whole(changed, 25), (name, place, old, array[place])
    assert refused > 60


def test_of_random_mutations_of_tables_the_kernel_finds_what_a_walk_finds():
    _, arrays = stored(n=120)
    rng, found = np.random.default_rng(1), set()
    for _ in range(300):
        entries = arrays["entries"].copy()
        places = rng.permutation(np.flatnonzero(entries))[:2]
        kind = rng.integers(4)
        if kind == 0:
            entries[places] = entries[places[::-1]]
        elif kind == 1:
            entries[places[0]] = entries[places[0]] & 0xFFFFFFFF | (entries[places[1]] >> 32) << 32
        elif kind == 2:
            entries[places[0]] ^= np.uint64(1) << rng.integers(64, dtype=np.uint64)
        else:
            entries[rng.integers(entries.size)] = 0
        changed = arrays | {"entries": entries}
        fault, _ = first_fault(OnlineTree(**changed, links=no_links(changed)), 25)
        assert (fault == 0) == is_whole(changed, 25)
        found.add(FAULTS[fault][1][:24])
    assert len(found) > 4


@pytest.mark.parametrize(("policy", "arity", "max_leaf"), POLICIES)
def test_a_stored_tree_gives_the_same_rows_out_again(policy, arity, max_leaf):
    model, arrays = stored(policy, arity, max_leaf)
    tree, again = model._online, proven_tree(arrays, 25, 20)
    n_free = 0
    for size in np.flatnonzero(tree.free_rows):
        slot = int(tree.free_rows[size])
        while slot != 0:
            assert again.links[slot] == tree.links[slot]
            slot, n_free = int(again.links[slot]), n_free + 1
    assert n_free > 0 or max_leaf <= 4  # whose rows are never outgrown


def test_a_policy_extends_only_trees_of_its_own():
    for policy, arity, max_leaf in POLICIES:
        model, arrays = stored(policy, arity, max_leaf)
        tree = OnlineTree(**arrays, links=no_links(arrays))
        check_extendable(tree, model._settings())
        if policy != "best_greedy":
            with pytest.raises(Malformed, match="hyperparameters are of another policy, or other degrees"):
                check_extendable(tree, oplt("complete", 7, 7)._settings())
        with pytest.raises(InvalidParameterError, match="set them back, or call fit"):
            model.set_params(arity=5, max_leaf=8).partial_fit(*stream())


def test_a_bound_on_children_that_no_tree_reaches_takes_no_memory():
    model = oplt("best_greedy", 2, 2**31 - 1).fit(*stream())
    assert model._online.free_rows.size < 100
    assert model.tree_.n_labels == model.labels_.size > 25


def test_counts_of_instances_begin_with_the_selection_before_them():
    _, arrays = stored()
    arrays["counters"][N_LEARNED] = 0
    with pytest.raises(Malformed, match="counters: entry 0"):
        proven_tree(arrays, 25, 20)


@pytest.mark.parametrize(
    ("counted", "meta"),
    [
        ([[1.0, 20.0]], {}),
        (None, {"a": 1.0, "b": 20.0}),
        ([[1.0, 20.0]], {"a": 1.0, "b": 1.0}),
        ([[1.0, 20.0]], {"a": "1", "b": 20.0}),
        ([[1.0, np.nan]], {"a": 1.0, "b": 20.0}),
        ([[2.0, 1.0]], {"a": 1.0, "b": 20.0}),
        ([[1.0, 20.0]] * 3, {"a": 1.0, "b": 20.0}),
        ([[1.0], [20.0]], {"a": 1.0, "b": 20.0}),
    ],
)
def test_sums_of_thresholds_that_are_none_are_refused(counted, meta):
    with pytest.raises(Malformed, match="expected"):
        proven_sums(None if counted is None else np.array(counted), meta, 2)
