#!/usr/bin/env python3
"""Runs the benchmark programs under mpirun, writes report.json and prints it as a table.

Each program prints its rows as lines of JSON on rank 0: {name, unit, ours, reference, reference_name, ratio, ratio_min,
ratio_max, goal, better}. Ours and the reference alternate in one process; ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

# Two ranks, because a job with more ranks than cores measures the scheduler. Idle ranks yield; ranks are not bound.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMP_NUM_THREADS": "1"}
RANKS = 2


def run_program(mpiexec: str, command: list[str], folder: str) -> tuple[list[dict], str | None]:
    """Rows of a program, and the reason if it failed."""
    environment = {**os.environ, **ENVIRONMENT, "SYNCYTE_BENCH_FOLDER": folder}
    print(f"-- {os.path.basename(command[-1])}", file=sys.stderr, flush=True)
    try:
        done = subprocess.run([mpiexec, "-n", str(RANKS), *command], env=environment, stdout=subprocess.PIPE, text=True,
                              timeout=600)
    except subprocess.TimeoutExpired:
        return [], "it did not end within 600 s"
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return rows, None if done.returncode == 0 else f"it ended with status {done.returncode}"


def met(row: dict) -> str:
    if row["goal"] is None:
        return ""
    better = row["ratio"] >= row["goal"] if row["better"] == "higher" else row["ratio"] <= row["goal"]
    return "met" if better else "MISSED"


def print_table(rows: list[dict]) -> None:
    header = ("what", "against", "ours", "reference", "unit", "ratio", "min..max", "goal", "")
    lines = [header]
    for row in rows:
        sign = ">=" if row["better"] == "higher" else "<="
        lines.append((row["name"], row["reference_name"], f"{row['ours']:.3g}", f"{row['reference']:.3g}", row["unit"],
                      f"{row['ratio']:.2f}", f"{row['ratio_min']:.2f}..{row['ratio_max']:.2f}",
                      "" if row["goal"] is None else f"{sign} {row['goal']}", met(row)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpiexec", default="mpirun", help="mpirun of the MPI that Syncyte was built with")
    parser.add_argument("--output", default="report.json", help="file to write")
    parser.add_argument("--only", default="", help="run only programs whose path contains this")
    parser.add_argument("programs", nargs="+", help="executables, and Python scripts (*.py)")
    options = parser.parse_args()
    folder = os.path.dirname(os.path.abspath(options.output))
    os.makedirs(folder, exist_ok=True)
    rows, failed = [], []
    for program in options.programs:
        if options.only not in program:
            continue
        command = [sys.executable, program] if program.endswith(".py") else [program]
        new_rows, problem = run_program(options.mpiexec, command, folder)
        rows += new_rows
        if problem:
            failed.append(f"{program}: {problem}")
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    print_table(rows)
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
