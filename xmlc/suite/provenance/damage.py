"""The message about a damaged result, with the command that rebuilds it."""

from __future__ import annotations

from xmlc.core.checksums import Damaged

MADE = "resources", "results"  # folders of the workflow's files


def message_of(error: Exception) -> str:
    """Return an exception's message, for a damaged result with the command that rebuilds it.

    `Damaged` lacks this command, because users of the library may have no workflow.
    """
    if isinstance(error, Damaged) and error.target.parts[:1] in [(folder,) for folder in MADE]:
        return (
            f"{error.file}: {error.fault}. Delete {error.target} and rebuild it: snakemake "
            f"{error.target}"
        )
    return str(error)
