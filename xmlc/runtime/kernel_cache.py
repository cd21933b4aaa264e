"""Where compiled kernels are kept, so that an edited kernel is never run in its old form.

Numba recompiles a kernel when the file that defines it changes, but not when a kernel that it calls from another file
does. The command line and the tests therefore keep compiled kernels in a folder named after the content of all files
that hold kernels, or the types of what they take.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def use_kernel_cache() -> None:
    """Point numba to the folder for the kernels as they are now; call it before numba is imported.

    Does nothing if NUMBA_CACHE_DIR is set already or the package cannot be written to: numba then decides itself.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    parent = PACKAGE / "__pycache__"
    folder = parent / f"kernels-{kernel_digest()}"
    if not folder.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        for old in parent.glob("kernels-*"):
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def kernel_digest() -> str:
    """Return 16 hexadecimal digits that change with any file that holds kernels, their constants or their types."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        content = file.read_bytes()
        if b"from numba" in content or b"NamedTuple" in content or file.parent == PACKAGE / "kernels":
            digest.update(str(file.relative_to(PACKAGE)).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]
