"""Label sets with the greatest expected F-measure for each instance (gfm2011)."""

from xmlc.inference.distributions import LabelsBySize, missed_below, truncation_bound
from xmlc.inference.gfm import gfm, gfm_t
from xmlc.inference.jansche import meuf_approx, meuf_cubic
from xmlc.inference.methods import METHODS, infer_blocks
from xmlc.inference.meuf import meuf
from xmlc.inference.rules import hamming, lewis, multinomial
from xmlc.inference.samples import Samples, marginals_of
from xmlc.inference.sizes import fit_size_weights, gfm_sizes

__all__ = [
    "METHODS",
    "LabelsBySize",
    "Samples",
    "fit_size_weights",
    "gfm",
    "gfm_sizes",
    "gfm_t",
    "hamming",
    "infer_blocks",
    "lewis",
    "marginals_of",
    "meuf",
    "meuf_approx",
    "meuf_cubic",
    "missed_below",
    "multinomial",
    "truncation_bound",
]
