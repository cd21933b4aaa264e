"""Where compiled kernels are kept, so that an edited kernel is never run in its old form.

Numba compiles a kernel anew when the file that defines it changes, even by a comment, but not when a kernel that it
calls from another file does. The kernels of this package are therefore kept in a folder named after the code of all
files that hold kernels and of all that these import. Kernels of users stay where numba keeps them.

Numba's index of a kernel is read, changed and written: two processes that did so at once would give one name to the
code of both. So one process at a time compiles a kernel and keeps it, and others that need it wait for that. Where the
file system has no locks, nothing is kept.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numba
from numba.core import caching
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from xmlc.core.files import locked
from xmlc.core.sources import PACKAGE, source_digest, source_files

KEPT = 3  # folders of kernels, of the last branches, say
KERNEL = re.compile(r"^\s*@(njit|overload|intrinsic)\b", re.MULTILINE)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of the same name, with ``cache=True`` keeping compiled kernels in `kernel_folder`.

    Other kernels call a second form, which has no code to convert Python's objects, see `Library`.
    """
    cached = options.pop("cache", False)
    options.setdefault("no_cfunc_wrapper", True)

    def decorate(function: Callable[..., Any]) -> Any:
        kernel: Any = numba.njit(**options)(function)
        called = numba.njit(**options | {"no_cpython_wrapper": True})(function)
        kernel.get_call_template, kernel.get_overload = called.get_call_template, called.get_overload
        kernel._compiling_counter = called._compiling_counter  # by which numba finds a kernel that calls itself
        if cached:
            kernel._cache = KernelCache(function)
            kernel.compile = kernel._cache.alone(kernel.compile)
        return kernel

    return decorate


def kernel_folder() -> Path:
    """Return the folder for the kernels as they are now.

    It lies in NUMBA_CACHE_DIR where that is set, else in the package, or in the user's cache where the package is
    read-only. Where nothing can be written, each process compiles what it needs.
    """
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))


def kernel_digest() -> str:
    """Return 16 hexadecimal digits that tell the code of all files that hold kernels and of all that these import.

    Domains of hyperparameters are imported by estimators, not by kernels.
    """
    kernels = [str(file) for file in PACKAGE.rglob("*.py") if KERNEL.search(file.read_text(encoding="utf-8"))]
    files = source_files(*kernels, packages=False)
    return source_digest(file for file in files if Path(file).parent.name != "domains")


class Library(JITCodeLibrary):
    """Numba's code of a function that is compiled for a kernel; machine code only if Python calls the function.

    By itself numba optimises every function and makes machine code of it, and does so again in each function that calls
    it: twice the time of a first call, for the same machine code in the end.
    """

    _for_python = True  # as all code is that was kept

    @property
    def codegen(self) -> Any:
        """Return the code generator; without machine code there is no place to write an environment to."""
        return super().codegen if self._for_python else SimpleNamespace(set_env=lambda name, environment: None)

    def finalize(self) -> None:
        """Link what the functions call, and only make machine code if Python calls one of them."""
        self._for_python = any(function.name.startswith("_ZN7cpython") for function in self._final_module.functions)
        super().finalize()

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do what numba does, which makes its passes anew for each function."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        if self._for_python:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._for_python:
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True


class Locator(caching.InTreeCacheLocator):
    """Says where the kernels of a source file are kept: by folders as in the package, and the same for a copy of it."""

    def __init__(self, py_func: Callable[..., object], py_file: str):
        super().__init__(py_func, py_file)
        folder = Path(py_file).parent
        self._inside = folder.is_relative_to(PACKAGE)
        room = ".".join(folder.relative_to(PACKAGE).parts) if self._inside else folder.name
        self._cache_path = str(kernel_folder() / room)

    def get_source_stamp(self) -> object:
        """Return a stamp that changes with the code of a file outside the package; of others the folder's name does."""
        return "" if self._inside else source_digest([self._py_file])

    def get_disambiguator(self) -> str:
        """Return what stands behind a kernel's name, in numba its line, which changes with a comment above it."""
        return "kernel"

    def ensure_cache_path(self) -> None:
        """Make no folder yet: numba asks for each kernel, and the lock of the first one that is compiled makes it."""


class KernelCache(caching.FunctionCache):
    """Numba's cache of one kernel, in a place of our own and with a lock of the process that compiles it."""

    class _impl_class(caching.CompileResultCacheImpl):
        _locator_classes = [Locator]  # noqa: RUF012 - numba's attribute, too

    _locks: ClassVar[dict[Path, ExitStack]] = {}  # of this process; kernels of one name have one

    def __init__(self, py_func: Callable[..., object]):
        super().__init__(py_func)
        self._file = Path(self.cache_path, f"{self._impl.filename_base}.lock")

    def alone(self, compile_kernel: Callable[[object], Any]) -> Callable[[object], Any]:
        """Return numba's method that loads or compiles a kernel, with an end of the lock at its end or its error."""

        def compile_alone(signature: object) -> Any:
            with global_compiler_lock:
                codegen = cpu_target.target_context.codegen()
                before, codegen._library_class = codegen._library_class, Library
                collects = gc.isenabled()
                gc.disable()  # a tenth of the time goes into looking for garbage, of which there is little
                try:
                    return compile_kernel(signature)
                finally:
                    codegen._library_class = before
                    if collects:
                        gc.enable()
                    if self._file in self._locks:
                        self._locks.pop(self._file).close()

        return compile_alone

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """Return the code for some types, by whichever process; None if this process is to compile it."""
        found = self._loaded(sig, target_context)
        if found is None and self._file not in self._locks:
            with suppress(OSError), ExitStack() as lock:  # where nothing can be written, nothing is kept
                if lock.enter_context(locked(self._file)):
                    self._locks[self._file] = lock.pop_all()
                    found = self._loaded(sig, target_context)  # perhaps it was compiled meanwhile
        return found

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep compiled code, where that is possible."""
        if self._file in self._locks:
            with suppress(OSError):  # a full disk
                super().save_overload(sig, data)

    def _loaded(self, sig: object, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # half a file, after a power failure: pickle raises whatever it leads to
            if self._file in self._locks:
                for file in self._file.parent.glob(f"{self._file.stem}.*nb[ci]"):
                    file.unlink(missing_ok=True)
            return None


@cache
def _folder(given: str | None) -> Path:
    """Find or make the folder; which text of the package has its kernels is noted there, since parsing takes time."""
    text = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        text.update(f"{file.relative_to(PACKAGE)}\0".encode() + file.read_bytes() + b"\0")
    note = f"text-{text.hexdigest()[:16]}"
    own = PACKAGE / "__pycache__"
    for_user = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xmlc"
    for parent in (Path(given),) if given else (own, for_user):
        noted = next(parent.glob(f"kernels-*/{note}"), None)
        folder = noted.parent if noted else parent / f"kernels-{kernel_digest()}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / note).touch()
            os.utime(folder)  # the last ones used are kept
            if parent == own:
                for old in sorted(own.glob("kernels-*"), key=os.path.getmtime)[:-KEPT]:
                    shutil.rmtree(old, ignore_errors=True)
        if os.access(folder, os.W_OK):
            break
    return folder
