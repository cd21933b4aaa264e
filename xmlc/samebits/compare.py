"""Compare what was computed as for several processors, and print it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xmlc.samebits.pieces import Piece, Processed, differing_parts
from xmlc.tables.fingerprint import VERSION, Fingerprint, of_parts

SAME = "same"
MISSING = "-"
SHOWN = 9  # characters of a word behind its version


class Row(NamedTuple):
    """One piece.

    Attributes
    ----------
    piece : str
    words : tuple of str
        One for each processor; `MISSING` where there is none.
    differing : dict of tuple of str
        By processor: the parts that are not as on the first, for those that differ.
    """

    piece: str
    words: tuple[str, ...]
    differing: Mapping[str, tuple[str, ...]]


def compare(found: Mapping[str, Processed]) -> list[Row]:
    """Compare the pieces of all processors with those of the first.

    Parameters
    ----------
    found : mapping of Processed
        By processor.
    """
    first, *others = found.values()
    names = list(dict.fromkeys(name for run in found.values() for name in run["pieces"]))
    rows = []
    for name in names:
        absent: Piece = {"word": MISSING, "parts": {}}
        pieces = [run["pieces"].get(name, absent) for run in (first, *others)]
        differing = {
            processor: tuple(differing_parts(pieces[0], piece)) or (MISSING,)
            for processor, piece in zip(list(found)[1:], pieces[1:], strict=True)
            if piece["word"] != pieces[0]["word"]
        }
        rows.append(Row(name, tuple(piece["word"] for piece in pieces), differing))
    return rows


def lines(rows: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table piece x processor, and what it comes to."""
    width = max((len(row.piece) for row in rows), default=0)
    columns = [max(len(name), SHOWN) for name in names]
    yield "  ".join([f"{'piece':{width}}", *(f"{name:{size}}" for name, size in zip(names, columns, strict=True))])
    for row in rows:
        words = (f"{_short(word):{size}}" for word, size in zip(row.words, columns, strict=True))
        yield "  ".join([f"{row.piece:{width}}", *words, _verdict(row)])
    wrong = [row.piece for row in rows if row.differing]
    yield ""
    if wrong:
        yield f"{len(wrong)} of {len(rows)} pieces differ: {'; '.join(wrong)}"
    else:
        yield f"all {len(rows)} pieces are the same bits on {', '.join(names)}"


def word_of_all(found: Processed) -> str:
    """Return one word for all pieces of one processor, to be compared with that of another machine."""
    parts = {
        name: of_parts({k: Fingerprint(v, {}) for k, v in p["parts"].items()}) for name, p in found["pieces"].items()
    }
    return of_parts(parts).word


def _short(word: str) -> str:
    return word.removeprefix(f"{VERSION}-")[:SHOWN]


def _verdict(row: Row) -> str:
    if not row.differing:
        return SAME
    return "DIFFERS: " + "; ".join(f"{', '.join(parts)} ({name})" for name, parts in row.differing.items())
