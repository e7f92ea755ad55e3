# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C source with every function of a CUDA runtime library, each of which answers "not supported".

runtime_stubs.py NM LIBRARY OUTPUT

They are weak, so that functions which the stand-in has (runtime.cpp) take their place.
"""

import subprocess
import sys
from pathlib import Path

HEAD = """\
int standin_unsupported(const char*);
#define UNSUPPORTED(name) \\
  __attribute__((weak, visibility("default"))) int name(void) { return standin_unsupported(#name); }
"""


def functions_of(nm: str, library: str) -> list[str]:
    listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    entries = [line.split() for line in listed.splitlines()]
    return sorted({name.partition("@")[0] for _, kind, name in entries if kind == "T"})


def main() -> None:
    nm, library, output = sys.argv[1:]
    lines = [f"UNSUPPORTED({name})" for name in functions_of(nm, library)]
    Path(output).write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
