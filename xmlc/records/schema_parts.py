"""Parts of the JSON schemas of records, and what records of forests and sweeps hold."""

from __future__ import annotations

from typing import Any

NUMBER: dict[str, Any] = {"type": ["number", "null"]}
# A mean of ones may exceed one by a rounding.
FRACTION: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1 + 1e-9}
TEXT: dict[str, Any] = {"type": "string"}


def object_of(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all these properties, and maybe others."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _rows(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": object_of(properties)}


_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = {"type": "array", "minItems": 1, "items": _COUNT}
_EPOCHS = {"type": "array", "minItems": 1, "items": {"type": "number"}}
_SCORES = object_of({f"{metric}@{k}": FRACTION for metric in ("p", "ndcg") for k in (1, 3, 5)})
_LEVEL = {"tree": _COUNT, "level": _COUNT, "nodes": _COUNT, **dict.fromkeys(("minimum", "mean", "maximum"), _EPOCHS)}

# Written by `xmlc forest`.
FOREST: dict[str, Any] = {
    "rows": _rows({"n_trees": _COUNT, "metrics": _SCORES, "predict_ms_per_instance": NUMBER}),
    "trees": {"anyOf": [object_of({"depths": _COUNTS, "nodes": _COUNTS}), {"type": "null"}]},
    "objectives": {"type": "array", "items": object_of(_LEVEL)},
}
# Written by `xmlc sweep`; the value stands in each row under the hyperparameter's name.
SWEEP: dict[str, Any] = {
    "hyperparameter": TEXT,
    "rows": _rows({"metrics": _SCORES, "depth": NUMBER, "nodes": NUMBER, "train_seconds": NUMBER}),
}
# Written by `xmlc progressive`; sets of labels are predicted only where instances have several.
PROGRESSIVE: dict[str, Any] = {
    "constant_accuracy": FRACTION,
    "rows": _rows(
        {"instances": _COUNT, "accuracy": FRACTION}
        | dict.fromkeys(("entropy_reduction", "macro_f", "macro_f_present"), NUMBER)
    ),
}
