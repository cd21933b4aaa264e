"""Check that docstrings, comments, messages and settings are plain English, as a part of `make
lint`.

The check fails, with a list, if a kind of text has more marks (phrases that readers had to read
twice) than `LIMITS` allows. It skips a text that begins on a line with the comment ``# prose: as it
is``.
"""

import ast
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path

MARKS = {
    "write if or when": r"\bwhere\b",
    "name the noun": r"\b(?:that|those) of\b",
    "replace what": r"\b[Ww]hat (?:is|are|was|were|it|they|an?|the|no|does|do|did|needs?|of)\b"
    r"|\b[Ww]hat (?:has|had|have|can|each)\b",
    "only people speak": r"\b(?:tells?|says?|said|knows?)\b",
    "use a possessive": r"\bof (?:its|my|his|their|your|our) own\b|\bof (?:yours|ours)\b",
    "begin with the subject": r"^Of (?!course\b)"
    r"|^(?:Given|Kept|Left|Made|Measured|Not|Shown) (?:is|are|was|were)\b",
    "use an ordinary word": r"\b(?:foretold|mend(?:s|ed)?|anew|beside|in place of|but for"
    r"|as (?:it|they) comes?|so many|so much|warned of"
    r"|stands? (?:in|below|above|there|at|for)|made again"
    r"|passports?|go(?:es)? before)\b",
    "end the sentence": ";",
}
# Marks except semicolons, and semicolons, per 1,000 words
LIMITS = {"code": (2.5, 2), "messages": (3, 6), "settings": (3, 6), "tests": (4, 8)}
LISTED = re.compile(
    r"(xmlc|benchmarks|tests)/.*\.py|(config|profiles|workflow)/.*\.(ya?ml|smk)|Snakefile|Makefile"
)


def texts_of(file: str, source: str) -> Iterator[tuple[str, int, str]]:
    """Yield kind, line and text of comments, docstrings and long strings of a file."""
    kind = "code"
    if file.startswith("tests/"):
        kind = "tests"
    if not file.endswith(".py"):
        kind = "settings"
    if kind == "settings":
        rows = [re.search(r"(?:^|\s)#(.+)", row) for row in source.split("\n")]
        comments = [(line, row[1]) for line, row in enumerate(rows, 1) if row]
    else:
        tokens = tokenize.generate_tokens(iter(source.splitlines(True)).__next__)
        nodes = [*ast.walk(ast.parse(source))]
        comments = [
            (token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT
        ]
        documented = [node.value for node in nodes if isinstance(node, ast.Expr)]
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node in documented:
                    prose = re.sub(r"(?m)^\s*>>>.*(?:\n\s*\S.*)*", "", node.value)
                    paragraphs = re.split(r"\n\s*\n|\n\s*-{3,}\n|\n(?=\s*\S+(?:, \S+)* : )", prose)
                    yield from ((kind, node.lineno, paragraph) for paragraph in paragraphs)
                elif (
                    kind == "code"
                    and len(re.findall("[A-Za-z]{2,}", node.value)) >= 4
                    and " " in node.value
                ):
                    yield "messages", node.lineno, node.value
    block: list[str] = []
    for (line, text), (after, _) in pairwise([*comments, (0, "")]):
        block.append(text.lstrip("#: "))
        if after != line + 1:
            yield kind, line - len(block) + 1, " ".join(block)
            block = []


beyond = False
found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in LIMITS}
listed = subprocess.run(
    ["git", "ls-files"], capture_output=True, text=True, check=True
).stdout.split("\n")
for file in filter(LISTED.fullmatch, listed):
    source = Path(file).read_text(encoding="utf-8")
    for kind, line, text in texts_of(file, source):
        if "# prose: as it is" not in source.split("\n")[line - 1]:
            parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z`(])", " ".join(text.split()))
            found[kind] += [(f"{file}:{line}", part) for part in parts if len(part.split()) >= 3]
for kind, limits in LIMITS.items():
    marks = []
    for (at, part), mark in product(found[kind], MARKS):
        marks += [(mark, at, part)] * len(re.findall(MARKS[mark], part))
    words = sum(len(part.split()) for _, part in found[kind])
    semicolons = sum(mark == "end the sentence" for mark, _, _ in marks)
    measures = [1000 * (len(marks) - semicolons) / words, 1000 * semicolons / words]
    print(f"{kind}: {', '.join(f'{measure:.1f}' for measure in measures)} of at most {limits}")
    if any(measure > limit for measure, limit in zip(measures, limits, strict=True)):
        beyond = True
        print(*(f"{at}: {mark}: {part}" for mark, at, part in marks), sep="\n")
sys.exit(beyond)
