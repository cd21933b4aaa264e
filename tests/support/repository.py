"""The folder of the project, wherever pytest is started."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
