"""Where compiled kernels are kept, so that an edited kernel is never run in its old form.

Numba recompiles a kernel when the file that defines it changes, but not when a kernel that it calls from another file
does. The command line and the tests therefore keep compiled kernels in a folder named after the content of all files
that hold kernels, or the types of what they take.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# Where NUMBA_CACHE_DIR is none, numba's own places. A numba too old to know the variable keeps kernels its own way.
LOCATORS = "xmlc.runtime.kernel_entries.Locator,InTreeCacheLocator,UserWideCacheLocator"


def use_kernel_cache() -> None:
    """Point numba to the folder for the kernels as they are now; call it before numba is imported.

    The folder is one of the package, or of the user where the package cannot be written to. One that is given as
    NUMBA_CACHE_DIR is taken as it is. `xmlc.runtime.kernel_entries` says what is in it.
    """
    os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", LOCATORS)
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    own, name = PACKAGE / "__pycache__", f"kernels-{kernel_digest()}"
    for parent in (own, Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xmlc"):
        is_new = not (parent / name).exists()
        with suppress(OSError):
            (parent / name).mkdir(parents=True, exist_ok=True)
        if os.access(parent / name, os.W_OK):
            os.environ["NUMBA_CACHE_DIR"] = str(parent / name)
            if is_new and parent == own:
                _remove_others(parent / name)
            return


def _remove_others(folder: Path) -> None:
    for old in folder.parent.glob("kernels-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)


def kernel_digest() -> str:
    """Return 16 hexadecimal digits that change with any file that holds kernels, their constants or their types."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        content = file.read_bytes()
        if b"from numba" in content or b"NamedTuple" in content or file.parent == PACKAGE / "kernels":
            digest.update(str(file.relative_to(PACKAGE)).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]
