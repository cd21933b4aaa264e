"""Choose label sets by the scores of any model, such as a transformer, with labels of validation
data.

Replace `P_val` and `P_test` by your classifier's scores from 0 to 1. They are sparse matrices, as
`scipy.sparse.load_npz` reads them, or dense arrays. `docs/estimates.md` makes such matrices from
the best labels of a transformer and their logits.
"""

from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.inference import meuf
from xmlc.metrics import instance_f, macro_f, micro_f
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold, LabelSets

data = SyntheticModel(n_features=2000, n_labels=300, labels_per_instance=3.0, seed=1)
_, Y_val, P_val = data.draw(0, 4000)
_, Y_test, P_test = data.draw(4000, 6000)

methods = {
    # the best method of our measurements for each measure
    "LabelSets, macro-F": LabelSets("macro_f"),
    "LabelSets, micro-F": LabelSets("micro_f"),
    "LabelSets, instance-F": LabelSets("instance_f"),
    "one half": None,  # predict a label if its estimate exceeds 1/2
    "best common threshold": CommonThreshold("micro"),
    "FTA": FTA(),
    "STO": STO(),
    "OFO": OFO(a=1, b=20),
    "MEUF": meuf,  # the set of greatest expected F for each instance, without tuning
}
print(f"{'':22}{'macro-F':>9}{'micro-F':>9}{'instance-F':>12}")
for name, method in methods.items():
    if method is None:
        label_sets = P_test > 0.5
    elif method is meuf:
        label_sets, _ = meuf(P_test)
    else:
        label_sets = method.fit(P_val, Y_val).predict(P_test)
    macro = macro_f(Y_test, label_sets, average="present")
    micro = micro_f(Y_test, label_sets)
    instance = instance_f(Y_test, label_sets)
    print(f"{name:22}{macro:9.3f}{micro:9.3f}{instance:12.3f}")
