"""All streams of random numbers stand in one list, no number of one elsewhere, and something draws from each."""

import ast
from collections import Counter

import pytest
from numba import njit

from xmlc.kernels.counter_random import stream_key
from xmlc.kernels.streams import Stream
from xmlc.sources import PACKAGE

FILES = set(PACKAGE.rglob("*.py")) - {PACKAGE / "kernels" / name for name in ("streams.py", "counter_random.py")}
DRAWING = {"stream_key": 1, "random_permutation": 2, "shuffle_stream": 2}  # at which place the stream stands
SHARED = {"SYNTHETIC_ROW", "LDSM_ORDER"}  # equal numbers, under keys that are never equal


def drawn_streams(source):
    """Yield each expression that a function of `xmlc.kernels.counter_random` takes for its stream."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in DRAWING:
            yield node.args[DRAWING[node.func.id]]


def numbers_in(source):
    """Yield what a file says of the number of a stream without `Stream`: literals, and constants of its own."""
    for stream in drawn_streams(source):
        nodes = list(ast.walk(stream))
        if not any(isinstance(node, ast.Name) and node.id == "Stream" for node in nodes):
            yield from [ast.unparse(node) for node in nodes if isinstance(node, ast.Constant)]
            yield from [node.id for node in nodes if isinstance(node, ast.Name) and node.id.isupper()]
    for node in ast.parse(source).body:
        names = [target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)]
        yield from [name for name in names if name == "STREAM" or name.endswith("_STREAM")]


def test_no_number_of_a_stream_stands_elsewhere():
    found = {file: list(numbers_in(file.read_text(encoding="utf-8"))) for file in FILES}
    assert {file: numbers for file, numbers in found.items() if numbers} == {}


@pytest.mark.parametrize(
    "line",
    [
        "key = stream_key(seed, 0x5A1)",
        "random_permutation(n, seed, ORDER + t)",
        "shuffle_stream(order, seed, np.int64(1 << 40))",
        "ORDER_STREAM = 7",
    ],
)
def test_a_number_is_found(line):
    assert list(numbers_in(line))


def test_every_stream_is_drawn_from():
    nodes = [node for file in FILES for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    taken = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert {node.attr for node in taken if node.value.id == "Stream"} == set(Stream.__members__)


def test_streams_differ_but_for_those_under_different_keys():
    counts = Counter(int(member) for member in Stream.__members__.values())
    assert {name for name, member in Stream.__members__.items() if counts[member] > 1} == SHARED


@njit
def key_in_a_kernel(seed):
    return stream_key(seed, Stream.LDSM_ORDER.value), stream_key(seed, Stream.SYNTHETIC_ROW.value + 3)


def test_kernels_take_the_same_number():
    assert key_in_a_kernel(5) == (stream_key(5, 1 << 40), stream_key(5, (1 << 40) + 3))
