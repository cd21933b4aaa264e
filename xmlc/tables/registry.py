"""Tables and figures by name: what every suite can make, and what one paper has of its own under the same name."""

from __future__ import annotations

from typing import Generic, TypeVar

from xmlc.errors import XmlcError

T = TypeVar("T")


class Registry(Generic[T]):
    """Definitions by name. A paper's own comes before the common one: both papers' first table is `table1`.

    Parameters
    ----------
    noun : str
        What is defined, ``table`` or ``figure``; a bare number stands for ``<noun><number>``.
    """

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._found: dict[tuple[str | None, str], T] = {}

    def add(self, name: str, definition: T, paper: str | None = None) -> None:
        """Make a definition known, to one paper alone or to every suite that has no other of this name."""
        self._found[paper, name] = definition

    def full_name(self, name: str) -> str:
        """Return the name that a bare number stands for."""
        return f"{self.noun}{name}" if name.isdecimal() else name

    def of(self, name: str, paper: str) -> T:
        """Return what a paper calls so.

        Raises
        ------
        XmlcError
            Neither the paper nor all suites have it.
        """
        name = self.full_name(name)
        for owner in (paper, None):
            if (owner, name) in self._found:
                return self._found[owner, name]
        known = [other for owner, other in self._found if owner in (paper, None)]
        raise XmlcError(f"{self.noun} {name!r} is unknown; expected one of {', '.join(dict.fromkeys(known))}")

    def named(self, name: str) -> list[T]:
        """Return every definition of a name, whoever's it is."""
        return [definition for (_, other), definition in self._found.items() if other == name]

    def every(self) -> list[tuple[str | None, str, T]]:
        """List (paper or None, name, definition)."""
        return [(paper, name, definition) for (paper, name), definition in self._found.items()]

    def names(self) -> list[str]:
        """List the names, each once."""
        return list(dict.fromkeys(name for _, name in self._found))
