# SPDX-License-Identifier: BSD-3-Clause
"""Every public procedure of the Fortran modules has a comment, an example and a line in README.md. The CMake targets
that README.md names exist.

Usage: documented_test.py FOLDER_OF_THE_BINDING
"""

import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
RENAMED = {"start": "syncyte_init", "finish_all": "syncyte_finalize"}  # by module syncyte


def bindings(text: str) -> list[tuple[str, str]]:
    """Pairs (name as users write it, name of the procedure) of all type-bound procedures that are not private."""
    found = re.findall(r"^ +procedure :: (\w+) => (\w+)$", text, re.M)
    generics = re.findall(r"^( +!> .+\n)? +generic :: (\w+) =>", text, re.M)
    problems = [f"generic {name} has no comment" for comment, name in generics if not comment]
    if problems:
        raise SystemExit("\n".join(problems))
    return [(f"%{name}(", procedure) for name, procedure in found] + [(f"%{name}(", "") for _, name in generics]


def publics(text: str) -> list[tuple[str, str]]:
    """The same pairs for the public module procedures."""
    names = " ".join(re.findall(r"^  public :: ((?:.*&\n)*.*)$", text, re.M))
    names = [name for name in re.split(r"[\s,&]+", names) if name]
    return [(f"{RENAMED.get(name, name)}(", name) for name in names]


def missing_targets(readme: str) -> list[str]:
    """Targets that README.md names and that are no alias in CMakeLists.txt."""
    known = re.findall(r"add_library\(([\w:]+) ALIAS", (FOLDER / "CMakeLists.txt").read_text())
    named = re.findall(r"syncyte::\w+|syncyte_fortran\w*", readme)
    return [f"README.md names the target {name}, which does not exist" for name in named if name not in known]


def main() -> int:
    examples = "".join(path.read_text() for path in sorted((FOLDER / "examples").glob("*.f90")))
    readme = (FOLDER / "README.md").read_text()
    problems, count = missing_targets(readme), 0
    for name in [
        "generated/syncyte_runtime.f90",
        "generated/syncyte_comms.f90",
        "generated/syncyte_collectives.f90",
        "generated/syncyte_messages.f90",
        "generated/syncyte_carts.f90",
        "generated/syncyte_halos.f90",
        "generated/syncyte_tensors.f90",
        "generated/syncyte_windows.f90",
        "generated/syncyte_stores.f90",
        "generated/syncyte_caches.f90",
        "generated/syncyte_checkpoint.f90",
    ]:
        text = (FOLDER / name).read_text()
        for used, procedure in bindings(text) + publics(text):
            count += 1
            comment = rf"!> .+\n +(?:[\w ]+ )?(?:subroutine|function) {procedure}\("
            if procedure and not re.search(comment, text):
                problems.append(f"{name}: {procedure} has no comment")
            if used not in examples:
                problems.append(f"{name}: no example has {used}")
            if used not in readme:
                problems.append(f"README.md does not mention {used}")
    print("\n".join(problems) or f"{count} public procedures are documented and shown")
    return 1 if problems or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
