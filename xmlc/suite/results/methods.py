"""List the threshold methods and the inference methods in the order in which tables show them.

The keys are the names in the configuration, and the values are the printed names.

Tables and the configuration import the names from this module, which imports no kernels. The
modules `xmlc.thresholds.sweeps` and `xmlc.inference.methods` import kernels.
"""

from __future__ import annotations

THRESHOLD_METHODS = {
    "fta": "FTA",
    "sto": "STO",
    "ofo": "OFO",
    "fta-labelwise": "FTA label-wise",
    "ofo-ab": "OFO (a, b)",
    # The next two methods compute thresholds from estimates alone, without true labels. No paper
    # describes the two methods.
    "expected-f": "expected F",
    "expected-f-empty": "expected F, 0/0 = 1",
}
# The threshold methods that plt2016 compares, in the order of the paper.
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
