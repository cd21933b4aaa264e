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
LOCATOR = "xmlc.runtime.kernel_entries.Locator"


def use_kernel_cache() -> None:
    """Point numba to the folder for the kernels as they are now; call it before numba is imported.

    The folder is one of the package, or of the user where the package cannot be written to. Does nothing if
    NUMBA_CACHE_DIR is set already or neither can be written to: numba then decides itself.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    name = f"kernels-{kernel_digest()}"
    for parent in (PACKAGE / "__pycache__", Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xmlc"):
        if _is_writable(parent / name):
            os.environ["NUMBA_CACHE_DIR"] = str(parent / name)
            os.environ["NUMBA_CACHE_LOCATOR_CLASSES"] = LOCATOR
            return


def _is_writable(folder: Path) -> bool:
    """Say if entries can be written to a folder; if it is new, those of other versions are removed."""
    if folder.exists():
        return os.access(folder, os.W_OK)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return True
    except OSError:
        return False
    for old in folder.parent.glob("kernels-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    return True


def kernel_digest() -> str:
    """Return 16 hexadecimal digits that change with any file that holds kernels, their constants or their types."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        content = file.read_bytes()
        if b"from numba" in content or b"NamedTuple" in content or file.parent == PACKAGE / "kernels":
            digest.update(str(file.relative_to(PACKAGE)).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]
