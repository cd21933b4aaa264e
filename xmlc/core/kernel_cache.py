"""Where compiled kernels are kept, so that an edited kernel is never run in its old form.

Numba compiles a kernel anew when the file that defines it changes, even by a comment, but not when a kernel that it
calls from another file does. The kernels of this package are therefore kept in a folder named after the code of all
files that hold kernels and of all that these import. Kernels of users stay where numba keeps them.

Numba's index of a kernel is read, changed and written: two processes that did so at once would give one name to the
code of both. So one process at a time reads or compiles a kernel, and others that need it wait for that. Where the
file system has no locks, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import numba

from xmlc.core.files import locked
from xmlc.core.sources import PACKAGE, source_digest, source_files

try:
    from xmlc.core.numba_private import compiler_lock, one_library, two_forms
except ImportError:  # then a first call takes half as long again
    compiler_lock, one_library = RLock(), nullcontext  # type: ignore[assignment]

    def two_forms(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
        """Compile a function by ``numba.njit``."""
        return numba.njit(**options)(function)


KEPT = 3  # folders of kernels, of the last branches, say
KERNEL = re.compile(r"^\s*@(njit|overload|intrinsic)\b", re.MULTILINE)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of the same name, with ``cache=True`` keeping compiled kernels in `kernel_folder`."""
    cached = options.pop("cache", False)

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = two_forms(function, options)
        if cached and kernel_folder().is_dir():  # which it is not where nothing can be written
            _keep(kernel)
        return kernel

    return decorate


def _keep(kernel: Any) -> None:
    """Have numba keep a kernel where `Locator` says, and one process at a time read or compile it."""
    # Numba chooses the place now, by settings that are for all kernels of this process.
    settings = {"CACHE_LOCATOR_CLASSES": f"{__name__}.Locator", "CACHE_DIR": str(kernel_folder())}
    before = {name: getattr(numba.config, name, "") for name in settings}
    vars(numba.config).update(settings)
    try:
        kernel.enable_caching()
    finally:
        vars(numba.config).update(before)
    compile_kernel = kernel.compile
    folder, function = Path(kernel.stats.cache_path), kernel.py_func
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}".replace("<", "").replace(">", "")

    def compile_alone(signature: object) -> Any:
        with compiler_lock, _alone(folder / f"{name}.lock"), one_library(kernel):
            try:
                return compile_kernel(signature)
            except (EOFError, pickle.UnpicklingError):  # half a file, after a power failure
                for file in folder.glob(f"{name}-*.nb[ci]"):
                    file.unlink(missing_ok=True)
            except OSError:  # it is compiled, but cannot be kept: a full disk, a folder without the right to write
                pass
            return compile_kernel(signature)

    kernel.compile = compile_alone


_held: dict[Path, bool] = {}  # files whose lock this process has, or has not because the file system has no locks


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Have the lock of a kernel while it is read or compiled; a kernel that calls itself has it already."""
    if file in _held:
        yield
        return
    with ExitStack() as stack:
        _held[file] = False
        stack.callback(_held.pop, file)
        with suppress(OSError):  # where nothing can be written, nothing is kept
            _held[file] = stack.enter_context(locked(file))
        yield


class Locator:
    """Tells numba where the kernels of a source file are kept: by folders as in the package, the same for a copy of it.

    See "Notes on Caching" in numba's documentation.
    """

    def __init__(self, py_file: str):
        self._py_file = py_file  # numba names it when it warns
        folder = Path(py_file).parent
        self._inside = folder.is_relative_to(PACKAGE)
        room = ".".join(folder.relative_to(PACKAGE).parts) if self._inside else folder.name
        self._folder = str(kernel_folder() / room)

    @classmethod
    def from_function(cls, py_func: Callable[..., object], py_file: str) -> Locator:
        """Return the locator of a function of a file."""
        return cls(py_file)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return self._folder

    def get_source_stamp(self) -> str:
        """Return a stamp that changes with the code of a file outside the package; of others the folder's name does."""
        return "" if self._inside else source_digest([self._py_file])

    def get_disambiguator(self) -> str:
        """Return what stands behind a kernel's name, in numba its line, which changes with a comment above it."""
        return "kernel"

    def ensure_cache_path(self) -> None:
        """Let numba write to the folder only with a lock, which made it."""
        if not all(_held.values()):
            raise OSError(f"{self._folder}: no locks")


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
    else:
        warnings.warn(
            f"{folder}: this folder for compiled kernels is not writable, so each process compiles them again; "
            "set NUMBA_CACHE_DIR to a writable folder",
            stacklevel=2,
        )
    return folder
