# SPDX-License-Identifier: BSD-3-Clause
"""Builds the package by pip, installs it into an environment of its own, and uses it there as its users do.

check_pip.py --source DIR --work DIR --mpiexec MPIEXEC --cc CC --pkg-config PKG_CONFIG --torch 0|1 --torch-cuda 0|1

numpy, mpi4py, h5py and torch come from the environment that runs this script: no second copy of torch is installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support" / "python"))
from mpi_harness.job import environment

SKIP = 77
RANKS = 2

USE = """
import importlib.metadata, os, sys
import numpy, syncyte
from syncyte import checkpoint
world = syncyte.COMM_WORLD
table = syncyte.WholeTensor((10, 4), "float32")
table.local_array[:] = world.rank
table.sync()
assert table.gather([9])[0, 0] == world.size - 1
checkpoint.save("pip.h5", {"a": numpy.arange(3.0)})
assert checkpoint.load("pip.h5", torch=False)["a"].tolist() == [0, 1, 2]
assert importlib.metadata.version("syncyte") == syncyte.__version__
assert syncyte.__file__.startswith(sys.argv[1]), syncyte.__file__
print("used by rank", world.rank)
"""

TRAIN = """
import torch, syncyte.torch
x = torch.ones(3, requires_grad=True)
syncyte.torch.allreduce(x).sum().backward()
assert x.grad.tolist() == [syncyte.COMM_WORLD.size] * 3
print("trained by rank", syncyte.COMM_WORLD.rank)
"""


class Environment:
    """A Python environment whose other packages are those of the Python that runs this script."""

    def __init__(self, folder: Path):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        self.python = folder / "bin" / "python"
        site = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        Path(site, "other_packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.folder = folder

    def run(self, *arguments: str, job: list[str] | None = None, fails: bool = False) -> str:
        command = [*(job or []), str(self.python), *arguments]
        return run(command, cwd=self.python.parent, fails=fails)


def run(command: list[str], *, cwd: Path, fails: bool = False) -> str:
    """Runs a command as a user does and returns what it prints; exits if it fails, or must fail and does not."""
    print("+", *command, flush=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SYNCYTE_", "PYTHONPATH"))}
    variables = environment({"SYNCYTE_WATCHDOG": "60"}, inherited)
    done = subprocess.run(
        command, cwd=cwd, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    print(done.stdout, flush=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"status {done.returncode}: {command}")
    return done.stdout


def expect(text: str, output: str, times: int = 1) -> None:
    if output.count(text) != times:
        sys.exit(f"'{text}' is printed {output.count(text)} times, expected {times}")


def check_compilers(
    prefix: Path, mpiexec: Path, arguments: argparse.Namespace, name: str = "c", package: str = "syncyte"
) -> None:
    """A C program is built against the package by pkg-config."""
    source = arguments.source / "tests" / "install" / name / "main.c"
    os.environ["PKG_CONFIG_PATH"] = str(prefix / "lib" / "pkgconfig")
    flags = run([arguments.pkg_config, "--cflags", "--libs", package], cwd=arguments.work).split()
    run([arguments.cc, str(source), *flags, "-o", "consumer"], cwd=arguments.work)
    output = run([str(mpiexec), "-n", str(RANKS), str(arguments.work / "consumer")], cwd=arguments.work)
    expect("consumer: ", output)


def check(arguments: argparse.Namespace, *options: str) -> None:
    job = [str(arguments.mpiexec), "-n", str(RANKS)]
    user = Environment(arguments.work / "environment")
    user.run("-m", "pip", "install", "--no-deps", *options)
    expected = arguments.source / "bindings" / "python" if "--editable" in options else user.folder
    expect("used by rank", user.run("-m", "syncyte", "-c", USE, str(expected), job=job), RANKS)
    command = [*job, str(user.folder / "bin" / "syncyte"), "-m", "user_module"]  # a module of the current folder
    (arguments.work / "user_module.py").write_text('import syncyte\nprint("command of", syncyte.COMM_WORLD.size)\n')
    expect(f"command of {RANKS}", run(command, cwd=arguments.work), RANKS)
    prefix = Path(user.run("-m", "syncyte", "--prefix").strip())
    check_compilers(prefix, arguments.mpiexec, arguments)
    if not arguments.torch:
        expect("cannot import torch", user.run("-m", "syncyte", "build-torch", fails=True))
        return
    if "--editable" in options:
        return  # build-torch takes minutes, and is the same
    expect("-m syncyte build-torch", user.run("-c", "import syncyte.torch", fails=True))
    build_torch(user, arguments)
    expect("trained by rank", user.run("-m", "syncyte", "-c", TRAIN, job=job), RANKS)


def build_torch(user: Environment, arguments: argparse.Namespace) -> None:
    """Compiles torch's libraries; that for CUDA is there where the build has it, and otherwise the error says so."""
    user.run("-m", "syncyte", "build-torch")
    use = "from syncyte import _torch_operators; _torch_operators.serve_from_device_cache(True)"
    output = user.run("-c", use, fails=not arguments.torch_cuda)
    expect("libsyncyte_torch_cuda is missing", output, 0 if arguments.torch_cuda else 1)


def read_arguments(*programs: str, files: Iterable[str] = ()) -> argparse.Namespace:
    """Reads the command line, with an option for each of `programs`; ends the test where pip reaches no index."""
    parser = argparse.ArgumentParser()
    for name in ("source", "work", "mpiexec"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("cc", "pkg-config", *programs):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--torch", type=int, default=1)
    parser.add_argument("--torch-cuda", type=int, required=True)
    for name in files:
        parser.add_argument(f"--{name}", type=Path, nargs="+", required=True)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    tools = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(arguments.work / "tools")]
    if subprocess.run([*tools, "scikit-build-core"], check=False).returncode != 0:
        print("SKIPPED: pip reaches no index of packages, from which it takes scikit-build-core")
        sys.exit(SKIP)
    return arguments


def main() -> None:
    arguments = read_arguments()
    check(arguments, str(arguments.source))
    check(arguments, "--editable", str(arguments.source))


if __name__ == "__main__":
    main()
