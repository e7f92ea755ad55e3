#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on several virtual hosts of this machine: network namespaces that share no memory.

    virtual_hosts.py --hosts 2 --per-host 2 -- launch.py program --ranks 4 --folder /tmp/run --mpirun={mpirun} --
    PROGRAM
    virtual_hosts.py --hosts 2 --rate 2000 -- {mpirun} 2 PROGRAM
    virtual_hosts.py --hosts 2 --delay 1 -- {mpirun} 2 PROGRAM
    virtual_hosts.py --hosts 2 --own-cores -- {mpirun} 2 PROGRAM

`{mpirun}` becomes mpirun with the flags that spread ranks over the hosts; the rank count must follow. As a part of a
word it becomes one word, whose parts are separated by "|" as launch.py expects. Each host has its own name, addresses,
processes, /dev/shm and TMPDIR; the file system is common. All of it exists in namespaces of one process tree, so the
kernel removes it at the end of the tree, even after a kill.

A host has two networks:
    eth0, 10.77.0.HOST  for data: sockets, UCX and Open MPI's TCP transport. Tests can cut it and limit its rate.
    eth1, 10.78.0.HOST  for mpirun and its daemons; always connected.

Environment of ranks:
    SYNCYTE_VIRTUAL_HOST                       number of the host, from 1
    SYNCYTE_VIRTUAL_HOSTS_CONTROL              path of a socket at which a running test cuts, restores and limits links:
                                               see python/virtual_links.py; links.h is the client for C and C++
    UCX_NET_DEVICES, SYNCYTE_UCX_NET_DEVICES   eth0
Each mpirun finds all links connected, with the rate of --rate.

With --own-cores each host runs on cores of its own, if there are as many cores as hosts: without it a thread that
a message wakes may take the sender's core.

With --delay each packet between hosts arrives that many milliseconds later (python/delayed_network.py). Links cannot be
cut then, and have no limited rate.

What a cut does, as observed with Open MPI 4.1.4, UCX 1.13 and Linux 6:
  - TCP loses no data. A transfer continues after the restore: a sender on the cut host within 1 s, one on another host
    within 1 s or the duration of the cut, whichever is longer (it doubles its pauses). A cut shorter than 1 s may act
    for 1 s, because the kernel reports the device as connected with a delay.
  - connect() between both sides fails with EHOSTUNREACH, on the cut host after 3 s, on others after up to 15 s. An
    established connection without its own time limit waits for many minutes (net.ipv4.tcp_retries2).
  - mpirun goes on, also if the link stays cut. With the TCP transport MPI_Finalize returns on both sides. With UCX
    (pml ucx) it waits for the restore: restore the link first, or leave by _exit().
  - mpirun ends all ranks as soon as one is killed, or exits without MPI_Finalize. With the flag --enable-recovery it
    lets the others finish; then it exits with 0 even if a rank was killed, so check the ranks' output.
If the network of the daemons were cut, a job would survive 8 s, but hang at its end if it stayed cut.

Exit status: the command's; 77 with a reason if this machine forbids namespaces, or cannot limit rates for --rate.
"""

import argparse
import ctypes
import itertools
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))

import delayed_network
import virtual_links

SKIP = 77
DATA = "10.77.0"
DAEMONS = "10.78.0"
INSIDE = "SYNCYTE_VIRTUAL_HOSTS_INSIDE"

# mpirun starts its daemon on a host by "agent ADDRESS COMMAND...".
AGENT = """#!/bin/sh
number=${{1##*.}}
shift
{reset}
export SYNCYTE_VIRTUAL_COMMAND="$*"
exec {bind} ip netns exec host$number unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc sh -c '
  hostname node'$number'
  mount -t tmpfs tmpfs /dev/shm
  mkdir -p {folder}/tmp'$number'
  mount -t tmpfs tmpfs {folder}/tmp'$number'
  export TMPDIR={folder}/tmp'$number'
  export {host}='$number' UCX_NET_DEVICES=eth0 SYNCYTE_UCX_NET_DEVICES=eth0
  eval "$SYNCYTE_VIRTUAL_COMMAND"'
"""


def skip(reason: str) -> None:
    print(f"SKIPPED: virtual hosts cannot be made here: {reason}")
    sys.exit(SKIP)


def namespaces() -> list[str]:
    """The command that enters new namespaces; a user who is not root becomes root of a user namespace."""
    flags = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return ["unshare"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"]) + flags


def why_not(rate: float | None, delay: float | None) -> str:
    """The reason if this machine cannot have virtual hosts, with a link's rate or a delay; otherwise empty."""
    tools = ["ip", "unshare", "mount"] + ([] if rate is None else ["tc"])
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found (packages iproute2, util-linux)"
    script = "ip link add name probe type bridge && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /run"
    script += " && ip netns add probe && ip netns exec probe unshare --mount --uts --ipc --pid --fork --mount-proc true"
    script += "" if rate is None else " && " + " ".join(["tc qdisc add dev probe root", *virtual_links.tbf(rate)])
    script += "" if delay is None else " && ip tuntap add dev probe0 mode tap"
    result = subprocess.run([*namespaces(), "sh", "-c", script], capture_output=True, text=True, timeout=30)
    return "" if result.returncode == 0 else result.stderr.strip() or f"status {result.returncode}"


def own_cores(hosts: int) -> list[str]:
    """The cores of each host, for taskset; no host has any if there are fewer cores than hosts."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < hosts:
        return []
    bounds = [len(cores) * host // hosts for host in range(hosts + 1)]
    return [",".join(map(str, cores[begin:end])) for begin, end in itertools.pairwise(bounds)]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class VirtualHosts:
    """Context manager: the hosts, as seen from inside the namespaces that `namespaces()` enters."""

    def __init__(
        self, count: int, rate: float | None = None, delay: float | None = None, cores: Sequence[str] = ()
    ) -> None:
        self.count = count
        self.cores = cores  # of each host; none: hosts share all
        self.delay = delay  # of packets in ms; None: none
        self.folder = "/run/syncyte-hosts"  # private: /run is a file system of these namespaces
        self.control = os.path.join(self.folder, "control")
        self.agent = os.path.join(self.folder, "agent")
        self.links = virtual_links.Links(count, rate)

    def __enter__(self) -> "VirtualHosts":
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        os.mkdir(self.folder)
        ip("link", "set", "lo", "up")
        for bridge in ("data", "daemons"):
            ip("link", "add", "name", bridge, "type", "bridge")
            ip("link", "set", bridge, "up")
        ip("address", "add", f"{DAEMONS}.254/24", "dev", "daemons")  # of mpirun, which runs on no host
        for number in range(1, self.count + 1):
            self._add(number)
        if self.delay is None:
            virtual_links.Server(self.control, self.links)
        else:
            delayed_network.start(self.delay, [f"host{number}" for number in range(1, self.count + 1)], "eth0")
        self._write_agent()
        return self

    def __exit__(self, *_: object) -> None:
        for number in range(1, self.count + 1):
            subprocess.run(["ip", "netns", "delete", f"host{number}"], check=False)

    def _add(self, number: int) -> None:
        host = f"host{number}"
        ip("netns", "add", host)
        ip("-n", host, "link", "set", "lo", "up")
        self._connect(host, "eth1", f"{DAEMONS}.{number}", "daemons", f"daemon{number}")
        if self.delay is not None:
            ip("-n", host, "tuntap", "add", "dev", "eth0", "mode", "tap")
            self._start(host, "eth0", f"{DATA}.{number}")
            return
        self._connect(host, "eth0", f"{DATA}.{number}", "data", f"port{number}")
        self.links.reset(number)

    def _connect(self, host: str, device: str, address: str, bridge: str, port: str) -> None:
        ip("link", "add", port, "type", "veth", "peer", "name", device, "netns", host)
        ip("link", "set", port, "master", bridge, "up")
        self._start(host, device, address)

    def _start(self, host: str, device: str, address: str) -> None:
        ip("-n", host, "address", "add", f"{address}/24", "dev", device)
        ip("-n", host, "link", "set", device, "up")

    def _write_agent(self) -> None:
        reset = f"{sys.executable} -SEB {virtual_links.__file__} reset $number || exit 1"
        names = {
            "folder": self.folder,
            "host": virtual_links.HOST,
            "reset": reset if self.delay is None else "",
            "bind": f'taskset -c "$(echo {" ".join(self.cores)} | cut -d" " -f$number)"' if self.cores else "",
        }
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT.format(**names))
        os.chmod(self.agent, stat.S_IRWXU)

    def environment(self) -> dict[str, str]:
        """Environment of mpirun."""
        # A user who is root only of a user namespace may not write into the session folder of root's mpirun.
        return dict(os.environ, **{"TMPDIR": self.folder, virtual_links.CONTROL: self.control})

    def mpirun(self, mpirun: str, per_host: int, flags: list[str]) -> list[str]:
        """mpirun over the hosts, with further flags; the rank count follows."""
        hosts = ",".join(f"{DAEMONS}.{number}:{per_host}" for number in range(1, self.count + 1))
        parameters = {
            "plm_rsh_agent": self.agent,
            "oob_tcp_if_include": f"{DAEMONS}.0/24",
            "btl_tcp_if_include": f"{DATA}.0/24",
        }
        words = [word for name, value in parameters.items() for word in ("--mca", name, value)]
        return [mpirun, "--tag-output", *words, "--map-by", "slot", "--host", hosts, *flags, "-np"]


def with_mpirun(command: list[str], mpirun: list[str]) -> list[str]:
    """A command in which mpirun's words have replaced {mpirun}."""
    words = []
    for word in command:
        words += mpirun if word == "{mpirun}" else [word.replace("{mpirun}", "|".join(mpirun))]
    return words


def run_inside(options: argparse.Namespace) -> int:
    cores = own_cores(options.hosts) if options.own_cores else []
    with VirtualHosts(options.hosts, options.rate, options.delay, cores) as hosts:
        mpirun = hosts.mpirun(options.mpirun, options.per_host, options.mpirun_flag)
        process = subprocess.Popen(with_mpirun(options.command, mpirun), env=hosts.environment())
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()


def die_with_parent() -> None:
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_outside(options: argparse.Namespace) -> int:
    reason = why_not(options.rate, options.delay)
    if reason:
        skip(reason)
    command = [*namespaces(), sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:]]
    # unshare ignores SIGTERM while its child runs. The end of this process kills unshare, and --kill-child its child.
    process = subprocess.Popen(command, env=dict(os.environ, **{INSIDE: "1"}), preexec_fn=die_with_parent)
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    return process.wait()


def main() -> int:
    os.environ["PATH"] += ":/usr/sbin:/sbin"  # where ip is; not in every user's path
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--per-host", type=int, default=1, help="ranks on each host")
    parser.add_argument(
        "--rate", type=virtual_links.positive, metavar="MBIT", help="of each link, in Mbit/s; default: unlimited"
    )
    parser.add_argument("--delay", type=virtual_links.positive, metavar="MS", help="of each packet; not with --rate")
    parser.add_argument("--own-cores", action="store_true", help="each host runs on other cores")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--mpirun-flag", action="append", default=[], help="a further word for mpirun (=--flag)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        parser.error("no command")
    if options.rate is not None and options.delay is not None:
        parser.error("--rate and --delay exclude each other")
    return run_inside(options) if os.environ.get(INSIDE) else run_outside(options)


if __name__ == "__main__":
    sys.exit(main())
