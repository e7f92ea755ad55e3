# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scripts of examples/slurm, byte for byte, as an ordinary user of a Slurm of two nodes.

    virtual_hosts.py -- run_scripts.py --source ROOT --build BUILD --writer PROGRAM

The nodes are the virtual hosts: each has its own network, processes, /dev/shm and temporary folder. All processes and
files (munge's key, Slurm's state, the user's home) are of these namespaces and end with them.
Exit status: 0 all scripts ended as they should, 77 impossible here (the reason is printed), 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path("/run/slurm-test")
HOME, TEMPORARY, CONFIGURATION = FOLDER / "home", FOLDER / "tmp", FOLDER / "slurm.conf"
USER, GROUP = 54321, 100
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "nsenter")

# Processes are tracked by groups and tasks are not confined, because a container may forbid to make control groups.
SETTINGS = """
ClusterName=test
SlurmctldHost={host}(10.78.0.254)
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
TmpFS={folder}/tmp
KillWait=5
NodeName=node[1-2] NodeAddr=10.78.0.[1-2] CPUs=4
PartitionName=main Nodes=ALL Default=YES
"""

# PMIx's server and the ranks have sockets in the temporary folder, which is a node's own. The shell stays, because the
# first process of a namespace reaps orphans, and slurmd does not: it would wait for jobs that have ended.
NODE = f"""hostname node$1 && mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
mount -t tmpfs -o mode=1777 tmpfs {TEMPORARY} && slurmd -D -N node$1 -f {CONFIGURATION} || exit"""


def skip(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def start(name: str, *command: str) -> None:
    """Starts a daemon; virtual_hosts.py's namespace ends it."""
    with open(FOLDER / f"{name}.log", "w", encoding="utf-8") as log:
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)


def until(what: str | Callable[[], str], seconds: float, condition: Callable[[], object]) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.2)


class User:
    """An ordinary user: its commands, jobs and home."""

    def __init__(self, source: Path, build: Path, writer: Path):
        python = os.path.dirname(sys.executable)
        path = f"{python}:{source}/tools:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
        self.environment = {
            "PATH": path, "HOME": str(HOME), "USER": "tester", "TMPDIR": str(TEMPORARY), "LANG": "C.UTF-8",
            "PYTHONPATH": f"{build}/python", "PYTHONDONTWRITEBYTECODE": "1", "SLURM_CONF": str(CONFIGURATION),
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24", "SYNCYTE_UCX_NET_DEVICES": "eth0",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        }  # fmt: skip
        for name in ("slurm", "first_steps"):
            shutil.copytree(source / "examples" / name, HOME / name)
        shutil.copy(writer, HOME / "slurm/writer")
        subprocess.run(["chown", "-R", f"{USER}:{GROUP}", HOME], check=True)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=HOME / "slurm", env=self.environment, user=USER, group=GROUP,
                              extra_groups=[], capture_output=True, text=True, check=False)  # fmt: skip

    def output(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def submit(self, *words: str) -> str:
        print("+ sbatch", *words, flush=True)
        return self.output("sbatch", "--parsable", *words).strip()

    def facts(self, job: str) -> list[dict[str, str]]:
        """What scontrol says of a job, or of each job of an array."""
        lines = self.output("scontrol", "show", "job", "--oneliner", job).splitlines()
        return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in lines if line]

    def wait(self, job: str, state: str, seconds: float = 120) -> None:
        """Waits until a job has a state, each of an array's jobs too; fails if it ends in another one."""

        def reached() -> bool:
            states = {fact["JobState"] for fact in self.facts(job)}
            wrong = states - {state, "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED"}
            assert not wrong, f"job {job}: {wrong}, {self.facts(job)}"
            return states == {state}

        until(f"job {job} is {state}", seconds, reached)
        print(f"  job {job}: {state}", flush=True)

    def text(self, job: str) -> str:
        path = HOME / f"slurm/slurm-{job}.out"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def expect(self, job: str, pattern: str, seconds: float = 90) -> None:
        until(f"{pattern!r} in the output of job {job}", seconds, lambda: re.search(pattern, self.text(job)))


def start_cluster() -> None:
    for folder, mode in ((HOME, 0o755), (TEMPORARY, 0o1777), (FOLDER / "state", 0o755)):
        folder.mkdir(parents=True)
        folder.chmod(mode)
    os.chmod(FOLDER, 0o755)
    CONFIGURATION.write_text(SETTINGS.format(host=socket.gethostname().split(".")[0], folder=FOLDER))
    os.environ["SLURM_CONF"] = str(CONFIGURATION)
    (FOLDER / "passwd").write_text(f"{Path('/etc/passwd').read_text()}tester:x:{USER}:{GROUP}::{HOME}:/bin/sh\n")
    subprocess.run(["mount", "--bind", FOLDER / "passwd", "/etc/passwd"], check=True)
    key = FOLDER / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    files = [f"--{name}={FOLDER}/munge.{end}" for name, end in
             (("socket", "socket"), ("pid-file", "pid"), ("seed-file", "seed"), ("key-file", "key"))]  # fmt: skip
    start("munged", "munged", "--foreground", *files)
    until("munged listens", 10, (FOLDER / "munge.socket").exists)
    start("slurmctld", "slurmctld", "-D", "-f", str(CONFIGURATION))
    for number in "12":
        # ip netns exec would hide /sys/fs/cgroup, without which slurmd does not start.
        start(f"node{number}", "nsenter", f"--net=/run/netns/host{number}", "unshare", "--mount", "--uts", "--ipc",
              "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", NODE, "sh", number)  # fmt: skip


def require(user: User) -> None:
    """Skips where the user cannot run what the jobs need; waits for the nodes."""
    done = user.run("python", "-c", "import torch; from syncyte import _library; _library.core()")
    if done.returncode != 0:
        skip(f"an ordinary user cannot use {sys.executable} and the build (files and folders of root?):\n{done.stderr}")
    if "pmix" not in (listed := user.run("srun", "--mpi=list")).stdout + listed.stderr:
        skip("this Slurm has no plugin for PMIx")
    until("both nodes are idle", 60, lambda: user.run("sinfo", "-h", "-o", "%T %D").stdout.strip() == "idle 2")


def final_line(user: User, job: str) -> str:
    return re.search(r"seed .*", user.text(job))[0]


def left_over() -> list[str]:
    """Processes of the user, and its files in the nodes' /dev/shm but those that Open MPI leaves after a kill."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == USER:
                found.append((process / "cmdline").read_text().replace("\0", " "))
            elif (process / "comm").read_text() == "slurmd\n":
                names = os.listdir(process / "root/dev/shm")
                found += [name for name in names if not name.startswith("vader_segment.")]
        except OSError:
            continue  # it has ended
    return found


def two_nodes(user: User) -> None:
    """The whole training in one run; and the same again, interrupted, goes on from its checkpoint."""
    whole = user.submit("train.sbatch")
    user.wait(whole, "COMPLETED")
    assert "4 ranks on 2 nodes, from step 0\n" in user.text(whole), user.text(whole)
    (HOME / "slurm/train.h5").unlink()

    cut = user.submit("train.sbatch", "1000")
    user.expect(cut, "from step 0")
    user.output("scancel", "--signal=USR1", cut)
    user.expect(cut, r"stops after step \d+")
    go_on(user, cut)
    user.wait(cut, "COMPLETED")
    (steps,) = re.findall(r"stops after step (\d+)", user.text(cut))
    assert f"4 ranks on 2 nodes, from step {steps}\n" in user.text(cut), user.text(cut)
    assert final_line(user, cut) == final_line(user, whole), (user.text(cut), user.text(whole))
    (HOME / "slurm/train.h5").unlink()


def go_on(user: User, job: str) -> None:
    """Waits until a job is in the queue again, and lets it start before Slurm's delay of two minutes is over.

    In the second in which a run of a job ends, its nodes refuse a new one.
    """
    until(f"job {job} is requeued", 60, lambda: user.facts(job)[0]["Restarts"] == "1")
    start_now = "scontrol", "update", f"JobId={job}", "StartTime=now+3seconds"
    until(f"job {job} may start", 60, lambda: user.run(*start_now).returncode == 0)
    print(f"  job {job}: requeued", flush=True)


def time_limit(user: User) -> None:
    """Slurm itself sends the signal before the time limit; scancel ends the second run, and nothing is left."""
    job = user.submit("--time=2", "--signal=USR1@30", "train.sbatch", "1000000000")
    user.expect(job, r"stops after step \d+", 120)
    go_on(user, job)
    user.expect(job, r"stops after step (\d+)\n(.*\n)*4 ranks on 2 nodes, from step \1\n")
    user.output("scancel", job)
    user.wait(job, "CANCELLED")
    until(lambda: f"the nodes are clean of {left_over()}", 30, lambda: not left_over())


def several_programs(user: User) -> None:
    job = user.submit("mpmd.sbatch")
    user.wait(job, "COMPLETED")
    assert user.text(job).count("rows 5, 0, 2 start with [0.0, 1.0, 2.0]") == 2, user.text(job)


def array(user: User) -> None:
    job = user.submit("array.sbatch")
    user.wait(job, "COMPLETED")
    lines = [final_line(user, f"{job}_{number}") for number in range(4)]
    assert [line.split(",")[0] for line in lines] == [f"seed {number}" for number in range(4)], lines
    assert len({line.split()[-1] for line in lines}) == 4, lines


def show(folder: Path, pattern: str) -> None:
    for path in sorted(folder.glob(pattern)):
        print(f"--- {path.name}", *path.read_text(errors="replace").splitlines()[-40:], sep="\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "build", "writer"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        skip(f"no {', '.join(missing)} (packages slurmctld, slurmd, slurm-client, munge)")
    if int(Path("/proc/self/uid_map").read_text().split()[2]) <= USER:
        skip("only root can start a Slurm that runs jobs of another user")
    start_cluster()
    user = User(options.source, options.build, options.writer)
    require(user)
    try:
        for check in (two_nodes, several_programs, array, time_limit):
            check(user)
    except AssertionError as error:
        show(FOLDER, "*.log")
        print(error)
        return 1
    finally:
        show(HOME / "slurm", "*.out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
