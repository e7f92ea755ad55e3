# SPDX-License-Identifier: BSD-3-Clause
"""``python -m syncyte build-torch``: compiles libsyncyte_torch for the torch of this Python, and libsyncyte_torch_cuda.

A wheel has the libraries' sources, because a C++ library of one version of torch does not load into another. The result
is kept for each version of torch: in the package, or in the user's cache where the package cannot be written.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import subprocess
import sys
import tempfile

from . import _library
from ._declarations import VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH

COMMAND = f"{os.path.basename(sys.executable) or 'python'} -m syncyte build-torch"
_LIBRARY = "libsyncyte_torch.so"
_CUDA_LIBRARY = "libsyncyte_torch_cuda.so"  # built only if torch and the headers of CUDA allow it


def _sources() -> str:
    return os.path.join(_library.prefix() or "", "share", "syncyte", "torch")


def can_build() -> bool:
    """Whether this copy of the package has the sources."""
    return os.path.isfile(os.path.join(_sources(), "CMakeLists.txt"))


def folders(torch_version: str) -> list[str]:
    """Returns the folders that a library for this version of torch may be in; the best one is the first.

    None for a copy of the package that cannot build: its library is another, which one in the cache must not replace.
    """
    if not can_build():
        return []
    parents = [os.path.join(_library.prefix() or "", "lib")]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(cache):  # there may be neither HOME nor an entry of this user in the system's list
        version = f"{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}"
        parents.append(os.path.join(cache, "syncyte", f"{version}-{os.uname().machine}"))
    return [os.path.join(parent, f"torch-{torch_version}") for parent in parents]


def _target(torch_version: str) -> str:
    """Returns the first of the folders that can be written, and makes it."""
    refused = []
    for folder in folders(torch_version):
        try:
            os.makedirs(folder, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
            refused.append(f"{folder} cannot be written")
        except OSError as error:
            refused.append(str(error))
    raise SystemExit(
        f"build-torch: no folder for the library: {'; '.join(refused)}. Set XDG_CACHE_HOME to a folder of yours"
    )


def _run(step: str, command: list[str]) -> None:
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit(f"build-torch: there is no {command[0]}: pip install cmake ninja") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"build-torch: {step} failed with status {error.returncode}; its messages are above") from None


def main() -> int:
    """Compiles the library and puts it where ``import syncyte.torch`` finds it. Local; needs no MPI job."""
    if not can_build():
        raise SystemExit(
            "build-torch: this copy of Syncyte has no sources of libsyncyte_torch; one that pip installed has them. "
            "Configure your build with -DSYNCYTE_TORCH=ON (CMake), or install syncyte +torch (Spack)"
        )
    try:
        version = importlib.import_module("torch").__version__
    except ImportError as error:
        raise SystemExit(
            f"build-torch: {sys.executable} cannot import torch: {error}; install it: pip install torch"
        ) from None
    folder = _target(version)
    print(f"build-torch: compiling for torch {version}; this takes minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="syncyte-torch-") as build:
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run("configuring", [
            "cmake", "-S", _sources(), "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython3_EXECUTABLE={sys.executable}", f"-DCMAKE_PREFIX_PATH={_library.prefix()}",
        ])  # fmt: skip
        _run("compiling", ["cmake", "--build", build, "--parallel", str(len(os.sched_getaffinity(0)))])
        for library in (_CUDA_LIBRARY, _LIBRARY):
            _replace(os.path.join(build, library), os.path.join(folder, library))
    return 0


def _replace(built: str, finished: str) -> None:
    """Puts a library that was built in the place of an older one, which goes also if none was built."""
    if not os.path.exists(built):
        with contextlib.suppress(FileNotFoundError):
            os.remove(finished)
        return
    shutil.copy(built, f"{finished}.{os.getpid()}")
    os.replace(f"{finished}.{os.getpid()}", finished)  # a job that starts meanwhile sees the old or the new file
    print(f"build-torch: {finished}")
