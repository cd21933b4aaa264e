"""Learn from a stream with new labels and features, after ranking the labels of each instance."""

from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.metrics import precision_at_k
from xmlc.models import OPLT

data = SyntheticModel(n_features=2000, n_labels=300, labels_per_instance=3.0, seed=1)
model = OPLT(policy="best_greedy")
for batch in range(5):
    X, Y, _ = data.draw(4000 * batch, 4000 * batch + 4000)
    Y = Y[:, : 100 + 50 * batch]  # 50 new labels in each batch
    labels, _ = model.progressive_top_k(X, Y, 1)  # ranked before they are learned
    p_at_1 = precision_at_k(Y, labels, 1)
    print(f"{model.n_instances_:6} instances, {model.n_labels_} labels: P@1 {p_at_1:.3f}")

X, Y, _ = data.draw(20_000, 22_000)
labels, _ = model.predict_top_k(X, 1)
print(f"afterwards, nothing learned: P@1 {precision_at_k(Y, labels, 1):.3f}")
