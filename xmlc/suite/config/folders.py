"""Find the configuration of a project.

A clone keeps its configuration in the folder `config`, and a study in its top folder.
"""

from __future__ import annotations

from pathlib import Path

from xmlc.core.sources import PACKAGE

#: This folder contains `Snakefile`, `workflow`, `config`, and `study`, the template of a study. In a clone, these
#: entries are links to the clone's files. In a wheel, these entries are copies.
SHIPPED = PACKAGE / "shipped"
STUDY = "suite"  # The name of a study's only suite.


def is_study(folder: Path) -> bool:
    """Return whether a folder is a study. Unlike a clone, a study has ``suite.yaml`` and no folder ``config``."""
    return (folder / f"{STUDY}.yaml").is_file() and not (folder / "config").is_dir()


def config_folder(folder: Path = Path()) -> Path:
    """Return the folder that contains a project's configuration. For a study, this is ``folder`` itself."""
    return folder if is_study(folder) else folder / "config"


def config_files(name: str, config: Path) -> list[Path]:
    """Return the configuration files with a given name, in ascending order of precedence.

    Parameters
    ----------
    name : str
        A file name, such as ``datasets.yaml``.
    config : Path
        The configuration folder, as `config_folder` returns it.

    Returns
    -------
    list of Path
        In a clone, the list has one file. In a study, the list has the package's file. If the study has its own file of
        this name, this file follows.
    """
    own = config / name
    return [SHIPPED / "config" / name, *([own] if own.is_file() else [])] if is_study(config) else [own]
