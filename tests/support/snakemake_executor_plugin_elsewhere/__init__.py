"""Simulate Kubernetes and clouds in an executor of Snakemake: no job sees the files of another job.

Each job runs in a new empty folder, by Snakemake's command line for a machine without a shared file
system. The job fetches the sources and inputs from the storage and stores the outputs there.
Snakemake finds an executor on Python's path by its name.
"""

import os
import subprocess
import tempfile

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=True,
    job_deploy_sources=True,
    # The plugin is already installed, as in an image of a container.
    auto_deploy_default_storage_provider=False,
)


class Executor(RemoteExecutor):
    """Start a process for each job and report its end."""

    def run_job(self, job):
        folder = tempfile.mkdtemp(prefix="elsewhere-", dir=os.environ["ELSEWHERE"])
        with open(f"{folder}.log", "w") as log:
            # Snakemake's command is a line for a shell, not a list of words. The line is safe, as
            # only tests run it.
            started = subprocess.Popen(
                self.format_job_exec(job), shell=True, cwd=folder, stdout=log, stderr=log
            )
        self.report_job_submission(
            SubmittedJobInfo(job, external_jobid=folder, aux={"process": started})
        )

    async def check_active_jobs(self, active_jobs):
        for submitted in active_jobs:
            code = submitted.aux["process"].poll()
            if code is None:
                yield submitted
            elif code:
                log = f"{submitted.external_jobid}.log"
                self.report_job_error(submitted, msg=f"see {log}", aux_logs=[log])
            else:
                self.report_job_success(submitted)

    def cancel_jobs(self, active_jobs):
        for submitted in active_jobs:
            submitted.aux["process"].kill()
