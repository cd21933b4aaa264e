"""Where compiled kernels are kept, so that an edited kernel is never run in its old form.

Numba compiles a kernel anew when the file that defines it changes, but not when a kernel that it calls from another
file does. The kernels of this package are therefore kept in a folder named after the content of all files that hold
kernels and of all that these import. Kernels of users stay where numba keeps them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

from xmlc.runtime.kernel_entries import Entries

PACKAGE = Path(__file__).parents[1]
KEPT = 3  # folders of kernels, of the last branches, say
KERNEL = re.compile(r"^@(njit|overload|intrinsic)\b", re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:from|import) (xmlc[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of the same name, with ``cache=True`` keeping what is compiled in `kernel_folder`."""
    cached = options.pop("cache", False)

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        if cached:
            kernel._cache = KernelCache(function)
        return kernel

    return decorate


def kernel_folder() -> Path:
    """Return the folder for the kernels as they are now.

    It lies in NUMBA_CACHE_DIR where that is set, else in the package, or in the user's cache where the package is
    read-only. Where nothing can be written, each process compiles what it needs.
    """
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))


def kernel_digest() -> str:
    """Return 16 hexadecimal digits that change with any file that holds kernels or that such a file imports."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))}
    waiting, found = [file for file, text in files.items() if KERNEL.search(text)], set()
    while waiting:
        found.add(file := waiting.pop())
        waiting += (used for used in _imported(files[file]) if used in files and used not in found)
    digest = hashlib.sha256()
    for file in sorted(found):
        digest.update(f"{file.relative_to(PACKAGE)}\0{files[file]}\0".encode())
    return digest.hexdigest()[:16]


class Locator(caching.InTreeCacheLocator):
    """Says where the kernels of a source file are kept: by folders as in the package, and the same for a copy of it."""

    def __init__(self, py_func: Callable[..., object], py_file: str):
        super().__init__(py_func, py_file)
        folder = Path(py_file).parent
        room = ".".join(folder.relative_to(PACKAGE).parts) if folder.is_relative_to(PACKAGE) else folder.name
        self._cache_path = str(kernel_folder() / room)

    def ensure_cache_path(self) -> None:
        """Make no folder yet: numba asks for each kernel, `Entries` makes it with the first entry."""


class KernelCache(caching.FunctionCache):
    """Numba's cache of one kernel, with places and files of our own."""

    class _impl_class(caching.CompileResultCacheImpl):
        _locator_classes = [Locator]  # noqa: RUF012 - numba's attribute, too

    def __init__(self, py_func: Callable[..., object]):
        super().__init__(py_func)
        self._cache_file = Entries(self.cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())


@cache
def _folder(given: str | None) -> Path:
    name = f"kernels-{kernel_digest()}"
    own = PACKAGE / "__pycache__"
    for_user = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xmlc"
    for parent in (Path(given),) if given else (own, for_user):
        folder = parent / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)  # the last ones used are kept
            if parent == own:
                for old in sorted(own.glob("kernels-*"), key=os.path.getmtime)[:-KEPT]:
                    shutil.rmtree(old, ignore_errors=True)
        if os.access(folder, os.W_OK):
            break
    return folder


def _imported(text: str) -> Iterator[Path]:
    """List the files that imports may stand for: of a module, and of each name in it that may be a module."""
    for module, names in IMPORT.findall(text):
        for dotted in (module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))):
            yield PACKAGE.parent.joinpath(*dotted.split(".")).with_suffix(".py")
