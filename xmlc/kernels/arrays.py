"""What kernels do with whole arrays: kernels."""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


@njit(cache=True, nogil=True)
def copy_into(target, source):
    """Write ``source`` to the beginning of ``target``, of any one type each.

    ``target[: source.size] = source`` does the same, but brings along the text of the error of unequal lengths, with
    all that numba needs to make it: more than a second of compilation in each process, and more in each kernel that
    calls it. Here nothing is checked: ``target`` must be long enough, and the two must not overlap.
    """
    for i in range(source.size):
        target[i] = source[i]


@intrinsic
def borrowed(typing_context: Any, array: Any, start: Any, end: Any) -> Any:
    """Return ``array[start:end]`` of a contiguous array, one-dimensional and without a reference to its memory.

    A slice counts a reference when it is made and when it goes: two atomic additions, 10 to 20 ns together, and far
    more where two threads slice the same array. In a loop that takes a row of 20 numbers that is most of the time.
    Nothing is checked: ``0 <= start <= end <= array.size``. Whoever owns the memory must outlive the view: take it of
    an argument of the kernel, or of what an argument holds, and return it to kernels only.
    """
    view = types.Array(array.dtype, 1, "C", readonly=not array.mutable)

    def generate(context, builder, signature, arguments):
        low, high = arguments[1:]
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        result = context.make_array(view)(context, builder)
        data = builder.gep(source.data, [low])
        size = context.get_constant(types.intp, context.get_abi_sizeof(data.type.pointee))
        populate_array(result, data=data, shape=[builder.sub(high, low)], strides=[size], itemsize=size, meminfo=None)
        return result._getvalue()

    return view(array, types.intp, types.intp), generate


@njit(cache=True, nogil=True)
def row_of(table, row):
    """Return ``table[row]`` of a C-contiguous array of two dimensions; see `borrowed`."""
    return borrowed(table, row * table.shape[1], (row + 1) * table.shape[1])
