"""Run a Slurm cluster of one node on this machine: munged, slurmctld and slurmd, with all files in
one folder.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
PARTITION = "main"
SECONDS_TO_START = 60

# A cluster without accounting, which needs no control group and allocates threads and memory.
CONFIGURATION = """\
ClusterName=local
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=7200
KillWait=2
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mb} State=UNKNOWN
PartitionName={partition} Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs():
    """Return the programs of Slurm and munge that are not installed."""
    return [
        name for name in PROGRAMS if not shutil.which(name, path=search_path(os.environ["PATH"]))
    ]


def search_path(path):
    """Return a search path with the folders of Debian's daemons, which a user's PATH may lack."""
    return os.pathsep.join([path, "/usr/sbin", "/sbin"])


@dataclass(frozen=True)
class Job:
    """Hold Slurm's data on a job. `begin` and `end` are seconds since the epoch, or None."""

    id: str
    #: The rule and its wildcards, as the executor notes them.
    comment: str
    state: str
    cpus: int
    begin: float | None
    end: float | None


class Cluster:
    """Run a cluster. With `environment`, the Slurm commands of a process connect to it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = self.added_to(os.environ)
        self._processes = []
        for name in ("bin", "controller", "node"):
            (self.folder / name).mkdir(parents=True)
        controller_port, node_port = free_ports(2)
        configuration = CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=self.folder,
            partition=PARTITION,
            cpus=os.cpu_count(),
            memory_mb=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
            controller_port=controller_port,
            node_port=node_port,
        )
        (self.folder / "slurm.conf").write_text(configuration)
        # By default, slurmd asks the system's service manager for a control group, which a
        # container lacks.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        # The executor's jobs call srun without any variable SLURM_*, including SLURM_CONF.
        srun = self.folder / "bin" / "srun"
        srun.write_text(
            f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n'
        )
        srun.chmod(0o755)

    def added_to(self, environment):
        """Return an environment in which Slurm's commands connect to this cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), search_path(environment["PATH"])])
        return environment | {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _start(self):
        munge = {
            "key-file": "munge.key",
            "socket": "munge.socket",
            "pid-file": "munge.pid",
            "seed-file": "munge.seed",
        }
        options = [f"--{option}={self.folder / name}" for option, name in munge.items()]
        self._daemon("munged", "munged", "--foreground", "--force", "--num-threads=2", *options)
        self._wait("munged has no socket", (self.folder / "munge.socket").exists)
        self._daemon("slurmctld", "slurmctld", "-D", "-c")
        self._daemon("slurmd", "slurmd", "-D")
        self._wait(
            "the node does not become idle", lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T")
        )

    def _daemon(self, name, *command):
        with (self.folder / f"{name}.out").open("w") as out:
            process = subprocess.Popen(
                command,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        self._processes.append((name, process))

    def _wait(self, trouble, condition):
        deadline = time.monotonic() + SECONDS_TO_START
        while not condition():
            ended = [name for name, process in self._processes if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"{trouble}; ended: {ended}\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        """Return the last lines of the daemons' output."""
        files = sorted([*self.folder.glob("*.out"), *self.folder.glob("*.log")])
        return "\n".join(
            f"== {file.name}\n{file.read_text(errors='replace')[-2000:]}" for file in files
        )

    def ask(self, *command):
        """Return the output of a Slurm command, which is empty if the command fails."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def jobs(self, *states):
        """Return the jobs in some states, or all jobs, in order of submission."""
        wanted = ",".join(states) or "all"
        lines = self.ask(
            "squeue", "-h", "-S", "i", f"--states={wanted}", "-o", "%i|%k|%T|%C|%S|%e"
        ).splitlines()
        return [_job(*line.strip().split("|")) for line in lines]

    def wait_for_job(self, rule, state="RUNNING", seconds=240):
        """Return the first job of a rule that reaches a state."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for job in self.jobs(state):
                if job.comment.startswith(f"rule_{rule}_"):
                    return job
            time.sleep(0.5)
        raise TimeoutError(
            f"no job of {rule} is {state} after {seconds} s; there are {self.jobs()}"
        )

    def stop(self):
        """End all jobs and daemons."""
        if jobs := self.jobs("PENDING", "RUNNING", "COMPLETING"):
            self.ask("scancel", *(job.id for job in jobs))
            time.sleep(3)
        for _, process in reversed(self._processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()


def _job(number, comment, state, cpus, begin, end):
    return Job(number, comment, state, int(cpus), _time(begin), _time(end))


def _time(text):
    return None if text == "N/A" else time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def free_ports(number):
    """Return a number of unused ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
