"""A reader of Mulan's ARFF written anew, character by character, for the fuzzer; see naive_formats.py."""

import codecs
import re

from naive_formats import demand, lines_of, single


def unquote(text):
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def cells_of(text):
    """Cut at commas outside of quotes."""
    cells, current, quote, position = [], "", "", 0
    while position < len(text):
        letter = text[position]
        if quote and letter == "\\":
            demand(position + 1 < len(text))
            current += text[position : position + 2]
            position += 2
            continue
        if letter == quote:
            quote = ""
        elif not quote and letter in "'\"":
            quote = letter
        if letter == "," and not quote:
            cells.append(current.strip())
            current = ""
        else:
            current += letter
        position += 1
    demand(not quote)
    return [*cells, current.strip()]


def header_of(lines):
    """Attributes as (name, {value: number} or None), and where the rows begin."""
    attributes = []
    for number, line in enumerate(lines):
        words = line.split(maxsplit=1)
        keyword = words[0].lower() if words else ""
        if keyword == "@data":
            return attributes, number + 1
        if keyword == "@attribute":
            demand(len(words) == 2)
            name, kind = name_and_kind(words[1])
            demand(name not in [other for other, _ in attributes])
            attributes.append((name, kind))
    demand(False)


def name_and_kind(text):
    if text[0] in "'\"" and (closed := re.match(r"(['\"])(?:\\.|(?!\1)[^\\])*\1", text)):
        name, rest = closed[0], text[closed.end() :]
    else:
        end = next((i for i, letter in enumerate(text) if letter.isspace() or letter == "{"), len(text))
        name, rest = text[:end], text[end:]
    kind = rest.strip()
    demand(name and kind)
    if kind[0] == "{" and kind[-1] == "}":
        demand(len(kind) > 1)
        return unquote(name), codes_of([unquote(cell) for cell in cells_of(kind[1:-1])])
    demand(re.split(" ", kind)[0].lower() in ("numeric", "real", "integer"))
    return unquote(name), None


def codes_of(values):
    try:
        return {value: number_of(value) for value in values}
    except Exception:
        return {value: float(position) for position, value in enumerate(values)}


def number_of(text):
    single(text)
    return float(text)


def value_of(cell, codes):
    if codes is None:
        return number_of(cell)
    demand(unquote(cell) in codes)
    return codes[unquote(cell)]


def row_of(text, attributes):
    if text[0] != "{":
        cells = cells_of(text)
        demand(len(cells) == len(attributes))
        return {i: value_of(cell, codes) for i, (cell, (_, codes)) in enumerate(zip(cells, attributes))}
    demand(text[-1] == "}" and len(text) > 1)
    row = {}
    for pair in cells_of(text[1:-1]) if text[1:-1].strip() else []:
        words = pair.split(maxsplit=1)
        demand(words and re.fullmatch("[0-9]{1,18}", words[0]))
        attribute = int(words[0])
        demand(attribute < len(attributes) and attribute not in row)
        row[attribute] = value_of(words[1] if words[1:] else "", attributes[attribute][1])
    first = {i: next(iter(codes.values())) for i, (_, codes) in enumerate(attributes) if codes}
    return first | row


def arff(content, names):
    """Rows of an ARFF file, given the names of its labels."""
    demand(names)
    lines = [line.decode("utf-8", errors="backslashreplace") for line in lines_of(content)]
    attributes, begin = header_of(lines)
    demand(names <= {name for name, _ in attributes})
    is_label = [name in names for name, _ in attributes]
    place = [sum(kind == is_label[i] for kind in is_label[:i]) for i in range(len(is_label))]
    rows, label_sets = [], []
    for line in lines[begin:]:
        text = line.strip()
        if not text or text[0] == "%":
            continue
        row = {i: float(single(repr(value))) for i, value in row_of(text, attributes).items()}
        rows.append({place[i]: value for i, value in row.items() if value and not is_label[i]})
        label_sets.append({place[i] for i, value in row.items() if value and is_label[i]})
    return rows, label_sets, is_label.count(False), is_label.count(True)


GAP = rb"[ \t\r\n]"
LABEL = GAP + rb'*<label name="[^"<>&]*"' + GAP + rb"*(?:/>|></label>)"
BEGIN = rb'(?:<\?xml version="1\.0"\?>)?' + GAP + rb'*<labels(?: xmlns="[\w:/.]*")?>'
PLAIN = BEGIN + rb"((?:" + LABEL + rb")*)" + GAP + rb"*</labels>" + GAP + rb"*"


def plain_label_names(content):
    """Names in an XML file that is as plain as Mulan's; None for any other, of which this reader has no opinion."""
    found = re.fullmatch(PLAIN, content.removeprefix(codecs.BOM_UTF8))
    if not found or not content.isascii() or re.search(rb"[\0-\x1f]", found[1]):
        return None
    return {name.decode() for name in re.findall(rb'name="([^"]*)"', found[1])}
