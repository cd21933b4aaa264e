"""Write the message about a damaged result, with the command that rebuilds it."""

from __future__ import annotations

from xmlc.core.checksums import Damaged

MADE = "resources", "results"  # Steps of the workflow write their files to these two folders.


def message_of(error: Exception) -> str:
    """Return the message that the command line prints for an exception.

    If a result of the workflow is damaged, the message contains the command that rebuilds the
    result.

    The text of `Damaged` itself does not contain the snakemake command, because users of the
    library may have no workflow.
    """
    if isinstance(error, Damaged) and error.target.parts[:1] in [(folder,) for folder in MADE]:
        return (
            f"{error.file}: {error.fault}. Delete {error.target} and rebuild it: snakemake "
            f"{error.target}"
        )
    return str(error)
