# SPDX-License-Identifier: BSD-3-Clause
"""pytest plugin: the ranks of an mpirun run the same tests and agree on each verdict.

Used by tests/support/launch.py (cmake/SyncyteTest.cmake: syncyte_pytest). A test passes if it passes on every rank. The
fixture `comm` is mpi4py's MPI.COMM_WORLD. The cases of a parametrised function share one verdict, which is written
after the last case.
"""

import faulthandler
import gc
import os
import signal
import sys
import time
import zlib

import pytest
from _pytest.terminal import TerminalReporter
from mpi4py import MPI

from mpi_harness import board as states
from mpi_harness import results as store
from mpi_harness.rank import Agreement, BoardWriter

_RANK_OF = {store.SKIPPED: 0, store.PASSED: 1, store.FAILED: 2}


@pytest.fixture(scope="session")
def comm() -> MPI.Intracomm:
    """Communicator of all ranks."""
    return MPI.COMM_WORLD


def function_name(nodeid: str) -> str:
    """Name in CTest: the file's base name and the function, without parameters."""
    path, _, rest = nodeid.partition("::")
    return os.path.basename(path) + "::" + rest.split("[")[0]


class MpiPlugin:
    """Agrees on the verdict after each test, and writes this rank's state for the launcher."""

    def __init__(self) -> None:
        self.agreement = Agreement(MPI.COMM_WORLD)
        self.board = BoardWriter(self.agreement.rank)
        self.failures = ""
        self.skip_reason = ""
        self.outcomes: list[str] = []
        self.collection_errors = ""
        self.results: dict[str, store.Result] = {}
        self.modules_frozen = 0

    # Collection: all ranks must have found the same tests.

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.collection_errors += f"{report.nodeid}: {report.longreprtext}\n"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        path = os.environ.get("SYNCYTE_TEST_SELECT")
        if path is None:
            return
        with open(path, encoding="utf-8") as file:
            chosen = set(file.read().split())
        items[:] = [item for item in items if function_name(item.nodeid) in chosen]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        names = "\n".join(item.nodeid for item in session.items)
        digest = zlib.crc32(names.encode())
        same = self.agreement.same(digest)
        errors = self.agreement.gather_text(self.collection_errors)
        if errors and self.agreement.rank == 0:
            print(errors, flush=True)
        if not same or self.agreement.largest(bool(self.collection_errors)):
            pytest.exit("collection failed" if same else "the ranks did not collect the same tests", returncode=3)

    # Tests.

    def _freeze_modules(self) -> None:
        """Excludes modules from Python's garbage collections: with torch's modules a gc.collect() takes 0.2 s."""
        if len(sys.modules) > self.modules_frozen + 20:
            gc.collect()
            gc.freeze()
            self.modules_frozen = len(sys.modules)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None):
        name = function_name(item.nodeid)
        self._freeze_modules()
        self.failures, self.skip_reason, self.outcomes = "", "", []
        begin = time.monotonic()
        self.board.begin(name)
        yield
        self.board.arrive()
        self._agree(item.nodeid, name, begin)
        if nextitem is None or function_name(nextitem.nodeid) != name:
            self._write(name)
        self.board.enter(states.IDLE)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            text = f"{report.nodeid} ({report.when}): {report.longreprtext}\n"
            text += "".join(f"{title}:\n{content}\n" for title, content in report.sections)
            self.failures += text
            self.board.fail(text)
        elif report.skipped:
            self.outcomes.append(store.SKIPPED)
            self.skip_reason = f"{report.nodeid}: {report.longreprtext}\n"
        elif report.when == "call":
            self.outcomes.append(store.PASSED)

    def _agree(self, nodeid: str, name: str, begin: float) -> None:
        verdict = store.FAILED if self.failures else store.PASSED if store.PASSED in self.outcomes else store.SKIPPED
        worst = self.agreement.largest(_RANK_OF[verdict])
        self.failures += self.agreement.drain_messages(MPI.COMM_WORLD)
        worst = self.agreement.largest(2 if self.failures else worst)
        verdict = [store.SKIPPED, store.PASSED, store.FAILED][worst]
        text = self.skip_reason if verdict == store.SKIPPED else ""
        if verdict == store.FAILED:
            text = self.agreement.gather_text(self.failures)
        self._merge(store.Result(name, verdict, time.monotonic() - begin, text))
        if self.agreement.rank == 0:
            print(f"[{verdict}] {nodeid} on {self.agreement.size} ranks\n{text}", end="", flush=True)

    def _merge(self, result: store.Result) -> None:
        before = self.results.get(result.test)
        if before is not None:
            result.seconds += before.seconds
            result.message = before.message + result.message
            result.verdict = max(before.verdict, result.verdict, key=lambda verdict: _RANK_OF[verdict])
        self.results[result.test] = result

    def _write(self, name: str) -> None:
        path = os.environ.get("SYNCYTE_TEST_RESULTS")
        if self.agreement.rank == 0 and path is not None:
            store.append_line(path, self.results[name])

    # The end: verdicts are in the results file; the exit status covers only failures outside of tests.

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        good = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if "SYNCYTE_TEST_BOARD" in os.environ and exitstatus in good:
            session.exitstatus = pytest.ExitCode.OK
        self.agreement.free()

    def pytest_internalerror(self, excrepr: object) -> None:
        print(f"pytest itself failed:\n{excrepr}", file=sys.stderr, flush=True)

    def pytest_unconfigure(self) -> None:
        gc.unfreeze()
        self.board.enter(states.ENDED)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: only in the runs of CTest's labels ranks and slow")
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    config.pluginmanager.register(MpiPlugin(), "syncyte-mpi")
    # Every rank would print pytest's own reports. pytest needs a reporter, though, to format assertions.
    reporter = config.pluginmanager.getplugin("terminalreporter")
    config.pluginmanager.unregister(reporter)
    silent = TerminalReporter(config, open(os.devnull, "w", encoding="utf-8"))
    config.pluginmanager.register(silent, "terminalreporter")
