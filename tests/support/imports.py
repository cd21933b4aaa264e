"""The modules of xmlc that a Python file imports."""

from xmlc.core import sources


def imported_modules(file):
    """Return the dotted names of the modules of xmlc that a file imports, and of these modules'
    parent packages.
    """
    found = set()
    for name in sources.parsed(file)[0]:
        parts = name.split(".")
        if parts[0] == "xmlc":
            found |= {".".join(parts[: i + 1]) for i in range(len(parts))}
    return found
