"""Read YAML files that people write, and check their content.

An error is raised for a mistake, and for a value that YAML reads differently than people expect.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import yaml

from xmlc.core.advice import sentence_of
from xmlc.core.errors import XmlcError
from xmlc.core.errors import nearest as nearest

# The YAML loader is safe: it creates plain values and no objects of Python classes. PyYAML's loader in C is used if it
# exists, because it is faster and a dry run reads ten YAML files.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG, _RESOLVER = "tag:yaml.org,2002:", yaml.resolver.Resolver()
# Maps a type of YAML scalars to a regular expression. It matches scalars that people read as YAML 1.1 does, such as 12,
# but not 012, which YAML 1.1 reads as 10.
_CLEAR = {
    "int": re.compile(r"[-+]?(0|[1-9][0-9]*)"),
    "float": re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)(e[-+][0-9]+)?", re.I),
    "bool": re.compile("true|false", re.I),
    "null": re.compile("null|", re.I),
    "str": re.compile(r"(?!([-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(e[-+]?[0-9]+)?|0o[0-7]+)\Z).*", re.I | re.S),
}
_HINTS = {
    "mapping values are not allowed": ". Put text with a colon in quotes",
    "cannot start any token": ". Put text that begins with this character in quotes",
    "could not find expected ':'": ", expected `key: value`",
    "unexpected end of stream": ". Close every quote",
    "found another document": ", expected one document",
    "did not find expected": ". Close every bracket, indent keys of one level alike, and put text in quotes",
}


def read_yaml(file: Path, kind: Any = Any) -> object:
    """Read a YAML file and return its content. ``kind`` has the same meaning as for `parsed_yaml`.

    Raises
    ------
    XmlcError
        The file is not a YAML file in UTF-8, or `parsed_yaml` refuses one of its keys or values.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise XmlcError(
            f"{file}: found byte {error.object[error.start]:#04x}, expected a text file in UTF-8"
        ) from error
    except OSError as error:
        is_elsewhere = isinstance(error, FileNotFoundError) and not Path("config/config.yaml").exists()
        advice = ". Run this in a clone of the project or in a study from `xmlc new`" if is_elsewhere else ""
        raise XmlcError((sentence_of(error) or f"{file}: {error}") + advice) from error
    return parsed_yaml(text, str(file), kind)


def parsed_yaml(text: str, source: str, kind: Any = Any) -> object:
    """Parse a YAML text and return its content.

    Error messages contain ``source``, which is the path of a file, or ``key=`` for a setting. ``kind`` is the type of
    the content. The type decides what the message about an unclear scalar suggests.

    Raises
    ------
    XmlcError
        The text is not YAML, one of its keys is not a text, or a key occurs twice. An error is also raised for a scalar
        that YAML 1.1 reads differently than most people, such as ``010`` or ``yes``.
    """
    try:
        loader = _SAFE(text)  # If a key occurs twice, `yaml.safe_load` would keep the last value without an error.
        if (node := loader.get_single_node()) is not None:
            _check(node, set(), kind)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        hint = next((words for part, words in _HINTS.items() if part in problem), "")
        if mark and "\t" in "".join(text.split("\n")[mark.line : mark.line + 1])[mark.column :][:1]:
            hint = ". Replace the tab with spaces"
        where = f"config: {source}{text}" if source.endswith("=") else f"{source}:{mark.line + 1}" if mark else source
        said = " ".join(problem.split())
        said = said if isinstance(error, _UnclearError) else f"found invalid YAML{'' if hint else f' ({said})'}"
        raise XmlcError(f"{where}: {said}{hint}") from error


class _UnclearError(yaml.MarkedYAMLError):
    """Raised for a part of a YAML file that is valid YAML, but that xmlc refuses."""

    def __init__(self, problem: str, node: yaml.Node):
        super().__init__(problem=problem, problem_mark=node.start_mark)


def _check(node: yaml.Node, seen: set[int], kind: Any) -> None:
    """Raise an error for an unclear scalar or key in a YAML node of type ``kind`` and its descendants.

    If a node has several aliases, it is checked only once.
    """
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        is_implicit = not node.style and node.tag == _RESOLVER.resolve(yaml.ScalarNode, node.value, (True, False))
        if is_implicit and (said := _unclear(node.tag.removeprefix(TAG), node.value, kind)):
            raise _UnclearError(f"found {node.value}, {said}", node)
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for key, value in node.value:
            if key.tag not in (f"{TAG}str", f"{TAG}merge"):
                text = f"{key.value}, expected text: write '{key.value}' in quotes"
                said = text if isinstance(key, yaml.ScalarNode) else "with parts, expected text"
                raise _UnclearError(f"found the key {said}", key)
            if key.value in names:
                raise _UnclearError(f"found the key {key.value} twice, expected each key once", key)
            names.add(key.value)
            _check(value, seen, _kind_of_part(kind, key.value))
    else:
        for part in node.value:
            _check(part, seen, _kind_of_part(kind))


def _kind_of_part(kind: Any, key: str = "") -> Any:
    """Return the type of the value of a key, or of the entries of a list. The type is Any if it is unknown."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _kind_of_part(of[0], key)
    if origin in (Union, UnionType):
        known = [part for one in of if (part := _kind_of_part(one, key)) is not Any]
        return known[0] if known else Any
    if not key:
        return of[0] if origin is list else Any
    if origin is dict:
        return of[1]
    return fields_of(kind)[key][0] if key in fields_of(kind) else Any


def _fits(value: object, kind: Any) -> bool:
    return kind is Any or not _misfits(value, kind, (), True)


def _unclear(tag: str, text: str, kind: Any) -> str:
    """Explain how YAML 1.1 reads an unclear scalar without quotes, and what a user can write for a value of a type.

    If the scalar is clear, return an empty text.
    """
    if (clear := _CLEAR.get(tag)) and clear.fullmatch(text):
        return ""
    quoted = f"'{text}' in quotes for text"
    if tag == "str":  # For YAML 1.1, some numbers are texts, such as 1e-3 or 0o17.
        number = repr(int(text, 0) if "o" in text.lower() else float(text))
        plain = number if "e" not in number or "." in number else number.replace("e", ".0e")
        return f"which YAML 1.1 reads as text: write {plain}, or {quoted}"
    if tag not in _CLEAR:
        return f"which YAML 1.1 reads as {'a date' if tag == 'timestamp' else 'something else'}: write {quoted}"
    value = yaml.safe_load(text)
    if tag == "bool" and not _fits(value, kind):
        instead = f"{quoted}" if _fits(text, kind) else wording(kind, value)
        return f"which YAML 1.1 reads as {shown_scalar(value)}, expected {instead}"
    if tag == "float" and not math.isfinite(value):
        return f"expected a finite number, or {quoted}"
    instead = shown_scalar(value) if tag in ("bool", "null") else "the number in plain decimal digits"
    as_text = f", or {quoted}" if _fits(text, kind) else ""
    return f"which YAML 1.1 reads as {shown_scalar(value)}: write {instead}{as_text}"


SHOWN = 60  # Maximum number of characters of a value in a message. Longer values are shortened.
T = TypeVar("T")
Keys = tuple[str | int, ...]  # The place of a part of a YAML file: a sequence of keys of mappings and indices of lists.
# Describes a wrong part: its place, the place whose line number is shown, and a message.
Misfit = tuple[Keys, Keys, str]
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: "null"}
_BOUNDS = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}


def shown_scalar(value: object) -> str:
    """Return the `repr` of a value, shortened to `SHOWN` characters.

    The values true, false and null are written as in YAML.
    """
    text = str(value).lower() if isinstance(value, bool) else "null" if value is None else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def converted(content: object, kind: type[T], source: str, strict: bool = True) -> T:
    """Convert plain content of YAML to a type that msgspec supports, such as a dataclass.

    If the content has a key that is not a field of the type, an error is raised. Types may be annotated with
    `msgspec.Meta`, which contains the bounds of a value, and a description for messages. A union type must not contain
    both a list and a text with a pattern, because msgspec 0.22 crashes.

    Parameters
    ----------
    content : object
    kind : type
    source : str
        The origin of the content, which error messages contain. If the origin is the path of a YAML file, error
        messages also contain line numbers.
    strict : bool
        Whether a text instead of a number is an error. Use False for content from a command line.

    Raises
    ------
    XmlcError
        Some part of the content has a wrong type. The error message contains a line for each wrong part. Each line of
        the message contains the source, the keys that lead to the part, the value found and the value expected.
    """
    if found := _misfits(content, kind, (), strict):
        raise XmlcError("\n".join(located(source, place, said, of_line) for place, of_line, said in found))
    return msgspec.convert(content, kind, strict=strict)


def located(source: str, place: Keys, said: str, of_line: Keys | None = None) -> str:
    """Return the message ``said`` with a prefix, which consists of the source, the line number and the keys.

    The prefix contains a line number only if the source is a YAML file.
    """
    of_line = place if of_line is None else of_line
    line = f":{_line(Path(source), of_line)}" if Path(source).suffix == ".yaml" and Path(source).is_file() else ""
    at = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
    return f"{source}{line}: {at}: {said}" if at else f"{source}{line}: {said}"


def _line(file: Path, keys: Keys) -> int:
    """Return the line number of a part of a YAML file.

    If the part is missing, return the line number of its nearest parent.
    """
    node = yaml.compose(file.read_text(encoding="utf-8"), Loader=_SAFE)
    line: int = node.start_mark.line if node else 0
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else [*enumerate(getattr(node, "value", ()))]
        found: Any = next((pair for pair in pairs if key in (pair[0], getattr(pair[0], "value", None))), None)
        if found is None:
            break
        node = found[1]
        line = found[isinstance(key, int)].start_mark.line
    return line + 1


def _misfits(value: Any, kind: Any, place: Keys, strict: bool) -> list[Misfit]:
    """Return the innermost parts of ``value`` that do not fit their types, and a message for each part."""
    if inner := [said for part in _parts(value, kind, place, strict) for said in part]:
        return inner
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        fields = fields_of(_form(kind)) if isinstance(value, dict) else {}
        if fields:  # One of the keys is missing, or two keys exclude each other.
            lacking = [name for name, (of, required) in fields.items() if required and name not in value]
            said = [f"found no key {name}, expected {wording(fields[name][0], None)}" for name in lacking]
            return [(place, place, one) for one in said or [str(error)]]
        expected = f"{wording(kind, value, strict)}{_hint(value, kind)}"
        return [(place, place, f"found {shown_scalar(value)}, expected {expected}")]
    return []


def _hint(value: object, kind: Any) -> str:
    """Return the advice to add or remove quotes, if this change corrects the value.

    If the changed value is also wrong, return an empty text.
    """
    if not isinstance(value, str | int | float) or value == "":
        return ""
    try:
        plain = str(value) if isinstance(value, int | float) else yaml.safe_load(value)
        msgspec.convert(plain, kind)
    except (msgspec.ValidationError, yaml.YAMLError):
        return ""
    if isinstance(value, str):
        return f". Write {shown_scalar(plain)} without quotes"
    return f". Write '{shown_scalar(value)}' in quotes"


def wording(kind: Any, value: object, strict: bool = True) -> str:
    """Describe the values of a type in words, with an example that is similar to the wrong value."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Annotated:
        described = next((meta.description for meta in of[1:] if meta.description), "")
        words = wording(of[0], value, strict)
        if described.startswith("one of "):
            return nearest(str(value), described.removeprefix("one of ").split(", "))
        if described or "such as" in words or "each entry" in words:
            return described or words
        return words + "".join(map(_bounds, of[1:]))
    if origin is Literal:
        return nearest(str(value), of)
    if origin in (Union, UnionType):
        all_words = dict.fromkeys(wording(one, value, strict) for one in of)
        *first, last = [one for one in all_words if one.replace("whole ", "") not in all_words or "whole" not in one]
        return " or ".join(filter(None, (", ".join(first).replace("true or false", "true, false"), last)))
    if origin in (list, tuple):
        if isinstance(value, str | int | float) and of and _misfits(value, of[0], (), strict):
            return f"a list, each entry {wording(of[0], None, strict)}"
        example = f", such as [{value}]" if strict else f", such as '[{value}]'"
        return f"a list{example if isinstance(value, str | int | float) and len(example) < SHOWN else ''}"
    if fields := fields_of(kind):
        return f"keys with values, such as {next(iter(fields))}"
    return "keys with values" if origin is dict else _WORDS.get(kind, "another value")


def _bounds(meta: msgspec.Meta) -> str:
    """Describe the bounds of a value in words."""
    if meta.ge is not None and meta.le is not None:
        return f" from {meta.ge} to {meta.le}"
    said = [f" {words} {bound}" for key, words in _BOUNDS.items() if (bound := getattr(meta, key)) is not None]
    return " and".join([*said, *([" (not empty)"] if meta.min_length else [])])


def _form(kind: Any) -> Any:
    """Return the first type in a union that has keys. If no type in the union has keys, return ``kind`` unchanged."""
    if get_origin(kind) is Annotated:
        return _form(get_args(kind)[0])
    alternatives = map(_form, get_args(kind)) if get_origin(kind) in (Union, UnionType) else ()
    return next(filter(fields_of, alternatives), kind)


def _parts(value: object, kind: Any, place: Keys, strict: bool) -> Iterator[list[Misfit]]:
    """Yield a list of mistakes for each key of ``value`` and for each part of ``value``.

    If ``kind`` does not define the types of the keys and parts, nothing is yielded.
    """
    origin, of = get_origin(kind), get_args(kind)
    # A value fits at most one type of a union, so all types of the union can be tried.
    if origin in (Union, UnionType):
        for one in of:
            yield from _parts(value, one, place, strict)
    elif origin is Annotated:
        yield from _parts(value, of[0], place, strict)
    elif isinstance(value, dict) and origin is dict:
        for key, part in value.items():
            yield [(place, (*place, key), f"key: {said}") for _, _, said in _misfits(key, of[0], (), strict)]
            yield _misfits(part, of[1], (*place, key), strict)
    elif isinstance(value, dict) and (fields := fields_of(kind)):
        for key, part in value.items():
            if key in fields:
                yield _misfits(part, fields[key][0], (*place, key), strict)
            else:
                said = f"unknown key: found {shown_scalar(key)}, expected {nearest(str(key), fields)}"
                yield [(place, (*place, key), said)]
    elif isinstance(value, list) and origin in (list, tuple):
        for i, (part, one) in enumerate(zip(value, of if origin is tuple else of * len(value), strict=False)):
            yield _misfits(part, one, (*place, i), strict)


@cache
def fields_of(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each key of a dataclass, msgspec structure or `TypedDict`.

    With each type, a flag is returned that is true if the key is required.
    """
    fields = getattr(msgspec.inspect.type_info(kind), "fields", ())
    hints = get_type_hints(kind, include_extras=True) if fields else {}
    types = {name: get_args(hint)[0] if get_origin(hint) is NotRequired else hint for name, hint in hints.items()}
    return {field.encode_name: (types[field.name], field.required) for field in fields}
