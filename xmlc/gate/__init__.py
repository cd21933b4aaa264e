"""One gate: what proves, before a kernel reads arrays, that they are what it takes them for."""
