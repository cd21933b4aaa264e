"""Compute OPLT naively: Algorithms 2-8 of oplt2021 and the program's growth, in double precision.

Every node has an auxiliary classifier, even if it is not needed. An inverse classifier flips its
updates.
"""

from copy import deepcopy

import numpy as np

from xmlc.kernels.counter_random import random_below, stream_key

GAMMA = 1.0
EPS = 0.01


class Classifier:
    """Train a logistic regression by AdaGrad."""

    def __init__(self, d):
        self.sign = 1
        self.weights = np.zeros(d)
        self.squares = np.zeros(d)

    def copy(self, inverse=False):
        other = deepcopy(self)
        if inverse:
            other.sign = -self.sign
        return other

    def base(self, x):
        return 1 / (1 + np.exp(-self.weights @ x))

    def estimate(self, x):
        return self.base(x) if self.sign == 1 else 1 - self.base(x)

    def update(self, x, target):
        g = self.sign * (self.estimate(x) - target) * x
        self.squares += g * g
        self.weights -= GAMMA * g / np.sqrt(EPS + self.squares)


class Node:
    def __init__(self, parent=None, label=None):
        self.parent = parent
        self.label = label
        self.children = []

    def leaves(self):
        return 1 if not self.children else sum(child.leaves() for child in self.children)

    def path(self):
        """Return the nodes from here to the root."""
        above = [] if self.parent is None else self.parent.path()
        return [self, *above]


class NaiveOPLT:
    def __init__(self, d, policy, alpha, balance, arity, max_leaf, key=0, growth="paper"):
        self.policy = policy
        self.alpha = alpha
        self.balance = balance
        self.arity = arity
        self.max_leaf = max_leaf
        self.key = key
        self.program = growth == "program"
        self.groups = set()
        self.new = lambda: Classifier(d + 1)
        self.root = Node()
        self.n = 0
        self.leaf = {}
        self.root.eta = self.new()
        self.root.theta = self.new()

    def partial_fit(self, X, Y):
        """Learn from dense instances and label sets."""
        for x, labels in zip(X, Y):
            self.learn(np.append(x, 1.0), np.flatnonzero(labels).tolist())

    def learn(self, x, labels):
        selected = None
        new = [label for label in labels if label not in self.leaf]
        if self.program and new:
            self.grow_as_program(x, new)
        for label in labels:
            if label not in self.leaf:
                selected = self.add_label(x, label, selected)
        positives = set()
        for label in labels:
            positives.update(self.leaf[label].path())
        self.update(self.root, x, positives)
        self.n += 1

    def update(self, node, x, positives):
        node.eta.update(x, int(node in positives))
        if node in positives:
            node.theta.update(x, 1)
            for child in node.children:
                self.update(child, x, positives)

    def add_label(self, x, label, selected):
        if not self.leaf:
            self.root.label = label
            self.leaf[label] = self.root
            return None
        v = self.selected(x, selected)
        if not v.children or len(v.children) == self.max_leaf:
            self.insert_node(v)
        self.leaf[label] = self.add_node(v, label)
        return v

    def grow_as_program(self, x, new):
        """Add all new labels of an instance like the authors' program.

        Groups of that program may contain leaves.
        """
        v = self.root
        b_max = self.max_leaf
        if len(v.children) < self.arity:
            v = self.add_node(v)
            b_max = len(new)
            self.groups.add(v)
        else:
            while v not in self.groups:
                v = self.child(v, x, len(v.path()) - 1)
        for label in new:
            place = v
            if len(v.children) >= b_max:
                siblings = [
                    s for s in v.parent.children if s in self.groups and len(s.children) < b_max
                ]
                place = siblings[0] if siblings else self.divided(v)
                v = v if siblings else place
            self.leaf[label] = self.add_node(place, label)

    def divided(self, v):
        """Move all children of a full group one level down, and return a new group next to them."""
        self.insert_node(v)
        added = self.add_node(v)
        self.groups |= {v.children[0], added}
        if len(v.children) >= self.arity:
            self.groups.remove(v)
        return added

    def add_node(self, v, label=None):
        child = Node(v, label)
        child.eta = v.theta.copy(inverse=True)
        child.theta = self.new()
        v.children.append(child)
        return child

    def selected(self, x, selected):
        """Return the node to which a label is added.

        For the first new label of an instance, descend from the root to this node.
        """
        v = self.root if selected is None else selected
        level = 0
        while (
            selected is None
            and len(v.children) == self.arity
            and any(c.children for c in v.children)
        ):
            v = self.child(v, x, level)
            level += 1
        leaves = [c for c in v.children if not c.children]
        return leaves[0] if len(leaves) == 1 else v

    def child(self, v, x, level):
        """Return the child of v that the policy selects."""
        if self.policy == "random":
            # as the random policy draws for this instance at a level of the tree
            key = np.uint64(stream_key(self.key, np.int64(self.n)))
            return v.children[random_below(key, level, len(v.children))]
        share = np.log(v.leaves() / len(v.children))
        sizes = np.array([c.leaves() for c in v.children])
        balances = share / sizes if self.balance == "printed" else share - np.log(sizes)
        estimates = np.array([c.eta.estimate(x) for c in v.children])
        scores = (1 - self.alpha) * estimates + self.alpha * balances
        return v.children[int(np.argmax(scores))]

    def insert_node(self, v):
        new = Node(v)
        if v.children:
            new.children = v.children
            for child in new.children:
                child.parent = new
        else:
            new.label = v.label
            v.label = None
            self.leaf[new.label] = new
        v.children = [new]
        new.eta = v.theta.copy()
        new.theta = v.theta.copy()

    def estimates(self, x):
        """Return the estimate of each seen label, which is the product of the estimates along its
        path.
        """
        x = np.append(x, 1.0)
        result = {}
        for label, leaf in self.leaf.items():
            result[label] = np.prod([node.eta.estimate(x) for node in leaf.path()])
        return result

    def shape(self, node=None):
        """Return the tree as nested tuples of labels."""
        node = node or self.root
        return tuple(map(self.shape, node.children)) or node.label
