"""YAML files that people write, with errors for values that YAML reads differently than people
expect.
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

# A safe loader creates plain values only. The one in C is faster, and a dry run reads ten files.
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
# Unquoted texts that YAML 1.1 reads differently than most people, with the spelling to use
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
    """Read a YAML file, or raise an error if `parsed_yaml` does or the file is not UTF-8."""
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
    """Parse a YAML text, with ``source`` (the path of a file, or ``key=`` for a setting) in
    messages.

    Keys must be distinct texts, and errors include texts such as ``010``, which YAML 1.1 reads
    differently than most people.
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
    """Valid YAML that xmlc refuses."""

    def __init__(self, problem: str, node: yaml.Node):
        super().__init__(problem=problem, problem_mark=node.start_mark)


def _check(node: yaml.Node, seen: set[int]) -> None:
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
            # `yaml.safe_load` would keep the last value.
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


SHOWN = 60  # most characters of a value in a message
T = TypeVar("T")
# The way to a part of a YAML file: keys of mappings and indices of lists
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
    """Return the `repr` in `SHOWN` characters, with true, false and null as in YAML."""
    text = repr(value)
    if value is None or isinstance(value, bool):
        text = json.dumps(value)
    if len(text) > SHOWN:
        return f"{text[:SHOWN]}..."
    return text


def converted(content: object, kind: type[T], source: str, strict: bool = True) -> T:
    """Convert plain content of YAML to a type that msgspec supports, such as a dataclass.

    A key that is no field is an error. Annotations by `msgspec.Meta` give bounds, and descriptions
    for messages, which have a line for each wrong part and begin with ``source``. Content from a
    command line may have texts as numbers (``strict=False``). No union may have both a list and a
    text with a pattern, because msgspec 0.22 crashes.
    """
    misfits = _misfits(content, kind, (), strict)
    if misfits:
        raise XmlcError("\n".join(located(source, place, problem) for place, problem in misfits))
    return msgspec.convert(content, kind, strict=strict)


def located(source: str, place: Keys, problem: str) -> str:
    """Return a message that begins with the source, the line in a YAML file, and the keys."""
    file = Path(source)
    if file.suffix == ".yaml" and file.is_file():
        source += f":{_line(file, place)}"
    keys = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    if keys:
        source += f": {keys.removeprefix('.')}"
    return f"{source}: {problem}"


def _line(file: Path, keys: Keys) -> int:
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
            # If no key is missing, two exclude each other.
            return [(place, problem) for problem in problems or [str(error)]]
        return [(place, f"found {shown_scalar(value)}, expected {wording(kind, value)}")]
    return []


def wording(kind: Any, value: object) -> str:
    """Describe a type, with an example similar to the wrong value."""
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
    for one in _plain(kind):  # a value fits at most one of them
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
            if origin is list or of[-1] is ...:
                of = of[:1] * len(value)
            for i, (part, inner) in enumerate(zip(value, of, strict=False)):
                yield i, part, inner


def _plain(kind: Any) -> list[Any]:
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in _UNIONS:
        return [*chain(*map(_plain, get_args(kind)))]
    return [kind]


def name_misfits(
    value: Any, kind: Any, known: Mapping[str, Collection[str]], place: Keys = ()
) -> Iterator[Misfit]:
    """Yield a message for each unknown name and each repeated list entry in valid content.

    Types of names are annotated with a key of ``known``, see `xmlc.suite.config.suite`.
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
    """Return the type of each key of a dataclass, msgspec structure or `TypedDict`, and whether it
    is required.

    For a union, its first type with keys counts.
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
