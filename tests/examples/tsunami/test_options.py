# SPDX-License-Identifier: BSD-3-Clause
"""Wrong values on the demo's and the solver's command lines give clear errors, and --help works."""

import os
import subprocess
import sys

import pytest

from mpi_harness.job import without_launcher

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example_path

# isort: split
from driver.options import parse_options

CLEAN = without_launcher({})


def complaint(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        parse_options("the demo", ["--build", "/", *arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--resolution", "0"), "--resolution: '0' is not a number from 0.25 to 4"),
        (("--resolution", "nan"), "--resolution: 'nan' is not a number"),
        (("--solver-ranks", "0"), "--solver-ranks: '0' is not a whole number from 1 to 64"),
        (("--learner-ranks", "2.5"), "--learner-ranks: '2.5' is not a whole number"),
        (("--learner-ranks", "many"), "--learner-ranks: 'many' is not a whole number"),
        (("--epochs", "-1"), "--epochs: '-1' is not a whole number"),
        (("--epochs", "2", "--train-seconds", "9"), "--epochs: not allowed with argument --train-seconds"),
        (("--train-seconds", "-5"), "--train-seconds: '-5' is not a number"),
        (("--lead-time", "601"), "--lead-time: 601 is not a multiple of 120"),
        (("--lead-time", "0"), "--lead-time: '0' is not a number from 120"),
        (("--restart-ranks", "2"), "--restart-ranks: 2 is the number of ranks that train"),
        (("--build", "/no/such/folder"), "--build: '/no/such/folder' is not a folder"),
        (("--frobnicate",), "unrecognized arguments: --frobnicate"),
    ],
)
def test_demo_names_what_is_wrong(capsys, arguments, words):
    assert words in complaint(capsys, *arguments)


def test_demo_defaults():
    full = parse_options("the demo", ["--build", "/"])
    assert (full.resolution, full.solver_ranks, full.learner_ranks, full.restart_ranks) == (1.0, 1, 2, 1)
    assert (full.lead_time, full.train_seconds, full.epochs, full.output) == (600.0, 90.0, 0, "/demo")
    quick = parse_options("the demo", ["--build", "/", "--quick", "--held-out", "5", "--learner-ranks", "1"])
    assert quick.epochs > 0
    assert quick.held_out == 5
    assert quick.restart_ranks == 2
    assert parse_options("the demo", ["--build", "/", "--quick", "--train-seconds", "7"]).epochs == 0


def demo(*arguments):
    script = os.path.join(example_path.EXAMPLE, "demo.py")
    return subprocess.run([sys.executable, script, *arguments], env=CLEAN, capture_output=True, text=True, timeout=60)


def test_demo_help():
    done = demo("--help")
    assert done.returncode == 0
    assert "--lead-time" in done.stdout


@pytest.mark.parametrize("below", ["", "folder"])
def test_demo_cannot_make_its_folder(tmp_path, below):
    (tmp_path / "file").write_text("mine")
    output = os.path.join(tmp_path, "file", below) if below else str(tmp_path / "file")
    done = demo("--build", str(tmp_path), "--output", output)
    reason = "Not a directory" if below else "File exists"
    assert done.returncode == 1
    assert done.stderr == f"demo: argument --output: the folder {output!r} cannot be made: {reason}\n"
    assert (tmp_path / "file").read_text() == "mine"


def test_demo_cannot_write_into_its_folder(tmp_path):
    """A path that cannot be written is an error without a traceback too."""
    os.makedirs(tmp_path / "demo" / "report.json")
    done = demo("--build", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("demo: ")
    assert "report.json" in done.stderr
    assert "Traceback" not in done.stderr


def solver(*arguments):
    return subprocess.run(
        [os.environ["TSUNAMI_SOLVER"], *arguments], env=CLEAN, capture_output=True, text=True, timeout=30
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--bathymetry is missing"),
        (("--bathymetry", "no-such-file"), 'cannot open "no-such-file"'),
        (("--bathymetry", "x", "--snapshots", "1"), '--snapshots is "1"; expected a whole number, 2 to 100000'),
        (("--bathymetry", "x", "--ring-runs", "1"), '--ring-runs is "1"; expected a whole number, 2 to'),
        (("--bathymetry", "x", "--runs", "99999999999999999999"), '--runs is "99999999999999999999"'),
        (("--bathymetry", "x", "--cfl", "2"), '--cfl is "2"; expected a number'),
        (("--bathymetry", "x", "--interval", "fast"), '--interval is "fast"; expected a number'),
        (("--bathymetry", "x", "--wait-limit"), '--wait-limit is ""; expected a number'),
        (("--speed", "1"), 'unknown option "--speed"'),
    ],
)
def test_solver_names_what_is_wrong(arguments, words):
    done = solver(*arguments)
    assert done.returncode != 0
    assert words in done.stderr


def test_solver_help():
    done = solver("--help")
    assert done.returncode == 0
    assert "--wait-limit" in done.stdout
