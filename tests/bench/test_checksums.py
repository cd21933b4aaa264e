"""What checksums cost is measured beside the mere reading of the same file."""

from xmlc.bench.checksums import bench_checksums, read, written


def test_all_of_a_file_is_read(tmp_path):
    assert read(written(tmp_path / "a", 2)) == 2_000_000


def test_the_report_has_times_ratios_and_speeds():
    report = bench_checksums(megabytes=1, rounds=1)
    values = {(row.contender, row.measure): row.value for row in report.rows}
    for name in ("checksum", "sha256"):
        assert values[f"{name} / reading", "time"] == values[name, "time"] / values["reading", "time"]
        assert values[name, "speed"] == 1 / values[name, "time"]
