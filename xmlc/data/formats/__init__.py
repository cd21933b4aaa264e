"""Reading multi-label data in every format that the papers' datasets come in, and from sparse matrices."""

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

WITHOUT_HEADER = ("svmlight", "libsvm", "vw", "coordinates")  # the largest ids of a file tell its numbers of columns
IN_PAIRS = ("repository-two-files", "npz")  # features and labels apart
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
    """Read one file of multi-label data, plain or compressed (.gz, .xz, .bz2, by content).

    Parameters
    ----------
    path : path
        The file; for ``repository-two-files`` and ``npz`` that of the features.
    format : {"repository", "repository-two-files", "npz", "svmlight", "libsvm", "vw", "arff"}, optional
        Found by itself where that is unambiguous; sets in five files are for `xmlc.data.formats.read_coordinates`:

        - ``repository``: header ``n d m``, then ``label,label feature:value ...``, ids from 0; an instance without
          labels starts with a space;
        - ``repository-two-files``: features and labels apart, each with a header of two numbers; the value of a label
          is 0 or 1;
        - ``npz``: features and labels apart, two sparse matrices that ``scipy.sparse.save_npz`` wrote;
        - ``svmlight``: rows as above without a header, ``#`` begins a comment;
        - ``libsvm``: the same with features from 1 and labels from 0, as LIBSVM's multi-label sets have them;
        - ``vw``: Vowpal Wabbit text, ``label,label | feature:value feature ...``. Whole numbers are ids of features, as
          in the program; other names need a ``vocabulary``. A feature given twice adds up, as words do, where the
          other formats take it for an error;
        - ``arff``: ARFF, dense or sparse, with Mulan's XML file that names the labels or MEKA's header that counts
          them (``@relation 'name: -C 6'``: the first six attributes; ``-C -6``: the last). A label's value is 0 or 1,
          false or true, no or yes, in any case. A nominal feature counts as its number if its values are numbers, as 0
          or 1 if they are words as of labels, else as the position of its value in the header.
    zero_based : bool
        Whether ids of labels start from 0 rather than 1, and in ``svmlight`` those of features, too. ``arff`` and
        ``npz`` have no ids.
    labels : path, optional
        The second file of ``repository-two-files``, ``npz`` and Mulan's ``arff``.
    n_features, n_labels : int, optional
        d and m where the format has no header; otherwise the largest id found decides. For a test file give those of
        the training file: features beyond are dropped with a warning, labels beyond are an error.
    vocabulary : dict, optional
        Numbers of feature names of ``vw``, added to up to ``n_features``; give the same one, empty at first, for
        training and test file.

    Returns
    -------
    X : csr_array of float32, shape (n, d)
        Features as they come; explicit zeros are dropped.
    Y : csr_array of bool, shape (n, m)
        Label sets; a label given twice counts once.

    Raises
    ------
    XmlcError
        The file cannot be read. Malformed lines are listed as ``file:line: found ..., expected ...``.

    Warns
    -----
    UserWarning
        Features beyond ``n_features`` are dropped.
    """
    path, base = checked_path(path), 0 if zero_based else 1
    second = None if labels is None else checked_path(labels)
    format = format or detect_format(path)
    if format not in FORMATS or format == "coordinates":  # which has five files: `read_coordinates`
        raise XmlcError(f"{path}: found format {format!r}, expected one of {', '.join(FORMATS[:-1])}")
    if second is None and format in IN_PAIRS:
        raise XmlcError(f"{path}: format {format} needs a second file that gives the labels; name it with labels=")
    if second is not None and format not in (*IN_PAIRS, "arff"):
        raise XmlcError(f"{path}: format {format} has the labels in the same file; expected no second one, {labels}")
    if format == "repository":
        return read_repository(path, base)
    if format == "arff":
        return read_arff(path, second)
    if second is not None:
        X, Y = read_npz(path, second) if format == "npz" else read_two_files(path, second, base)
        if X.shape[0] != Y.shape[0]:
            raise XmlcError(f"{path} has {X.shape[0]} instances, {second} has {Y.shape[0]}; they must belong together")
        return X, Y
    if format == "vw":
        X, Y = read_vw(path, zero_based, vocabulary, n_labels)
    else:
        X, Y = read_rows(path, 1 if format == "libsvm" else base, base, n_features, n_labels)
    if n_features is not None:
        X, dropped = first_columns(X, n_features)
        if dropped:
            warnings.warn(f"{path}: {dropped}", stacklevel=2)
        if vocabulary is not None:  # it numbers the features of the training file, whatever else is read
            for name in [name for name, number in vocabulary.items() if number >= n_features]:
                del vocabulary[name]
    return X, Y


def detect_format(path: Path) -> str:
    """Tell a file's format from its first line, where that is unambiguous."""
    head = read_bytes(path, 64)
    if not head:
        raise XmlcError(f"{path}: found an empty file")
    if head.startswith(b"PK\x03\x04") and b".npy" in head:  # a zip file, whose first member has this name
        return "npz"
    line = first_line(path)
    numbers = words(line)
    if len(numbers) == 3 and all(map(WHOLE.fullmatch, numbers)):
        return "repository"
    if line.lstrip(BLANKS).lower().startswith(("@relation", "%")):
        return "arff"
    if looks_like_vw(line):
        return "vw"
    raise XmlcError(f"{path}:1: found {line[:60]!r}, of no known format; set format= to one of {', '.join(FORMATS)}")
