"""Compile kernels so that any index outside its array raises an IndexError (pytest plugin of `make
bounds`).

``NUMBA_BOUNDSCHECK=1`` alone counts every negative index from the end. Kernels only count from the
end if -1 is a constant in their source. ``NUMBA_BOUNDSCHECK=1`` also does not check the views of
`xmlc.kernels.arrays.unchecked_view`.
"""

import numba.np.arrayobj
from llvmlite import ir
from numba import types
from numba.core import config

from xmlc.kernels import arrays

assert config.BOUNDSCHECK, "expected NUMBA_BOUNDSCHECK=1, and a NUMBA_CACHE_DIR of its own"
from_the_end = numba.np.arrayobj.fix_integer_index
view = arrays._view


def as_it_is(context, builder, idxty, idx, size):
    """Return an index for the bounds check. A computed index is never counted from the end."""
    if isinstance(idx, ir.Constant):
        return from_the_end(context, builder, idxty, idx, size)
    return context.cast(builder, idx, idxty, types.intp)


def checked_view(context, builder, kind, source, start, end):
    """Return `_view`, or raise IndexError if ``0 <= start <= end <= size`` does not hold."""
    ordered = builder.and_(
        builder.icmp_signed("<=", start, end), builder.icmp_signed("<=", end, source.nitems)
    )
    inside = builder.and_(ordered, builder.icmp_signed("<=", ir.Constant(start.type, 0), start))
    with builder.if_then(builder.not_(inside), likely=False):
        context.call_conv.return_user_exc(
            builder, IndexError, ("a view lies outside of its array",)
        )
    return view(context, builder, kind, source, start, end)


numba.np.arrayobj.fix_integer_index = as_it_is
arrays._view = checked_view
