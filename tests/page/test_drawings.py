"""Figures as drawings in the page: shapes stay, all that acts or asks is lost."""

import re

import pytest

from xmlc.errors import XmlcError
from xmlc.page.drawings import inline


def test_a_drawing_keeps_shapes_and_loses_all_that_acts_or_asks():
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'width="100pt" height="50pt" viewBox="0 0 1 1">'
        '<script>alert(1)</script><style>*{}</style><defs><clipPath id="c"/><path id="m" onload="x()"/></defs>'
        '<use xlink:href="#m" clip-path="url(#c)"/><use xlink:href="https://example.org/x.svg#m"/>'
        '<image xlink:href="https://example.org/x.png"/></svg>'
    )
    found = inline(drawing, "p-", 'A "title"')
    assert not re.search("script|style>|onload|example.org|<image", found)
    assert 'id="p-m"' in found
    assert 'xlink:href="#p-m"' in found
    assert 'clip-path="url(#p-c)"' in found
    assert "width:150px" in found


@pytest.mark.parametrize("text", ["no drawing", "<html/>"])
def test_what_is_no_drawing_is_refused(text):
    with pytest.raises(XmlcError, match="no SVG"):
        inline(text, "p-", "Figure 1")
