# SPDX-License-Identifier: BSD-3-Clause
"""The include graph: a layer of src/ includes only layers below it; users of the C and C++ interfaces see nothing of
src/.

    layers.py ROOT      prints each violation as FILE:LINE: TEXT and answers 1 if there is one

It also checks which folders may include the headers of MPI, HDF5, CUDA, UCX and torch, and which units of src/ may call
MPI.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# A row of the table in docs/architecture.md, where the layers are stated. Folders of one layer may not include each
# other.
LAYER_ROW = re.compile(r"^\| (\d+) \| `src/(\w+)/`", re.M)
SUBDIRECTORY = re.compile(r"^add_subdirectory\(src/(\w+)\)", re.M)

# Folders whose files use only the C and C++ interfaces, and the folders of this repository that they may include
# besides their own.
C_HEADERS = ["capi/include", "bindings/hdf5/include"]
USERS = {
    "capi/include": ["capi/include"],
    "include": ["include", "capi/include"],
    "bindings": [*C_HEADERS, "include"],
    "examples": [*C_HEADERS, "include"],
    "tests/bindings": [*C_HEADERS, "include", "tests/support"],
    "tests/cxx": [*C_HEADERS, "include", "tests/support"],
    "tests/install": [*C_HEADERS, "include"],
}

# Third-party headers, and the only folders that may include them.
PLACES = [
    (re.compile(r"(hdf5|H5\w+)\.h$"), ["bindings/hdf5", "bench", "tests"]),
    (
        re.compile(r"(cuda|cuda_runtime|cuda_runtime_api|cublas\w*|nccl)\.h$"),
        ["src/memory/driver", "tests/support/cuda"],
    ),
    (re.compile(r"uc[mpst]/"), ["src/fabric/ucx", "tests", "bench"]),
    (
        re.compile(r"(torch|ATen|c10)/"),
        ["bindings/torch", "examples", "bench", "tests/bindings/torch", "tests/install"],
    ),
    (
        re.compile(r"mpi\.h$"),
        [
            "src/mpi",
            "src/topology",
            "src/comm",
            "src/runtime",
            "src/lifecycle",
            "src/collectives",
            "src/messages",
            "src/halo",
            "src/window",
            "capi",
            "include/syncyte/mpi.hpp",
            "bindings/fortran",
            "examples",
            "bench",
            "tests",
        ],
    ),
    (re.compile(r"fmt/"), ["src", "capi/src", "bindings/hdf5/src", "tests", "bench"]),
]

# Units outside src/mpi that may call MPI, each for a kind of communication that no other unit of src does.
MPI_CALLERS = {
    "src/collectives/mover": "collectives of elements",
    "src/collectives/rings": "MPI_Reduce_local",
    "src/collectives/started_collective": "the agreement of a non-blocking collective",
    "src/comm/cart": "Cartesian communicators",
    "src/comm/control_tags": "the highest tag",
    "src/runtime/group": "messages of groups that are being made",
    "src/comm/node_collectives": "MPI_Reduce_local",
    "src/lifecycle/lifecycle": "initialization and end",
    "src/comm/vote_exchange": "messages of agreements",
    "src/halo/transfer": "messages of halos",
    "src/messages/message": "point-to-point messages",
    "src/topology/shared_attempt": "the wait for ranks that attach to shared memory",
    "src/topology/shared_descriptor": "the wait for ranks that get a descriptor",
    "src/window/rma": "one-sided access to other nodes",
    "src/window/remote_mutex": "one-sided access to other nodes",
}
_MPI_TYPES = "Aint|Comm|Count|Datatype|Errhandler|Fint|Group|Info|Message|Op|Request|Status|Win"
MPI_FUNCTION = re.compile(rf"\bMPI_(?!({_MPI_TYPES})\b)[A-Z][a-z]\w*")
STRING_OR_COMMENT = re.compile(r'"[^"]*"|//.*|/\*.*?\*/')

SOURCE = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def includes(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line number, name and whether it is in quotes, of each #include."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(2), found.group(1) == '"'


def sources(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SOURCE and path.is_file())


def below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def owned(root: Path, path: Path, name: str, folders: list[str]) -> str | None:
    """The file of this repository that an include of `name` in `path` finds: beside `path`, or in one of `folders`."""
    for folder in [path.parent, *(root / folder for folder in folders)]:
        candidate = Path(os.path.normpath(folder / name))
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


@functools.cache
def heights(root: Path) -> dict[str, int]:
    """The number of each folder's layer; lower layers have lower numbers."""
    text = (root / "docs/architecture.md").read_text()
    return {folder: int(number) for number, folder in LAYER_ROW.findall(text)}


def check_order(root: Path) -> Iterator[str]:
    """CMake names the folders of src in the order of their layers."""
    height = heights(root)
    folders = SUBDIRECTORY.findall((root / "CMakeLists.txt").read_text())
    if sorted(folders) != sorted(height):
        yield f"CMakeLists.txt: adds {sorted(folders)}; the layers of docs/architecture.md are {sorted(height)}"
    elif folders != sorted(folders, key=height.__getitem__):
        yield "CMakeLists.txt: adds folders of src in another order than that of the layers in docs/architecture.md"


def check_layer(root: Path, path: Path, name: str) -> str | None:
    layer, height = path.relative_to(root / "src").parts[0], heights(root)
    if layer not in height:
        return f"src/{layer} has no layer in docs/architecture.md"
    target = owned(root, path, name, ["src", "capi/include", "include", "bindings/hdf5/include"])
    if target is None or below(target, "capi/include"):
        return None
    if not below(target, "src"):
        return f"the core includes {target}"
    other = target.split("/")[1]
    if other != layer and height.get(other, 99) >= height[layer]:
        return f"layer {layer} includes {target}, which is not below it"
    return None


def own_folder(file: str, user: str) -> str:
    """The part of `user` to which a file belongs: each binding and each example is a separate one."""
    if user in ("bindings", "examples", "tests/bindings"):
        return "/".join(file.split("/")[: user.count("/") + 2])
    return user


def check_user(root: Path, path: Path, name: str, user: str) -> str | None:
    file = path.relative_to(root).as_posix()
    own = own_folder(file, user)
    inner = [str(folder.relative_to(root)) for folder in (root / own).rglob("*") if folder.is_dir()]
    target = owned(root, path, name, [own, *inner, *USERS[user]])
    if target is None:
        target = owned(root, path, name, ["src", "capi", "capi/src", ""])
    if target is None or any(below(target, folder) for folder in [own, *USERS[user]]):
        return None
    return f"includes {target}: {user} uses the C and C++ interfaces alone"


def check_place(root: Path, path: Path, name: str) -> str | None:
    file = path.relative_to(root).as_posix()
    for pattern, folders in PLACES:
        if pattern.match(name) and not any(below(file, folder) for folder in folders):
            # A header of this repository in the same folder may have the same name.
            if owned(root, path, name, ["src", "capi/include", "include"]) is None:
                return f"includes <{name}>, which only {', '.join(folders)} may"
    return None


def mpi_functions(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and name of each function of MPI that a file calls or passes on."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for found in MPI_FUNCTION.finditer(STRING_OR_COMMENT.sub("", line)):
            yield number, found.group()


def check_mpi_calls(root: Path, path: Path) -> Iterator[str]:
    """Calls of MPI by a unit that is not one of MPI_CALLERS."""
    file = path.relative_to(root)
    if below(file.as_posix(), "src/mpi") or file.with_suffix("").as_posix() in MPI_CALLERS:
        return
    for number, function in mpi_functions(path):
        yield f"{file.as_posix()}:{number}: {function} is used outside src/mpi (MPI_CALLERS)"


def unneeded_callers(root: Path) -> Iterator[str]:
    """Units of MPI_CALLERS that do not call MPI."""
    for unit in MPI_CALLERS:
        files = [path for path in (root / unit).parent.glob(f"{Path(unit).name}.?pp")]
        if files and not any(list(mpi_functions(path)) for path in files):
            yield f"{unit}: does not call MPI, but MPI_CALLERS lists it"


def violations(root: Path) -> Iterator[str]:
    root = root.resolve()
    yield from unneeded_callers(root)
    yield from check_order(root)
    for folder in ["src", "capi", "include", "bindings", "examples", "tests", "bench"]:
        for path in sources(root / folder):
            file = path.relative_to(root).as_posix()
            if folder == "src":
                yield from check_mpi_calls(root, path)
            for number, name, _ in includes(path):
                verdicts = [check_place(root, path, name)]
                if folder == "src":
                    verdicts.append(check_layer(root, path, name))
                verdicts += [check_user(root, path, name, user) for user in USERS if below(file, user)]
                yield from (f"{file}:{number}: {verdict}" for verdict in verdicts if verdict)


def main() -> int:
    found = list(violations(Path(sys.argv[1])))
    print("\n".join(found) or "no violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
