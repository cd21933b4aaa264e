"""Where the configuration of a folder is: a clone has `config`, a study, elsewhere, has it beside its results."""

from __future__ import annotations

from pathlib import Path

from xmlc.core.sources import PACKAGE

#: Links into the clone; in a wheel their files. `Snakefile`, `workflow`, `config`, and `study`, with which one begins.
SHIPPED = PACKAGE / "shipped"
STUDY = "suite"  # the name of a study's only suite


def is_study(folder: Path) -> bool:
    """Say whether a folder is a study: it has ``suite.yaml``, and no ``config`` as a clone."""
    return (folder / f"{STUDY}.yaml").is_file() and not (folder / "config").is_dir()


def config_folder(folder: Path = Path()) -> Path:
    """Return where the configuration of a project's folder is: a study has it beside its results."""
    return folder if is_study(folder) else folder / "config"


def config_files(name: str, config: Path) -> list[Path]:
    """Return the files of a name in a configuration; what a study says in its own, if it has one, goes before.

    Parameters
    ----------
    name : str
        Such as ``datasets.yaml``.
    config : Path
        As `config_folder` returns it.

    Returns
    -------
    list of Path
        The file; of a study the one that the package ships, then its own, if it is there.
    """
    own = config / name
    return [SHIPPED / "config" / name, *([own] if own.is_file() else [])] if is_study(config) else [own]
