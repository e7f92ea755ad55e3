#!/usr/bin/env python3
"""Runs a command on several virtual hosts of this machine: network namespaces that share no memory.

    virtual_hosts.py --hosts 2 --per-host 2 -- launch.py program --ranks 4 --folder /tmp/run --mpirun {mpirun} --
    PROGRAM

`{mpirun}` in the command becomes mpirun with the flags that spread ranks over the hosts, separated by "|" as launch.py
expects. Each host has its own name, addresses, processes, /dev/shm and TMPDIR; the file system is common. All of it
exists in namespaces of one process tree, so the kernel removes it at the end of the tree, even after a kill.

Exit status: the command's; 77 with a reason if this machine forbids namespaces.
"""

import argparse
import ctypes
import os
import shutil
import signal
import stat
import subprocess
import sys

SKIP = 77
SUBNET = "10.77.0"
INSIDE = "SYNCYTE_VIRTUAL_HOSTS_INSIDE"

# mpirun starts its daemon on a host by "agent ADDRESS COMMAND...".
AGENT = """#!/bin/sh
number=${{1##*.}}
shift
export SYNCYTE_VIRTUAL_COMMAND="$*"
exec ip netns exec host$number unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc sh -c '
  hostname node'$number'
  mount -t tmpfs tmpfs /dev/shm
  mkdir -p {folder}/tmp'$number'
  mount -t tmpfs tmpfs {folder}/tmp'$number'
  export TMPDIR={folder}/tmp'$number'
  eval "$SYNCYTE_VIRTUAL_COMMAND"'
"""


def skip(reason: str) -> None:
    print(f"SKIPPED: virtual hosts cannot be made here: {reason}")
    sys.exit(SKIP)


def namespaces() -> list[str]:
    """The command that enters new namespaces; a user who is not root becomes root of a user namespace."""
    flags = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return ["unshare"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"]) + flags


def why_not() -> str:
    """The reason if this machine cannot have virtual hosts; otherwise empty."""
    missing = [tool for tool in ("ip", "unshare", "mount") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found (packages iproute2, util-linux)"
    script = "ip link add name probe type bridge && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /run"
    script += " && ip netns add probe && ip netns exec probe unshare --mount --uts --ipc --pid --fork --mount-proc true"
    result = subprocess.run([*namespaces(), "sh", "-c", script], capture_output=True, text=True, timeout=30)
    return "" if result.returncode == 0 else result.stderr.strip() or f"status {result.returncode}"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class VirtualHosts:
    """Context manager: the hosts, as seen from inside the namespaces that `namespaces()` enters."""

    def __init__(self, count: int):
        self.count = count
        self.folder = "/run/syncyte-hosts"  # private: /run is a file system of these namespaces

    def __enter__(self) -> "VirtualHosts":
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        os.mkdir(self.folder)
        ip("link", "set", "lo", "up")
        ip("link", "add", "name", "bridge0", "type", "bridge")
        ip("address", "add", f"{SUBNET}.254/24", "dev", "bridge0")
        ip("link", "set", "bridge0", "up")
        for number in range(1, self.count + 1):
            self._add(number)
        self._write_agent()
        return self

    def __exit__(self, *_: object) -> None:
        for number in range(1, self.count + 1):
            subprocess.run(["ip", "netns", "delete", f"host{number}"], check=False)

    def _add(self, number: int) -> None:
        host, port = f"host{number}", f"port{number}"
        ip("netns", "add", host)
        ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host)
        ip("link", "set", port, "master", "bridge0", "up")
        ip("-n", host, "link", "set", "lo", "up")
        ip("-n", host, "address", "add", f"{SUBNET}.{number}/24", "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")

    @property
    def agent(self) -> str:
        return os.path.join(self.folder, "agent")

    def _write_agent(self) -> None:
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT.format(folder=self.folder))
        os.chmod(self.agent, stat.S_IRWXU)

    def mpirun(self, mpirun: str, per_host: int) -> list[str]:
        """mpirun over the hosts; the rank count follows."""
        hosts = ",".join(f"{SUBNET}.{number}:{per_host}" for number in range(1, self.count + 1))
        network = f"{SUBNET}.0/24"
        flags = ["--tag-output", "--mca", "plm_rsh_agent", self.agent, "--mca", "oob_tcp_if_include", network]
        return [mpirun, *flags, "--mca", "btl_tcp_if_include", network, "--map-by", "slot", "--host", hosts, "-np"]

    def set_link(self, number: int, up: bool) -> None:
        """Connects a host to the others, or disconnects it."""
        ip("link", "set", f"port{number}", "up" if up else "down")


def run_inside(options: argparse.Namespace) -> int:
    with VirtualHosts(options.hosts) as hosts:
        mpirun = "|".join(hosts.mpirun(options.mpirun, options.per_host))
        command = [word.replace("{mpirun}", mpirun) for word in options.command]
        # A user who is root only of a user namespace may not write into the session folder of root's mpirun.
        process = subprocess.Popen(command, env=dict(os.environ, TMPDIR=hosts.folder))
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()


def die_with_parent() -> None:
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_outside() -> int:
    reason = why_not()
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
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        parser.error("no command")
    return run_inside(options) if os.environ.get(INSIDE) else run_outside()


if __name__ == "__main__":
    sys.exit(main())
