"""Read YAML files that people write, and check their content.

An error is raised for a mistake, and for a value that YAML reads differently than people expect.
"""

from __future__ import annotations

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
TAG = "tag:yaml.org,2002:"
# Maps a pattern of text without quotes that YAML 1.1 reads differently than most people to the
# spelling to use.
UNCLEAR = {
    "yes|no|on|off": "true or false, or ",
    "~": "null, or ",
    r"[-+]?\.(inf|nan)": "a finite number, or ",
    r"[-+]?0[0-9_]+|[-+]?0[box][0-9a-f_]+": "decimal digits without a leading zero, or ",
    r"[-+]?[0-9][0-9.]*_[0-9_.e+-]*": "digits without underscores, or ",
    r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?": "decimal digits without colons, or ",
    r"[-+]?[0-9]+e[-+]?[0-9]+|[-+]?[0-9.]+e[0-9]+": "a point and a sign as in 1.0e-3, or ",
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t ].*)?|=|<<": "",
}
REMEDY = "Put such text in quotes, close every bracket, and use no tab to indent"


def read_yaml(file: Path) -> object:
    """Read a YAML file and return its content.

    Raises
    ------
    XmlcError
        The file is not a YAML file in UTF-8, or `parsed_yaml` refuses one of its keys or values.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise XmlcError(f"{file}: found byte {byte:#04x}, expected a text file in UTF-8") from error
    except OSError as error:
        is_elsewhere = isinstance(error, FileNotFoundError) and not Path("config/config.yaml").exists()
        advice = ". Run this in a clone of the project or in a study from `xmlc new`" if is_elsewhere else ""
        raise XmlcError((sentence_of(error) or f"{file}: {error}") + advice) from error
    return parsed_yaml(text, str(file))


def parsed_yaml(text: str, source: str) -> object:
    """Parse a YAML text and return its content.

    Error messages contain ``source``, which is the path of a file, or ``key=`` for a setting.

    Raises
    ------
    XmlcError
        The text is not YAML, one of its keys is not a text, or a key occurs twice. An error is also
        raised for text that YAML 1.1 reads differently than most people, such as ``010``.
    """
    try:
        loader = _SAFE(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, set())
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = " ".join((getattr(error, "problem", None) or str(error)).split())
        if not isinstance(error, _UnclearError):
            problem = f"found invalid YAML ({problem}). {REMEDY}"
        where = source
        if source.endswith("="):
            where = f"config: {source}{text}"
        elif mark:
            where = f"{source}:{mark.line + 1}"
        raise XmlcError(f"{where}: {problem}") from error


class _UnclearError(yaml.MarkedYAMLError):
    """Raised for a part of a YAML file that is valid YAML, but that xmlc refuses."""

    def __init__(self, problem: str, node: yaml.Node):
        super().__init__(problem=problem, problem_mark=node.start_mark)


def _check(node: yaml.Node, seen: set[int]) -> None:
    """Raise an error for an unclear scalar, and for a key that is no text or occurs twice."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        names = set()
        for key, value in node.value:
            if key.tag not in (f"{TAG}str", f"{TAG}merge"):
                problem = f"found the key {shown_scalar(key.value)}, expected text"
                raise _UnclearError(f"{problem}: put it in quotes", key)
            # `yaml.safe_load` would keep the last value without an error.
            if key.value in names:
                raise _UnclearError(f"found the key {key.value} twice, expected each key once", key)
            names.add(key.value)
            _check(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check(part, seen)
    elif isinstance(node, yaml.ScalarNode) and not node.style:
        for pattern, spelling in UNCLEAR.items():
            if re.fullmatch(pattern, node.value, re.IGNORECASE):
                text = node.value
                problem = "which YAML 1.1 reads differently than most people"
                raise _UnclearError(f"found {text}, {problem}: write {spelling}'{text}' in quotes", node)


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
