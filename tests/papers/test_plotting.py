"""Which labels an axis has room for."""

from xmlc.papers.plotting import apart


def test_labels_on_a_logarithmic_axis_are_apart():
    sizes = [16, 64, 256, 1024, 2048, 4096, 16384, 32768]
    assert apart(sizes) == {16, 64, 256, 1024, 4096, 32768}
    assert apart(sizes[:4]) == set(sizes[:4])
    assert apart([]) == set()
