# SPDX-License-Identifier: BSD-3-Clause
"""Installs Syncyte into a prefix, moves it to a path with a space, and builds and runs users' projects against it.

consume.py --work W --cmake CMAKE --libdir LIB prefix --build BUILD
consume.py ... project --source DIR --mpiexec M (--define A=B ... | --pkg-config P --packages X --compiler CC ...)
consume.py ... shells --pythondir DIR
consume.py ... components --source DIR --define A=B ...
consume.py ... python --python PYTHON --pythondir DIR --with hdf5 torch
"""

from __future__ import annotations

import argparse
import glob
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support" / "python"))
from mpi_harness.job import environment

RANKS = 2
MPI_ENVIRONMENT = environment({"SYNCYTE_WATCHDOG": "60", "SYNCYTE_WITHOUT_BUILD": "1"}, {})


def run(command: list[str], **more: str | Path) -> str:
    """Runs a command and prints it and its output; exits if it fails. `more`: cwd, and environment variables."""
    cwd = more.pop("cwd", None)
    print("+", *command, flush=True)
    variables = {**os.environ, **{name: str(value) for name, value in more.items()}}
    result = subprocess.run(
        command,
        cwd=cwd,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=150,
    )
    print(result.stdout, flush=True)
    if result.returncode != 0:
        sys.exit(f"failed with status {result.returncode}: {command[0]}")
    return result.stdout


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def files_below(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def install(arguments: argparse.Namespace, moved: Path) -> None:
    """An installation may be moved, so none of its files may contain the path of its prefix. Its components
    together are the whole."""
    first, parts = fresh(arguments.work) / "first", arguments.work / "parts"
    command = [arguments.cmake, "--install", arguments.build, "--prefix"]
    run([*command, str(first)])
    for component in ("runtime", "devel", "doc"):
        run([*command, str(parts), "--component", component])
        if component == "runtime" and ((parts / "include").exists() or list(parts.rglob("lib*.so"))):
            sys.exit("the component runtime has files for building programs")
    if files_below(parts) != files_below(first):
        sys.exit(f"in no component, or only there: {files_below(parts) ^ files_below(first)}")
    first.rename(moved)
    (arguments.work / "moved").symlink_to(moved)  # for commands of pages, which do not quote what pkg-config prints
    for file in [*moved.rglob("*.cmake"), *moved.rglob("*.pc")]:
        text = file.read_text()
        if str(first) in text or str(Path(arguments.build).resolve()) in text:
            sys.exit(f"{file} names the place where it was made")


def configure(arguments: argparse.Namespace, moved: Path, build: Path) -> None:
    defines = [f"-D{define}" for define in arguments.define if not define.endswith("=")]
    run(
        [
            arguments.cmake,
            "-S",
            arguments.source,
            "-B",
            str(build),
            f"-DCMAKE_PREFIX_PATH={moved}",
            "--no-warn-unused-cli",
            *defines,
        ]
    )


def build_with_pkg_config(arguments: argparse.Namespace, moved: Path, build: Path) -> None:
    folder = moved / arguments.libdir / "pkgconfig"
    flags = run([arguments.pkg_config, "--cflags", "--libs", arguments.packages], PKG_CONFIG_PATH=folder)
    sources = [str(path) for path in Path(arguments.source).glob("main.*")]
    run([*arguments.compiler, *sources, *shlex.split(flags), "-o", str(build / "consumer")])


def project(arguments: argparse.Namespace, moved: Path) -> None:
    way = "pkgconfig" if arguments.packages else "cmake"
    build = fresh(arguments.work / f"{Path(arguments.source).name}-{way}")
    if arguments.packages:
        build_with_pkg_config(arguments, moved, build)
    else:
        configure(arguments, moved, build)
        run([arguments.cmake, "--build", str(build)])
    output = run(
        [arguments.mpiexec, arguments.mpiexec_numproc_flag, str(RANKS), str(build / "consumer")],
        cwd=build,
        **MPI_ENVIRONMENT,
    )
    if "consumer: " not in output:
        sys.exit("the consumer ran, but did not say so")


def components(arguments: argparse.Namespace, moved: Path) -> None:
    configure(arguments, moved, fresh(arguments.work / "components"))


CORE = """
import os, sys
import syncyte
from syncyte import _library

def mapped(name):
    with open("/proc/self/maps", encoding="utf-8") as file:
        found = {line.split(maxsplit=5)[5].strip() for line in file if f"lib{name}.so" in line}
    print(name, found)
    assert len(found) == 1, name
    assert found.pop().startswith(os.path.realpath(sys.argv[1]) + os.sep), name

print(syncyte.__file__, _library.core().output("syncyte_version")[:3])
assert syncyte.__file__.startswith(sys.argv[1])
assert os.path.isfile(os.path.join(os.path.dirname(syncyte.__file__), "py.typed"))
assert syncyte.COMM_WORLD.allreduce(1) == syncyte.COMM_WORLD.size
mapped("syncyte")
"""
# Each program uses a library on top of Syncyte, and checks that the process has loaded the prefix's library.
ON_TOP = {
    "hdf5": """
import numpy
from syncyte import checkpoint
checkpoint.save("installed.h5", {"a": numpy.arange(3.0)})
assert checkpoint.load("installed.h5", torch=False)["a"].tolist() == [0, 1, 2]
mapped("syncyte_hdf5")
""",
    "torch": """
import torch
import syncyte.torch
x = torch.ones(3, requires_grad=True)
syncyte.torch.allreduce(x).sum().backward()
assert x.grad.tolist() == [syncyte.COMM_WORLD.size] * 3
mapped("syncyte_torch")
""",
}


def python(arguments: argparse.Namespace, moved: Path) -> None:
    """The installed package finds the installed libraries without environment variables."""
    build = fresh(arguments.work / "python")
    for name in [name for name in os.environ if name.startswith("SYNCYTE_") or name == "LD_LIBRARY_PATH"]:
        os.environ.pop(name)
    script = CORE + "".join(ON_TOP[name] for name in arguments.with_libraries) + "print('consumer: python')\n"
    output = run(
        [
            arguments.mpiexec,
            arguments.mpiexec_numproc_flag,
            str(RANKS),
            arguments.python,
            "-B",
            "-c",
            script,
            str(moved),
        ],
        cwd=build,
        **MPI_ENVIRONMENT,
        PYTHONPATH=":".join([str(moved / arguments.pythondir), *filter(None, [os.environ.get("PYTHONPATH")])]),
    )
    if output.count("consumer: python") != RANKS:
        sys.exit("not every rank has come to its end")


def readers(prefix: Path, link: Path, linked: Path) -> Iterator[tuple[list[str], str]]:
    """The shells and module systems of this machine: a shell's command, and how it reads the prefix's environment."""
    for shell in ("sh", "dash", "bash", "zsh", "csh", "tcsh", "fish"):
        if not shutil.which(shell):
            print(f"SKIPPED: no {shell} here", flush=True)
    for shell in filter(shutil.which, ("sh", "dash", "bash", "zsh")):
        yield [shell, "-c"], f". '{prefix}/bin/syncyte-env.sh'"
        yield [shell, "-euc"], f". '{prefix}/bin/syncyte-env.sh'"
        yield [shell, "-c"], f". '{link}'"
    for shell, suffix in (("csh", "csh"), ("tcsh", "csh"), ("fish", "fish")):
        if shutil.which(shell):
            yield [shell, "-c"], f"source '{prefix}/bin/syncyte-env.{suffix}'"
    lmod = [os.environ.get("LMOD_CMD"), *glob.glob("/usr/share/lmod/*/libexec/lmod")]
    modules = [os.environ.get("MODULES_CMD"), *glob.glob("/usr/lib/*/modulecmd.tcl")]
    ways = [(command, linked) for command in lmod + modules if command]  # Lmod reads no path with a space
    ways += [(command, prefix / "share/modulefiles") for command in modules if command]
    for command, folder in ways:
        yield ["bash", "-c"], f"""export MODULEPATH='{folder}'; eval "$('{command}' bash load syncyte)" """


def shells(arguments: argparse.Namespace, moved: Path) -> None:
    """Shells and module systems of this machine find the installation, also in a subshell and by a symbolic link to the
    modulefile; they put its folders before those that a variable has."""
    (moved / arguments.pythondir).mkdir(parents=True, exist_ok=True)  # absent in a build without Python
    link = fresh(arguments.work / "links") / "of-another-name.sh"
    link.symlink_to(moved / "bin/syncyte-env.sh")
    linked = fresh(arguments.work / "modulefiles")
    shutil.copytree(moved / "share/modulefiles", linked, dirs_exist_ok=True, copy_function=os.symlink)
    wanted = {
        "PATH": moved / "bin",
        "CMAKE_PREFIX_PATH": moved,
        "PKG_CONFIG_PATH": moved / arguments.libdir / "pkgconfig",
        "PYTHONPATH": moved / arguments.pythondir,
    }
    path = ":".join(dict.fromkeys(os.environ["PATH"].split(":")))  # Lmod removes what is there twice
    show = f"env printenv {' '.join(wanted)}"
    for command, read in readers(moved, link, linked):
        print(*command, read)
        subshells = [] if command[0] == "fish" else [f"({read}; {show})"]  # which fish lacks
        for before in ({"PATH": path}, dict.fromkeys(wanted, path)):
            expected = [":".join([str(path), *filter(None, [before.get(name)])]) for name, path in wanted.items()]
            for script in (f"{read}; {show}", *subshells):
                done = subprocess.run([*command, script], env=before, stdout=subprocess.PIPE, text=True, check=False)
                if done.stdout.splitlines() != expected:
                    sys.exit(f"{script} prints {done.stdout.splitlines()}, expected {expected}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--libdir", required=True)
    parser.add_argument("action", choices=["prefix", "project", "components", "python", "shells"])
    parser.add_argument("--build")
    parser.add_argument("--source")
    parser.add_argument("--mpiexec")
    parser.add_argument("--mpiexec-numproc-flag", default="-n")
    parser.add_argument("--define", nargs="*", default=[])
    parser.add_argument("--pkg-config")
    parser.add_argument("--packages")
    parser.add_argument("--python")
    parser.add_argument("--pythondir")
    parser.add_argument("--with", dest="with_libraries", nargs="*", default=[], choices=sorted(ON_TOP))
    parser.add_argument("--compiler", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    moved = arguments.work / "moved prefix"
    actions = {"prefix": install, "project": project, "components": components, "python": python, "shells": shells}
    actions[arguments.action](arguments, moved)


if __name__ == "__main__":
    main()
