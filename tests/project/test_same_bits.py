"""The source uses no function whose results depend on the processor, except in reviewed places.

NumPy compiles many functions several times and runs the version that suits the processor. The C
library (exp, log, pow and similar functions), BLAS and scikit-learn do the same. The last bits of a
result differ between the versions. Unstable sorts differ in the order of ties. IEEE 754 defines
addition, subtraction, multiplication, division and square roots to the last bit.
`xmlc.kernels.float64` and `xmlc.kernels.elementwise` replace all other functions. LLVM reorders or
fuses operations only if a flag allows it. The result then depends on the processor.

The order of a sum matters, too. NumPy and pandas group the terms in an order that depends on their
versions. Python's own `sum` compensates floats since 3.12. The source fixes the order of a sum of
floats (`xmlc.kernels.sums`), or `math.fsum` and `statistics.fmean` round it once. A sum of whole
numbers is exact. `cumsum` is defined to add in order.
"""

import ast

import pytest
from repository import ROOT

PACKAGE = ROOT / "xmlc"
# Costs, external programs and plots. The numbers in these files differ between machines or are in
# no table.
ELSEWHERE = (
    "models/vowpalwabbit.py",
    "suite/papers/plotting.py",
    "suite/papers/ldsm2020/figures.py",
    "suite/papers/common/figures.py",
    "metrics/plots.py",
    "suite/config/costs.py",
)
ALLOWED = {
    # digits of costs in print; other columns have a fixed number
    ("suite/results/columns.py", "math.log10"),
    # a quantile, rounded to digits on which libraries agree
    ("suite/results/intervals.py", "scipy.stats.norm"),
    ("suite/results/intervals.py", "scipy.stats.t"),
    # instances to compile kernels on; nothing that is computed of them is kept
    ("compiling.py", "np.random"),
    # no number
    ("kernels/estimator.py", "sklearn.utils.Tags"),
    ("kernels/estimator.py", "sklearn.utils.TargetTags"),
    ("models/base.py", "sklearn.utils.ClassifierTags"),
    ("models/base.py", "sklearn.utils.InputTags"),
    ("models/base.py", "sklearn.utils.Tags"),
    ("models/base.py", "sklearn.utils.TargetTags"),
    ("thresholds/out_of_fold.py", "sklearn.base.clone"),
    ("models/texts/vectorizers.py", "sklearn.base.clone"),
    # features, as a user's own
    ("models/texts/vectorizers.py", "sklearn.feature_extraction.text"),
    # numbers of samples, which are whole numbers
    ("inference/samples.py", "@"),
    # exact products of float32 numbers, added in the order of the instances
    ("models/trees/representations.py", "@"),
    # a whole number, exact in Python
    ("metrics/progressive.py", "**"),
    ("metrics/classification.py", "**"),
    ("data/formats/lines.py", "**"),
}
SUMS = set(
    """
    sum mean std var average median prod product trace sem describe ewm rolling nansum nanmean
    nanstd nanvar nanprod nanmedian
    """.split()
)
# Number of reviewed sums in each file. These sums add whole numbers or whole arrays in order, or
# affect no result.
LOOKED_AT = """
    cli/texts.py 3
    core/files.py 1
    core/parallel.py 1
    suite/provenance/environment.py 1
    data/formats/rows.py 2
    data/formats/texts.py 1
    data/synthetic/subjects.py 2
    inference/distributions.py 2
    inference/methods.py 1
    metrics/classification.py 8
    metrics/ranking.py 1
    models/base.py 1
    models/ldsm/estimator.py 1
    models/linear/label_logistic.py 4
    models/nearest/_index.py 1
    models/nearest/estimator.py 3
    models/oplt/final_tree.py 2
    models/oplt/growth.py 1
    models/plt/training.py 2
    models/texts/text_classifier.py 1
    models/trees/label_tree.py 1
    models/trees/representations.py 1
    suite/papers/ldsm2020/claims.py 2
    suite/papers/plt2016/claims.py 1
    suite/report/status.py 2
    suite/results/records/forest.py 1
    suite/results/records/statistics.py 1
    suite/steps/forest.py 1
    suite/steps/prepare.py 2
    suite/steps/simulate.py 3
    suite/steps/sweep.py 1
    suite/steps/tune.py 8
    thresholds/label_sets.py 1
"""
# All of these are exact, or rounded once as IEEE 754 requires.
MATH = set(
    """
    ceil copysign floor fsum inf isfinite isinf isnan ldexp nan pi sqrt
    """.split()
)
NUMPY = set(
    """
    exp exp2 expm1 log log1p log2 log10 logaddexp logaddexp2 power float_power cbrt sin cos tan
    arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh hypot i0 sinc logspace
    geomspace dot vdot inner outer matmul tensordot einsum kron convolve correlate cov corrcoef
    matvec vecmat vecdot linalg fft random polynomial polyfit polyval interp argpartition
    """.split()
)
MODULES = """
    cmath random scipy.special scipy.stats scipy.linalg scipy.optimize scipy.sparse.linalg
    sklearn numpy.random numpy.linalg numpy.fft
""".split()
STABLE = ("stable", "mergesort")
FLAGS = {"fast", "reassoc", "contract", "arcp", "afn"}  # LLVM's code then depends on the processor


def found_in(tree):
    """Yield the line and the name of every use whose result may depend on the processor."""
    for module in ast.walk(tree):
        if isinstance(module, ast.ImportFrom | ast.Import):
            yield from imported(module)
    kernels = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any(
            "njit" in ast.unparse(d) for d in function.decorator_list
        ):
            kernels.update(ast.walk(function))
    for node in ast.walk(tree):
        if name := used(node, node in kernels):
            yield node.lineno, name


def imported(node):
    """Yield the line and the name of each forbidden module or function in an import."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{name}" for name in names]
    for name in names:
        module, _, function = name.rpartition(".")
        if any(f"{name}.".startswith(f"{forbidden}.") for forbidden in MODULES):
            yield node.lineno, name
        elif (module == "math" and function not in MATH) or (
            module == "numpy" and function in NUMPY
        ):
            yield node.lineno, name


def used(node, in_kernel):
    """Return the name of the forbidden function or operator in a node of the syntax tree, or
    None.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if (node.value.id == "math" and node.attr not in MATH) or (
            node.value.id == "np" and node.attr in NUMPY
        ):
            return f"{node.value.id}.{node.attr}"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in FLAGS:
        return f'fastmath "{node.value}"'
    if isinstance(node, ast.Call):
        return called(node, in_kernel)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        if isinstance(node.op, ast.MatMult):
            return "@"
        if isinstance(node.op, ast.Pow):
            return raised(node, in_kernel)
    return None


def called(node, in_kernel):
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if any(k.arg == "fastmath" and getattr(k.value, "value", None) is True for k in node.keywords):
        return "fastmath"
    kinds = [
        k.value.value
        for k in node.keywords
        if k.arg == "kind" and isinstance(k.value, ast.Constant)
    ]
    # numba's argsort is always the same
    if name == "argsort" and not in_kernel and not (kinds and kinds[0] in STABLE):
        return "argsort"
    if name in ("dot", "power") and isinstance(node.func, ast.Attribute):
        return None if is_ours(node.func) else f".{name}"
    return "pow" if isinstance(node.func, ast.Name) and name == "pow" else None


def sums(node):
    """Return whether a call adds numbers in an unspecified order."""
    if isinstance(node.func, ast.Name):
        return node.func.id == "sum"
    if ast.unparse(node.func).startswith("np.add.reduce"):
        return True
    return (
        isinstance(node.func, ast.Attribute) and node.func.attr in SUMS and not is_ours(node.func)
    )


def is_ours(function):
    return isinstance(function.value, ast.Name) and function.value.id in ("float64", "elementwise")


def raised(node, in_kernel):
    """Return `**` if a power is forbidden.

    Powers of 2 are exact. Numba turns literal whole exponents into products.
    """
    if isinstance(node, ast.AugAssign):
        return "**"
    whole = isinstance(node.right, ast.Constant) and isinstance(node.right.value, int)
    if isinstance(node.left, ast.Constant) and node.left.value == 2:
        return None
    return None if in_kernel and whole else "**"


def sums_in(tree):
    return [
        ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and sums(node)
    ]


@pytest.fixture(scope="module")
def trees():
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    return {
        name: ast.parse(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if not name.startswith(ELSEWHERE)
    }


def test_no_number_depends_on_processor(trees):
    found = []
    for name, tree in trees.items():
        for line, what in found_in(tree):
            found.append((name, line, what))
    wrong = [one for one in found if (one[0], one[2]) not in ALLOWED]
    assert wrong == [], "other bits on other processors; see xmlc.kernels.elementwise"
    assert set(ALLOWED) <= {(name, what) for name, _, what in found}


def test_every_sum_is_reviewed_for_order(trees):
    """A sum of floats has an order that stands in the source (xmlc.kernels.sums). Others count in
    `LOOKED_AT`.
    """
    reviewed = dict(line.split() for line in LOOKED_AT.split("\n") if line)
    found = {name: sums_in(tree) for name, tree in trees.items()}
    for name, there in found.items():
        assert len(there) == int(reviewed.pop(name, 0)), (name, there)
    assert reviewed == {}
