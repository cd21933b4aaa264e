"""Read YAML files that people write, and check their content.

An error is raised for a mistake, and for a value that YAML reads differently than people expect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import yaml

from xmlc.core.advice import sentence_of
from xmlc.core.errors import XmlcError
from xmlc.core.errors import nearest as nearest

# The YAML loader is safe: it creates plain values and no objects of Python classes. PyYAML's loader
# in C is used if it exists, because it is faster and a dry run reads ten YAML files.
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
        problem = sentence_of(error) or f"{file}: {error}"
        if isinstance(error, FileNotFoundError) and not Path("config/config.yaml").exists():
            problem += ". Run this in a clone of the project or in a study from `xmlc new`"
        raise XmlcError(problem) from error
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
                problem = (
                    f"found the key {shown_scalar(key.value)}, expected text: put it in quotes"
                )
                raise _UnclearError(problem, key)
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
                problem = f"found {node.value}, which YAML 1.1 reads differently than most people:"
                raise _UnclearError(f"{problem} write {spelling}'{node.value}' in quotes", node)


SHOWN = 60  # Maximum number of characters of a value in a message. Longer values are shortened.
T = TypeVar("T")
# The place of a part of a YAML file: a sequence of keys of mappings and indices of lists.
Keys = tuple[str | int, ...]
Misfit = tuple[Keys, str]  # the place of a wrong part, and a message
_UNIONS = (Union, UnionType)
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
}
_BOUNDS = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}


def shown_scalar(value: object) -> str:
    """Return the `repr` of a value, shortened to `SHOWN` characters.

    The values true, false and null are written as in YAML.
    """
    text = repr(value)
    if value is None or isinstance(value, bool):
        text = json.dumps(value)
    if len(text) > SHOWN:
        return f"{text[:SHOWN]}..."
    return text


def converted(content: object, kind: type[T], source: str, strict: bool = True) -> T:
    """Convert plain content of YAML to a type that msgspec supports, such as a dataclass.

    If the content has a key that is not a field of the type, an error is raised. Types may be
    annotated with `msgspec.Meta`, which contains the bounds of a value, and a description for
    messages. A union type must not contain both a list and a text with a pattern, because msgspec
    0.22 crashes.

    Parameters
    ----------
    content : object
    kind : type
    source : str
        The origin of the content, which error messages contain. If the origin is the path of a YAML
        file, error messages also contain line numbers.
    strict : bool
        Whether a text instead of a number is an error. Use False for content from a command line.

    Raises
    ------
    XmlcError
        Some part of the content has a wrong type. The error message contains a line for each wrong
        part, with the source, the keys that lead to the part, the value found and the value
        expected.
    """
    misfits = _misfits(content, kind, (), strict)
    if misfits:
        raise XmlcError("\n".join(located(source, place, problem) for place, problem in misfits))
    return msgspec.convert(content, kind, strict=strict)


def located(source: str, place: Keys, problem: str) -> str:
    """Return a message that begins with the source, the line number and the keys of a problem.

    The message contains a line number only if the source is a YAML file.
    """
    file = Path(source)
    if file.suffix == ".yaml" and file.is_file():
        source += f":{_line(file, place)}"
    keys = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    if keys:
        source += f": {keys.removeprefix('.')}"
    return f"{source}: {problem}"


def _line(file: Path, keys: Keys) -> int:
    """Return the line number of a part of a YAML file.

    If the part is missing, return the line number of its nearest parent.
    """
    node = yaml.compose(file.read_text(encoding="utf-8"), Loader=_SAFE)
    line = node.start_mark.line if node else 0
    for key in keys:
        places = {}
        if isinstance(node, yaml.MappingNode):
            places = {name.value: (name, value) for name, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            places = {i: (value, value) for i, value in enumerate(node.value)}
        if key not in places:
            break
        start, node = places[key]
        line = start.start_mark.line
    return line + 1


def _misfits(value: Any, kind: Any, place: Keys, strict: bool) -> list[Misfit]:
    """Return the innermost parts of ``value`` that do not fit their types, with a message each."""
    inner: list[Misfit] = []
    fields = fields_of(kind)
    if isinstance(value, dict) and fields:
        for key in value:
            if key not in fields:
                problem = (
                    f"unknown key: found {shown_scalar(key)}, expected {nearest(str(key), fields)}"
                )
                inner.append(((*place, key), problem))
    for key, part, one in _parts(value, kind):
        inner += _misfits(part, one, (*place, key), strict)
    if inner:
        return inner
    try:
        msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        if isinstance(value, dict) and fields:
            problems = [
                f"found no key {name}, expected {wording(field, None)}"
                for name, (field, required) in fields.items()
                if required and name not in value
            ]
            # If no key is missing, two keys exclude each other.
            return [(place, problem) for problem in problems or [str(error)]]
        return [(place, f"found {shown_scalar(value)}, expected {wording(kind, value)}")]
    return []


def wording(kind: Any, value: object) -> str:
    """Describe the values of a type in words, with an example similar to the wrong value."""
    origin = get_origin(kind)
    of = get_args(kind)
    if origin is Annotated:
        description = of[1].description or ""
        if description.startswith("one of "):
            return nearest(str(value), description.removeprefix("one of ").split(", "))
        bounds = [
            f"{words} {getattr(of[1], key)}"
            for key, words in _BOUNDS.items()
            if getattr(of[1], key) is not None
        ]
        return description or f"{wording(of[0], value)} {' and '.join(bounds)}".rstrip()
    if origin is Literal:
        return nearest(str(value), of)
    if origin in _UNIONS:
        return " or ".join(dict.fromkeys(wording(one, value) for one in of))
    if origin in (list, tuple):
        if isinstance(value, str | int | float) and len(str(value)) < SHOWN:
            return f"a list, such as [{value}]"
        return "a list"
    if origin is dict or fields_of(kind):
        return "keys with values"
    return _WORDS.get(kind, "another value")


def _parts(value: Any, kind: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield the key, the value and the type of each part of a mapping or list.

    The keys of a dict are parts, too.
    """
    for one in _plain(kind):  # A value fits at most one of them, so all can be tried.
        origin = get_origin(one)
        of = get_args(one)
        if isinstance(value, dict) and origin is dict:
            for key, part in value.items():
                yield key, key, of[0]
                yield key, part, of[1]
        elif isinstance(value, dict):
            for name, (field, _) in fields_of(one).items():
                if name in value:
                    yield name, value[name], field
        elif isinstance(value, list) and origin in (list, tuple):
            if origin is list:
                of *= len(value)
            for i, (part, inner) in enumerate(zip(value, of, strict=False)):
                yield i, part, inner


def _plain(kind: Any) -> list[Any]:
    """Return the types of a union, or a single type, without annotations."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in _UNIONS:
        return [*chain(*map(_plain, get_args(kind)))]
    return [kind]


def name_misfits(
    value: Any, kind: Any, known: Mapping[str, Collection[str]], place: Keys = ()
) -> Iterator[Misfit]:
    """Yield a message for each unknown name in valid content, and for each repeated entry of a
    list.

    A type of names has the key of its names in ``known`` as an annotation, see
    `xmlc.suite.config.suite`.
    """
    if get_origin(kind) is Annotated:
        names = (get_args(kind)[1].extra or {}).get("names")
        if names and value not in known[names]:
            yield place, f"found {value}, expected {nearest(value, known[names])}"
    if isinstance(value, list) and any(get_origin(one) is list for one in _plain(kind)):
        for i, part in enumerate(value):
            if part in value[:i]:
                yield place, f"found {shown_scalar(part)} twice, expected each entry once"
    for key, part, one in _parts(value, kind):
        yield from name_misfits(part, one, known, (*place, key))


@cache
def fields_of(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each key of a dataclass, msgspec structure or `TypedDict`.

    With each type, a flag is returned that is true if the key is required. For a union, the keys of
    its first type with keys are returned.
    """
    fields: dict[str, tuple[Any, bool]] = {}
    for one in _plain(kind):
        infos = getattr(msgspec.inspect.type_info(one), "fields", ())
        if infos and not fields:
            hints = get_type_hints(one, include_extras=True)
            for field in infos:
                hint = hints[field.name]
                if get_origin(hint) is NotRequired:
                    hint = get_args(hint)[0]
                fields[field.encode_name] = (hint, field.required)
    return fields
