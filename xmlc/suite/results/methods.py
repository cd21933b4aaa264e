"""List threshold and inference methods in the order that tables use.

Each method has a name in the configuration and a printed name.

Tables and the configuration import the names from here. An import of `xmlc.thresholds.sweeps` or
`xmlc.inference.methods` would also import kernels.
"""

from __future__ import annotations

THRESHOLD_METHODS = {
    "fta": "FTA",
    "sto": "STO",
    "ofo": "OFO",
    "fta-labelwise": "FTA label-wise",
    "ofo-ab": "OFO (a, b)",
    # These methods compute thresholds from the estimates alone, without true labels. No paper describes these methods.
    "expected-f": "expected F",
    "expected-f-empty": "expected F, 0/0 = 1",
}
PAPER_METHODS = ("fta", "sto", "ofo")  # plt2016 compares these threshold methods, in this order.
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
    "gfm-sizes": "GFM, sizes learned",
}
