# SPDX-License-Identifier: BSD-3-Clause
"""Rows of Google Benchmark's report, and the comparison of two reports."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import micro
import run


def turn(family: int, name: str, **values) -> dict:
    return {"family_index": family, "run_name": name, "run_type": "iteration", **values}


class Micro(unittest.TestCase):
    def test_rates_are_compared_with_the_bandwidth_and_times_with_the_labelled_benchmark(self) -> None:
        loop = [
            turn(1, "loop", cpu_time=each, bytes_per_second=2e10 / each, of_bandwidth=2.5 / each)
            for each in (20.0, 10.0, 40.0)
        ]
        call = [turn(2, "call", cpu_time=each, label="loop") for each in (30.0, 40.0, 80.0)]
        mean = {**loop[0], "run_type": "aggregate", "bytes_per_second": 1e12}
        rate, time = micro.rows({"benchmarks": [*call, mean, *loop]})
        self.assertEqual(
            rate,
            {
                "name": "loop",
                "unit": "GB/s",
                "ours": 1.0,
                "reference": 8.0,
                "reference_name": "copy of 128 MiB",
                "ratio": 0.125,
                "ratio_min": 0.0625,
                "ratio_max": 0.25,
                "rounds": 3,
                "better": "higher",
                "goal": None,
            },
        )
        self.assertEqual(
            time,
            {
                "name": "call",
                "unit": "ns",
                "ours": 40.0,
                "reference": 20.0,
                "reference_name": "loop",
                "ratio": 2.0,
                "ratio_min": 1.5,
                "ratio_max": 4.0,
                "rounds": 3,
                "better": "lower",
                "goal": None,
            },
        )

    def test_a_time_without_its_reference_is_left_out(self) -> None:
        self.assertEqual(micro.rows({"benchmarks": [turn(2, "call", cpu_time=1.0, label="loop")]}), [])


def row(name: str, ratio: float, better: str, reference: str = "peer") -> dict:
    return {"name": name, "unit": "s", "reference_name": reference, "ratio": ratio, "better": better}


class Compare(unittest.TestCase):
    def test_ratios_that_became_worse_by_more_than_the_percentage_are_found(self) -> None:
        old = [row("rate", 2.0, "higher"), row("time", 0.5, "lower"), row("rate", 1.0, "higher", "other")]
        new = [row("rate", 1.7, "higher"), row("time", 0.58, "lower"), row("rate", 1.2, "higher", "other")]
        rate, time = run.worsened(old, new, 10)
        self.assertIn("rate, against peer: ratio 2 -> 1.7", rate)
        self.assertIn("time, against peer: ratio 0.5 -> 0.58", time)
        self.assertEqual(run.worsened(old, new, 20), [])
        (back,) = run.worsened(new, old, 10)
        self.assertIn("rate, against other: ratio 1.2 -> 1", back)

    def test_a_row_of_one_report_alone_is_not_compared(self) -> None:
        self.assertEqual(run.worsened([row("rate", 2.0, "higher")], [row("new", 0.1, "higher")], 10), [])

    def test_a_row_without_its_peer_says_why_and_is_not_compared(self) -> None:
        figures = dict.fromkeys(["ours", "reference", "ratio", "ratio_min", "ratio_max"])
        missing = {**row("rate", 1.0, "higher"), **figures, "goal": 5, "not_measured": "there is no peer"}
        measured = row("rate", 1.0, "higher")
        self.assertEqual(run.worsened([missing], [measured], 10) + run.worsened([measured], [missing], 10), [])
        table = io.StringIO()
        with contextlib.redirect_stdout(table):
            run.print_table([missing])
        self.assertIn("not measured: there is no peer", table.getvalue())

    def test_the_exit_status_tells_whether_a_row_became_worse(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, "old.json"), Path(folder, "new.json")]
            for path, ratio in zip(paths, (2.0, 1.7), strict=True):
                path.write_text(json.dumps([row("rate", ratio, "higher")]))
            arguments = ["run.py", "--compare", str(paths[0]), "--output", str(paths[1])]
            for more, status in (([], 1), (["--percent", "20"], 0)):
                said = io.StringIO()
                with mock.patch.object(sys, "argv", [*arguments, *more]), contextlib.redirect_stderr(said):
                    self.assertEqual(run.main(), status)
                self.assertEqual("WORSE: rate" in said.getvalue(), status == 1)


if __name__ == "__main__":
    unittest.main()
