#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmark programs under mpirun, writes report.json and prints it as a table.

Each program prints its rows as lines of JSON on rank 0: {name, unit, ours, reference, reference_name, ratio, ratio_min,
ratio_max, goal, better}. Ours and the reference alternate in one process; ratio is the median of the rounds' ratios. A
row without a peer has no figures, and the reason as not_measured.

A program given by --micro runs in one process without mpirun, by way of micro.py.

A program given by --between-hosts runs with one rank on each of the virtual hosts (tests/support/virtual_hosts.py),
which have cores of their own. Its rows are skipped, and the reason is printed, if this machine cannot have virtual
hosts or mpirun is not Open MPI's.

--compare OLD prints the rows whose ratio is worse than in an older report, and the exit status is 1 if there is one.
Without programs nothing runs, and the report that --output names is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

# Two ranks, because a job with more ranks than cores measures the scheduler. Idle ranks yield; ranks are not bound.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}
RANKS = 2

SKIPPED = 77  # exit status of virtual_hosts.py
HERE = os.path.dirname(os.path.abspath(__file__))
VIRTUAL_HOSTS = os.path.join(HERE, "..", "tests", "support", "virtual_hosts.py")

# mpirun on virtual hosts puts "[1,0]<stdout>:" before each line of rank 0.
ROW = re.compile(r"^(?:\[\d+,\d+\]<stdout>:)?(\{.*)")


@dataclass
class Run:
    """One start of a program, and what came of it."""

    name: str
    command: list[str]
    environment: dict[str, str]
    rows: list[dict] = field(default_factory=list)
    problem: str = ""

    def start(self) -> None:
        print(f"-- {self.name}", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(
                self.command,
                env={**os.environ, **ENVIRONMENT, **self.environment},
                stdout=subprocess.PIPE,
                text=True,
                timeout=600,
            )
        except subprocess.TimeoutExpired:
            self.problem = "it did not end within 600 s"
            return
        self.rows = [json.loads(found[1]) for found in map(ROW.match, done.stdout.splitlines()) if found]
        if done.returncode == SKIPPED:
            print(done.stdout.strip(), file=sys.stderr, flush=True)
        elif done.returncode != 0:
            self.problem = f"it ended with status {done.returncode}"


def command_of(program: str) -> list[str]:
    return [sys.executable, program] if program.endswith(".py") else [program]


def run_on_node(program: str, mpiexec: str, folder: str) -> Run:
    command = [mpiexec, "-n", str(RANKS), *command_of(program)]
    return Run(os.path.basename(program), command, {"SYNCYTE_BENCH_FOLDER": folder})


def run_between_hosts(words: str, mpiexec: str) -> Run:
    """The run for PROGRAM|LINKS|NAME=VALUE|...: "rate=MBIT", "delay=MS", "hosts=N" or "unlimited", the environment."""
    program, links, *settings = words.split("|")
    environment = dict(setting.split("=", 1) for setting in settings if setting)
    limit = [f"--{links}"] if links.startswith(("rate=", "delay=")) else []
    hosts = links.removeprefix("hosts=") if links.startswith("hosts=") else "2"
    if links.startswith("rate="):
        environment["SYNCYTE_BENCH_RATE"] = links.removeprefix("rate=")
    command = [
        sys.executable,
        "-B",
        VIRTUAL_HOSTS,
        "--hosts",
        hosts,
        "--own-cores",
        "--mpirun",
        mpiexec,
        *limit,
        "--",
        "{mpirun}",
        hosts,
        *command_of(program),
    ]
    return Run(f"{os.path.basename(program)}, links: {links}", command, environment)


def run_micro(program: str) -> Run:
    return Run(os.path.basename(program), [sys.executable, "-B", os.path.join(HERE, "micro.py"), program], {})


def is_open_mpi(mpiexec: str) -> bool:
    done = subprocess.run([mpiexec, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return re.search("Open MPI|OpenRTE|PRRTE", done.stdout) is not None


def all_runs(options: argparse.Namespace, folder: str) -> list[Run]:
    runs = [run_micro(program) for program in options.micro if options.only in program]
    runs += [run_on_node(program, options.mpiexec, folder) for program in options.programs if options.only in program]
    between = [run_between_hosts(words, options.mpiexec) for words in options.between_hosts if options.only in words]
    if between and not is_open_mpi(options.mpiexec):
        print("SKIPPED: virtual hosts need Open MPI's mpirun", file=sys.stderr)
        between = []
    return runs + between


def met(row: dict) -> str:
    if "not_measured" in row:
        return f"not measured: {row['not_measured']}"
    if row["goal"] is None:
        return ""
    better = row["ratio"] >= row["goal"] if row["better"] == "higher" else row["ratio"] <= row["goal"]
    return "met" if better else "MISSED"


def written(row: dict, name: str, digits: str) -> str:
    return "" if row[name] is None else format(row[name], digits)


def print_table(rows: list[dict]) -> None:
    header = ("what", "against", "ours", "reference", "unit", "ratio", "min..max", "goal", "")
    lines = [header]
    for row in rows:
        sign = ">=" if row["better"] == "higher" else "<="
        lines.append(
            (
                row["name"],
                row["reference_name"],
                written(row, "ours", ".3g"),
                written(row, "reference", ".3g"),
                row["unit"],
                written(row, "ratio", ".2f"),
                written(row, "ratio_min", ".2f") + ".." + written(row, "ratio_max", ".2f"),
                "" if row["goal"] is None else f"{sign} {row['goal']:.3g}",
                met(row),
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def worsened(old: list[dict], new: list[dict], percent: float) -> list[str]:
    """A line for each row whose ratio is worse than in the old report by more than `percent`."""

    def key(row: dict) -> tuple[str, ...]:
        return row["name"], row["reference_name"], row["unit"]

    before = {key(row): row["ratio"] for row in old if row["ratio"] is not None}
    found = []
    for row in new:
        if row["ratio"] is None:
            continue
        was = before.get(key(row), row["ratio"])
        loss = was - row["ratio"] if row["better"] == "higher" else row["ratio"] - was
        if loss > abs(was) * percent / 100:
            found.append(
                f"WORSE: {row['name']}, against {row['reference_name']}: ratio {was:.3g} -> {row['ratio']:.3g}"
            )
    return found


def measured_rows(options: argparse.Namespace) -> tuple[list[dict], list[str]]:
    """Rows of all programs, which are written to the report, and what failed."""
    folder = os.path.dirname(os.path.abspath(options.output))
    os.makedirs(folder, exist_ok=True)
    runs = all_runs(options, folder)
    for run in runs:
        run.start()
    rows = [row for run in runs for row in run.rows]
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    print_table(rows)
    return rows, [f"{run.name}: {run.problem}" for run in runs if run.problem]


def report(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpiexec", default="mpirun", help="mpirun of the MPI that Syncyte was built with")
    parser.add_argument("--output", default="report.json", help="file to write")
    parser.add_argument("--only", default="", help="run only programs whose path contains this")
    parser.add_argument("--compare", metavar="OLD", help="an older report.json")
    parser.add_argument("--percent", type=float, default=10, help="by how much a ratio may be worse (10)")
    parser.add_argument("--micro", action="append", default=[], metavar="PROGRAM", help="program of micro benchmarks")
    parser.add_argument(
        "--between-hosts",
        action="append",
        default=[],
        metavar="PROGRAM|LINKS|NAME=VALUE...",
        help="program for virtual hosts; LINKS: rate=MBIT, delay=MS, hosts=N or unlimited",
    )
    parser.add_argument("programs", nargs="*", help="executables, and Python scripts (*.py)")
    options = parser.parse_args()
    old = report(options.compare) if options.compare else []  # before it may be overwritten
    if options.compare and not (options.programs or options.micro or options.between_hosts):
        rows, failed = report(options.output), []
    else:
        rows, failed = measured_rows(options)
    failed += worsened(old, rows, options.percent)
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
