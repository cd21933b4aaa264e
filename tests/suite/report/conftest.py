"""Define the fixtures that tests of reports share."""

import pytest


@pytest.fixture
def files(tmp_path):
    """Return a function that writes two tables of one name and returns their paths."""

    def make(left, right, name="table2.csv"):
        paths = [tmp_path / side / name for side in ("left", "right")]
        for path, text in zip(paths, (left, right), strict=True):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return paths

    return make
