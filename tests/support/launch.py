#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests under mpirun and keeps a verdict for each of them; cmake/SyncyteTest.cmake calls it.

launch.py discover ...        finds the tests of a program and declares them to CTest (when it is built)
launch.py run ...             runs all tests of a program at one rank count (a CTest fixture)
launch.py program -- COMMAND  runs a plain program: it passes if all ranks exit with 0

A run by hand: launch.py run --kind gtest --ranks 3 --folder /tmp/run build/tests/base/test_base
"""

import argparse
import fnmatch
import os
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))

from mpi_harness import discover, program
from mpi_harness.job import MPIRUN
from mpi_harness.results import FAILED
from mpi_harness.run import Plan, Run
from mpi_harness.watch import Limits

STARTED = time.monotonic()


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mpirun", default=MPIRUN, help="mpirun and its flags, the rank count's last (a|b|c)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the ranks")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of one test")
    parser.add_argument("--total", type=float, default=300.0, help="seconds of the whole run")


def add_kind(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        default="",
        metavar="PATTERNS",
        help="tests' names, also with * (a,b,c); !a leaves a test out; default: all",
    )
    parser.add_argument("--kind", choices=["gtest", "pytest"], default="gtest")
    parser.add_argument("--folder", required=True, help="folder of the results")
    parser.add_argument("--needs", default="", metavar="FILE", help="skip all tests where there is no such file")
    parser.add_argument("files", nargs="+", help="the GoogleTest program, or the pytest files")


def rank_counts(text: str) -> list[int]:
    return [int(count) for count in text.split(",") if count]


def environment_of(options: argparse.Namespace) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in options.env]
    return {name: value for name, _, value in pairs}


def matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, each) for each in patterns)


def names_of(options: argparse.Namespace, thorough: bool) -> list[str]:
    if options.kind == "gtest":
        names = discover.gtest_names(options.files[0])
    else:
        names = discover.pytest_names(options.files, thorough)
    patterns = [pattern for pattern in options.only.split(",") if pattern]
    unknown = [pattern for pattern in patterns if not fnmatch.filter(names, pattern.removeprefix("!"))]
    if unknown:
        raise SystemExit(f"--only: no test is called {', '.join(unknown)}")
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")] or ["*"]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return [name for name in names if matches(name, wanted) and not matches(name, unwanted)]


def rank_command(options: argparse.Namespace) -> list[str]:
    files = [os.path.abspath(file) for file in options.files]
    if options.kind == "gtest":
        return files
    # pytest's capture of log messages costs 2 ms per test, so it is off.
    flags = ["-p", "mpi_plugin", "-p", "no:cacheprovider", "-p", "no:logging"]
    flags += ["--tb=short", "--rootdir", os.path.dirname(files[0])]
    flags += [] if options.thorough else ["-m", "not thorough"]
    return [sys.executable, "-m", "pytest", *flags, *files]


def run_discover(options: argparse.Namespace) -> int:
    launch = [sys.executable, os.path.abspath(__file__), "run", "--kind", options.kind, "--mpirun", options.mpirun]
    launch += ["--limit", f"{options.limit:g}", "--total", f"{options.total:g}"]
    for entry in options.env:
        launch += ["--env", entry]
    launch += ["--needs", options.needs] if options.needs else []
    launch += ["--only", options.only] if options.only else []
    launch += [os.path.abspath(file) for file in options.files]
    labels = [label for label in options.labels.split(",") if label]
    declaration = discover.Declaration(
        name=options.name,
        folder=options.folder,
        launch=launch,
        ranks=options.ranks,
        more_ranks=options.more_ranks,
        labels=labels,
        timeout=options.total + 60,
        slots=options.slots,
        cost=options.cost,
        tests=names_of(options, thorough=False),
        all_tests=names_of(options, thorough=True),
    )
    discover.write(declaration, options.output)
    return 0


def run_tests(options: argparse.Namespace) -> int:
    env = environment_of(options)
    if options.kind == "pytest":
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], env.get("PYTHONPATH"), os.getenv("PYTHONPATH")]))
    limits = Limits(test=options.limit, after_failure=min(5.0, options.limit / 2), total=options.total)
    folder = os.path.abspath(options.folder)
    names = names_of(options, options.thorough)
    plan = Plan(
        options.mpirun.split("|"), options.ranks, rank_command(options), names, folder, env, limits, options.needs
    )
    results = Run(plan).execute()
    failed = [result for result in results if result.verdict == FAILED]
    for result in failed:
        print(f"FAILED at {options.ranks} ranks: {result.test}\n{result.message}")
    print(f"{len(results) - len(failed)} of {len(results)} verdicts are good; they are in {folder}")
    print(f"It took {time_spent()}.")
    # CTest reads the result of each test; only a run by hand needs the exit status.
    return 1 if failed and options.strict else 0


def run_program(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if command and os.path.isfile(command[0]):
        command[0] = os.path.abspath(command[0])  # the ranks have another working folder
    folder = os.path.abspath(options.folder)
    return program.run(
        options.mpirun.split("|"), options.ranks, command, folder, environment_of(options), options.limit, options.mpmd
    )


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    finder = modes.add_parser("discover", help="declare tests to CTest")
    finder.add_argument("--name", required=True)
    finder.add_argument("--output", required=True, help="file that CTest includes")
    finder.add_argument("--labels", default="")
    finder.add_argument("--ranks", type=rank_counts, default=[1], help="rank counts of the default run (a,b,c)")
    finder.add_argument("--more-ranks", type=rank_counts, default=[], help="rank counts with the label ranks (a,b,c)")
    finder.add_argument("--slots", type=int, default=1, help="CTest's PROCESSORS of the run")
    finder.add_argument("--cost", type=float, default=0.0, help="CTest's COST of the run")
    runner = modes.add_parser("run", help="run tests")
    runner.add_argument("--ranks", type=int, default=1)
    runner.add_argument("--thorough", action="store_true", help="with the cases that are marked thorough")
    runner.add_argument("--strict", action="store_true", help="exit with 1 if a test failed")
    plain = modes.add_parser("program", help="run a program whose exit status is the verdict")
    plain.add_argument("--ranks", type=int, default=1)
    plain.add_argument("--folder", required=True)
    plain.add_argument("--mpmd", default="", help="syncyte-mpmd, for an mpirun that takes one program only")
    plain.add_argument("command", nargs=argparse.REMAINDER)
    for mode in (finder, runner):
        add_kind(mode)
    for mode in (finder, runner, plain):
        add_common(mode)
    return parser.parse_args(arguments)


def time_spent() -> str:
    """Elapsed and processor time of this launcher and its children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    busy = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return f"{time.monotonic() - STARTED:.1f} s, of which the processors were busy for {busy:.1f} s"


def interrupted(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def main() -> int:
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, interrupted)
    modes = {"discover": run_discover, "run": run_tests, "program": run_program}
    return modes[options.mode](options)


if __name__ == "__main__":
    sys.exit(main())
