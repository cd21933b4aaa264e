"""Domains of `ProbabilisticClassifierChain`."""

from xmlc.kernels.domains import PASSES, POSITIVE, OneOf, whole
from xmlc.models.domains import br

DOMAINS = {
    **br.DOMAINS,
    "n_samples": whole(1, PASSES),
    "order": OneOf(("given", "reversed")),
    "label_scale": POSITIVE,
}
