"""The defaults of a dataclass beside those that the schema of its file states."""

from dataclasses import MISSING, fields, is_dataclass

from msgspec import NODEFAULT, structs

NOTHING = "nothing"


def compared(schema, kind, names=None, made=()):
    """Return two dicts that must be equal: by field, what a file says that lacks the key, and what the dataclass has.

    That is a default, ``...`` where the key must be there, and `NOTHING` where it may be left out: for the dataclass,
    None or something empty.

    Parameters
    ----------
    schema : dict
        Of an object.
    kind : type
        The dataclass, or structure of msgspec.
    names : dict, optional
        Field of a key that is no name of one.
    made : sequence of str
        Fields that stand in no file.
    """
    keys = {(names or {}).get(key, key): (key, part) for key, part in schema["properties"].items()}
    said = {name: stated(schema, key, part) for name, (key, part) in keys.items()}
    every = fields(kind) if is_dataclass(kind) else structs.fields(kind)
    found = {field.name: default_of(field) for field in every if field.name not in made}
    return said, {name: NOTHING if said.get(name) == NOTHING and value in (None, [], {}) else value
                  for name, value in found.items()}  # fmt: skip


def stated(schema, key, part):
    return ... if key in schema.get("required", []) else part.get("default", NOTHING)


def default_of(field):
    if field.default not in (MISSING, NODEFAULT):
        return field.default
    return ... if field.default_factory in (MISSING, NODEFAULT) else field.default_factory()
