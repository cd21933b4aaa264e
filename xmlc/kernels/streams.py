"""The streams of random numbers: one list of the uses of the user's seed, each with a number of its own.

A stream is drawn from the key ``stream_key(seed, stream)`` of `xmlc.kernels.counter_random`: two uses of one seed must
not have the same number, or they draw the same random numbers. What is seeded by a key that nothing else has (the nodes
of a tree, the tables of a hash) counts its pieces from 0 and is not listed. The numbers are part of every result: to
change one changes what its users draw.
"""

from __future__ import annotations

from enum import IntEnum


class Stream(IntEnum):
    """A use of random numbers. Kernels take ``Stream.NAME.value``; ``+ k`` in a comment is a run of streams."""

    # Data
    SPLIT = 0x5B1  # which rows of a training set are its validation part
    SEARCH_SAMPLE = 0x5B2  # which rows of a part a bounded search takes
    FEW_SHOT_ORDER = 1 << 39  # the order of the pairs of object and view
    SYNTHETIC_ROW = 1 << 40  # + row: features and labels of one synthetic row
    SYNTHETIC_LABEL = 1 << 41  # + label: features that tell of one synthetic label, or an object, or a topic
    STREAM_ORDER = 0x0F10  # the order in which a progressive measurement streams the instances

    # Trees
    COMPLETE_TREE = 0x7EE  # the order of the labels in a complete tree
    KMEANS = 0x2EA  # the first centroids of each bisection

    # Estimators
    PLT_ORDER = 0x0DE  # the order of the instances in which PLT and OPLT learn
    PLT_PASSES = 0x0DC  # the orders of the passes of dual coordinate descent
    PLT_HASH = 0x4A5  # where hashed weights stand
    OPLT_POLICY = 0x0B7  # the choices of the policy "random"
    PARABEL_TREE = 0x9A4  # + tree: the seed of one tree
    FASTXML_TREE = 0xFA57  # combined with the seed by exclusive or: the key of a tree
    LDSM_TREE = 0x1D53  # combined with the seed by exclusive or: the key of a tree
    LDSM_ORDER = 1 << 40  # the order of the instances; equals SYNTHETIC_ROW, but under the key of a tree, not the seed
    LOGISTIC_FOLD = 0xCF01D  # which fold each instance is in
    OUT_OF_FOLD = 0x0F01D  # which fold each instance is in that thresholds are learned from
    STACKING = 0x57AC  # which instances are held out for the regression over the scores of the members
    CHOICE = 0xC401CE  # which instances a hyperparameter is chosen by
    NAPKINXC_ORDER = 0x0E4  # the order of the instances, which napkinXC's online trees do not shuffle
    MEMORY_TREE_ORDER = 0x0E5  # the order of the instances, which VW's memory tree does not shuffle

    # Experiments
    TRIAL = 0x70E  # + trial: the hyperparameters of one trial of a random search
    GROWTH = 1 << 50  # + number of labels: the instances on which inference is timed; no simulation has one so high
