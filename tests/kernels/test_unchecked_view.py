"""Search the code that Numba compiles for views that a kernel reads after Numba has freed their
array.

Such views hold no reference. Numba deletes a kernel's own array at its last mention. If that
mention is an argument of a call, the deletion precedes the call. For arguments of a kernel, the
caller keeps a reference.
"""

import importlib
from collections import defaultdict

import numpy as np
import pytest
from numba.core import compiler, ir, postproc, ssa
from numba.core.dispatcher import Dispatcher

from xmlc.core.sources import PACKAGE
from xmlc.kernels.arrays import row_of, unchecked_view, unowned

# functions that return views of their first argument
VIEWS = {"unchecked_view", "row_of", "unowned", "row_of_csr"}
# If a result of these operations holds an array, then the array is one of their operands.
SAME_ARRAY = {
    "build_tuple",
    "exhaust_iter",
    "static_getitem",
    "getitem",
    "getattr",
    "getiter",
    "iternext",
    "pair_first",
}


def stale_reads(function):
    """List (line, name of the array) for each read of a view whose array may be deleted by then."""
    code = ssa.reconstruct_ssa(compiler.run_frontend(function))
    postproc.PostProcessor(code).run(emit_dels=True)
    assigned = []
    for block in code.blocks.values():
        assigned += block.find_insts(ir.Assign)
    named = {
        s.target.name: s.value for s in assigned if isinstance(s.value, ir.Global | ir.FreeVar)
    }
    # For each variable: the arrays that it refers to, and the arrays that it is a view of.
    held = defaultdict(set)
    viewed = defaultdict(set)
    for _ in range(len(assigned)):
        before = sum(map(len, held.values())) + sum(map(len, viewed.values()))
        for s in assigned:
            name = s.target.name
            value = s.value
            operation = value.op if isinstance(value, ir.Expr) else None
            called = named.get(value.func.name) if operation == "call" else None
            if called is not None and called.name in VIEWS:
                viewed[name] |= held[value.args[0].name] | viewed[value.args[0].name]
            elif operation == "call" and not (
                called is not None and isinstance(called.value, type)
            ):
                held[name].add(name)
            elif (
                operation in SAME_ARRAY
                or operation == "call"
                or operation == "phi"
                or isinstance(value, ir.Var)
            ):
                for source in value.list_vars() if operation else [value]:
                    held[name] |= held[source.name]
                    viewed[name] |= viewed[source.name]
        if sum(map(len, held.values())) + sum(map(len, viewed.values())) == before:
            break
    keepers = defaultdict(set)
    for name, owners in held.items():
        for owner in owners:
            keepers[owner].add(name)

    def walk(label, alive):
        alive = set(alive)
        stale = set()
        for s in code.blocks[label].body:
            if isinstance(s, ir.Del):
                alive.discard(s.value)
                continue
            read = {v.name for v in s.list_vars()} - (
                {s.target.name} if isinstance(s, ir.Assign) else set()
            )
            stale |= {
                (s.loc.line, owner)
                for name in read
                for owner in viewed[name]
                if not keepers[owner] & alive
            }
            if isinstance(s, ir.Assign):
                alive.add(s.target.name)
        return alive, stale

    first = min(code.blocks)
    entry = {first: set()}
    todo = [first]
    while todo:
        label = todo.pop()
        alive, _ = walk(label, entry[label])
        for target in code.blocks[label].terminator.get_targets():
            known = entry.get(target)
            entry[target] = alive if known is None else known & alive
            if entry[target] != known:
                todo.append(target)
    return sorted(set().union(*(walk(label, alive)[1] for label, alive in entry.items())))


def modules_of_kernels():
    names = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if "@njit" in file.read_text(encoding="utf-8"):
            names.append(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts))
    return names


@pytest.mark.parametrize("name", modules_of_kernels())
def test_kernels_read_views_only_while_arrays_exist(name):
    module = importlib.import_module(name)
    for kernel in vars(module).values():
        if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == name:
            assert stale_reads(kernel.py_func) == [], kernel


def view_of_last_mention(n):
    own = np.zeros(n)
    return np.sum(unchecked_view(own, 0, n))


def view_outlives_array_in_loop(n):
    table = np.zeros((2, n))
    result = 0.0
    row = row_of(table, 0)
    for i in range(n):
        result += row[i]
    return result


def view_of_argument(x, scratch):
    scratch = unowned(scratch)
    return unchecked_view(x, 0, 1)[0] + unchecked_view(scratch.values, 0, 1)[0]


@pytest.mark.parametrize(
    ("function", "n"),
    [(view_of_last_mention, 1), (view_outlives_array_in_loop, 1), (view_of_argument, 0)],
)
def test_search_finds_views_that_outlive_their_array(function, n):
    assert len({owner for _, owner in stale_reads(function)}) == n
