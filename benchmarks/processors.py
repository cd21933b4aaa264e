"""Imitations of another processor by environment variables, and checks that they worked.

numba compiles code for the processor, whereas NumPy, the C library and OpenBLAS choose one of
several implementations when they are loaded. Each has an environment variable that disables vector
instructions.
"""

from __future__ import annotations

import hashlib
import math
import platform
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

AVX512 = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX512ER", "AVX512PF")
AVX2 = ("AVX", "AVX2", "FMA", "FMA4", "BMI1", "BMI2", "LZCNT", "MOVBE")
# NumPy's names of CPU features, of which it ignores unknown ones with a warning. NumPy 2.4 replaced
# the older ones by X86_V3 (with AVX2 and FMA) and X86_V4.
NUMPY_512 = "X86_V4 AVX512_ICL AVX512_SPR"
N_WITNESSES = 4096
N_SUMS = 40
WITNESSES = {
    "numba": "a sum that numba may reorder",
    "numpy": "NumPy's exp and log",
    "libm": "the C library's functions",
}


@dataclass(frozen=True)
class Processor:
    """A processor to imitate by ``environment``, so that the `witnesses` in ``differs`` change."""

    name: str
    title: str
    environment: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()


THIS = Processor("this", "this processor")
# The processor with the fewest instructions. If it agrees with this one, all others should.
SSE2 = {
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "+sse,+sse2",
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {NUMPY_512}",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in AVX512 + AVX2),
}
NEON = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "+neon",
    "OPENBLAS_CORETYPE": "ARMV8",
    "NPY_DISABLE_CPU_FEATURES": "ASIMDHP ASIMDDP ASIMDFHM SVE",
}
IMITATED = {
    "x86_64": Processor(
        "sse2", "SSE only, no AVX, no FMA (the first x86-64)", SSE2, ("numba", "numpy", "libm")
    ),
    "aarch64": Processor("neon", "ARMv8.0 with NEON, no SVE", NEON, ("numba",)),
}


def processors() -> tuple[Processor, ...]:
    """Return this processor and, if possible, an imitated one."""
    imitated = IMITATED.get(platform.machine())
    if imitated:
        return (THIS, imitated)
    return (THIS,)


def witnesses() -> dict[str, str]:
    """Return digests of a reordered sum, NumPy's exp and log, and functions of the C library."""
    import numba
    import numpy as np

    @numba.njit(fastmath={"reassoc", "nsz"})
    def reordered_sum(x: np.ndarray) -> np.float32:
        """Return a sum that vector instructions may reorder."""
        total = np.float32(0)
        for i in range(x.size):
            total += x[i]
        return total

    x = np.arange(N_WITNESSES) * 0.0048 - 9.8
    c_library = hashlib.sha256()
    for value in x.tolist():
        results = (
            math.exp(value),
            math.sin(value),
            math.log(abs(value) + 0.01),
            math.pow(abs(value) + 0.1, 1.3),
        )
        c_library.update(struct.pack("<4d", *results))
    squares = (x * x).astype(np.float32)
    sums = np.array([reordered_sum(squares[i:]) for i in range(N_SUMS)])
    functions = np.concatenate((np.exp(x), np.log(np.abs(x) + 0.01)))
    return {
        "numba": hashlib.sha256(sums.tobytes()).hexdigest(),
        "numpy": hashlib.sha256(functions.tobytes()).hexdigest(),
        "libm": c_library.hexdigest(),
    }


def doubt_lines(
    chosen: Iterable[Processor], seen: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Yield a line per imitation, which worked only if it changed all results in ``differs``."""
    for processor in chosen:
        same = [
            who for who in processor.differs if seen[processor.name][who] == seen[THIS.name][who]
        ]
        differ = ", ".join(WITNESSES[who] for who in processor.differs)
        if processor != THIS:
            yield f"{processor.name}, {processor.title}: " + (
                "no full test" if same else f"a test, as {differ} differ"
            )
            yield from (
                f"{processor.name} was imitated only in part: {WITNESSES[who]} are equal"
                for who in same
            )
