"""Processors that one machine can imitate, by environment variables, and a look at whether it did.

Four parts of a program choose their code by the processor: numba compiles for it, NumPy and the C library pick one of
several forms of a function when they start, and so does OpenBLAS. Each can be told to do without vector instructions
that the processor has.
"""

from __future__ import annotations

import hashlib
import math
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AVX512 = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX512ER", "AVX512PF")
AVX2 = ("AVX", "AVX2", "FMA", "FMA4", "BMI1", "BMI2", "LZCNT", "MOVBE")
# NumPy 2.4 has X86_V3 (with AVX2 and FMA) and X86_V4; older ones have the features themselves. It ignores, with a
# warning, what it does not know.
NUMPY_512 = "X86_V4 AVX512_ICL AVX512_SPR"
N_WITNESSES = 4096


@dataclass(frozen=True)
class Processor:
    """A processor to compute as for.

    Attributes
    ----------
    name, title : str
        ``title`` says which instructions it has.
    environment : dict of str to str
        Variables that make numba, NumPy, the C library and OpenBLAS take it for the one that there is.
    without : tuple of str
        Words of which no feature of numba or NumPy may remain: what it does not have.
    fused : bool
        Whether the C library may use fused multiply-add.
    """

    name: str
    title: str
    environment: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    fused: bool = True


def _hwcaps(names: tuple[str, ...]) -> str:
    return "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in names)


THIS = Processor("this", "this processor")
IMITATED = {
    "x86_64": (
        Processor(
            "avx2",
            "AVX2 and FMA, no AVX-512 (Haswell)",
            {
                "NUMBA_CPU_NAME": "haswell",
                "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse4.2",
                "NPY_DISABLE_CPU_FEATURES": NUMPY_512,
                "OPENBLAS_CORETYPE": "Haswell",
                "GLIBC_TUNABLES": _hwcaps(AVX512),
            },
            ("avx512", "x86_v4"),
        ),
        Processor(
            "sse2",
            "SSE only, no AVX, no FMA (the first x86-64)",
            {
                "NUMBA_CPU_NAME": "x86-64",
                "NUMBA_CPU_FEATURES": "+sse,+sse2",
                "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {NUMPY_512}",
                "OPENBLAS_CORETYPE": "Prescott",
                "GLIBC_TUNABLES": _hwcaps(AVX512 + AVX2),
            },
            ("avx", "fma", "x86_v3", "x86_v4"),
            fused=False,
        ),
    ),
    "aarch64": (
        Processor(
            "neon",
            "ARMv8.0 with NEON, no SVE",
            {
                "NUMBA_CPU_NAME": "generic",
                "NUMBA_CPU_FEATURES": "+neon",
                "NPY_DISABLE_CPU_FEATURES": "ASIMDHP ASIMDDP ASIMDFHM SVE",
                "OPENBLAS_CORETYPE": "ARMV8",
            },
            ("sve",),
        ),
    ),
}


def processors() -> tuple[Processor, ...]:
    """Return this processor and those that it can imitate."""
    return (THIS, *IMITATED.get(platform.machine(), ()))


def features_in_use() -> dict[str, Any]:
    """Say what numba, NumPy and the C library of this process take the processor for.

    Returns
    -------
    dict
        ``numba_cpu``: a name of LLVM's; ``numba`` and ``numpy``: lists of features; ``libm``: a digest of results of
        exp, log, pow and sin, which differ with and without fused multiply-add.
    """
    import numba.core.registry
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]  # NumPy's own report

    _, cpu, features = numba.core.registry.cpu_target.target_context.codegen().magic_tuple()
    return {
        "numba_cpu": cpu,
        "numba": sorted(name[1:] for name in features.split(",") if name.startswith("+")),
        "numpy": sorted(name for name, is_on in _multiarray_umath.__cpu_features__.items() if is_on),
        "libm": libm_witness(),
    }


def libm_witness() -> str:
    """Digest results of the C library whose last bits depend on how it was compiled."""
    digest = hashlib.sha256()
    for i in range(N_WITNESSES):
        x = i * 0.0048 - 9.8
        digest.update(
            struct.pack("<4d", math.exp(x), math.sin(x), math.log(abs(x) + 0.01), math.pow(abs(x) + 0.1, 1.3))
        )
    return digest.hexdigest()


def doubts(processor: Processor, found: Mapping[str, Any], this: Mapping[str, Any]) -> list[str]:
    """Say in which respect a run was no test, because it was not as for another processor.

    Parameters
    ----------
    processor : Processor
        That was to be imitated.
    found, this : dict
        `features_in_use` of its run and of the run as for this processor.
    """
    reasons = []
    wanted = processor.environment.get("NUMBA_CPU_NAME")
    if wanted is not None and found["numba_cpu"] != wanted:
        reasons.append(f"numba compiled for {found['numba_cpu']}, not for {wanted}")
    for who in ("numba", "numpy"):
        left = [name for name in found[who] if name.lower().startswith(processor.without)]
        if left:
            reasons.append(f"{who} still used {', '.join(left)}")
        elif not any(name.lower().startswith(processor.without) for name in this[who]):
            reasons.append(f"{who} does not use what was to be left out on this processor either")
    if not processor.fused and found["libm"] == this["libm"]:
        reasons.append("the C library used the same functions as on this processor")
    return reasons
