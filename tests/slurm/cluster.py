"""A SLURM cluster of two nodes on the loopback interface, for tests: munge, a controller, a daemon and a GPU for each.

Each node has a name of its own. GPUs are pretended.
Needs root and Debian's slurm-wlm and munge. All state stands in a folder of its own; only the two configuration files
are linked from /etc/slurm, because jobs drop SLURM's environment variables. What was started is stopped and what was
linked is unlinked; a machine that has a SLURM configuration already is left alone.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

CONFIGURATION = """
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MinJobAge=3600
SchedulerParameters=sched_interval=1
GresTypes=gpu
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
NodeName=alpha NodeAddr=127.0.0.1 Port=17011 CPUs=2 RealMemory=16000 Gres=gpu:1 State=UNKNOWN
NodeName=beta NodeAddr=127.0.0.1 Port=17012 CPUs=2 RealMemory=16000 Gres=gpu:1 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=60 State=UP
"""
NODES = ("alpha", "beta")
# A count without a file is refused; these two exist everywhere.
GPUS = "NodeName=alpha Name=gpu File=/dev/null\nNodeName=beta Name=gpu File=/dev/zero\n"
ENTER = """
set -e
hostname "$1"
exec slurmd -D -N "$1"
"""
HOME = Path("/etc/slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if not shutil.which(name)]


class Cluster:
    def __init__(self, folder: Path):
        self.folder = folder
        self.processes: dict[str, subprocess.Popen] = {}

    def start(self, name: str, *command: str) -> None:
        """Start a daemon in the foreground, its output in a log of its own."""
        log = (self.folder / f"{name}.out").open("ab")
        self.processes[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def start_node(self, name: str) -> None:
        self.start(name, "unshare", "-u", "sh", "-c", ENTER, "sh", name)

    def kill_node(self, name: str) -> None:
        """SIGKILL the daemon of a node; its jobs go on until the controller hears from the node again."""
        self.processes[name].kill()
        self.processes[name].wait()

    def jobs(self, state: str = "RUNNING") -> list[str]:
        listed = self.ask("squeue", "--noheader", "--states", state, "--format", "%i")
        return listed.split()

    def ask(self, *command: str) -> str:
        return subprocess.run(command, check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout

    def wait_until(self, reached, seconds: float, what: str, run: subprocess.Popen | None = None) -> None:
        """Poll `reached()`; RuntimeError with the daemons' last words if it stays false, or if `run` ends before."""
        for _ in range(int(seconds * 4)):
            with contextlib.suppress(subprocess.SubprocessError):
                if reached():
                    return
            if run is not None and run.poll() is not None:
                raise RuntimeError(f"the run ended with status {run.returncode}: {what}")
            time.sleep(0.25)
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        logs = "\n".join(f"{path.name}: {path.read_text(errors='replace')[-800:]}" for path in files)
        raise RuntimeError(f"{what} within {seconds:g} s\n{logs}")


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster with its state in `folder`; everything it started is ended on leaving."""
    for name in ("state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder))
    (folder / "gres.conf").write_text(GPUS)
    links = [HOME / name for name in ("slurm.conf", "gres.conf")]
    for link in links:
        if link.exists():
            raise RuntimeError(f"{link} exists: this machine belongs to a cluster")
    running = Cluster(folder)
    try:
        for link in links:
            link.unlink(missing_ok=True)  # one that leads nowhere
            link.symlink_to(folder / link.name)
        Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        running.start("munged", "runuser", "-u", "munge", "--", "munged", "--foreground")
        running.wait_until(Path("/run/munge/munge.socket.2").exists, 20, "munge did not answer")
        running.start("slurmctld", "slurmctld", "-D")
        for node in NODES:
            running.start_node(node)
        idle = ("sinfo", "--noheader", "--Node", "--states", "idle", "-o", "%N")
        running.wait_until(lambda: {*running.ask(*idle).split()} == {*NODES}, 60, "no idle nodes")
        yield running
    finally:
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            running.ask("scancel", "--user", "root", "--signal", "KILL")
        for process in reversed(running.processes.values()):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        for link in links:
            link.unlink(missing_ok=True)
