"""Datasets: where they come from, how they are read, and how they lie on disk."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    # `load` brings the parsers with it, which a download, say, does not need.
    if name == "load":
        from xmlc.data.formats import load

        return load
    raise AttributeError(f"module 'xmlc.data' has no attribute {name!r}")
