"""Fetching of single files over the network, which may break off, change, lie or never end."""
