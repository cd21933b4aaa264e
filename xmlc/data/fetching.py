"""Small real datasets, downloaded once or read from a mirror."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from scipy import sparse

from xmlc.core.errors import (
    InvalidParameterError,
    MissingFileError,
    XmlcError,
    let_through,
    nearest,
    needs_extra,
    shown,
)
from xmlc.core.files import checked_path
from xmlc.data.archives import SUFFIXES
from xmlc.data.formats import load

Part = tuple[sparse.csr_array, sparse.csr_array]

GITHUB = "https://raw.githubusercontent.com"
DELICIOUS = f"{GITHUB}/aresPanos/mlgpf/7f2744d493a51d3504c8dc3985a3cb08cd2f9244/data/delicious"
MULAN = f"{GITHUB}/tsoumakas/mulan/42e04c3993596a398300891eeb3b153784a64388/data/multi-label"
SCENE = f"{GITHUB}/tsoumakas/mulan/5862bed221a9ec2baf9a090f5e98637e9dfb088b/data/multi-label/scene"
#: The address of each dataset's folder, and the SHA-256 of its training set, test set and names of
#: labels. config/datasets.yaml has the same addresses, but another edition of yeast.
CATALOGUE = {
    "delicious": (
        DELICIOUS,
        {
            "train.txt": "5909fd69abad641f4f3ef76f85595a5562c0d2450ab50c654361c1f42993c965",
            "test.txt": "3cb2f10efa363366a6886357f96fe25c3d6a5724dcf7f3273f6d9277345a190e",
        },
    ),
    "enron": (
        f"{MULAN}/enron",
        {
            "enron-train.arff": "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
            "enron-test.arff": "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
            "enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        },
    ),
    "scene": (
        SCENE,
        {
            "scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
            "scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
            "scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        },
    ),
    "yeast": (
        f"{MULAN}/yeast",
        {
            "yeast-train.arff": "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
            "yeast-test.arff": "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
            "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        },
    ),
}
RETRIES = 2
SILENCE = 20.0  # seconds without a byte after which an attempt fails


def fetch(name: str, mirror: str | Path | None = None) -> tuple[Part, Part]:
    r"""Return the training set and the test set of a small real dataset.

    The first call downloads the files into the user's cache folder and checks their SHA-256, so
    that later calls need no network. Each dataset keeps the split into training and test set of
    its source, and the order of instances, which are sorted by label in ``scene``. So shuffle them
    before you hold out a part. The licences are unknown.

    Parameters
    ----------
    name : {"delicious", "enron", "scene", "yeast"}
        ``scene`` (images, 6 labels), ``yeast`` (genes, 14) and ``enron`` (e-mails, 53) are from
        Mulan, and ``delicious`` (web pages, 983) is split 1 of the Extreme Classification
        Repository. With a mirror, the name of a folder in it.
    mirror : path, optional
        A folder with the files ``<name>/train.txt`` and ``<name>/test.txt``, plain or compressed,
        in a format that `load` detects. They are read instead of a download and not checked.

    Returns
    -------
    train : (csr_array of float32, shape (n, d), csr_array of bool, shape (n, m))
        Instances and label sets, as from `load`.
    test : (csr_array of float32, csr_array of bool)

    Raises
    ------
    InvalidParameterError
        If no dataset has this name.
    MissingFileError
        If the mirror lacks one of the files.
    XmlcError
        If the download fails, a digest differs, or pooch, from the extra ``data``, is missing.

    See Also
    --------
    load : reads one file of your own.

    Examples
    --------
    >>> from xmlc.data import fetch
    >>> (X, Y), (X_test, Y_test) = fetch("scene")  # doctest: +SKIP
    >>> X.shape, Y.shape, X_test.shape  # doctest: +SKIP
    ((1211, 294), (1211, 6), (1196, 294))

    A mirror replaces the network:

    >>> import tempfile
    >>> from pathlib import Path
    >>> mirror = Path(tempfile.mkdtemp())
    >>> (mirror / "tiny").mkdir()
    >>> for part in ("train", "test"):
    ...     _ = (mirror / f"tiny/{part}.txt").write_text("2 3 2\n0,1 0:0.5 2:1\n1 1:2\n")
    >>> (X, Y), (X_test, Y_test) = fetch("tiny", mirror)
    >>> X.shape, Y.shape
    ((2, 3), (2, 2))
    """
    if mirror is None:
        files = _downloaded(name)
    else:
        files = _in_mirror(checked_path(mirror).expanduser(), name)
    train, test, *labels = files
    if labels:
        return load(train, labels=labels[0]), load(test, labels=labels[0])
    return load(train), load(test)


def _in_mirror(mirror: Path, name: str) -> list[Path]:
    """Return the training file and the test file of a dataset, plain or compressed."""
    if not mirror.is_dir():
        raise MissingFileError(f"mirror: found no folder {mirror}, expected one with datasets")
    _check_name(name, [path.name for path in mirror.iterdir() if path.is_dir()])
    files = []
    for part in ("train.txt", "test.txt"):
        path = mirror / name / part
        found = [path.with_name(part + suffix) for suffix in SUFFIXES]
        found = [file for file in found if file.is_file()]
        if not found:
            raise MissingFileError(
                f"{path}: found no such file, expected it plain or compressed (.gz, .xz, .bz2)"
            )
        files.append(found[0])
    return files


def _downloaded(name: str) -> list[Path]:
    """Return the files of a dataset in the user's cache folder, after a download if needed."""
    _check_name(name, CATALOGUE)
    try:
        import pooch
    except ImportError as error:
        raise needs_extra("fetch needs pooch to download datasets", "data") from error
    address, digests = CATALOGUE[name]
    folder = pooch.os_cache("xmlc") / name
    files = pooch.create(folder, f"{address}/", registry=digests, retry_if_failed=RETRIES)
    downloader = pooch.HTTPDownloader(timeout=SILENCE)
    try:
        return [Path(files.fetch(file, downloader=downloader)) for file in digests]
    except (OSError, ValueError) as error:  # an error of requests is an OSError
        let_through(error)
        raise XmlcError(
            f"{name}: {error}. Without a network, pass mirror=, a folder that has "
            f"{name}/train.txt and {name}/test.txt"
        ) from error


def _check_name(name: str, names: Collection[str]) -> None:
    if name not in names:
        raise InvalidParameterError(
            f"name: found {shown(name)}, expected {nearest(str(name), names)}"
        )
