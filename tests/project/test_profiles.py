"""A Snakemake profile reads the resources of a Slurm allocation from the environment."""

import pytest
from repository import ROOT
from snakemake.profiles import ProfileConfigFileParser

GIVEN = ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU")


@pytest.mark.parametrize(
    ("given", "cores", "memory"),
    [
        ("SLURM_CPUS_PER_TASK=32 SLURM_CPUS_ON_NODE=64 SLURM_MEM_PER_NODE=102400", "32", 102400),
        # -n 4, the cluster's default memory
        ("SLURM_CPUS_ON_NODE=4 SLURM_MEM_PER_CPU=2000", "4", 8000),
        ("SLURM_CPUS_ON_NODE=4", "4", None),  # a cluster that does not allocate memory
    ],
)
def test_profile_uses_cores_and_memory_of_allocation(monkeypatch, given, cores, memory):
    for name in GIVEN:
        monkeypatch.delenv(name, raising=False)
    for variable in given.split():
        monkeypatch.setenv(*variable.split("="))
    with (ROOT / "profiles/allocation/profile.yaml").open() as file:
        profile = ProfileConfigFileParser().parse(file)
    assert profile["cores"] == cores
    (resource,) = profile["resources"]
    name, _, megabytes = resource.partition("=")
    assert name == "mem_mb"
    assert int(megabytes) == memory if memory else int(megabytes) > 500
