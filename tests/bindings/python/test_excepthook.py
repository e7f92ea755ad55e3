# SPDX-License-Identifier: BSD-3-Clause
"""A rank that raises ends the job: scripts under a real mpirun, which must end within 10 s, with rank and traceback."""

import os
import re
import subprocess
import sys

import pytest

from scripts import Outcome, run, thorough_but

LIMIT = 10.0  # seconds, as documented
WAIT = "syncyte.COMM_WORLD.barrier()\nsyncyte.COMM_WORLD.barrier()\n"


def assert_ended(outcome, rank, *texts):
    assert outcome.status != 0, outcome.output
    assert outcome.seconds < LIMIT, outcome.output
    for text in texts:
        assert any(f"[rank {rank}]" in line and text in line for line in outcome.output.splitlines()), outcome.output


FAILURES = {
    "raise": ("raise KeyError('a wrong key')", "KeyError: 'a wrong key'"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "syncyte": ("syncyte.COMM_SELF.bcast([1], 5)", "root is 5; expected 0 to 0"),
    "thread": ("threading.Thread(target=lambda: 1 / 0, name='worker').start()", "thread worker"),
    "exit": ("sys.exit(3)", "exits with status 3"),
    "message": ("sys.exit('cannot go on')", "cannot go on"),
}


@pytest.mark.parametrize("name", thorough_but(("raise", "thread", "exit"), FAILURES))
def test_one_rank_fails_under_python_m_syncyte(tmp_path, name):
    statement, text = FAILURES[name]
    outcome = run(tmp_path, f"if rank == 1:\n    {statement}\n    time.sleep(30)\n" + WAIT)
    assert_ended(outcome, 1, text)


@pytest.mark.parametrize(
    "wait", thorough_but(["COMM_WORLD.recv([0.0], 1)"], ["COMM_WORLD.barrier()", "COMM_WORLD.recv([0.0], 1)"])
)
def test_ctrl_c_while_a_rank_waits(tmp_path, wait):
    interrupt = (
        "signal.setitimer(signal.ITIMER_REAL, 0.5)\n    signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
    )
    script = f"import signal, numpy\nif rank == 0:\n    {interrupt}    syncyte.{wait}\ntime.sleep(30)\n"
    assert_ended(
        run(tmp_path, script.replace("[0.0]", "numpy.zeros(1)")), 0, "KeyboardInterrupt", f"syncyte.{wait[:10]}"
    )


@pytest.mark.parametrize("name", thorough_but(("raise",), FAILURES))
def test_one_rank_fails_with_the_hook_installed(tmp_path, name):
    statement, text = FAILURES[name]
    script = "syncyte.install_excepthook()\nsyncyte.install_excepthook()\n"
    outcome = run(tmp_path, f"{script}if rank == 0:\n    {statement}\n    time.sleep(30)\n" + WAIT, command=())
    assert_ended(outcome, 0, text)


MISTAKE = """
import numpy as np
bad = np.zeros(4 if rank % 2 else 5)
try:
    syncyte.COMM_WORLD.allreduce(bad)
except ValueError:
    if CATCHES and rank == 0:
        time.sleep(30)
    raise
"""


def test_an_error_of_all_ranks_is_printed_once(tmp_path):
    outcome = run(tmp_path, "CATCHES = False" + MISTAKE, ranks=5)
    assert_ended(outcome, 0, "Traceback", "ranks 0, 2, 4", "ranks 1, 3")
    assert outcome.output.count("Traceback") == 1, outcome.output
    assert "[rank 1]" not in outcome.output, outcome.output


def test_an_error_that_python_finds_on_all_ranks_is_printed_once(tmp_path):
    outcome = run(tmp_path, "syncyte.COMM_WORLD.allreduce('abc')", ranks=3)
    assert_ended(outcome, 0, "Traceback", "array is a str")
    assert outcome.output.count("Traceback") == 1, outcome.output


def test_an_error_of_all_ranks_is_printed_by_another_if_the_first_one_catches_it(tmp_path):
    script = "CATCHES = True" + MISTAKE
    outcome = run(tmp_path, f"syncyte.install_excepthook()\n{script}", ranks=3, command=())
    assert_ended(outcome, 1, "Traceback", "ranks 0, 2")
    assert outcome.output.count("Traceback") == 1, outcome.output


@pytest.mark.parametrize(
    ("statement", "status", "texts"),
    [("raise type('Stop', (SystemExit,), {})(7)", 7, 0), ("sys.exit('no input')", 1, 1)],
)
def test_ranks_that_exit_alike_do_not_abort_the_job(tmp_path, statement, status, texts):
    script = f"time.sleep(0.3 * rank)\nprint(f'<{{rank}}>', flush=True)\n{statement}"
    outcome = run(tmp_path, script, ranks=3, seconds=5.0)
    assert outcome.status == status, outcome.output
    assert outcome.seconds < LIMIT, outcome.output
    assert "MPI_ABORT" not in outcome.output, outcome.output
    assert "the whole job ends" not in outcome.output, outcome.output
    assert outcome.output.count("no input") == texts, outcome.output
    assert all(f"<{rank}>" in outcome.output for rank in range(3)), outcome.output


def test_ranks_that_exit_alike_with_the_hook_installed(tmp_path):
    script = "syncyte.install_excepthook()\nsys.exit(f'no input on rank {rank}')"
    outcome = run(tmp_path, script, ranks=3, command=(), seconds=5.0)
    assert outcome.status == 1, outcome.output
    assert "MPI_ABORT" not in outcome.output, outcome.output
    assert outcome.output.count("no input") == 3, outcome.output


def test_ranks_that_exit_differently_abort_the_job(tmp_path):
    outcome = run(tmp_path, "sys.exit(3 * rank)", ranks=3)
    assert outcome.status in (3, 6), outcome.output
    assert outcome.seconds < LIMIT, outcome.output
    assert "the whole job ends" in outcome.output, outcome.output


def test_an_exit_is_not_taken_for_another_ranks_allreduce(tmp_path):
    reduction = "x = syncyte.COMM_WORLD.iallreduce(numpy.zeros(4, 'int64'), 'max')\ntime.sleep(30)"
    script = f"import numpy\nif rank == 1:\n    sys.exit(3)\n{reduction}"
    assert_ended(run(tmp_path, script, SYNCYTE_CHECK="off"), 1, "exits with status 3")


def test_a_handler_that_raises_during_an_exit_does_not_stop_it(tmp_path):
    handler = "signal.signal(signal.SIGALRM, lambda *what: 1 / 0)\n    signal.setitimer(signal.ITIMER_REAL, 0.5)"
    script = f"import signal\nif rank == 1:\n    {handler}\n    sys.exit(3)\ntime.sleep(30)"
    outcome = run(tmp_path, script, seconds=20.0)
    assert_ended(outcome, 1, "exits with status 3")
    assert "ZeroDivisionError" not in outcome.output, outcome.output


def test_one_process_that_exits_aborts_nothing():
    outcome = command_line("-c", "import sys, syncyte; assert syncyte.COMM_WORLD.size == 1; sys.exit(3)")
    assert outcome.returncode == 3, outcome.stderr
    assert "MPI_ABORT" not in outcome.stderr, outcome.stderr


def test_traceback_names_the_line_and_nothing_of_ours(tmp_path):
    script = "def deep():\n    raise RuntimeError('here\\nand there')\nif rank == 2:\n    deep()\n" + WAIT
    outcome = run(tmp_path, script, ranks=3)
    assert_ended(outcome, 2, "Traceback", "script.py", "in deep", "RuntimeError: here", "and there")
    assert "runpy" not in outcome.output
    assert "__main__.py" not in outcome.output


@pytest.mark.thorough
def test_raise_system_exit_under_python_m_syncyte(tmp_path):
    outcome = run(tmp_path, "if rank == 1:\n    raise SystemExit(7)\n" + WAIT)
    assert_ended(outcome, 1, "exits with status 7")
    assert outcome.status == 7


def test_before_syncyte_is_started(tmp_path):
    script = "import os, syncyte\nif os.environ.get('OMPI_COMM_WORLD_RANK', os.environ.get('PMI_RANK')) == '1':\n"
    script += "    raise OSError('no input')\n" + WAIT
    outcome = Outcome(tmp_path, script, 2, ("-m", "syncyte"), {})
    assert_ended(outcome, 1, "OSError: no input")


def test_with_mpi4py_alone(tmp_path):
    script = "from mpi4py.MPI import COMM_WORLD as world\n"
    script += "if world.rank == 1:\n    raise OSError('no input')\nworld.Barrier()\n"
    assert_ended(Outcome(tmp_path, script, 2, ("-m", "syncyte"), {}), 1, "OSError: no input")
    no_library = Outcome(tmp_path, script, 2, ("-m", "syncyte"), {"SYNCYTE_LIBRARY": "/nowhere/libsyncyte.so"})
    assert_ended(no_library, 1, "OSError: no input")


def test_an_earlier_hook_is_called_first(tmp_path):
    script = "sys.excepthook = lambda *what: print('mine first', flush=True)\nsyncyte.install_excepthook()\n"
    outcome = run(tmp_path, f"{script}if rank == 0:\n    raise ValueError('then ours')\n" + WAIT, command=())
    assert_ended(outcome, 0, "ValueError: then ours")
    assert "mine first" in outcome.output


def test_without_the_hook_nothing_waits_at_exit(tmp_path):
    # The failing rank must not enter finalize(), which is collective. mpirun sees its exit status and ends the others.
    outcome = run(tmp_path, "if rank == 1:\n    raise ValueError('plain')\n" + WAIT, command=())
    assert outcome.status != 0, outcome.output
    assert outcome.seconds < LIMIT, outcome.output
    assert "ValueError: plain" in outcome.output


def test_what_is_caught_does_not_end_the_job(tmp_path):
    script = """
for failing in (lambda: sys.exit(5), lambda: 1 / 0):
    try:
        failing()
    except SystemExit as error:
        assert error.code == 5
    except ZeroDivisionError:
        pass
child = os.fork()
if child == 0:
    sys.stderr = open(os.devnull, "w")
    raise RuntimeError("in a child")
assert os.waitpid(child, 0)[1] != 0
threading.Thread(target=lambda: sys.exit(4)).start()
syncyte.COMM_WORLD.barrier()
print(f"done {rank} {sys.argv[1:]} {__name__}")
sys.exit(0)
"""
    for command, hook in ((("-m", "syncyte"), ""), ((), "syncyte.install_excepthook()\n")):
        outcome = run(tmp_path, hook + script, command=command)
        assert outcome.status == 0, outcome.output
        for rank in range(2):
            assert f"done {rank} ['first', '--second'] __main__" in outcome.output


def test_a_thread_of_a_process_without_a_job_ends_alone(tmp_path):
    """As a server's threads do, PipeSwitch's frontend among them."""
    (tmp_path / "script.py").write_text("""
import threading, sys
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
print("goes on", "syncyte" in sys.modules, flush=True)
if "start" in sys.argv:
    import syncyte
    syncyte.init()
    threading.Thread(target=lambda: 1 / 0).start()
    threading.Event().wait(60)
""")
    for argument, status in (("", 0), ("start", 1)):
        done = subprocess.run([sys.executable, "-B", "-m", "syncyte", "script.py", argument], cwd=tmp_path, timeout=60,
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.stdout == "goes on True\n"
        assert (done.returncode != 0) == status, done.stderr
        assert done.stderr.count("ZeroDivisionError") == 1 + status


def test_scripts_run_as_python_would(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 42\n")
    outcome = run(tmp_path, "import neighbour\nassert neighbour.value == 42\nassert sys.argv[0] == __file__\n")
    assert outcome.status == 0, outcome.output
    (tmp_path / "tool.py").write_text(
        "import sys\nassert sys.argv[1].endswith('script.py')\nassert __name__ == '__main__'\n"
    )
    assert run(tmp_path, "", ranks=1, command=("-m", "syncyte", "-m", "tool")).status == 0


def test_scripts_are_found_as_python_finds_them(tmp_path):
    """A link's folder is that of its target; the script's path stays valid after a chdir; a pipe is a script too."""
    (tmp_path / "code").mkdir()
    (tmp_path / "links").mkdir()
    (tmp_path / "code" / "beside.py").write_text("value = 42\n")
    script = "import os, sys, beside\nos.chdir('/')\nprint(open(__file__).readline())\n"
    (tmp_path / "code" / "job.py").write_text(script)
    (tmp_path / "links" / "job.py").symlink_to("../code/job.py")
    for python in ((), ("-m", "syncyte")):
        for script in ("code/job.py", "links/job.py"):
            done = subprocess.run(
                [sys.executable, "-B", *python, script], cwd=tmp_path, capture_output=True, text=True, timeout=60
            )
            assert done.stdout.startswith("import os, sys, beside"), (python, script, done)
        piped = subprocess.run(
            [sys.executable, "-B", *python, "/dev/stdin"], input="print('read'); raise SystemExit(3)",
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (piped.stdout, piped.returncode) == ("read\n", 3), (python, piped)


def test_commands_run_as_python_would(tmp_path):
    command = "import sys, __main__; x = 3; f = lambda: x; assert f() == __main__.x; assert sys.argv == ['-c', 'first']"
    for python in (("-c", command), ("-m", "syncyte", "-c", command)):
        run = subprocess.run([sys.executable, "-B", *python, "first"], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    outcome = command_line("-c", "1 / 0")
    assert outcome.returncode != 0
    assert "ZeroDivisionError" in outcome.stderr
    assert "syncyte/__main__" not in outcome.stderr


def command_line(*arguments):
    return subprocess.run(
        [sys.executable, "-B", "-m", "syncyte", *arguments], capture_output=True, text=True, timeout=60
    )


LAUNCHED = {  # the launcher's variables, torch's that follow, and MASTER_ADDR of a part of the ranks
    "Open MPI": (
        {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
         "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "1234"},
        {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
        "127.0.0.1",
    ),
    "Open MPI, two nodes": (
        {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
         "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "SLURM_PROCID": "0"},
        {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
        None,
    ),
    "Hydra": (
        {"PMI_RANK": "0", "PMI_SIZE": "3", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "3"},
        {"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "3"},
        "127.0.0.1",
    ),
    "Slurm": (
        {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "7",
         "SLURM_LOCALID": "1", "SLURM_NODEID": "1", "SLURM_STEP_TASKS_PER_NODE": "2(x3),1",
         "SLURM_STEP_NODELIST": "n[03-05,9],m1", "PMI_RANK": "3", "PMI_SIZE": "7"},
        {"RANK": "3", "WORLD_SIZE": "7", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
        "n03",
    ),
    "Open MPI in a batch job of Slurm, the batch script's node": (
        {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
         "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "5", "SLURM_JOB_ID": "77", "SLURM_PROCID": "0"},
        {"RANK": "0", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"},
        None,
    ),
    "Open MPI in a batch job of Slurm, another node": (
        {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
         "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "5", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0",
         "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_LOCALID": "0", "SLURM_NODEID": "0",
         "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_STEP_NODELIST": "n04"},
        {"RANK": "2", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"},
        None,
    ),
    "a batch script of Slurm": ({"SLURM_JOB_ID": "77", "SLURM_PROCID": "0", "SLURM_NTASKS": "7"}, {}, None),
    "PMIx alone": ({"PMIX_RANK": "1"}, {}, None),
}  # fmt: skip


@pytest.mark.parametrize("launcher", LAUNCHED)
def test_variables_of_torch_follow_from_the_launchers(launcher):
    from syncyte import _launcher

    given, expected, address = LAUNCHED[launcher]
    assert _launcher.torch_variables(given) == expected
    master = _launcher.master_variables(given)
    assert master.get("MASTER_ADDR") == address
    assert 20000 <= int(master.get("MASTER_PORT", "20000")) < 32000
    own = {**given, "RANK": "5"}
    _launcher.set_torch_variables(own)
    assert own == {**given, **expected, "RANK": "5"}
    assert _launcher._first_host("n[1-3]-ib,c") == "n1-ib"
    assert _launcher._first_host("a,b") == "a"


def test_ranks_of_one_job_agree_on_the_port_of_a_part():
    from syncyte import _launcher

    ports = {_launcher.master_variables(LAUNCHED[name][0])["MASTER_PORT"] for name in LAUNCHED if "batch job" in name}
    assert len(ports) == 1
    env = os.environ | LAUNCHED["Hydra"][0]
    show = [sys.executable, "-B", "-c", "import os; from syncyte import _launcher as launcher\n"
            "print(launcher.master_variables(os.environ).get('MASTER_PORT'))"]  # fmt: skip
    found = {
        subprocess.run([*shells, *show], env=env, capture_output=True, text=True, timeout=60).stdout
        for shells in ([], ["sh", "-c", '"$@"; true', "sh"], ["sh", "-c", '"$@"; true', "sh"])
    }
    assert len(found) == 1, found
    assert found != {"None\n"}, found


def test_variables_of_torch_can_be_left_unset(monkeypatch):
    for name, value in LAUNCHED["Open MPI"][0].items():
        monkeypatch.setenv(name, value)
    show = "-c", "import os; print(os.environ.get('RANK'), os.environ.get('LOCAL_RANK'))"
    assert command_line(*show).stdout == "1 1\n"
    assert command_line("--no-torch-env", *show).stdout == "None None\n"


def test_command_line():
    assert re.fullmatch(r"syncyte \d+\.\d+\.\d+\n", command_line("--version").stdout)
    helped = command_line("--help")
    assert helped.returncode == 0
    assert "script.py" in helped.stdout
    for incomplete in ((), ("-m",), ("-c",)):
        refused = command_line(*incomplete)
        assert refused.returncode == 2
        assert "usage" in refused.stderr
    missing = command_line("nowhere.py")
    assert missing.returncode == 2
    assert "there is no file 'nowhere.py'" in missing.stderr
    assert "unknown option '-u'" in command_line("-u", "nowhere.py").stderr
