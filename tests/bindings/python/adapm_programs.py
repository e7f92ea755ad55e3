# SPDX-License-Identifier: BSD-3-Clause
"""What AdaPM's C++ test programs check, as programs for any module with the interface of AdaPM's PyTorch bindings.

    mpirun -n 4 python -m syncyte adapm_programs.py                       all of them on syncyte.compat.adapm
    python adapm_programs.py FOLDER NODES PROGRAM TECHNIQUES [OPTION...]  one on AdaPM, built in FOLDER/bindings

A program returns texts that say what was wrong. Values are whole numbers below 2**24: sums of float32 are exact.
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

TECHNIQUES = ["all", "replication_only", "relocation_only"]


@dataclass(frozen=True)
class Place:
    """A process's place in the job, and the module that it tests."""

    adapm: Any
    is_ours: bool
    rank: int
    size: int
    node: int
    nodes: int
    is_first_of_node: bool


def our_place() -> Place:
    from syncyte import COMM_WORLD
    from syncyte.compat import adapm

    there = COMM_WORLD.topology
    return Place(adapm, True, COMM_WORLD.rank, COMM_WORLD.size, there.node, there.nodes, there.node_rank == 0)


class Run:
    """A server, and a thread for each worker of this process. `wrong` are the texts of all workers."""

    def __init__(self, place: Place, techniques: str, keys: int, threads: int, lengths: Any) -> None:
        self.place, self.techniques, self.threads = place, techniques, threads
        place.adapm.setup(keys, threads, techniques)
        self.server = place.adapm.Server(lengths)
        if not place.is_ours:  # AdaPM's scheduler numbers the nodes
            rank = self.server.my_rank()
            self.place = Place(place.adapm, False, rank, place.size, rank, place.nodes, True)
        self.wrong: list[str] = []

    def check(self, holds: Any, text: str) -> None:
        if not holds and len(self.wrong) < 20:
            self.wrong.append(f"rank {self.place.rank}, {self.techniques}: {text}")

    def work(self, function: Callable[[Any, int], None]) -> list[str]:
        """Calls function(worker, number) in each thread, and ends the server."""

        def run(worker: Any, number: int) -> None:
            try:
                function(worker, number)
            except Exception:  # the others go on
                self.check(False, traceback.format_exc())
            worker.finalize()

        threads = [
            threading.Thread(target=run, args=(self.place.adapm.Worker(number, self.server), number))
            for number in range(self.threads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.server.shutdown()
        return self.wrong

    def generator(self, number: int, rank: int | None = None) -> np.random.Generator:
        """Random numbers of a worker."""
        return np.random.default_rng([17, self.place.rank if rank is None else rank, number])

    def localize(self, worker: Any, keys: np.ndarray) -> None:
        """AdaPM's bindings have no localize()."""
        if self.place.is_ours:
            worker.localize(keys, True)


def meet(worker: Any) -> None:
    """After it all workers see all earlier pushes."""
    worker.wait_sync()
    worker.barrier()
    worker.wait_sync()
    worker.barrier()


def dynamic_allocation(place: Place, techniques: str) -> list[str]:
    """Workers push to one key all the time, and to random others, while the keys move. No operation is waited for."""
    keys, steps, hot = 36, 400, 9
    run = Run(place, techniques, keys, 2, 2)

    def pushed(rank: int, number: int) -> np.ndarray:
        others = np.tile(np.delete(np.arange(keys), hot), (steps, 1))
        others = run.generator(number, rank).permuted(others, axis=1)[:, :3]
        return np.concatenate([np.full((steps, 1), hot), others], axis=1)

    def work(worker: Any, number: int) -> None:
        draw, mine = run.generator(number + 10), pushed(run.place.rank, number)
        ones, found = np.tile(np.float32([1, 2]), 4), np.zeros((steps, 2), np.float32)
        stamps = []
        for step in range(steps):
            if draw.integers(20) == 0:
                start = worker.current_clock() + 3
                worker.intent(mine[min(step + 3, steps - 1)], start, start + int(draw.integers(1, 20)))
            if draw.integers(20) == 0:
                run.localize(worker, mine[step])
            stamps.append(worker.push(mine[step], ones, True))
            stamps.append(worker.pull(mine[step, :1], found[step], True))
            worker.advance_clock()
        for stamp in stamps:
            worker.wait(stamp)
        if place.is_ours:
            run.check((found[:, 0] > np.arange(steps)).all(), "a pull does not see the worker's own pushes")
            run.check((np.diff(found[:, 0]) >= 0).all(), "a value goes back")
        run.check((found[:, 1] == 2 * found[:, 0]).all(), "a pull sees half of a push")
        meet(worker)
        sums = np.zeros(keys)
        for rank in range(place.size):
            for other in range(2):
                np.add.at(sums, pushed(rank, other).ravel(), 1)
        values = np.zeros((keys, 2), np.float32)
        worker.pull(np.arange(keys), values)
        run.check(values[hot, 0] == 2 * steps * place.size, f"key {hot} is {values[hot]}")
        run.check((values == sums[:, None] * [1, 2]).all(), f"sums {values[:, 0]}; expected {sums}")

    return run.work(work)


def locality(place: Place, techniques: str) -> list[str]:
    """Where keys are: at first, in the windows of two nodes' intents, and after them."""
    nodes, last = place.nodes, place.nodes - 1
    run = Run(place, techniques, 36 * nodes, 2, 1)
    here = run.place
    moves, copies = techniques != "replication_only", techniques != "relocation_only"

    def key(index: int, node: int) -> int:
        return index * nodes + node  # homes are cyclic

    unused, both, wanted = key(0, 0), key(1, 0), key(2, 0)
    unused_last, given = key(0, last), key(1, last)
    middle = key(3, nodes // 2)
    probes = np.array([unused, unused_last, both, wanted, given, middle])
    votes = np.arange(12 * nodes, 12 * nodes + len(probes))

    def union(home: int, user: int) -> set[int]:
        return {user} if moves else {home, user}

    in_windows = [{0}, {last}, {0, last}, union(0, last), union(last, 0), union(nodes // 2, last)]
    moved = (lambda home, user: {user}) if moves else (lambda home, user: {home})
    afterwards = [{0}, {last}, None, moved(0, last), moved(last, 0), moved(nodes // 2, last)]

    def survey(worker: Any, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Which probes are local here, and at how many nodes."""
        value, local = np.zeros(1, np.float32), np.zeros(len(probes), np.float32)
        for position, probe in enumerate(probes):
            stamp = worker.pull(probe[None], value, True)
            local[position] = stamp == -1
            worker.wait(stamp)
        counts = np.zeros_like(local)
        votes_here = here.is_first_of_node and number == 1
        for sign in (1, -1):
            worker.barrier()
            if sign < 0:
                worker.pull(votes, counts)
                worker.barrier()
            if votes_here:
                worker.push(votes, sign * local)
        worker.barrier()
        return local, counts

    def find(worker: Any, number: int, expected: list[set[int] | None], state: str) -> np.ndarray:
        """Copies and their news travel: surveys until all is as expected, at most 100 times."""
        sizes = [1 if at is None or (at == {0, last} and not copies) else len(at) for at in expected]
        for _ in range(100):
            local, counts = survey(worker, number)
            if (counts == sizes).all():
                break
            time.sleep(0.01)
        local, counts = survey(worker, number)  # the ranks of a node saw it at slightly different times
        run.check((counts == sizes).all(), f"{state}: keys {probes} are at {counts} nodes; expected {sizes}")
        for probe, at, size, is_local in zip(probes, expected, sizes, local, strict=True):
            if at is not None and size == len(at):
                run.check(is_local == (here.node in at), f"{state}: key {probe} is local: {is_local}; expected at {at}")
            elif at is not None:
                run.check(not is_local or here.node in at, f"{state}: key {probe} is local; expected at {at}")
        return local

    def work(worker: Any, number: int) -> None:
        local, counts = survey(worker, number)
        homes = [0, last, 0, 0, last, nodes // 2]
        run.check((local == (here.node == np.array(homes))).all(), f"at first {local} of {probes} are local")
        run.check((counts == 1).all(), f"at first keys are at {counts} nodes")
        if here.is_first_of_node and number == 0:
            if here.node == 0:
                worker.intent(np.array([both, given]), 1)
            if here.node == last:
                worker.intent(np.array([both, wanted, middle]), 1)
        worker.advance_clock()
        worker.wait_sync()
        worker.barrier()
        local = find(worker, number, in_windows, "in the windows")
        if place.is_ours:
            found = [worker._worker.pull_if_local([probe]) is not None for probe in probes]
            run.check((local == found).all(), f"pull_if_local finds {found}; pull {local}")
        value, before = np.zeros(1, np.float32), 0.0
        for round in range(1, 21):
            worker.push(np.array([both]), np.ones(1, np.float32))
            worker.pull(np.array([both]), value)
            run.check(value[0] >= max(before, round), f"after {round} pushes of a worker its pull is {value[0]}")
            before = value[0]
        meet(worker)
        worker.pull(np.array([both]), value)
        run.check(value[0] == 20 * 2 * place.size, f"the sum of pushes to copies is {value[0]}")
        worker.barrier()
        worker.advance_clock()  # the windows end
        worker.wait_sync()
        find(worker, number, afterwards, "after the windows")
        own, other = np.array([key(5, here.node), key(6, here.node)]), np.array([key(5, (here.node + 1) % nodes)])
        for _ in range(10):
            values = np.zeros(2, np.float32)
            run.check(worker.pull(own, values, True) == -1, "a local pull is in flight")
            stamp = worker.pull(other, value, True)
            run.check((stamp == -1) == (nodes == 1), f"a pull of another node's key returns {stamp}")
            worker.wait(stamp)

    return run.work(work)


def many_keys(place: Place, techniques: str) -> list[str]:
    """Hundreds of keys of different lengths in each call, with intents some clocks ahead."""
    keys, steps, most, ahead, in_flight = 600, 12, 300, 4, 5
    lengths = torch.arange(keys) % 5 + 1
    run = Run(place, techniques, keys, 4, lengths)
    sizes = lengths.numpy()
    starts = np.cumsum(sizes) - sizes
    every = np.arange(keys)
    initial = np.random.default_rng(7).integers(-100000, 100000, sizes.sum()).astype(np.float32)

    def values_of(chosen: np.ndarray) -> np.ndarray:
        """Positions of the keys' values."""
        counts = sizes[chosen]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(starts[chosen], counts) + within

    def work(worker: Any, number: int) -> None:
        draw = run.generator(number)
        make = torch.from_numpy if number % 2 else np.asarray

        def lists() -> list[np.ndarray]:
            return [draw.permutation(keys)[: draw.integers(1, most)] for _ in range(steps)]

        def loop(*intended: list[np.ndarray], moves: bool = True) -> Iterator[int]:
            """Steps, each with a clock of its own and keys that were intended before."""
            for step in range(steps):
                for later in range(step and step + ahead, step + ahead + 1) if step else range(ahead + 1):
                    for each in intended:
                        if later < steps:
                            worker.intent(make(each[later]), worker.current_clock() + later - step)
                if moves and step % 4 == number:
                    run.localize(worker, make(intended[0][step][:50]))
                yield step
                worker.advance_clock()

        def pull(chosen: np.ndarray, asynchronous: bool = False) -> tuple[np.ndarray, int]:
            out = np.full(sizes[chosen].sum(), 12, np.float32)
            return out, worker.pull(make(chosen), make(out), asynchronous)

        if run.place.rank == 0 and number == 0:
            worker.push(make(every), make(initial))
        meet(worker)

        pulled, stamps, results = lists(), [], []
        for step in loop(lists()):
            values, stamp = pull(pulled[step], True)
            results.append(values)
            stamps.append(stamp)
            if step >= in_flight:
                worker.wait(stamps[step - in_flight])
        for stamp in stamps:
            worker.wait(stamp)
        for chosen, values in zip(pulled, results, strict=True):
            run.check((values == initial[values_of(chosen)]).all(), "a pull of keys that move is wrong")
        worker.barrier()

        least = initial.copy()  # with the worker's own pushes
        pulled, pushed = lists(), lists()
        for step in loop(pulled, pushed, lists(), moves=False):
            worker.wait_sync()
            values, stamp = pull(pulled[step], True)
            worker.wait(stamp)
            run.check(stamp == -1 or techniques == "relocation_only", "intended keys do not come")
            run.check((values >= least[values_of(pulled[step])]).all(), "a pull lacks the worker's own pushes")
            added = draw.integers(1, 1000, len(values_of(pushed[step]))).astype(np.float32)
            worker.push(make(pushed[step]), make(added))
            least[values_of(pushed[step])] += added
        meet(worker)

        before = pull(every)[0]
        run.check((before >= least).all(), "pushes are lost")
        worker.barrier()
        pushed, total, stamps, kept = lists(), np.zeros_like(before), [], []
        for step in loop(lists()):
            added = draw.integers(1, 1000, len(values_of(pushed[step]))).astype(np.float32)
            total[values_of(pushed[step])] -= added
            kept.append((make(pushed[step]), make(added)))  # AdaPM does not keep them alive
            stamps.append(worker.push(*kept[-1], True))
            if step >= in_flight:
                worker.wait(stamps[step - in_flight])
        worker.push(make(every), make(total))
        worker.waitall()
        meet(worker)
        after = pull(every)[0]
        run.check((after == before).all(), f"{(after != before).sum()} values differ after pushes that cancel")

    return run.work(work)


def sampling(place: Place, techniques: str, scheme: str, with_replacement: str, distribution: str) -> list[str]:
    """Samples of random keys while keys move: values, numbers, ranges, repeats and frequencies."""
    keys, first, end, length = 80, 12, 72, 5
    samples, count, ahead, threads = 60, 5, 10, 4
    repeats = with_replacement == "with"
    run = Run(place, techniques, keys, threads, length)
    run.server.enable_sampling_support(scheme, repeats, distribution, first, end)
    # The scheme local draws neighbours of keys that are not here: the sampled keys move only where no frequencies are
    # checked.
    moving = np.arange(keys)
    if scheme == "local" and repeats:
        moving = np.delete(moving, np.s_[first:end])
    drawn: list[list[int]] = [[] for _ in range(threads)]
    local: list[bool] = []

    def work(worker: Any, number: int) -> None:
        draw = run.generator(number)
        if run.place.rank == 0 and number == 0:
            every = np.arange(keys)
            worker.push(every, (100 * every[:, None] + np.arange(length)).astype(np.float32))
        meet(worker)
        prepared: list[int] = []
        for step in range(samples):
            while len(prepared) < min(step + ahead + 1, samples):
                prepared.append(worker.prepare_sample(count, worker.current_clock() + len(prepared) - step))
            if number == 0 and step % 4 == 0:
                worker.intent(draw.permutation(moving)[:8], worker.current_clock() + 1, worker.current_clock() + 4)
                run.localize(worker, draw.permutation(moving)[:8])
            sample: list[int] = []
            while len(sample) < count:
                part = min(int(draw.integers(1, count + 1)), count - len(sample))
                found, values = np.full(part, -1), np.zeros((part, length), np.float32)
                stamp = worker.pull_sample(prepared[step], found, values, True)
                worker.wait(stamp)
                local.append(stamp == -1)
                expected = 100 * found[:, None] + np.arange(length)
                run.check((values == expected).all(), f"the values of sampled keys {found} are {values}")
                sample += found.tolist()
            run.check(repeats or len(set(sample)) == count, f"a sample without replacement is {sample}")
            drawn[number] += sample
            worker.advance_clock()

    run.work(work)
    every = np.array([key for each in drawn for key in each])
    run.check(len(every) == threads * samples * count, f"{len(every)} keys were drawn")
    run.check(((first <= every) & (every < end)).all(), f"keys {every.min()} to {every.max()} were drawn")
    frequencies = np.bincount(every, minlength=keys)[first:end]
    size = end - first
    likely = np.full(size, 1 / size)
    if distribution == "log-uniform":
        likely = np.log(1 + 1 / np.arange(1, size + 1)) / np.log(size + 1)
    if scheme == "local":
        run.check(np.mean(local) >= (1 if repeats else 0.7), f"{np.mean(local):.2f} of local samples are local")
        shares = frequencies.reshape(3, -1).sum(1) / len(every)
        expected = likely.reshape(3, -1).sum(1)
        is_near = (abs(shares - expected) < 0.1).all()
        run.check(is_near or not repeats, f"shares of the thirds of the range are {shares}; expected {expected}")
    else:
        mean = len(every) * likely
        square = ((frequencies - mean) ** 2 / mean).sum()
        run.check(square < 2.5 * size, f"chi-square of {size} keys is {square:.0f}")
        run.check(repeats or square > 0, "frequencies have no chance")
    return run.wrong


@dataclass(frozen=True)
class Program:
    """A program, and the sizes that AdaPM's scheduler needs."""

    run: Callable[..., list[str]]
    keys: Callable[[int], int]
    threads: int


PROGRAMS = {
    "dynamic_allocation": Program(dynamic_allocation, lambda nodes: 36, 2),
    "locality": Program(locality, lambda nodes: 36 * nodes, 2),
    "many_keys": Program(many_keys, lambda nodes: 600, 4),
    "sampling": Program(sampling, lambda nodes: 80, 4),
}
# AdaPM aborts for a pool without replacement. Log-uniform keys of a sample without replacement are less skewed.
SAMPLINGS = [
    (scheme, replacement, distribution)
    for scheme in ("naive", "preloc", "pool", "local")
    for replacement, distribution in (("with", "uniform"), ("with", "log-uniform"), ("without", "uniform"))
    if (scheme, replacement) != ("pool", "without")
]


def options_of(name: str) -> list[tuple[str, ...]]:
    return [*SAMPLINGS] if name == "sampling" else [()]


def run_on_adapm(folder: str, nodes: int, *program: str) -> str:
    """Starts AdaPM's scheduler and nodes; returns what was wrong."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "DMLC_NUM_SERVER": str(nodes),
        "DMLC_PS_ROOT_URI": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": str(port),
    }
    command = [sys.executable, "-B", os.path.abspath(__file__), folder, str(nodes), *program]
    processes = [
        subprocess.Popen(command, env={**environment, "DMLC_ROLE": role}, stdout=subprocess.PIPE, text=True)
        for role in ["scheduler"] + ["server"] * nodes
    ]
    end = time.monotonic() + 60
    try:
        outputs = [process.communicate(timeout=end - time.monotonic())[0] for process in processes[1:]]
    except subprocess.TimeoutExpired:
        return "it hangs"
    finally:
        for process in processes:
            process.kill()
            process.wait()
    lines = [line for output in outputs for line in output.splitlines() if line.startswith("wrong: ")]
    codes = [process.returncode for process in processes[1:]]
    return "\n".join([*lines, f"exit statuses {codes}"] if any(codes) else lines)


def be_part_of_adapm(folder: str, nodes: int, name: str, *options: str) -> None:
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    sys.path.append(os.path.join(folder, "bindings"))
    import adapm

    program = PROGRAMS[name]
    if os.environ["DMLC_ROLE"] == "scheduler":
        adapm.scheduler(program.keys(nodes), program.threads)
        return
    for text in program.run(Place(adapm, False, -1, nodes, -1, nodes, True), *options):
        print("wrong:", text.replace("\n", " | "), flush=True)


def main() -> None:
    if len(sys.argv) == 1:
        place = our_place()
        for techniques in TECHNIQUES:
            for name, program in PROGRAMS.items():
                for options in options_of(name):
                    wrong = program.run(place, techniques, *options)
                    if wrong:
                        sys.exit("\n".join([name, *wrong]))
    elif "DMLC_ROLE" in os.environ:
        be_part_of_adapm(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
    else:
        sys.exit(run_on_adapm(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]) or None)


if __name__ == "__main__":
    main()
