# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of two nodes, which are virtual hosts (../support/virtual_hosts.py).

All its processes and files (munge's key, Slurm's state, the user's home) are of the virtual hosts' namespaces and end
with them; its control groups are removed by Nodes.stop().
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path("/run/slurm-test")
HOME, TEMPORARY, CONFIGURATION = FOLDER / "home", FOLDER / "tmp", FOLDER / "slurm.conf"
USER, GROUP = 54321, 100
GROUPS = Path("/sys/fs/cgroup")

# SlurmdTimeout: seconds after which a node that does not answer is down. The GPUs are device files that nobody opens.
SETTINGS = """
ClusterName=test
SlurmctldHost={host}(10.78.0.254)
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
ProctrackType={tracking}
TaskPlugin={tasks}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
SlurmdParameters=config_overrides
SlurmdTimeout=10
ReturnToService=1
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
TmpFS={folder}/tmp
KillWait=5
GresTypes=gpu
NodeName=node[1-2] NodeAddr=10.78.0.[1-2] CPUs=4 RealMemory=8000 Gres=gpu:2
PartitionName=main Nodes=ALL Default=YES
"""

# The control groups' controllers are $2. PMIx's server and the ranks have sockets in the temporary folder, which is a
# node's own. The shell stays, because the first process of a namespace reaps orphans, and slurmd does not: it would
# wait for jobs that have ended.
NODE = f"""hostname node$1
for each in $2; do
  mkdir -p {GROUPS}/$each/syncyte-slurm-$1 && echo 0 >{GROUPS}/$each/syncyte-slurm-$1/cgroup.procs || exit
done
exec unshare --cgroup sh -c '
  for each in $2; do umount {GROUPS}/$each && mount -t cgroup -o $each cgroup {GROUPS}/$each || exit; done
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs -o mode=1777 tmpfs {TEMPORARY} &&
    slurmd -D -N node$1 -f {CONFIGURATION} || exit' sh "$@"
"""


def start(name: str, *command: str) -> subprocess.Popen[bytes]:
    """Starts a daemon; virtual_hosts.py's namespace ends it."""
    with open(FOLDER / f"{name}.log", "ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)


def until(what: str | Callable[[], str], seconds: float, condition: Callable[[], object]) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.2)


def has_groups() -> bool:
    """Whether control groups (version 1) can be made here; a container may forbid it. Without them Slurm tracks tasks
    by process groups and does not limit their memory."""
    try:
        for controller in ("memory", "freezer"):
            probe = GROUPS / controller / "syncyte-slurm-probe"
            probe.mkdir()
            probe.rmdir()
    except OSError:
        return False
    return True


def remove_groups() -> bool:
    """Removes the nodes' control groups; False while processes are in them."""
    for top in GROUPS.glob("*/syncyte-slurm-[12]"):
        for folder, *_ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                return False
    return True


class Nodes:
    """The two nodes' slurmd, each with processes, /dev/shm and a temporary folder of its own."""

    def __init__(self) -> None:
        self.controllers = "memory freezer" if has_groups() else ""
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, number: int) -> None:
        # ip netns exec would hide /sys/fs/cgroup, without which slurmd does not start.
        self._running[number] = start(
            f"node{number}", "nsenter", f"--net=/run/netns/host{number}", "unshare", "--mount", "--uts", "--ipc",
            "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", NODE, "sh", str(number), self.controllers,
        )  # fmt: skip

    def kill(self, number: int) -> None:
        """Kills all processes of a node; its spool folder is lost, as that of a node without a disk.

        Otherwise the socket that Slurm's PMIx leaves there keeps the same job from starting there again (22.05).
        """
        self._running[number].kill()
        self._running[number].wait()
        shutil.rmtree(FOLDER / f"spool-node{number}", ignore_errors=True)

    def network(self, number: int, state: str) -> None:
        """Cuts a node off ("down"), and connects it again ("up")."""
        for name in ("port", "daemon"):
            subprocess.run(["ip", "link", "set", f"{name}{number}", state], check=True)

    def stop(self) -> None:
        for number in self._running:
            self.kill(number)
        until("control groups are removed", 20, remove_groups)


def write_configuration(controllers: str) -> None:
    for number in range(2):
        subprocess.run(["mknod", "-m", "666", FOLDER / f"gpu{number}", "c", "1", "3"], check=True)  # as /dev/null
    (FOLDER / "gres.conf").write_text(f"Name=gpu File={FOLDER}/gpu[0-1]\n")
    (FOLDER / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={GROUPS}\nConstrainRAMSpace=yes\n")
    CONFIGURATION.write_text(SETTINGS.format(
        host=socket.gethostname().split(".")[0], folder=FOLDER,
        tracking="proctrack/cgroup" if controllers else "proctrack/pgid",
        tasks="task/cgroup" if controllers else "task/none",
    ))  # fmt: skip
    os.environ["SLURM_CONF"] = str(CONFIGURATION)


def start_munge() -> None:
    key = FOLDER / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    files = [f"--{name}={FOLDER}/munge.{end}" for name, end in
             (("socket", "socket"), ("pid-file", "pid"), ("seed-file", "seed"), ("key-file", "key"))]  # fmt: skip
    start("munged", "munged", "--foreground", *files)
    until("munged listens", 10, (FOLDER / "munge.socket").exists)


def start_cluster() -> Nodes:
    for folder, mode in ((HOME, 0o755), (TEMPORARY, 0o1777), (FOLDER / "state", 0o755)):
        folder.mkdir(parents=True)
        folder.chmod(mode)
    os.chmod(FOLDER, 0o755)
    (FOLDER / "passwd").write_text(f"{Path('/etc/passwd').read_text()}tester:x:{USER}:{GROUP}::{HOME}:/bin/sh\n")
    subprocess.run(["mount", "--bind", FOLDER / "passwd", "/etc/passwd"], check=True)
    nodes = Nodes()
    write_configuration(nodes.controllers)
    start_munge()
    start("slurmctld", "slurmctld", "-D", "-f", str(CONFIGURATION))
    for number in (1, 2):
        nodes.start(number)
    return nodes
