"""The weights of a label tree's nodes: how they lie in memory, how they are summed, updated and cut."""
