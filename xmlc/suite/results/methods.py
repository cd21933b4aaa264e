"""Names and printed names of threshold and inference methods, in the order of tables.

They are not in `xmlc.thresholds.sweeps` and `xmlc.inference.methods`, which import kernels.
"""

from __future__ import annotations

THRESHOLD_METHODS = {
    "fta": "FTA",
    "sto": "STO",
    "ofo": "OFO",
    "fta-labelwise": "FTA label-wise",
    "ofo-ab": "OFO (a, b)",
    # Both compute thresholds from estimates alone, without true labels, and are in no paper.
    "expected-f": "expected F",
    "expected-f-empty": "expected F, 0/0 = 1",
}
# The threshold methods that plt2016 compares, in its order.
PAPER_METHODS = ("fta", "sto", "ofo")
INFERENCE_METHODS = {
    "h": "H",
    "gfm": "GFM",
    "gfm-t": "GFM-T",
    "gfm-t-few": "GFM-T, 5 thresholds",
    "meuf-approx": "MEUF approx.",
    "meuf-cubic": "MEUF, as published",
    "meuf": "MEUF",
    "lewis": "Lewis",
    "multinomial": "multinomial",
}
