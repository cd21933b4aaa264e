"""What is said of the paper's Figure 1, where it holds and where it does not."""

import numpy as np

from xmlc.inference.claims import claims


def test_claims_that_do_not_hold_are_not_said_to():
    def model(gfm, meuf):
        means = {"gfm": gfm, "gfm-t": gfm, "meuf": meuf, "meuf-approx": [0.9, 0.9]}
        methods = {
            name: {"mean": mean, "standard_error": [0.001] * 2, "limit": mean[-1]} for name, mean in means.items()
        }
        gain = {"mean": np.subtract(meuf, gfm).tolist(), "standard_error": [0.001] * 2}
        return {"optimum": gfm[-1], "methods": methods, "meuf_minus_gfm": gain}

    models = {"independent": model([0.2, 0.2], [0.0, 0.3]), "dependent": model([0.3, 0.3], [0.2, 0.295])}
    found = claims(models, (5, 100))
    assert [claim["holds"] for claim in found] == [False, True, False, False]
    assert "-0.0500 above GFM, higher at 1 of 2; -0.2000 (s.e. 0.0010) with 5 samples" in found[0]["measured"]
    models = {"independent": model([0.2, 0.2], [0.3, 0.3]), "dependent": model([0.3, 0.3], [0.3, 0.1])}
    assert [claim["holds"] for claim in claims(models, (5, 100))] == [True, False, True, False]
