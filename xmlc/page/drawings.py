"""Figures within a page: SVG that brings nothing from outside and clashes with no other."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from xmlc.errors import XmlcError
from xmlc.plotting import SETTINGS

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
REFERENCE = re.compile(r"url\(#([^)]+)\)")
# A page has one style sheet and one script; what describes the file is for files.
LEFT_OUT = {"metadata", "script", "style", "foreignObject", "image", "a"}
FONTS = "'DejaVu Sans', Verdana, sans-serif"

ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def svg_of(figure: Figure) -> str:
    """Draw a figure as SVG."""
    text = io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def inline(svg: str, prefix: str, title: str) -> str:
    """Return a drawing to stand inside HTML.

    Its identifiers get a prefix, as several drawings share a page; whatever is no drawing is left out; references
    beyond the drawing itself are dropped. It is as wide as it was drawn, or as there is room.

    Parameters
    ----------
    svg : str
        A whole SVG file.
    prefix : str
        Begins every identifier.
    title : str
        Read aloud instead of the drawing.

    Raises
    ------
    XmlcError
        It is no SVG.
    """
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise XmlcError(f"figure {title!r} is no SVG ({error}); draw it again") from error
    if root.tag != f"{{{SVG}}}svg":
        raise XmlcError(f"figure {title!r} is <{root.tag}> and no SVG; draw it again")
    _clean(root, prefix)
    width = root.attrib.pop("width", "")
    root.attrib.pop("height", None)
    root.attrib |= {"role": "img", "aria-label": title}
    root.attrib["style"] = f"stroke-linejoin:round;stroke-linecap:butt;width:{_points(width)}"
    return ET.tostring(root, encoding="unicode")


def _clean(element: ET.Element, prefix: str) -> None:
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in LEFT_OUT:
            element.remove(child)
        else:
            _clean(child, prefix)
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.attrib[name] = prefix + value
        elif name == HREF or name == "href":
            if value.startswith("#"):
                element.attrib[name] = f"#{prefix}{value[1:]}"
            else:
                del element.attrib[name]
        elif name.startswith("on"):
            del element.attrib[name]
        else:
            value = REFERENCE.sub(lambda found: f"url(#{prefix}{found.group(1)})", value)
            element.attrib[name] = re.sub(r"'DejaVu Sans'[^;]*", FONTS, value) if "font" in value else value


def _points(width: str) -> str:
    """Return the width that it was drawn in, enlarged a little: print is finer than screens."""
    number = re.fullmatch(r"([0-9.]+)(pt|px)?", width)
    return f"{float(number.group(1)) * 1.5:.0f}px" if number else "100%"
