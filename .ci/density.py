"""Check that one statement says one thing, as a part of `make lint`.

The check fails, with a list, if a folder has more dense constructs per 1,000 statements than
`LIMITS` allows.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

LIMITS = {
    "packed assignment": 6,
    "conditional expression": 15,
    "nested comprehension": 2,
    "walrus": 1,
    "trick": 0,
}
FOLDERS = ("xmlc", "tests", "benchmarks", "docs", "examples", ".ci")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_truth_value(node: ast.AST | None) -> bool:
    """Return whether an expression is certainly True or False."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "bool"
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def is_trick(node: ast.AST) -> bool:
    """Return whether an expression hides a condition, as ``[note] * bool(found)`` does."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = [node.left, node.right]
        texts = [
            side for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)
        ]
        sequences = [
            side for side in sides if isinstance(side, ast.List | ast.Tuple | ast.JoinedStr)
        ]
        return bool(texts or sequences) and any(is_truth_value(side) for side in sides)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return is_truth_value(node.slice.lower) or is_truth_value(node.slice.upper)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict | ast.List | ast.Tuple):
        return is_truth_value(node.slice)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.BoolOp)


def kind_of(node: ast.AST) -> str:
    """Return the kind of dense construct that a node is, or ""."""
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and isinstance(node.targets[0], ast.Tuple)
    ):
        targets = {ast.unparse(target) for target in node.targets[0].elts}
        swaps = any(ast.unparse(value) in targets for value in node.value.elts)
        if swaps:
            return ""
        return "packed assignment"
    if isinstance(node, COMPREHENSIONS):
        loops = sum(isinstance(inner, ast.comprehension) for inner in ast.walk(node))
        if loops > 1:
            return "nested comprehension"
        return ""
    if isinstance(node, ast.IfExp):
        return "conditional expression"
    if isinstance(node, ast.NamedExpr):
        return "walrus"
    if is_trick(node):
        return "trick"
    return ""


failed = False
for folder in FOLDERS:
    statements = 0
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            statements += isinstance(node, ast.stmt)
            found[kind_of(node)].append(f"{path}:{getattr(node, 'lineno', 0)}")
    for kind, limit in LIMITS.items():
        if 1000 * len(found[kind]) > limit * statements:
            failed = True
            print(
                f"{folder}: {len(found[kind])} times {kind} in {statements} statements; at most "
                f"{limit} in 1,000"
            )
            print("  " + "\n  ".join(found[kind]))
sys.exit(failed)
