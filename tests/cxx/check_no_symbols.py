#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_no_symbols.py NM OBJECT...: the headers define only symbols that the linker may merge (inline, templates)."""

import subprocess
import sys

MERGED = set("WwVvuU")  # weak, unique, undefined; lower-case letters are local to the object

nm, *objects = sys.argv[1:]
wrong = []
for path in objects:
    listing = subprocess.run([nm, "--demangle", path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        kind, _, name = line[17:].partition(" ")
        if kind.isupper() and kind not in MERGED:
            wrong.append(f"{path}: {kind} {name}")
if wrong or not objects:
    sys.exit("the C++ headers define symbols:\n" + "\n".join(wrong))
print(f"{len(objects)} headers define no symbol")
