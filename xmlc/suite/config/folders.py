"""The configuration files, in the folder `config` of a clone or in the top folder of a study."""

from __future__ import annotations

from pathlib import Path

from xmlc.core.sources import PACKAGE

#: The package's folder with `Snakefile`, `workflow`, `config` and the template of a study. They are
#: links in a clone and copies in a wheel.
SHIPPED = PACKAGE / "shipped"
STUDY = "suite"  # suite of a study


def is_study(folder: Path) -> bool:
    """Return whether a folder has a file ``suite.yaml``, but no folder ``config``."""
    return (folder / f"{STUDY}.yaml").is_file() and not (folder / "config").is_dir()


def config_folder(folder: Path = Path()) -> Path:
    """Return the configuration folder of a project."""
    if is_study(folder):
        return folder
    return folder / "config"


def config_files(name: str, config: Path) -> list[Path]:
    """Return the configuration files of a name such as ``datasets.yaml``, the preferred one last.

    For a study, they are the package's file and then the study's, if there is one.
    """
    own = config / name
    if is_study(config):
        return [SHIPPED / "config" / name, *([own] if own.is_file() else [])]
    return [own]
