"""Use undocumented parts of numba, which reduce the time of a first call to two thirds.

Numba compiles every function that a kernel calls twice: first to separate machine code, and then again as part of the
kernel. The separate machine code takes a third of the time of a first call, and does not change the kernel. With
`numba_private`, only functions that Python calls are compiled to separate machine code. Numba also compiles
``np.empty`` and ``np.zeros`` anew for each type and each calling function, which takes a tenth of the time of a first
call. With `numba_private`, the code of ``np.empty`` and ``np.zeros`` becomes part of the kernel.

Importing `numba_private` fails if numba is later than `NEWEST`, or if numba lacks a name that `numba_private` imports.
If the import fails, `xmlc.core.kernel_cache` uses only documented parts of numba. Without `numba_private`, results are
bit-identical, but the first call of a kernel takes longer. To allow a later version of numba, raise `NEWEST` and the
bound in pyproject.toml. After raising `NEWEST`, run tests/core/test_kernel_cache.py and `make bits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock as compiler_lock
from numba.core.cpu import CPUContext, CPUTargetOptions
from numba.core.typing.npydecl import parse_dtype
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl

__all__ = ["compiler_lock", "one_library", "two_forms"]

NEWEST = (0, 68)
FOR_PYTHON = "_ZN7cpython"  # Prefix of the names of functions that convert Python's objects.

for owner, name in (
    (JITCodeLibrary, "_optimize_final_module"),
    (JITCodeLibrary, "_finalize_final_module"),
    (JITCodeLibrary, "_finalized"),
    (JITCodeLibrary, "get_defined_functions"),
    (JITCPUCodegen, "_library_class"),
    (JITCPUCodegen, "set_env"),
    (CPUContext, "create_cfunc_wrapper"),
    (CPUTargetOptions, "no_cpython_wrapper"),
    (CPUTargetOptions, "no_cfunc_wrapper"),
    (numba.njit(lambda: None), "_compiling_counter"),
    (getattr(numba.njit(lambda: None), "typingctx", None), "_globals"),
):
    if not hasattr(owner, name) or numba.version_info.short > NEWEST:
        raise ImportError(f"numba {numba.__version__}: found a later version than {NEWEST}, or no {name} in {owner}")


def two_forms(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Compile a function with ``numba.njit``.

    A second compiled form of the kernel, for calls from other kernels, does not convert Python objects.
    """
    compiled: Any = numba.njit
    kernel = compiled(**options, no_cfunc_wrapper=True)(function)
    called = compiled(**options, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)
    # Numba recognizes recursive kernels by ``_compiling_counter``, so both compiled forms of a kernel have the same
    # counter.
    kernel._compiling_counter = called._compiling_counter
    kernel.get_call_template, kernel.get_overload = called.get_call_template, called.get_overload
    return kernel


def allocating(zero: bool) -> Any:
    """Return an implementation of ``np.zeros`` (if ``zero`` is true) or ``np.empty`` for kernels.

    By default, numba compiles ``np.zeros`` and ``np.empty`` for each type and each calling function.
    """

    def allocate(typing_context: Any, shape: Any, dtype: Any = None) -> Any:
        shapes: Any = shape if isinstance(shape, types.BaseTuple) else types.UniTuple(types.intp, 1)
        element = types.float64 if dtype is None else parse_dtype(dtype)
        kind = types.Array(element, shapes.count, "C")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            sizes = cgutils.unpack_tuple(builder, arguments[0]) if shape is shapes else [arguments[0]]
            array = _empty_nd_impl(context, builder, kind, sizes)
            if zero:
                cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
            return array._getvalue()

        taken = types.UniTuple(types.intp, shapes.count) if shape is shapes else types.intp
        return kind(taken, types.Omitted(None) if dtype is None else dtype), generate

    return intrinsic(allocate)


ALLOCATING = {ref(np.empty): allocating(zero=False), ref(np.zeros): allocating(zero=True)}


class Library(JITCodeLibrary):
    """Hold the code of a function that is compiled for a kernel.

    Only functions that Python calls are compiled to separate machine code.
    """

    _for_python = True  # Numba's cache contains only code that Python calls.

    @property
    def codegen(self) -> Any:
        """Return numba's code generator for the function.

        If the function is not compiled to machine code, this method returns an object whose method ``set_env`` does
        nothing.
        """
        return super().codegen if self._for_python else SimpleNamespace(set_env=lambda name, environment: None)

    def _optimize_final_module(self) -> None:
        self._for_python = any(function.name.startswith(FOR_PYTHON) for function in self.get_defined_functions())
        if self._for_python:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._for_python:
            super()._finalize_final_module()
        self._finalized = True


@contextmanager
def one_library(kernel: Any) -> Iterator[None]:
    """Compile a kernel and the functions it calls into one `Library`.

    The caller of this function must hold numba's lock.
    """
    context, globals_ = kernel.targetctx, kernel.typingctx._globals
    kernel.typingctx.refresh()
    codegen = context.codegen()
    library, known = codegen._library_class, {name: globals_[name] for name in ALLOCATING}
    codegen._library_class = Library
    dict.update(globals_, {name: kernel.typingctx.resolve_value_type(own) for name, own in ALLOCATING.items()})
    # Replace the method that compiles an unused C wrapper for each NumPy function except those in ALLOCATING.
    context.create_cfunc_wrapper = lambda *unused: None
    try:
        yield
    finally:
        codegen._library_class = library
        dict.update(globals_, known)
        # While a recursive kernel is compiled, an inner call may already have removed the attribute
        # ``create_cfunc_wrapper``.
        vars(context).pop("create_cfunc_wrapper", None)
