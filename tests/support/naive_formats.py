"""Readers written anew from the formats' descriptions, for the fuzzers: by regular expressions, slow, without messages.

Each takes the bytes of its files and returns (rows, label_sets, d, m), where a row maps features to single-precision
values, or raises `Refused`.
"""

import re

import numpy as np

MOST_COLUMNS, LARGEST = 1 << 26, 2**31 - 1
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
PAIR = re.compile(rf"([0-9]+):({NUMBER})")
LABELS = re.compile(r"[0-9]+(?:,[0-9]+)*")


class Refused(Exception):
    """What no reader may take for well-formed."""


def demand(condition):
    if not condition:
        raise Refused


def single(text):
    """Value of a decimal number in single precision."""
    demand(re.fullmatch(NUMBER, text))
    value = float(text)
    demand(abs(value) < 3.4028235677973366e38)  # from here on it is rounded to infinity
    return float(np.float32(value))


def lines_of(content):
    demand(b"\0" not in content)
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def latin(line):
    return line.decode("latin-1")


def sparse_row(line, base, d, m, label_base=0):
    """Row ``label,label feature:value ...``; without labels where m is None."""
    tokens = [token for token in re.split("[ \t\r]", line) if token]
    labels = set()
    if m is not None and line[:1] not in ("", " ", "\t", "\r") and ":" not in tokens[0]:
        first = tokens.pop(0)
        demand(LABELS.fullmatch(first))
        labels = {int(label) - label_base for label in first.split(",")}
        demand(0 <= min(labels) <= max(labels) < m)
    row = {}
    for token in tokens:
        pair = PAIR.fullmatch(token)
        demand(pair)
        feature = int(pair[1]) - base
        demand(0 <= feature < d and feature not in row)
        row[feature] = single(pair[2])
    return {feature: value for feature, value in row.items() if value}, labels


def without_return(line):
    return line[:-1] if line.endswith("\r") else line


def header(content, count):
    lines = lines_of(content)
    numbers = lines[0].split() if lines else []
    demand(len(numbers) == count and all(re.fullmatch(rb"[0-9]{1,18}", number) for number in numbers))
    n, *columns = map(int, numbers)
    demand(n <= len(content) and max(columns) <= MOST_COLUMNS)
    return n, columns, [without_return(latin(line)) for line in lines[1:]]


def repository(content):
    n, (d, m), lines = header(content, 3)
    while lines and lines[-1] == "":
        lines.pop()
    demand(len(lines) == n and "" not in lines)
    rows, labels = zip(*(sparse_row(line, 0, d, m) for line in lines)) if lines else ((), ())
    return list(rows), list(labels), d, m


def one_of_two(content):
    n, (d,), lines = header(content, 2)
    demand(len(lines) >= n and all(line.strip(" \t\r") == "" for line in lines[n:]))
    return [sparse_row(line, 0, d, None)[0] for line in lines[:n]], d


def two_files(features, labels):
    (rows, d), (others, m) = one_of_two(features), one_of_two(labels)
    demand(len(rows) == len(others) and all(value == 1 for other in others for value in other.values()))
    return rows, [set(other) for other in others], d, m


def svmlight(content, base, label_base):
    kept = []
    for raw in lines_of(content):
        line = without_return(latin(raw))
        if not line.startswith("#"):
            kept.append((line.partition("#")[0], line))
    while kept and kept[-1][1] == "":
        kept.pop()
    demand(all(line for _, line in kept))
    parsed = [sparse_row(line, base, MOST_COLUMNS, MOST_COLUMNS, label_base) for line, _ in kept]
    return with_widths([row for row, _ in parsed], [labels for _, labels in parsed])


def with_widths(rows, label_sets):
    """Add the numbers of columns where the largest id decides."""
    d, m = (max((max(part, default=-1) for part in parts), default=-1) + 1 for parts in (rows, label_sets))
    return rows, label_sets, d, m


def vw_ids(content, base):
    """Features by the numbers that their names are."""
    names = {}
    rows, label_sets, _, m = vw(content, base, names)
    spaces, numbers = zip(*(name.split("|", 1) for name in names)) if names else ((), ())
    demand(len(set(spaces)) <= 1 and all(re.fullmatch("0|[1-9][0-9]*", number) for number in numbers))
    demand(all(int(number) < MOST_COLUMNS for number in numbers))
    ids = [int(number) for number in numbers]
    return [{ids[k]: value for k, value in row.items()} for row in rows], label_sets, max(ids, default=-1) + 1, m


def vw(content, base, numbers=None):
    lines = [line.decode("utf-8", errors="backslashreplace").rstrip("\r") for line in lines_of(content)]
    while lines and not lines[-1].strip():
        lines.pop()
    numbers, rows, label_sets = {} if numbers is None else numbers, [], []
    for line in lines:
        labels, pairs = vw_row(line, base)
        label_sets.append(labels)
        rows.append({numbers.setdefault(name, len(numbers)): value for name, value in pairs.items()})
    rows = [{feature: value for feature, value in row.items() if value} for row in rows]
    *_, m = with_widths(rows, label_sets)
    return rows, label_sets, len(numbers), m


def vw_row(line, base):
    demand("|" in line)
    head, *sections = line.split("|")
    pairs = {}
    for section in sections:
        words = [word for word in re.split("[ \t]", section) if word]
        space, scale = "", 1.0
        if words and section[0] not in " \t":
            space, _, number = words.pop(0).partition(":") if ":" in words[0] else (words.pop(0), "", "1")
            demand(space)
            single(number)
            scale = float(number)
        for word in words:
            name, colon, number = word.partition(":")
            demand(name)
            single(number if colon else "1")
            key = f"{space}|{name}"
            pairs[key] = pairs.get(key, 0.0) + scale * (float(number) if colon else 1.0)
            demand(abs(pairs[key]) < 3.4028235677973366e38)
    return vw_labels(head, base), {name: float(np.float32(value)) for name, value in pairs.items()}


def vw_labels(head, base):
    words = [word for word in re.split("[ \t]", head) if word]
    if not words:
        return set()
    begins = head[0] not in " \t"
    if head[-1] not in " \t":  # what touches the bar is a tag
        tag = words.pop()
        demand(tag.startswith("'") or (words and ":" not in tag))
    elif words[-1].startswith("'"):
        words.pop()
    if not words:
        return set()
    demand(begins and len(words) <= 3 and LABELS.fullmatch(words[0]))
    for number in words[1:]:
        single(number)
    labels = [int(label) - base for label in words[0].split(",")]
    demand(min(labels) >= 0 and max(labels) < MOST_COLUMNS)
    demand(all(len(label) <= 18 for label in words[0].split(",")))
    return set(labels)


def coordinates(*contents):
    rows, features, values, label_rows, labels = (
        [line.decode("utf-8", errors="backslashreplace").strip() for line in lines_of(content)] for content in contents
    )
    demand(len(rows) == len(features) == len(values) and len(label_rows) == len(labels))
    for ids, most in ((rows, LARGEST), (features, MOST_COLUMNS), (label_rows, LARGEST), (labels, MOST_COLUMNS)):
        demand(all(re.fullmatch("[0-9]{1,18}", text) and 1 <= int(text) <= most for text in ids))
    numbers = [single(text) for text in values]
    n = max([0, *map(int, rows + label_rows)])
    demand(n <= len(rows) + len(label_rows))
    table, label_sets = [{} for _ in range(n)], [set() for _ in range(n)]
    for row, feature, value in zip(rows, features, numbers):
        demand(int(feature) not in table[int(row) - 1])
        table[int(row) - 1][int(feature)] = value
    for row, label in zip(label_rows, labels):
        label_sets[int(row) - 1].add(int(label) - 1)
    found = [{feature - 1: value for feature, value in row.items() if value} for row in table]
    return found, label_sets, max([0, *map(int, features)]), max([0, *map(int, labels)])
