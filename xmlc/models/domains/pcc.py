"""Define the domains of the hyperparameters of `ProbabilisticClassifierChain`."""

from typing import Literal, get_args

from xmlc.kernels.domains import PASSES, POSITIVE, OneOf, whole
from xmlc.models.domains import br

Order = Literal["given", "reversed"]

DOMAINS = {**br.DOMAINS, "n_samples": whole(1, PASSES), "order": OneOf(get_args(Order)), "label_scale": POSITIVE}
