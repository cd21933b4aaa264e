"""The tables of the suite scale."""

from __future__ import annotations

from xmlc.papers.scale.growth import growth as growth
from xmlc.papers.scale.steps import scale as scale
