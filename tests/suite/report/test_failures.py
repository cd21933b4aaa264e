"""Steps that failed: whose they are, and the reason in their logs."""

import pytest

from xmlc.suite.report.failures import error_message, failures


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", None),
        ("error 12 % after 3 s\n", None),
        ("xmlc: error: first\nxmlc: error: last\n", "last"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad\n", "ValueError: bad"),
    ],
)
def test_the_last_error_of_a_log_is_its_reason(text, reason):
    assert error_message(text) == reason


def test_failures_say_whose_they_are(tmp_path):
    for name in ("yeast/prepare", "yeast/tuning/plt", "yeast/plt/seed3/80/thresholds", "tables/plt2016/table1"):
        log = tmp_path / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("xmlc: error: x\n")
    found = {(f.step, f.dataset, f.model, f.seed, f.portion) for f in failures(tmp_path)}
    assert found == {
        ("prepare", "yeast", "", None, ""),
        ("tune", "yeast", "plt", None, ""),
        ("thresholds", "yeast", "plt", 3, "80"),
        ("tables/plt2016/table1", "", "", None, ""),
    }
