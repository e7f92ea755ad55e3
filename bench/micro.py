#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the micro benchmarks (folder micro) and prints their rows of report.json as lines of JSON.

    micro.py PROGRAM [OPTION...]      options of Google Benchmark, for example --benchmark_filter=CRC32C

A rate is compared with the memory bandwidth that is measured before each repetition, a time with that of another
benchmark.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

# Repetitions of all benchmarks alternate, because the speed of a shared machine changes over time.
OPTIONS = [
    "--benchmark_format=json",
    "--benchmark_repetitions=9",
    "--benchmark_min_time=0.05",
    "--benchmark_enable_random_interleaving=true",
]


def row(turns: list[dict], references: list[dict]) -> dict:
    """The row of one benchmark from its repetitions; `references`: those of the benchmark that its label names."""
    if references:
        unit, reference_name, better = "ns", references[0]["run_name"], "lower"
        ours = [turn["cpu_time"] for turn in turns]
        ratios = [mine / other["cpu_time"] for mine, other in zip(ours, references, strict=True)]
    else:
        unit, reference_name, better = "GB/s", "copy of 128 MiB", "higher"
        ours = [turn["bytes_per_second"] * 1e-9 for turn in turns]
        ratios = [turn["of_bandwidth"] for turn in turns]
    return {
        "name": turns[0]["run_name"],
        "unit": unit,
        "ours": statistics.median(ours),
        "reference": statistics.median(mine / ratio for mine, ratio in zip(ours, ratios, strict=True)),
        "reference_name": reference_name,
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "rounds": len(turns),
        "better": better,
        "goal": None,
    }


def rows(report: dict) -> list[dict]:
    """Rows of a report of Google Benchmark."""
    turns: dict[str, list[dict]] = {}
    for each in sorted(report["benchmarks"], key=lambda each: each["family_index"]):  # as declared
        if each["run_type"] == "iteration":  # not a mean or a median
            turns.setdefault(each["run_name"], []).append(each)
    return [
        row(each, turns.get(each[0].get("label", ""), []))
        for each in turns.values()
        if each[0].get("label", "") in ("", *turns)
    ]


def main() -> int:
    done = subprocess.run([sys.argv[1], *OPTIONS, *sys.argv[2:]], stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        print("\n".join(map(json.dumps, rows(json.loads(done.stdout)))))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
