# SPDX-License-Identifier: BSD-3-Clause
"""Runs README's commands in a bare root of a system, which debootstrap makes: as root, then as an ordinary user.

    bare_root.py --source CLONE --folder ROOT SUITE    the clone's last commit is taken
    bare_root.py --source CLONE --names                README.md names the systems of SYSTEMS, and no others

The packages come from where the host gets its own: the sources and the Acquire settings of its apt, pip's variables and
configuration files, proxies, and certificates in /usr/local/share/ca-certificates. SYNCYTE_ROOTS_KEYRINGS names the
folder of keyrings that the host lacks, for example ubuntu-archive-keyring.gpg, which is in Debian 13's ubuntu-keyring.
Exit status: 0 all commands passed, 77 impossible here (the reason is printed), 1 otherwise; the root is left then.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

COMMANDS = tuple(f"./cmake/quickstart.sh {name}" for name in ("first", "demo", "test"))
HOMES = {"root": "/root", "guest": "/home/guest"}  # guest finds the system packages that root has installed
NEEDED_BYTES = 20 << 30
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# Local folders of wheels are not visible in the root.
LOCAL_PIP = ("PIP_FIND_LINKS", "PIP_CACHE_DIR", "PIP_CONFIG_FILE")


@dataclass(frozen=True)
class System:
    name: str  # in README.md
    origin: str  # in its Release file
    keyring: str
    like: str  # a suite that every debootstrap knows, made in the same way
    components: str = "main"


SYSTEMS = {
    "bookworm": System("Debian 12", "debian", "debian-archive-keyring.gpg", "sid"),
    "trixie": System("Debian 13", "debian", "debian-archive-keyring.gpg", "sid"),
    "noble": System("Ubuntu 24.04", "ubuntu", "ubuntu-archive-keyring.gpg", "gutsy", "main,universe"),
}


def impossible(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def output_of(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def mirror_of(system: System) -> str:
    """The host's archive of this system, or that beside the archive of the host's own system."""
    uris = output_of("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").split()
    for uri in uris:
        if re.search(rf"/{system.origin}/?$", uri):
            return uri
    for uri in uris:
        if re.search(r"/(debian|ubuntu)/?$", uri):
            return re.sub(r"/(debian|ubuntu)/?$", f"/{system.origin}", uri)
    impossible(f"the host's apt has no archive from which that of {system.name} follows")
    return ""


def keyring_of(system: System) -> str:
    for folder in filter(None, (os.environ.get("SYNCYTE_ROOTS_KEYRINGS"), "/usr/share/keyrings")):
        if os.path.exists(path := os.path.join(folder, system.keyring)):
            return path
    impossible(f"no {system.keyring} in /usr/share/keyrings: install the keyring of {system.name}")
    return ""


def check_host(folder: Path) -> None:
    if os.geteuid() != 0:
        impossible("only root can make a bare root")
    for tool in ("debootstrap", "apt-get", "unshare", "chroot", "git"):
        if shutil.which(tool) is None:
            impossible(f"no {tool}")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode != 0:
        impossible("no namespaces for mounts and processes")
    if (free := shutil.disk_usage(folder.parent).free) < NEEDED_BYTES:
        impossible(f"{free >> 30} GB are free for {folder}, {NEEDED_BYTES >> 30} GB are needed")


def make(suite: str, system: System, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    script = f"/usr/share/debootstrap/scripts/{suite}"
    if not os.path.exists(script):
        script = os.path.join(os.path.dirname(script), system.like)
    command = ["debootstrap", "--variant=minbase", f"--keyring={keyring_of(system)}",
               f"--components={system.components}", suite, str(folder), mirror_of(system), script]  # fmt: skip
    print("+", *command, flush=True)
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != 0:
        impossible(f"debootstrap cannot make {system.name} here: {run.stdout.strip().splitlines()[-1:]}")


def give_network(folder: Path) -> None:
    """The root reaches the registries as the host does."""
    (folder / "etc/apt/apt.conf.d/99host").write_text(output_of("apt-config", "dump", "Acquire"))
    certificates = Path("/usr/local/share/ca-certificates")
    copies = [(Path("/etc/resolv.conf"), "etc"), (Path("/etc/hosts"), "etc"), (Path("/etc/pip.conf"), "etc"),
              *((path, str(certificates)[1:]) for path in certificates.glob("*.crt")),
              *((Path.home() / pip / "pip.conf", f"{home[1:]}/{pip}")
                for pip in (".config/pip", ".pip") for home in HOMES.values())]  # fmt: skip
    for path, place in copies:
        if path.exists():
            (folder / place).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place / path.name)


def environment(user: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items()
            if name in PROXIES or (name.startswith("PIP_") and name not in LOCAL_PIP)}  # fmt: skip
    kept |= {"HOME": HOMES[user], "USER": user, "LANG": "C.UTF-8",
             "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}  # fmt: skip
    return [f"{name}={value}" for name, value in kept.items()]


def clone(source: Path, folder: Path, user: str) -> None:
    home = HOMES[user]
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "--quiet", "--no-hardlinks", source,
                    f"{folder}{home}/syncyte"], check=True)  # fmt: skip
    if user != "root":
        subprocess.run(["chroot", folder, "useradd", "--home-dir", home, "--shell", "/bin/bash", user], check=True)
        subprocess.run(["chroot", folder, "chown", "-R", f"{user}:", home], check=True)


def run_inside(folder: Path, user: str, command: str) -> int:
    """Runs a command in the user's clone; the mounts and its processes end with it."""
    root = shlex.quote(str(folder))
    mounts = " && ".join((f"mount -t proc proc {root}/proc", f"mount --rbind /sys {root}/sys",
                          f"mount --rbind /dev {root}/dev", f"mount -t tmpfs tmpfs {root}/dev/shm"))  # fmt: skip
    script = f"cd {HOMES[user]}/syncyte && {command}"
    inside = shlex.join(["chroot", f"--userspec={user}:{user}", str(folder), "env", "-i", *environment(user),
                         "sh", "-c", script])  # fmt: skip
    print("+", f"{user}:", command, flush=True)
    enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", f"{mounts} && exec {inside}"]
    return subprocess.run(enter, stdin=subprocess.DEVNULL, check=False).returncode


def run_commands(source: Path, suite: str, folder: Path) -> int:
    system = SYSTEMS[suite]
    folder.parent.mkdir(parents=True, exist_ok=True)
    check_host(folder)
    make(suite, system, folder)
    give_network(folder)
    for user in HOMES:
        clone(source, folder, user)
        for command in COMMANDS:
            begin = time.monotonic()
            status = run_inside(folder, user, command)
            print(f"{user}: {command} took {time.monotonic() - begin:.0f} s", flush=True)
            if status != 0:
                print(f"{user}: {command} has ended with status {status} on {system.name}; the root is {folder}")
                return 1
        shutil.rmtree(f"{folder}{HOMES[user]}/syncyte")
    shutil.rmtree(folder)
    return 0


def check_names(source: Path) -> int:
    (line,) = [line for line in (source / "README.md").read_text(encoding="utf-8").splitlines()
               if line.endswith("from a fresh clone:")]  # fmt: skip
    named = set(re.findall(r"(?:Debian|Ubuntu) [\d.]+", line))
    tried = {system.name for system in SYSTEMS.values()}
    if named != tried:
        print(f"README.md names {sorted(named)}; the label roots tries {sorted(tried)}")
    return int(named != tried)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--names", action="store_true")
    parser.add_argument("suite", nargs="?", choices=sorted(SYSTEMS))
    options = parser.parse_args()
    if options.names:
        return check_names(options.source)
    return run_commands(options.source, options.suite, options.folder.resolve())


if __name__ == "__main__":
    sys.exit(main())
