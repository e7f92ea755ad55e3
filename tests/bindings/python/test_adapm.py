# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour of AdaPM's PyTorch bindings in syncyte.compat.adapm, and AdaPM's defects, which it does not have.

test_store.py and tests/capi/test_kv.c test the store itself, tests/kv/dead_writer.cpp a process that is killed within
a push."""

import gc
import importlib
import inspect
import os
import resource
import sys
import threading

import numpy as np
import pytest
import torch
from mpi4py import MPI

import syncyte
from operators import needs_operators
from syncyte import compat
from syncyte.compat import adapm

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
COMM = syncyte.COMM_WORLD


@pytest.fixture
def server(comm):
    adapm.setup(100, 2)
    server = adapm.Server(2)
    yield server
    server.shutdown()


@pytest.fixture
def worker(server):
    return adapm.Worker(0, server)


def keys(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers)


SIGNATURES = {
    "setup": ["num_keys", "num_threads", "use_techniques", "num_channels"],
    "scheduler": ["num_keys", "num_threads"],
    "Server": ["value_lengths"],
    "Server.enable_sampling_support": ["scheme", "with_replacement", "distribution", "min", "max"],
    "Server.barrier": [],
    "Server.shutdown": [],
    "Server.my_rank": [],
    "Worker": ["customer_id", "server"],
    "Worker.pull": ["keys", "vals", "asynchronous"],
    "Worker.push": ["keys", "vals", "asynchronous"],
    "Worker.set": ["keys", "vals", "asynchronous"],
    "Worker.localize": ["keys", "asynchronous"],
    "Worker.wait": ["timestamp"],
    "Worker.waitall": [],
    "Worker.intent": ["keys", "start", "end"],
    "Worker.advance_clock": [],
    "Worker.current_clock": [],
    "Worker.prepare_sample": ["K", "start", "end"],
    "Worker.pull_sample": ["id", "keys", "vals", "asynchronous"],
    "Worker.begin_setup": [],
    "Worker.end_setup": [],
    "Worker.wait_sync": [],
    "Worker.barrier": [],
    "Worker.finalize": [],
    "Worker.get_key_size": ["key_id"],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_names_and_parameters_are_adapms(name):
    found = adapm
    for part in name.split("."):
        found = getattr(found, part)
    parameters = inspect.signature(found).parameters
    assert [each for each in parameters if each not in ("self", "options")] == SIGNATURES[name]


@needs_operators
def test_install_makes_it_the_same_module():
    had = "adapm" in sys.modules
    compat.install()
    assert importlib.import_module("adapm") is adapm
    if not had:
        del sys.modules["adapm"]


@pytest.mark.parametrize("make", [torch.tensor, np.array])
def test_operations_return_minus_one_unless_keys_of_other_nodes_are_in_flight(worker, make):
    home = int(worker._store.owner([1, 2])[0])
    is_elsewhere = COMM.topology.nodes > 1 and home != RANK

    def check(timestamp: int, is_asynchronous: bool) -> int:
        if is_elsewhere and is_asynchronous:
            assert timestamp >= 0
        elif not is_asynchronous:
            assert timestamp == -1
        return timestamp

    numbers, values = make([1, 2]), make([[1.0, 2.0], [3.0, 4.0]])
    values = values.float() if make is torch.tensor else values.astype(np.float32)
    for operation in (worker.pull, worker.push, worker.set):
        for options in ({}, {"async": True}, {"asynchronous": True}, {"async": False}):
            is_asynchronous = any(options.values())
            worker.wait(check(operation(numbers, values, **options), is_asynchronous))
        worker.wait(check(operation(numbers, values, True), True))
        with pytest.raises(TypeError, match="unexpected argument 'synchronous'"):
            operation(numbers, values, synchronous=True)
    assert worker.localize(numbers) == -1
    worker.wait(worker.localize(numbers, True))  # another rank may have taken the keys meanwhile
    worker.wait(-1)
    worker.wait(-1)
    worker.waitall()
    with pytest.raises(ValueError, match="timestamp is 999"):
        worker.wait(999)


@pytest.mark.parametrize("techniques", ["", "all", "replication_only", "relocation_only"])
def test_techniques_say_what_intents_do(techniques):
    adapm.setup(20, 1, techniques)
    server = adapm.Server(2)
    worker, every = adapm.Worker(0, server), torch.arange(20)
    worker.intent(every, worker.current_clock(), worker.current_clock() + 10)
    for _ in range(2):  # main copies that nodes share come back as copies
        worker.wait_sync()
        worker.barrier()
    values = torch.zeros(40)
    is_local = worker.pull(every, values, True) == -1
    worker.waitall()
    if techniques != "relocation_only":
        assert is_local
    elif COMM.topology.nodes > 1:
        local = COMM.allreduce(np.array([int(is_local)]))[0]
        assert local < SIZE
    worker.barrier()
    for step in range(1, 6):
        worker.push(every, torch.ones(40))
        worker.barrier()
        worker.pull(every, values)
        assert values.tolist() == [float(step * SIZE)] * 40
        worker.barrier()
    worker.finalize()
    server.shutdown()


def test_pushes_add_and_a_set_replaces(server, worker):
    worker.push(keys(3, 3), torch.ones(4))
    server.barrier()
    found = torch.empty(2)
    worker.pull(keys(3), found)
    assert found.tolist() == [2.0 * SIZE, 2.0 * SIZE]
    server.barrier()
    parameter = torch.nn.Parameter(torch.full((2,), 5.0))  # AdaPM ignores gradients
    worker.set(keys(3), parameter)
    worker.pull(keys(3), parameter)
    assert parameter.tolist() == [5.0, 5.0]


def test_lengths_are_one_number_or_a_tensor_of_any_numbers(comm):
    adapm.setup(5, 1)
    lengths = torch.ones(5) * 2
    lengths[3] = 4
    for given, last in ((2, 2), (np.int64(2), 2), (lengths, 4), (lengths.long(), 4)):
        server = adapm.Server(given)
        worker = adapm.Worker(0, server)
        assert worker.get_key_size() == 2
        assert worker.get_key_size(3) == last
        assert worker.num_keys == 5
        assert server.my_rank() == RANK
        worker.finalize()
        server.shutdown()
    wrong_lengths = {
        r"lengths\[1\] is 2.5": torch.tensor([1, 2.5, 1, 1, 1]),
        r"value_lengths is of shape \[2\]; expected \[5\]": torch.ones(2),
    }
    for text, wrong in wrong_lengths.items():
        with pytest.raises(ValueError, match=text):
            adapm.Server(wrong)


@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool", "local"])
def test_samples_of_keys_as_long_as_the_first(comm, scheme):
    adapm.setup(20, 1)
    lengths = torch.ones(20)
    lengths[5] = 3
    server = adapm.Server(lengths)
    server.enable_sampling_support(scheme=scheme, with_replacement=True, distribution="uniform", min=4, max=7)
    worker = adapm.Worker(0, server)
    sample = worker.prepare_sample(40, worker.current_clock())
    drawn, values = torch.zeros(20, dtype=torch.int64), torch.empty(20)
    expected = {4, 6}
    if scheme == "local" and os.environ.get("SYNCYTE_SHM") == "none":  # every rank is a node, and draws its own keys
        expected = {key for key in expected if key % comm.size == comm.rank} or expected
    assert worker.pull_sample(sample, drawn, values) == -1
    assert set(drawn.tolist()) == expected
    worker.wait(worker.pull_sample(sample, drawn.numpy(), values.numpy(), True))
    assert set(drawn.tolist()) == expected
    with pytest.raises(ValueError, match="sample is"):
        worker.pull_sample(sample, drawn[:1], values[:1])
    server.shutdown()


def test_unknown_choices_are_errors(server):
    with pytest.raises(ValueError, match="scheme is 'best'; expected one of naive, preloc, pool, local"):
        server.enable_sampling_support("best", True, "uniform", 0, 10)
    with pytest.raises(ValueError, match="distribution is 'normal'"):
        server.enable_sampling_support("local", True, "normal", 0, 10)
    for text, given in {
        "use_techniques is 'some'; expected one of all, replication_only": (10, 1, "some"),
        "num_keys is 0; expected 1 or more": (0, 1),
        "num_threads is 0": (10, 0),
        "num_channels is 0": (10, 1, "all", 0),
    }.items():
        with pytest.raises(ValueError, match=text):
            adapm.setup(*given)


def test_numbers_of_workers_are_ones_own(server):
    first = adapm.Worker(0, server)
    with pytest.raises(ValueError, match="number is 0, which is a worker already"):
        adapm.Worker(0, server)
    with pytest.raises(ValueError, match="number is 2; expected 0 to 1"):
        adapm.Worker(2, server)
    with pytest.raises(TypeError, match="server is a int"):
        adapm.Worker(1, 3)
    second = adapm.Worker(1, server)
    threads = [threading.Thread(target=each.finalize) for each in (first, second)]  # each waits for all workers
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(ValueError, match="this Worker was finalized"):
        first.barrier()
    adapm.Worker(0, server)


def test_a_worker_is_waited_for_until_it_is_finalized(server):
    """A Worker without a reference still occupies its number."""
    adapm.Worker(0, server)
    gc.collect()
    with pytest.raises(ValueError, match="number is 0, which is a worker already"):
        adapm.Worker(0, server)


def test_a_script_that_starts_its_nodes_by_itself_is_told(comm, monkeypatch):
    monkeypatch.setenv("DMLC_NUM_SERVER", str(SIZE + 1))
    adapm.setup(2, 1)
    with pytest.warns(UserWarning, match=f"DMLC_NUM_SERVER is {SIZE + 1}, but the nodes are the {SIZE} ranks"):
        adapm.Server(1).shutdown()


def test_setup_server_and_shutdown_as_often_as_one_likes(comm):
    for round in range(5):
        adapm.setup(10 + round, 1)
        server = adapm.Server(1)
        worker = adapm.Worker(0, server)
        values = torch.empty(1)
        worker.pull(keys(9 + round), values)
        assert values.item() == 0
        server.barrier()
        worker.push(keys(9 + round), torch.ones(1), True)  # asynchronous; without a wait
        if round % 2:
            worker.finalize()
        server.shutdown()
        server.shutdown()
        for use in (lambda: worker.pull(keys(1), values), worker.barrier, worker.current_clock):
            with pytest.raises(ValueError, match="this Worker's Server was shut down"):
                use()
        with pytest.raises(ValueError, match="this Server was shut down"):
            adapm.Worker(0, server)


def test_servers_and_workers_meet_at_the_same_time(server):
    workers, met = [adapm.Worker(number, server) for number in range(2)], []

    def meet(worker) -> None:
        for _ in range(20):
            worker.barrier()
        met.append(worker)

    threads = [threading.Thread(target=meet, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for _ in range(20):
        server.barrier()
    for thread in threads:
        thread.join()
    assert len(met) == 2


def test_the_scheduler_returns(comm):
    assert adapm.scheduler(10, 2) is None
    with pytest.raises(ValueError, match="num_threads is 0; expected 1 or more"):
        adapm.scheduler(10, 0)


# AdaPM's defects, numbered in the tests' names.


def test_1_of_two_sets_at_once_one_stays(server, worker):
    for round in range(20):
        server.barrier()
        worker.set(keys(round), torch.full((2,), 100.0 * (RANK + 1)))
        server.barrier()
        found = torch.empty(2)
        worker.pull(keys(round), found)
        assert found[0] == found[1]
        assert found[0].item() in [100.0 * (rank + 1) for rank in range(SIZE)]
        assert len(set(WORLD.allgather(found[0].item()))) == 1


def test_2_keys_that_repeat_are_each_answered(worker):
    worker.set(keys(98, 0, 50), torch.arange(6.0))
    found = torch.empty(10)
    worker.pull(keys(0, 98, 0, 50, 98), found)
    assert found.tolist() == [2, 3, 0, 1, 2, 3, 4, 5, 0, 1]


def test_3_keys_that_are_not_there_are_errors(worker):
    for number in (-1, 100, 2**40):
        with pytest.raises(IndexError, match=rf"keys\[1\] is {number}; expected 0 to 99"):
            worker.pull(keys(0, number), torch.empty(4))
        with pytest.raises(IndexError):
            worker.intent(keys(number), 1)


def test_4_other_types_and_strides_are_errors(worker):
    for values in (
        torch.zeros(4, dtype=torch.float64),
        torch.zeros(4, 2)[:, 0],
        np.zeros(4),
        np.zeros((4, 2), "f")[:, 0],
    ):
        for operation in (worker.pull, worker.push, worker.set):
            with pytest.raises((TypeError, ValueError)):
                operation(keys(1, 2), values)
    with pytest.raises((TypeError, ValueError)):
        worker.pull(keys(1, 2).float(), torch.zeros(4))


def test_5_arrays_may_go_before_an_asynchronous_operation_is_waited_for(worker):
    for call in (worker.pull, worker.push):
        stamps, others = [], []
        for _ in range(100):
            stamps.append(call(torch.arange(100), torch.zeros(200), True))
            others.append(torch.full((200,), -1.0))  # would get the memory of a tensor that was freed
        gc.collect()
        for stamp in stamps:
            worker.wait(stamp)
        assert all((other == -1).all() for other in others)
    found = torch.ones(200)
    stamp = worker.pull(torch.arange(100), found, asynchronous=True)
    worker.wait(stamp)
    worker.wait(stamp)
    assert not found.any()


def test_a_finalized_worker_has_made_its_asynchronous_pushes(server):
    pushing, other = adapm.Worker(0, server), adapm.Worker(1, server)
    for _ in range(20):
        pushing.push(torch.arange(100), torch.ones(200), True)
    threads = [threading.Thread(target=each) for each in (pushing.finalize, other.barrier)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = torch.empty(200)
    other.pull(torch.arange(100), found)
    assert (found == 20 * SIZE).all()


def test_6_a_thread_that_waits_lets_others_run(server):
    workers, order = [adapm.Worker(number, server) for number in range(2)], []

    def wait() -> None:
        workers[0].barrier()
        order.append("after")

    thread = threading.Thread(target=wait)
    thread.start()
    for _ in range(10):
        workers[1].push(keys(1), torch.ones(2))
    order.append("before")
    workers[1].barrier()
    thread.join()
    assert order == ["before", "after"]


def test_7_operations_leave_nothing_behind(worker):
    numbers, values = keys(1), torch.zeros(2)
    before = None
    for round in range(40000):
        worker.push(numbers, values, True)
        if round == 10000:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker.waitall()
    most = 512 if COMM.topology.nodes == 1 else 8192  # KiB; between nodes for the operations in flight
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < most
