"""YAML that people write: nothing of it is left out or read as something else, and mistakes are said in a sentence."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import yaml

from xmlc.core.advice import sentence_of
from xmlc.core.errors import XmlcError

# Safe loaders both, which make plain values and no objects; the one in C, where PyYAML has it, because a dry run reads
# ten such files.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# mypy knows no base class that is chosen when the module is imported.
class _Loader(_SAFE):  # type: ignore[misc]
    """A safe loader that does not take the last of several equal keys in silence, nor a number as a key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
            if name in seen:
                raise yaml.MarkedYAMLError(None, None, f"found the key {key.value} a second time", key.start_mark)
            seen.add(name)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        if odd := [key for key in mapping if not isinstance(key, str)]:
            said = f"the key {shown(odd[0])} is no text; write it in quotes"
            raise yaml.MarkedYAMLError(None, None, said, node.start_mark)
        return mapping


def read_yaml(file: Path) -> object:
    """Read a YAML file.

    Raises
    ------
    XmlcError
        It is no YAML in UTF-8, or has a key twice, or one that is no text.
    """
    try:
        # Safe: `_Loader` is a safe loader. `yaml.safe_load` takes none, and of equal keys the last without a word.
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:  # UnicodeDecodeError, and the date of 30 February
        said = " ".join(str(error).split()).replace(' in "<unicode string>",', " at")
        raise XmlcError(f"{file}: not YAML ({said})") from error
    except OSError as error:
        is_elsewhere = isinstance(error, FileNotFoundError) and not Path("config/config.yaml").exists()
        advice = "; run this in a clone of the project or in a study that `xmlc new` made" if is_elsewhere else ""
        raise XmlcError((sentence_of(error) or f"{file}: {error}") + advice) from error


SHOWN = 60  # characters of a value
T = TypeVar("T")


def shown(value: object) -> str:
    """Return a value as Python writes it, or its beginning."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def nearest(name: str, names: Collection[str]) -> str:
    """Name the nearest of some names, or all of them."""
    near = get_close_matches(name.lower(), names, n=3) or sorted(names)
    return " or ".join(near) if len(near) <= 3 else f"one of {', '.join(near)}"


def converted(content: object, kind: type[T], source: str, strict: bool = True) -> T:
    """Return plain content, as YAML has it, as an object of a type that msgspec knows, such as a dataclass.

    A key that is no field of it is refused. The bounds of a value, and words for what is expected of it, stand in its
    type as `msgspec.Meta`; beside a list, a union must not have a text with a pattern: msgspec 0.22 crashes.

    Parameters
    ----------
    content : object
    kind : type
    source : str
        What the content is from, such as the name of a file.
    strict : bool
        Refuse text in place of a number.

    Raises
    ------
    XmlcError
        With a line for each part that does not fit: source, keys that lead there, what was found and expected.
    """
    if said := _misfits(content, kind, "", strict):
        raise XmlcError("\n".join(f"{source}: {one}" for one in said))
    return msgspec.convert(content, kind, strict=strict)


def _misfits(value: Any, kind: Any, place: str, strict: bool) -> list[str]:
    """Say of the innermost parts that do not fit where they are, what they are and what was expected."""
    if inner := [said for part in _parts(value, kind, place) for said in _misfits(*part, strict)]:
        return inner
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        words, at = _words(value, kind), f"{place}: " if place else ""
        if isinstance(value, dict) and not words:  # the message says which key is missing
            return [f"{at}{error}"]
        return [f"{at}found {shown(value)}" + (f", expected {words}" if words else f": {error}")]
    return []


def _words(value: object, kind: Any) -> str:
    """Say what is expected, if a type does."""
    if get_origin(kind) is Literal:
        return nearest(str(value), get_args(kind))
    if get_origin(kind) in (Union, UnionType):
        return next(filter(None, (_words(value, one) for one in get_args(kind))), "")
    about = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((meta.description for meta in about if meta.description), "")


def _parts(value: object, kind: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield each part of a value, and each of its keys, if their types are known: itself, its type and its place."""
    origin, of = get_origin(kind), get_args(kind)
    start, at = (f"{place}.", f"{place}: ") if place else ("", "")
    if origin in (Union, UnionType):  # at most one of the alternatives has the form of the value
        yield from (part for one in of for part in _parts(value, one, place))
    elif origin is Annotated:
        yield from _parts(value, of[0], place)
    elif isinstance(value, dict) and origin is dict:
        for key, part in value.items():
            yield key, of[0], f"{at}key"
            yield part, of[1], f"{start}{key}"
    elif isinstance(value, dict) and (fields := _fields(kind)):
        for key, part in value.items():
            known = key in fields
            yield (part, fields[key], f"{start}{key}") if known else (key, Literal[*fields], f"{at}unknown key")
    elif isinstance(value, list) and origin in (list, tuple):
        kinds = of if origin is tuple else of * len(value)
        yield from ((part, one, f"{place}[{i}]") for i, (part, one) in enumerate(zip(value, kinds, strict=False)))


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """Return the type of each key of a dataclass, a structure of msgspec or a `TypedDict`; nothing of another type."""
    fields = getattr(msgspec.inspect.type_info(kind), "fields", ())
    hints = get_type_hints(kind, include_extras=True) if fields else {}
    types = {name: get_args(hint)[0] if get_origin(hint) is NotRequired else hint for name, hint in hints.items()}
    return {field.encode_name: types[field.name] for field in fields}
