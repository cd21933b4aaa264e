"""A store of compiled kernels on disk, which never uses code of an old version of a kernel.

numba recompiles a kernel if its file changes, even in a comment, but not if kernels that it calls
change in other files. So the kernels of xmlc are stored in a folder whose name is a digest of the
library's code, and those of users' files in numba's default folder.

If two processes changed numba's index of a kernel at once, their compiled code could get the same
file name. So only one process at a time reads or compiles a kernel, and the others wait. Without
locks in the file system, no kernel is stored.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

from xmlc.core.files import locked
from xmlc.core.sources import PACKAGE, source_digest

KEPT = 3  # folders of kernels, for example for recent branches
# Packages whose edits compile nothing again
WITHOUT_KERNELS = ("cli", "core", "suite")


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile like ``numba.njit``, as the decorator ``@njit`` or ``@njit(inline="always")``.

    A kernel is stored in `kernel_folder`, and releases the interpreter's lock while it runs.
    """
    if function is None:
        return partial(njit, **options)
    kernel: Any = numba.njit(nogil=True, **options)(function)
    if kernel_folder().is_dir():  # not if no place is writable
        _keep(kernel)
    return kernel


def _keep(kernel: Any) -> None:
    """Make numba store a kernel in the folder of `Locator`, one process at a time."""
    # `enable_caching` chooses the folder by numba's settings. They hold for all kernels of the
    # process, so they change only for this call.
    settings = {"CACHE_LOCATOR_CLASSES": f"{__name__}.Locator", "CACHE_DIR": str(kernel_folder())}
    before = {name: getattr(numba.config, name, "") for name in settings}
    vars(numba.config).update(settings)
    try:
        kernel.enable_caching()
    finally:
        vars(numba.config).update(before)
    compile_kernel = kernel.compile
    folder = Path(kernel.stats.cache_path)
    function = kernel.py_func
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}".replace(
        "<", ""
    ).replace(">", "")

    def compile_alone(signature: object) -> Any:
        with global_compiler_lock, _alone(folder / f"{name}.lock"):
            try:
                return compile_kernel(signature)
            # Files that a power failure left incomplete are removed, and the kernel is compiled
            # again
            except (EOFError, pickle.UnpicklingError):
                for file in folder.glob(f"{name}-*.nb[ci]"):
                    file.unlink(missing_ok=True)
            # Compiled but not stored, for example on a full disk
            except OSError:
                pass
            return compile_kernel(signature)

    kernel.compile = compile_alone


# Lock files in use, and whether this process holds the lock: not if the file system has no locks
_held: dict[Path, bool] = {}


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Lock a kernel while it is read or compiled, once if it is recursive."""
    with ExitStack() as stack:
        if file not in _held:
            _held[file] = False
            stack.callback(_held.pop, file)
            with suppress(OSError):  # if the lock file cannot be written, no kernel is stored
                _held[file] = stack.enter_context(locked(file))
        yield


class Locator:
    """The folder in which numba stores the compiled kernels of a source file.

    It has the same subfolders as the package. See "Notes on Caching" in numba's documentation.
    """

    def __init__(self, py_file: str):
        self._py_file = py_file  # numba prints it in warnings
        folder = Path(py_file).parent
        self._inside = folder.is_relative_to(PACKAGE)
        self._folder = str(kernel_folder() / folder.name)
        if self._inside:
            self._folder = str(kernel_folder() / ".".join(folder.relative_to(PACKAGE).parts))

    @classmethod
    def from_function(cls, py_func: Callable[..., object], py_file: str) -> Locator:
        """Return the locator for a function."""
        return cls(py_file)

    def get_cache_path(self) -> str:
        """Return the folder for the kernels."""
        return self._folder

    def get_source_stamp(self) -> str:
        """Return a text that changes with the code of a user's file, to compile it again.

        It is empty for files of xmlc, because the folder already changes with the code.
        """
        if self._inside:
            return ""
        return source_digest([self._py_file])

    def get_disambiguator(self) -> str:
        """Return a fixed suffix for kernels: numba's line numbers change with comments."""
        return "kernel"

    def ensure_cache_path(self) -> None:
        """Raise an error without the lock, so that this process does not write."""
        if not all(_held.values()):
            raise OSError(f"{self._folder}: no locks")


def kernel_folder() -> Path:
    """Return the folder for compiled kernels of the current code.

    It is in NUMBA_CACHE_DIR if this is set, otherwise in the package, or in the user's cache if the
    package is read-only. Without a writable one, each process compiles its own kernels.
    """
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))


@cache
def _folder(given: str | None) -> Path:
    """Return the folder for compiled kernels, and create it if necessary.

    An empty file in it has a digest of the source text as its name, so that unchanged files are not
    parsed again.
    """
    text = hashlib.sha256()
    files = [__file__]
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).parts[0] not in WITHOUT_KERNELS:
            files.append(str(file))
    for name in files:
        text.update(
            name.removeprefix(str(PACKAGE)).encode() + b"\0" + Path(name).read_bytes() + b"\0"
        )
    note = f"text-{text.hexdigest()[:16]}"
    own = PACKAGE / "__pycache__"
    parents = [own, Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xmlc"]
    if given:
        parents = [Path(given)]
    for parent in parents:
        notes = list(parent.glob(f"kernels-*/{note}"))
        if notes:
            folder = notes[0].parent
        else:
            folder = parent / f"kernels-{source_digest(files)}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / note).touch()
            os.utime(folder)  # only the most recently used folders are kept
            if parent == own:
                for old in sorted(own.glob("kernels-*"), key=os.path.getmtime)[:-KEPT]:
                    shutil.rmtree(old, ignore_errors=True)
        if os.access(folder, os.W_OK):
            break
    else:
        effect = "so each process compiles them again. Set NUMBA_CACHE_DIR to a writable folder."
        warnings.warn(
            f"{folder}: found a read-only folder for compiled kernels, {effect}", stacklevel=2
        )
    return folder
