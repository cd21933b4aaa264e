"""Kernels that copy, sort, slice and prefetch arrays and count the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from xmlc.core.kernel_cache import njit

# Arguments of llvm.prefetch: for reading, into all cache levels, data
READ = 0
KEEP = 3
DATA = 1


@njit
def copy_into(target, source):
    """Write ``source`` to the beginning of ``target``, which is not shorter and does not overlap.

    The statement ``target[: source.size] = source`` does the same, but numba then also compiles an
    error for unequal lengths, which takes more than a second in each process.
    """
    for i in range(source.size):
        target[i] = source[i]


@njit
def sort(values):
    """Sort a contiguous array in place with quicksort (Hoare), short parts with insertion sort.

    ``values.sort()`` gives the same result, but takes a second to compile for each type.
    """
    while values.size > 16:
        first = values[0]
        middle = values[values.size // 2]
        last = values[-1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j = partition(values, pivot)
        left = unchecked_view(values, 0, j + 1)
        right = unchecked_view(values, i, values.size)
        if left.size > right.size:
            left, right = right, left
        sort(left)
        values = right
    for k in range(1, values.size):
        value = values[k]
        place = k
        while place > 0 and value < values[place - 1]:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@njit(inline="always")
def partition(values, pivot):
    """Move numbers up to the pivot before numbers from the pivot on (Hoare).

    The first part ends with the second bound returned, and the other begins with the first.
    """
    i = 0
    j = values.size - 1
    while i <= j:
        while values[i] < pivot:
            i += 1
        while pivot < values[j]:
            j -= 1
        if i <= j:
            values[i], values[j] = values[j], values[i]
            i += 1
            j -= 1
    return i, j


@njit
def stable_order(ids):
    """Return the int64 permutation that sorts ``ids`` below 2**32 and keeps equal ids in order.

    The same as ``np.argsort`` with mergesort, which takes longer to compile than `sort`.
    """
    keys = np.empty(ids.size, dtype=np.uint64)
    order = np.empty(ids.size, dtype=np.int64)
    for i in range(ids.size):
        keys[i] = np.uint64(ids[i]) << np.uint64(32) | np.uint64(i)
    sort(keys)
    for i in range(ids.size):
        order[i] = keys[i] & np.uint64(0xFFFFFFFF)
    return order


@njit
def kth_smallest(values, k):
    """Return the value that sorting would put at position k, and reorder ``values`` (Hoare's FIND).

    Linear time on average, like ``np.partition(values, k)[k]``, which takes five seconds to
    compile.
    """
    low = 0
    high = values.size - 1
    while low < high:
        i, j = partition(unchecked_view(values, low, high + 1), values[k])
        start = low
        if start + j < k:
            low = start + i
        if k < start + i:
            high = start + j
    return values[k]


@intrinsic
def unchecked_view(typing_context: Any, array: Any, start: Any, end: Any) -> Any:
    """Return the view ``array[start:end]`` of a contiguous vector, without a reference to memory.

    An ordinary slice changes a reference count by two atomic additions, which take 10 to 20 ns, and
    far longer if two threads slice the same array. A loop over rows of 20 numbers would spend most
    of its time on them. The int64 bounds are not checked: ``0 <= start <= end <= array.size``.

    The owner of the memory must outlive the view, so a kernel may create views of its arguments and
    of arrays inside them, and return them only to other kernels. An array that the kernel itself
    created is freed after its last use. Slice it in the ordinary way, or use it again after the
    view.
    """

    def generate(context, builder, signature, arguments):
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        return _view(context, builder, signature.return_type, source, *arguments[1:])

    return _view_type(array)(array, types.intp, types.intp), generate


@intrinsic
def row_of(typing_context: Any, table: Any, row: Any) -> Any:
    """Return ``table[row]`` of a C-contiguous matrix, as an `unchecked_view`."""

    def generate(context, builder, signature, arguments):
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        length = builder.extract_value(source.shape, 1)
        start = builder.mul(arguments[1], length)
        return _view(
            context, builder, signature.return_type, source, start, builder.add(start, length)
        )

    return _view_type(table)(table, types.intp), generate


@njit(forceinline=True)
def row_of_csr(x, row):
    """Return columns and values of a row of a `KernelCSR`, each an `unchecked_view`."""
    start = x.indptr[row]
    end = x.indptr[row + 1]
    return unchecked_view(x.indices, start, end), unchecked_view(x.data, start, end)


@intrinsic
def unowned(typing_context: Any, record: Any) -> Any:
    """Return a copy of a named tuple whose arrays hold no reference to their memory.

    Reading an array from an ordinary tuple updates a reference count twice, and so does even
    reading a number if one kernel passed the tuple to another. A kernel that begins with `unowned`
    avoids this. It must not return the copy, or an array of it, to Python.
    """

    def generate(context, builder, signature, arguments):
        (result,) = arguments
        for i, kind in enumerate(record.types):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, builder.extract_value(result, i))
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                array.parent = cgutils.get_null_value(array.parent.type)
                result = builder.insert_value(result, array._getvalue(), i)
        return result

    return record(record), generate


def _view_type(array: Any) -> Any:
    return types.Array(array.dtype, 1, "C", readonly=not array.mutable)


def _view(context: Any, builder: Any, kind: Any, source: Any, start: Any, end: Any) -> Any:
    """Return ``source[start:end]`` without a reference to the memory."""
    result = context.make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(source.data.type.pointee))
    shape = [builder.sub(end, start)]
    data = builder.gep(source.data, [start])
    populate_array(result, data=data, shape=shape, strides=[size], itemsize=size, meminfo=None)
    return result._getvalue()


@intrinsic
def bits_set(typing_context: Any, word: Any) -> Any:
    """Return the number of 1 bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the position of the lowest 1 bit of a uint64 that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Request the cache line of ``array[index]``, which must exist, without waiting for it."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(
            function, [pointer, *(ir.Constant(number, value) for value in (READ, KEEP, DATA))]
        )
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
