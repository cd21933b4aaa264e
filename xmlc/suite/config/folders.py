"""Find the configuration of a folder: a clone has it in `config`, and a study has it next to its results."""

from __future__ import annotations

from pathlib import Path

from xmlc.core.sources import PACKAGE

#: This folder contains links into the clone, or copies of their files in a wheel. The links are `Snakefile`,
#: `workflow`, `config`, and `study`, the template of a study.
SHIPPED = PACKAGE / "shipped"
STUDY = "suite"  # The name of a study's only suite.


def is_study(folder: Path) -> bool:
    """Return whether a folder is a study: it has ``suite.yaml`` but no folder ``config``, unlike a clone."""
    return (folder / f"{STUDY}.yaml").is_file() and not (folder / "config").is_dir()


def config_folder(folder: Path = Path()) -> Path:
    """Return the configuration folder of a project's folder. A study keeps its configuration next to its results."""
    return folder if is_study(folder) else folder / "config"


def config_files(name: str, config: Path) -> list[Path]:
    """Return the configuration files with a given name. A study's own file is last, because it takes precedence.

    Parameters
    ----------
    name : str
        A file name, such as ``datasets.yaml``.
    config : Path
        The configuration folder, as `config_folder` returns it.

    Returns
    -------
    list of Path
        In a clone, the only element is the file. In a study, the list has the package's file, then the study's own file
        if it exists.
    """
    own = config / name
    return [SHIPPED / "config" / name, *([own] if own.is_file() else [])] if is_study(config) else [own]
