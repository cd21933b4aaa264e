"""Test the limit on the memory that a process may use."""

import pytest

from xmlc.core.memory import machine_memory


@pytest.mark.parametrize(
    ("own", "file"),
    [
        ("0::/user.slice/job_7/step", "user.slice/job_7/memory.max"),
        ("12:cpu:/x\n4:memory:/user.slice/job_7", "memory/user.slice/job_7/memory.limit_in_bytes"),
        ("0::/of/the/host", "memory.max"),  # A container reports the path of the host.
    ],
)
def test_memory_limit_comes_from_control_groups_of_process(tmp_path, own, file):
    (tmp_path / "cgroup").write_text(own + "\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") == machine_memory(
        tmp_path / "none"
    )
    group = tmp_path / "groups" / file
    group.parent.mkdir(parents=True)
    group.write_text("123456\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") == 123456
    group.write_text("max\n")
    assert machine_memory(tmp_path / "cgroup", tmp_path / "groups") > 1e8
