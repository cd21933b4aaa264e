"""Readers of multi-label data in the formats of the papers' datasets, and of sparse matrices."""

from __future__ import annotations

import warnings
from pathlib import Path

from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.files import checked_path
from xmlc.data.formats.arff import read_arff
from xmlc.data.formats.coordinates import read_coordinates as read_coordinates
from xmlc.data.formats.lines import BLANKS, WHOLE, first_line, read_bytes, words
from xmlc.data.formats.npz import read_npz
from xmlc.data.formats.rows import read_repository, read_rows, read_two_files
from xmlc.data.formats.vw import looks_like_vw, read_vw
from xmlc.data.matrices import first_columns

# The largest ids in a file determine its numbers of columns
WITHOUT_HEADER = ("svmlight", "libsvm", "vw", "coordinates")
IN_PAIRS = ("repository-two-files", "npz")  # Separate files for features and labels
FORMATS = ("repository", *IN_PAIRS, "arff", *WITHOUT_HEADER)


def load(
    path: str | Path,
    format: str | None = None,
    *,
    zero_based: bool = True,
    labels: str | Path | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    vocabulary: dict[str, int] | None = None,
) -> tuple[sparse.csr_array, sparse.csr_array]:
    r"""Read one file of multi-label data, plain or compressed.

    Compression (.gz, .xz, .bz2) is recognized by content.

    Parameters
    ----------
    path : path
        For ``repository-two-files`` and ``npz``, the file of features.
    format : str, optional
        By default the format is detected if it is unambiguous.

        - ``repository`` has a header ``n d m``, then lines ``label,label feature:value ...`` with
          ids from 0. The line of an instance without labels starts with a space.
        - ``repository-two-files`` has one file of features and one of labels with the values 0 and
          1, each with a header of two numbers.
        - ``npz`` is the same pair as two sparse matrices that ``scipy.sparse.save_npz`` wrote.
        - ``svmlight`` has rows as in ``repository``, but no header, and ``#`` begins a comment.
        - ``libsvm`` has rows as in ``svmlight``, but feature ids start from 1 and label ids from 0,
          as in LIBSVM's multi-label datasets.
        - ``vw`` is Vowpal Wabbit text, ``label,label | feature:value feature ...``. A feature name
          that is a whole number is the id of the feature, and other names need a ``vocabulary``.
          Values of a repeated feature are added up, because words recur in texts, whereas all other
          formats refuse repeated features.
        - ``arff`` means dense or sparse ARFF files, whose labels are named by Mulan's XML file or
          counted in MEKA's header: ``@relation 'name: -C 6'`` for the first six attributes, ``-C
          -6`` for the last six. The value of a label is 0 or 1, false or true, no or yes, in any
          case. A nominal feature keeps its values if all are numbers. They become 0 and 1 if all
          are words that are allowed for labels, and otherwise positions in the header.
    zero_based : bool
        Whether label ids, and in ``svmlight`` also feature ids, start from 0 rather than 1. The
        formats ``arff`` and ``npz`` have no ids.
    labels : path, optional
        The second file of ``repository-two-files``, ``npz`` and Mulan's ``arff``.
    n_features, n_labels : int, optional
        The numbers of features d and of labels m, for formats without a header, by default from the
        largest ids in the file. For a test file, pass d and m of the training file. Features with
        ids of d or more are then dropped with a warning, but labels with ids of m or more raise an
        error.
    vocabulary : dict, optional
        Maps the feature names of ``vw`` to numbers, and gets the new names in the file, up to
        ``n_features`` in all. Pass the same dictionary, initially empty, for the training and the
        test file.

    Returns
    -------
    X : csr_array of float32, shape (n, d)
        Features as in the file, without explicit zeros.
    Y : csr_array of bool, shape (n, m)
        Label sets, in which repeated labels count once.

    Raises
    ------
    XmlcError
        If the file cannot be read. Malformed lines are listed as ``file:line: found ..., expected
        ...``.

    Warns
    -----
    UserWarning
        If features with ids of ``n_features`` or more are dropped.

    See Also
    --------
    xmlc.data.formats.read_coordinates : reads a dataset in five files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc.data import load
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 3 2\n0,1 0:0.5 2:1\n1 1:2\n")
    >>> X, Y = load(path)
    >>> X.toarray().tolist()
    [[0.5, 0.0, 1.0], [0.0, 2.0, 0.0]]
    >>> Y.toarray().tolist()
    [[True, True], [False, True]]
    """
    path = checked_path(path)
    base = int(not zero_based)
    second = None
    if labels is not None:
        second = checked_path(labels)
    format = format or detect_format(path)
    # `read_coordinates` reads the five files of coordinates
    if format not in FORMATS or format == "coordinates":
        raise XmlcError(
            f"{path}: found format {format!r}, expected one of {', '.join(FORMATS[:-1])}"
        )
    if second is None and format in IN_PAIRS:
        expected = "one with labels. Set labels= to it."
        raise XmlcError(f"{path}: found no second file for format {format}, expected {expected}")
    if second is not None and format not in (*IN_PAIRS, "arff"):
        raise XmlcError(
            f"{path}: found a second file {labels}, expected none for format {format}. Leave out "
            "labels=."
        )
    if format == "repository":
        return read_repository(path, base)
    if format == "arff":
        return read_arff(path, second)
    if second is not None:
        if format == "npz":
            X, Y = read_npz(path, second)
        else:
            X, Y = read_two_files(path, second, base)
        if X.shape[0] != Y.shape[0]:
            raise XmlcError(
                f"{second}: found {Y.shape[0]} instances, expected {X.shape[0]} as in {path}"
            )
        return X, Y
    if format == "vw":
        X, Y = read_vw(path, zero_based, vocabulary, n_labels)
    elif format == "libsvm":
        X, Y = read_rows(path, 1, base, n_labels)
    else:
        X, Y = read_rows(path, base, base, n_labels)
    if n_features is not None:
        X, dropped = first_columns(X, n_features)
        if dropped:
            warnings.warn(f"{path}: {dropped}", stacklevel=2)
        if vocabulary is not None:  # Forget new features of the test file
            for name, number in [*vocabulary.items()]:
                if number >= n_features:
                    del vocabulary[name]
    return X, Y


def detect_format(path: Path) -> str:
    """Return the format of a file, or raise an error if the first line is ambiguous."""
    head = read_bytes(path, 64)
    if not head:
        raise XmlcError(f"{path}: found an empty file, expected data")
    # An npz file is a zip file whose first member ends in .npy
    if head.startswith(b"PK\x03\x04") and b".npy" in head:
        return "npz"
    line = first_line(path)
    if is_header(line):
        return "repository"
    if line.lstrip(BLANKS).lower().startswith(("@relation", "%")):
        return "arff"
    if looks_like_vw(line):
        return "vw"
    raise XmlcError(
        f"{path}:1: found {line[:60]!r}, of no known format. Set format= to one of "
        f"{', '.join(FORMATS)}"
    )


def is_header(line: str) -> bool:
    """Return whether a line is the header ``n d m`` of a file of features."""
    numbers = words(line)
    return len(numbers) == 3 and all(map(WHOLE.fullmatch, numbers))
