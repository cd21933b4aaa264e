"""Define the folder of the project, whatever folder pytest starts in."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
