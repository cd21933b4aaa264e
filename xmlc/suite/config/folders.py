"""Find the configuration files of a clone or of a study.

In a clone, the configuration files are in the folder `config`. In a study, the configuration files
are in the top folder.
"""

from __future__ import annotations

from pathlib import Path

from xmlc.core.sources import PACKAGE

#: The folder of the package with `Snakefile`, `workflow`, `config`, and `study`, the template of a
#: study. In a clone, this folder contains links to the clone's files. In a wheel, the folder
#: contains copies of the files.
SHIPPED = PACKAGE / "shipped"
STUDY = "suite"  # The name of the suite of a study.


def is_study(folder: Path) -> bool:
    """Return whether a folder is a study.

    A study has a file ``suite.yaml``, but no folder ``config``.
    """
    return (folder / f"{STUDY}.yaml").is_file() and not (folder / "config").is_dir()


def config_folder(folder: Path = Path()) -> Path:
    """Return the folder with the configuration files of the project in ``folder``.

    For a study, return ``folder`` unchanged.
    """
    if is_study(folder):
        return folder
    return folder / "config"


def config_files(name: str, config: Path) -> list[Path]:
    """Return the configuration files with a given name.

    A later file takes precedence over an earlier file.

    Parameters
    ----------
    name : str
        A file name, such as ``datasets.yaml``.
    config : Path
        The configuration folder, as `config_folder` returns it.

    Returns
    -------
    list of Path
        For a clone, the list contains only the clone's file. For a study, the list contains the
        package's file, followed by the study's file if there is one.
    """
    own = config / name
    if is_study(config):
        return [SHIPPED / "config" / name, *([own] if own.is_file() else [])]
    return [own]
