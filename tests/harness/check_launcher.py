#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the launcher on tests that go wrong and checks its verdicts.

check_launcher.py --kind gtest|pytest|program|end --target FILE --launch tests/support/launch.py [--mpirun a|b|c]
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass

RANKS = 3
LIMIT = 2.5  # seconds of a test
PROGRAM_LIMIT = 3.0  # seconds of a program that hangs, including the start of all ranks
START_SECONDS = 80.0  # longest start of mpirun and its ranks
MOST_SECONDS = 12.0  # longest time that a hang or a crash costs on a busy machine, including the restart
# In one of five runs mpirun 5.0 loses its message about the rank that failed; then the launcher can only say this.
MUTE = "CRASH: mpirun ended with status"
MOST_TRIES = 5


@dataclass
class Case:
    """A test that goes wrong: its verdict, and the words that its message must contain."""

    test: str
    verdict: str
    words: tuple[str, ...]
    ends_run: bool = False  # True if it hangs or crashes: the run is started again after it


GTEST = [
    Case("faulty.fails_on_one_rank", "failed", ("[rank 2]", "only here", "faulty.cpp:")),
    Case(
        "faulty.hangs_on_one_rank",
        "failed",
        ("HANG: rank 2 did not arrive", "rank 0", "has arrived", "sleep"),
        ends_run=True,
    ),
    Case("faulty.hangs_inside_mpi", "failed", ("HANG: ranks 0, 1 did not arrive", "rank 2", "stacks"), ends_run=True),
    Case(
        "faulty.fails_while_others_wait",
        "failed",
        ("ranks 0, 1 did not arrive", "it failed", "left early"),
        ends_run=True,
    ),
    Case("faulty.segfaults", "failed", ("CRASH: rank 2 died of SIGSEGV",), ends_run=True),
    Case("faulty.is_killed", "failed", ("CRASH: rank 2 died of SIGKILL",), ends_run=True),
    Case("faulty.throws_nothing_but_exits", "failed", ("CRASH: rank 2 exited with status 9",), ends_run=True),
    Case("faulty.aborts", "failed", ("CRASH: rank 2 called MPI_Abort(5)",), ends_run=True),
    Case("faulty.leaves_a_message", "failed", ("[rank 0]", "unreceived", "from rank 2, tag 7, 4 bytes")),
    Case("faulty.skips_everywhere", "skipped", ("no such thing",)),
    Case("faulty.skips_on_one_rank", "passed", ()),
]
PYTEST = [
    Case("test_raises_on_one_rank", "failed", ("[rank 2]", "ValueError: only here", "faulty_pytest.py")),
    Case("test_hangs_on_one_rank", "failed", ("HANG: rank 2 did not arrive", "faulty_pytest.py"), ends_run=True),
    Case("test_raises_while_others_wait", "failed", ("ranks 0, 1 did not arrive", "left early"), ends_run=True),
    Case("test_segfaults", "failed", ("CRASH: rank 2 died of SIGSEGV",), ends_run=True),
    Case("test_exits", "failed", ("CRASH: rank 2 exited with status 9",), ends_run=True),
    Case("test_leaves_a_message", "failed", ("[rank 0]", "unreceived", "from rank 2, tag 7")),
    Case("test_one_case_fails", "failed", ("[rank 2]", "test_one_case_fails[2]")),
    Case("test_skips_everywhere", "skipped", ("no such thing",)),
]
# Arguments of the plain program: exit status of the launcher, words of its output.
PROGRAM = {
    "succeeds": (0, ()),
    "skips": (77, ()),
    "fails": (1, ("CRASH", "rank 2 exited with status 1")),
    "dies": (1, ("CRASH", "rank 2 died of SIGKILL")),
    "hangs": (1, ("HANG", "rank 2 (pid", "alive")),
}


def check(condition: bool, text: str) -> None:
    if not condition:
        sys.exit(f"the launcher is wrong: {text}")


def launch(
    options: argparse.Namespace, mode: str, limit: float, most_seconds: float, arguments: list[str]
) -> subprocess.CompletedProcess:
    command = [sys.executable, "-B", options.launch, mode, "--ranks", str(RANKS), f"--limit={limit:g}"]
    command += [f"--mpirun={options.mpirun}", *arguments]
    begin = time.monotonic()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
    seconds = time.monotonic() - begin
    print(result.stdout)
    check(seconds < most_seconds, f"it took {seconds:.1f} s, expected less than {most_seconds:g} s")
    return result


def verdict(folder: str, test: str) -> tuple[str, str]:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))
    from mpi_harness.results import file_name

    path = os.path.join(folder, "verdicts", file_name(test))
    check(os.path.exists(path), f"no verdict for {test}")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text.split(" ")[0], text


def check_tests(options: argparse.Namespace, folder: str) -> None:
    """Runs all cases in one run: it is started again after each hang or crash, and good tests still pass."""
    cases = GTEST if options.kind == "gtest" else PYTEST
    prefix = "" if options.kind == "gtest" else os.path.basename(options.target) + "::"
    good = ["good.before", "good.after"] if options.kind == "gtest" else ["test_good_before", "test_good_after"]
    names = [prefix + name for name in [*good, *(case.test for case in cases)]]
    left_out = [prefix + "test_is_left_out", "!*left_out"] if options.kind == "pytest" else []
    only = "--only=" + ",".join(names + left_out)
    most_seconds = MOST_SECONDS * (1 + sum(case.ends_run for case in cases))
    result = launch(
        options, "run", LIMIT, most_seconds, ["--kind", options.kind, "--folder", folder, only, options.target]
    )
    check(result.returncode == 0, f"exit status {result.returncode}")
    for name in [*(prefix + name for name in good), "(job)"]:
        check(verdict(folder, name)[0] == "passed", f"{name}: {verdict(folder, name)[1]}")
    for case in cases:
        found, text = verdict(folder, prefix + case.test)
        check(found == case.verdict, f"{case.test} is {found}, expected {case.verdict}:\n{text}")
        seconds = float(text.split("\n")[0].rpartition("(")[2].split(" ")[0])
        check(seconds < MOST_SECONDS, f"{case.test} took {seconds} s, expected less than {MOST_SECONDS:g} s")
        for word in case.words:
            check(word in text, f"the message of {case.test} does not say {word!r}:\n{text}")
    suite = xml.parse(os.path.join(folder, "junit.xml")).getroot()
    failures = sum(case.verdict == "failed" for case in cases)
    check(len(suite) == len(cases) + 3, f"JUnit has {len(suite)} entries, expected {len(cases) + 3}")
    check(len(suite.findall("./testcase/failure")) == failures, f"failures in JUnit, expected {failures}")


def check_program(options: argparse.Namespace, folder: str) -> None:
    for argument, (status, words) in PROGRAM.items():
        limit = PROGRAM_LIMIT if argument == "hangs" else 20.0
        for _ in range(MOST_TRIES):
            arguments = ["--folder", folder, "--", options.target, argument]
            result = launch(options, "program", limit, MOST_SECONDS, arguments)
            check(result.returncode == status, f"{argument}: exit status {result.returncode}, expected {status}")
            if MUTE not in result.stdout:
                break
        for word in words:
            check(word in result.stdout, f"{argument}: the output does not say {word!r}")


def ranks_alive(mark: str) -> int:
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                count += f"HARNESS_MARK={mark}".encode() in file.read().split(b"\0")
        except OSError:
            continue
    return count


def await_start(mark: str) -> None:
    """Waits until all ranks have started. The first mpirun after boot reads MPI from disk, which may take long."""
    limit = time.monotonic() + START_SECONDS
    # The launcher and mpirun are marked too. The count may fall again: a process in exec() shows no environment.
    while (alive := ranks_alive(mark)) < RANKS + 2 and time.monotonic() < limit:
        time.sleep(0.05)
    check(alive >= RANKS + 2, f"{alive} processes have started after {START_SECONDS:g} s, expected {RANKS + 2}")


def check_ends(options: argparse.Namespace, folder: str) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        check_end(options, folder, number)


def check_end(options: argparse.Namespace, folder: str, number: signal.Signals) -> None:
    """A launcher that is ended by a signal, from CTest's time limit or from a user, ends its ranks too."""
    command = [sys.executable, "-B", options.launch, "program", "--ranks", str(RANKS), "--limit=100"]
    command += ["--folder", folder, f"--mpirun={options.mpirun}", "--", options.target, "hangs"]
    mark = f"{os.getpid()}-{number}"
    with subprocess.Popen(command, env=dict(os.environ, HARNESS_MARK=mark)) as launcher:
        try:
            await_start(mark)
            time.sleep(0.5)
            launcher.send_signal(number)
            launcher.wait(20)
        finally:
            launcher.kill()
    limit = time.monotonic() + 15
    while ranks_alive(mark) > 0 and time.monotonic() < limit:
        time.sleep(0.05)
    check(ranks_alive(mark) == 0, f"{ranks_alive(mark)} processes are left after {signal.Signals(number).name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=["gtest", "pytest", "program", "end"], required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--launch", required=True)
    parser.add_argument("--mpirun", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="syncyte-harness-") as folder:
        checks = {"program": check_program, "end": check_ends}
        checks.get(options.kind, check_tests)(options, os.path.join(folder, "run"))


if __name__ == "__main__":
    main()
