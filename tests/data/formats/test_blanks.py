"""Test that only ASCII blanks and line ends separate values, and that numbers are read in linear
time.
"""

import numpy as np
import pytest
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import detect_format, read_coordinates
from xmlc.data.formats.lines import BLANKS, decimal, text_lines, words


@pytest.mark.parametrize("blank", "\u00a0\u2028\x85\x1c")
def test_unicode_blanks_belong_to_names(blank, tmp_path):
    name = f"New{blank}York"
    vocabulary = {}
    (tmp_path / "a.vw").write_text(f"1 |{name} {name}:2 b\n", encoding="utf-8")
    X, _ = load(tmp_path / "a.vw", "vw", vocabulary=vocabulary)
    assert [*vocabulary] == [f"{name}|{name}", f"{name}|b"]
    assert X.toarray().tolist() == [[2, 1]]
    (tmp_path / "a.arff").write_text(
        f"@relation 'x: -C 1'\n@attribute {name} {{0,1}}\n@attribute b "
        f"{{{blank},c}}\n@data\n1,{blank}\n{{1 c}}\n",
        encoding="utf-8",
    )
    X, Y = load(tmp_path / "a.arff", "arff")
    assert (X.toarray().tolist(), Y.toarray().tolist()) == ([[0], [1]], [[True], [False]])


@pytest.mark.parametrize("blank", "\u00a0\x85")
@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("vw", "1 | 0:1\n{}\n1 | 0:2\n"),
        ("svmlight", "1 0:1{}1:2\n"),
        ("svmlight", "1,{}2 0:1\n"),
        ("repository", "1 2 3\n0{}0:1\n"),
        ("arff", "@relation 'x: -C 1'\n@attribute a {{0,1}}\n@attribute b numeric\n@data\n1,{}2\n"),
        ("arff", "@relation 'x: -C 1'\n@attribute a {{0,1}}\n@attribute b numeric\n@data\n{}\n"),
        ("coordinates", "1{}\n"),
    ],
)
def test_unicode_blanks_do_not_separate_numbers(blank, format, text, tmp_path):
    path = tmp_path / "a"
    path.write_text(text.format(blank), encoding="utf-8")
    with raises_with(XmlcError, "a:"):
        read_coordinates([path] * 5) if format == "coordinates" else load(path, format)


def test_unicode_digits_are_not_a_header(tmp_path):
    (tmp_path / "a").write_text("\u0663 \u0664 \u0665\n", encoding="utf-8")
    with raises_with(XmlcError, "a:1"):
        detect_format(tmp_path / "a")


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("vw", "1 | 0:1\r\n0 |\t1:2\r\n"),
        ("svmlight", "1 0:1\r\n0 1:2\r\n"),
        ("svmlight", "1 0:1\n0\r1:2\n"),  # A carriage return without a line feed is a blank.
        ("repository", "2 2 2\r\n1 0:1\r\n0 1:2\r\n"),
    ],
)
def test_only_newlines_end_lines(format, text, tmp_path):
    (tmp_path / "a").write_text(text, newline="")
    X, Y = load(tmp_path / "a", format)
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 2]])
    np.testing.assert_array_equal(Y.toarray(), [[0, 1], [1, 0]])


def test_one_line_end_is_removed_per_line(tmp_path):
    (tmp_path / "a").write_bytes(b"a\r\r\nb\rc\n\r\nd\r")
    assert [line for _, line in text_lines(tmp_path / "a")] == ["a\r", "b\rc", "", "d"]


def test_ascii_blanks_separate_words():
    assert words(f"a{BLANKS}b\u00a0c\x85d") == ["a", "b\u00a0c\x85d"]
    assert words(" a  b c ", 1) == ["a", "b c "]


@pytest.mark.parametrize("end", ["x", "ex", ".x", "e1x"])
def test_long_malformed_numbers_take_linear_time(end, tmp_path):
    digits = "1" * 300_000  # An algorithm with quadratic time would take hours.
    with pytest.raises(ValueError):
        decimal(digits + end)
    with pytest.raises(ValueError):
        decimal(digits + "." + digits + end)
    (tmp_path / "a").write_text(f"1 {digits}{end} | 1:1\n2 1 |a:{digits}{end} 3\n")
    with raises_with(XmlcError, "a:1", "a:2"):
        load(tmp_path / "a", "vw")
