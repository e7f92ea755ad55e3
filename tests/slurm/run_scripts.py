# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scripts of examples/slurm, byte for byte, as an ordinary user of a Slurm of two nodes.

    virtual_hosts.py -- run_scripts.py --source ROOT --build BUILD --writer PROGRAM

Also what docs/slurm.md says of memory limits, GPUs, a node that dies and srun --mpi=none.
Exit status: 0 all scripts ended as they should, 77 impossible here (the reason is printed), 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cluster import CONFIGURATION, FOLDER, GROUP, HOME, TEMPORARY, USER, Nodes, start_cluster, until

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "nsenter")


def skip(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(77)


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
                found += (process / "cmdline").read_text().replace("\0", " ").splitlines()  # none if it has ended
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
    until(f"job {job} has left its nodes", 60, lambda: user.facts(job)[0]["JobState"] == "PENDING")
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
    (HOME / "slurm/train.h5").unlink()


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


def steps_of_a_node(user: User) -> None:
    """Two steps run at the same time on one node, and both trainings end."""
    job = user.submit("steps.sbatch")
    steps = "squeue", "--steps", f"--job={job}", "--noheader", "--format=%i %N"
    until(f"job {job} has two steps at once", 60, lambda: len(re.findall(r"\.\d+ node", user.output(*steps))) == 2)
    assert len(set(re.findall(r"node\d", user.output(*steps)))) == 1, user.output(*steps)
    user.wait(job, "COMPLETED")
    assert user.text(job).count("2 ranks on 1 nodes, from step 0") == 2, user.text(job)
    assert len(set(re.findall(r"seed .*", user.text(job)))) == 2, user.text(job)


def node_dies(user: User, nodes: Nodes) -> None:
    """A node loses its network and all its processes. Slurm puts the job back into the queue; when the node is there
    again, the job goes on from its last checkpoint."""
    job = user.submit("train.sbatch", "1000000000")
    until("there is a checkpoint", 90, (HOME / "slurm/train.h5").exists)
    nodes.network(2, "down")
    nodes.kill(2)
    until(f"job {job} is requeued", 90, lambda: user.facts(job)[0]["Restarts"] == "1")
    assert f"requeue job JobId={job} due to failure of node node2" in (FOLDER / "slurmctld.log").read_text()
    nodes.network(2, "up")
    nodes.start(2)
    go_on(user, job)
    user.expect(job, r"4 ranks on 2 nodes, from step [1-9]\d*\n")
    user.output("scancel", job)
    user.wait(job, "CANCELLED")
    (HOME / "slurm/train.h5").unlink()


def memory_limit(user: User) -> None:
    """The control group's limit is named; other memory beyond it ends the step."""
    tensor = "import syncyte; syncyte.WholeTensor((1 << 29,), 'float32')"
    done = user.run("srun", "--mpi=pmix", "-N1", "-n2", "--mem=700", "python", "-m", "syncyte", "-c", tensor)
    limit = r"needs 2\d{9} bytes, but only \d{9} are available \(/sys/fs/cgroup/memory/.*/memory\.limit_in_bytes\)"
    assert re.search(f"OutOfMemoryError: .* {limit}", done.stderr), done.stderr
    done = user.run("srun", "--mem=300", "python", "-c", "bytearray(1 << 30)")
    assert re.search(r"task 0: Out Of Memory\n(.*\n)*.* oom-kill event", done.stderr), done.stderr


def gpus(user: User) -> None:
    """The numbers of devices only: the test has no GPU."""
    code = "import os; print(os.environ['LOCAL_RANK'], os.environ['CUDA_VISIBLE_DEVICES'])"
    for option, expected in (("--gpus-per-task=1", ["0 0", "1 1"]), ("--gpus-per-node=2", ["0 0,1", "1 0,1"])):
        printed = user.output("srun", "--mpi=pmix", "-N1", "-n2", option, "python", "-m", "syncyte", "-c", code)
        assert sorted(printed.splitlines()) == expected, printed


def without_pmix(user: User) -> None:
    code = "import syncyte; syncyte.COMM_WORLD.rank"
    done = user.run("srun", "--mpi=none", "-n2", "python", "-m", "syncyte", "-c", code)
    assert done.returncode != 0, done
    assert "OMPI was not built with SLURM's PMI support" in done.stderr, done.stderr


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
    nodes = start_cluster()
    user = User(options.source, options.build, options.writer)
    try:
        require(user)
        for check in (two_nodes, several_programs, array, steps_of_a_node, gpus, without_pmix, time_limit):
            check(user)
        node_dies(user, nodes)
        if nodes.controllers:
            memory_limit(user)
        else:
            print("SKIPPED: memory limits, because control groups (version 1) cannot be made here")
    except AssertionError as error:
        show(FOLDER, "*.log")
        print(error)
        return 1
    finally:
        nodes.stop()
        show(HOME / "slurm", "*.out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
