"""Makes `xmlc.runtime.job_lines` known to Snakemake, which looks for packages of such a name: ``--logger lines``."""

from xmlc.runtime.job_lines import LogHandler

__all__ = ["LogHandler"]
