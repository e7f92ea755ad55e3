# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of one program at one rank count. After a hang or a crash it runs the remaining tests again."""

import os
import shutil
import time
from dataclasses import dataclass, field

from . import results as store
from .board import Board
from .job import Job, ending_with_mpirun, environment
from .results import FAILED, JOB, PASSED, SKIPPED, Result
from .watch import Ending, Limits, watch


@dataclass
class Plan:
    """A run: mpirun with its flags, number of ranks, command of a rank, names of the tests, folder of the results. All
    tests are skipped if the file `needs` does not exist."""

    mpirun: list[str]
    ranks: int
    command: list[str]
    tests: list[str]
    folder: str
    env: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    needs: str = ""


def prepare_folder(folder: str) -> str:
    """Empties the folder of the results and makes the run's private working folder in it."""
    shutil.rmtree(folder, ignore_errors=True)
    work = os.path.join(folder, "work")
    os.makedirs(work)
    return work


class Run:
    """Executes a plan, with restarts, and collects the results."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.work = prepare_folder(plan.folder)
        self.lines = os.path.join(plan.folder, "results.jsonl")
        self.found: dict[str, Result] = {}
        self.job_failures: list[str] = []
        self.deadline = time.monotonic() + plan.limits.total

    def _path(self, name: str) -> str:
        return os.path.join(self.plan.folder, name)

    def _once(self, tests: list[str]) -> Ending:
        with open(self._path("select.txt"), "w", encoding="utf-8") as file:
            file.write("".join(test + "\n" for test in tests))
        board = Board(self._path("board"), self.plan.ranks, create=True)
        env = environment(self.plan.env)
        env["SYNCYTE_TEST_BOARD"] = board.path
        env["SYNCYTE_TEST_RESULTS"] = self.lines
        env["SYNCYTE_TEST_SELECT"] = self._path("select.txt")
        env["SYNCYTE_TEST_FOLDER"] = self.work
        command = [*self.plan.mpirun, str(self.plan.ranks), *ending_with_mpirun(self.plan.command)]
        job = Job(command, env, self.work, self._path("output.log"))
        try:
            return watch(job, board, self.plan.limits, self.deadline)
        except BaseException:
            job.kill()
            raise
        finally:
            board.close()

    def _collect(self) -> None:
        for result in store.read_lines(self.lines):
            self.found[result.test] = result

    def _blame(self, ending: Ending) -> None:
        if ending.test:
            self.found[ending.test] = Result(ending.test, FAILED, ending.seconds, ending.text)
        elif ending.kind:
            self.job_failures.append(ending.text)

    def _remaining(self) -> list[str]:
        return [test for test in self.plan.tests if test not in self.found]

    def execute(self) -> list[Result]:
        if self.plan.needs and not os.path.exists(self.plan.needs):
            text = f"{self.plan.needs} does not exist\n"
            self.found = {test: Result(test, SKIPPED, 0.0, text) for test in self.plan.tests}
        remaining = self._remaining()
        while remaining:
            ending = self._once(remaining)
            self._collect()
            self._blame(ending)
            left = self._remaining()
            progress = len(left) < len(remaining)
            if left and (not progress or time.monotonic() > self.deadline or not ending.kind):
                self._give_up(left, ending)
                left = []
            remaining = left
        return self._finish()

    def _give_up(self, left: list[str], ending: Ending) -> None:
        text = "did not run: " + (ending.text or "the program ended without running it\n")
        for test in left:
            self.found[test] = Result(test, FAILED, 0.0, text)

    def _finish(self) -> list[Result]:
        for result in self.found.values():
            if result.test not in self.plan.tests and result.verdict == FAILED:
                self.job_failures.append(f"{result.test}, which CTest does not know, failed:\n{result.message}\n")
        ordered = store.by_entry([self.found[test] for test in self.plan.tests])
        verdict = FAILED if self.job_failures else PASSED
        ordered.append(Result(JOB, verdict, 0.0, "\n".join(self.job_failures)))
        store.write_verdicts(os.path.join(self.plan.folder, "verdicts"), ordered)
        store.write_junit(self._path("junit.xml"), os.path.basename(self.plan.folder), ordered)
        return ordered
