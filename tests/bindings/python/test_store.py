# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.Store on all ranks: arrays as arguments and results, threads as workers, samples, and the cost of an idle
store. tests/capi/test_kv.c tests the operations themselves."""

import gc
import os
import re
import signal
import threading
import time
import warnings
import weakref

import numpy as np
import pytest
import torch
from mpi4py import MPI

import syncyte

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


@pytest.fixture
def store(comm):
    return syncyte.Store(10, 3, name="parameters")


def in_threads(work, count: int = 2) -> None:
    """Runs work(number) in a thread for each number; raises the first error of a thread."""
    errors = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("make", [np.array, torch.tensor, list])
def test_every_ranks_pushes_are_in_what_all_pull(store, make):
    worker = store.worker()
    keys = make([7, 0, 7])
    worker.push(keys, np.ones((3, 3), np.float32))
    store.sync()
    values = worker.pull(keys)
    assert isinstance(values, torch.Tensor if make is torch.tensor else np.ndarray)
    assert values.tolist() == [[2.0 * SIZE] * 3, [1.0 * SIZE] * 3, [2.0 * SIZE] * 3]
    out = torch.empty(9)
    assert worker.pull(keys, out) is out
    assert out[3] == SIZE
    assert worker.pull(torch.tensor([[1, 2], [3, 4]])).shape == (2, 2, 3)
    local = worker.pull_if_local(keys)
    assert (local is None) == (syncyte.COMM_WORLD.topology.nodes > 1)  # keys of two ranks
    assert local is None or local.tolist() == values.tolist()
    store.sync()
    worker.set([3], torch.full((3,), 5.0))
    assert worker.iset(np.array([3]), np.full(3, 5.0, np.float32)).wait() is None
    for request in (pushed := worker.ipush(keys, np.zeros(9, np.float32)), pulled := worker.ipull(keys, out)):
        assert request.test() or syncyte.COMM_WORLD.topology.nodes > 1
    assert syncyte.wait_all([pushed, pulled]) == [None, out]
    assert pulled.test()
    with pytest.raises(syncyte.HandleError, match="has been waited for before"):
        pulled.wait()
    worker.localize(keys)
    assert worker.pull([3]).tolist() == [[5.0, 5.0, 5.0]]
    worker.flush()
    assert store.owner([0, 9]).tolist() == [0, 9 % SIZE]
    assert store.num_keys == 10
    assert store.length == 3


@pytest.mark.parametrize(
    "make", [torch.tensor, np.array, lambda numbers: torch.tensor(numbers, dtype=torch.float32), list]
)
def test_keys_may_differ_in_length(comm, make):
    store = syncyte.Store(3, make([1, 4, 2]))
    worker = store.worker()
    assert store.length is None
    assert store.lengths([2, 1]).tolist() == [2, 4]
    worker.push([1, 0], np.arange(5, dtype=np.float32))
    store.sync()
    assert worker.pull([0, 1, 2]).tolist() == [4.0 * SIZE, *(SIZE * i for i in range(4)), 0, 0]


@pytest.mark.parametrize("make", [torch.from_numpy, np.asarray])
def test_operations_in_flight_keep_their_arrays(comm, make):
    """Memory of dropped arrays would be given to the next ones, which then have other values."""
    store = syncyte.Store(3000, 16)
    worker, numbers = store.worker(), make(np.arange(3000))
    worker.set(numbers, np.repeat(np.arange(3000, dtype=np.float32), 16))
    store.sync()
    for round in range(20):
        others, requests = [], []
        for _ in range(8):
            dropped = make(np.zeros(48000, np.float32))
            requests.append(worker.ipull(numbers, dropped))
            del dropped
            others.append(make(np.full(48000, -1, np.float32)))
        for _ in range(8):  # pushes of zeros do not change the values
            requests.append(worker.ipush(numbers, make(np.zeros(48000, np.float32))))
            others.append(make(np.full(48000, -1, np.float32)))
        gc.collect()
        if round % 2:
            worker.flush()
        syncyte.wait_all(requests)
        assert all((other == -1).all() for other in others)
    store.sync()
    assert (worker.pull([7, 2999])[:, 3] == [7, 2999]).all()
    store.sync()


def test_an_array_is_kept_until_its_operation_is_waited_for(store):
    worker, keys, references, requests = store.worker(), np.arange(10), [], []
    for _ in range(10):
        zeros = np.zeros(30, np.float32)
        references.append(weakref.ref(zeros))
        requests.append(worker.ipush(keys, zeros))
        del zeros
    are_in_flight = syncyte.COMM_WORLD.topology.nodes > 1
    assert all((reference() is not None) == are_in_flight for reference in references)
    requests[-1].wait()
    assert references[-1]() is None
    syncyte.wait_all(requests[:-1])
    assert all(reference() is None for reference in references)
    out = np.empty(30, np.float32)
    request = worker.ipull(keys, out)
    worker.free()  # its operations go on
    assert request.wait() is out
    assert not out.any()


def test_requests_that_are_dropped_keep_their_arrays_until_they_have_ended(store):
    worker, keys, references = store.worker(), np.arange(10), []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        for _ in range(300):
            zeros = np.zeros(30, np.float32)
            references.append(weakref.ref(zeros))
            worker.ipush(keys, zeros)
            time.sleep(0.001)
    assert bool(seen) == (syncyte.COMM_WORLD.topology.nodes > 1)
    assert all("a request of ipush() was dropped before its end" in str(each.message) for each in seen)
    assert sum(reference() is not None for reference in references) < 100
    worker.flush()
    begin = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - begin < 0.05
    store.sync()


def test_former_names_say_the_new_ones(store):
    worker = store.worker()
    for name, new in {
        "wait": "StoreWorker.wait is now Request.wait, of the requests that",
        "wait_all": "is now syncyte.wait_all, of the requests that",
        "wait_sync": "StoreWorker.wait_sync is now StoreWorker.flush",
        "begin_setup": "StoreWorker.begin_setup is now StoreWorker.barrier",
    }.items():
        with pytest.raises(AttributeError, match=new):
            getattr(worker, name)
    for name, new in {"node": "split_node", "leaders": "split_leaders", "group": "create_group"}.items():
        with pytest.raises(AttributeError, match=f"{name} is now Comm.{new}"):
            getattr(syncyte.COMM_WORLD, name)
    with pytest.raises(AttributeError, match="syncyte.NotInitialisedError is now syncyte.NotInitializedError"):
        syncyte.NotInitialisedError  # noqa: B018
    for former, new in {"naive": "prepared", "preloc": "intended", "pool": "shared"}.items():
        with pytest.raises(syncyte.ArgumentError, match=f"scheme is '{former}'; expected one of .*{new}"):
            store.set_sampling(former, "uniform", 0, 5)
    with pytest.raises(TypeError, match=r"set_sampling\(\) got the keyword pool_size, which is now shared_keys"):
        store.set_sampling("shared", "uniform", 0, 5, pool_size=3)
    counters = syncyte.WholeTensor((1,), "int64")
    for name in ("fetch_add", "ifetch_add"):
        with pytest.raises(TypeError, match=rf"{name}\(\) got the keyword value, which is now operand"):
            getattr(counters, name)(0, value=3)
    with pytest.raises(TypeError, match="got the unexpected keyword size"):
        store.set_sampling("shared", "uniform", 0, 5, size=3)


def test_workers_of_a_rank_meet_while_others_run(comm):
    """A thread that waits in the store releases Python's interpreter lock: each thread here waits for the other one."""
    store = syncyte.Store(1, 1, workers=2)
    workers, seen = [store.worker(number) for number in range(2)], []

    def work(number: int) -> None:
        if RANK == 0 and number == 1:
            time.sleep(0.05)
            workers[1].set([0], np.full(1, 7, np.float32))
        workers[number].barrier()
        seen.append(float(workers[number].pull([0])[0, 0]))
        workers[number].barrier()
        for _ in range(50):
            workers[number].push([0], np.ones(1, np.float32))
        workers[number].barrier()
        seen.append(float(workers[number].pull([0])[0, 0]))

    in_threads(work)
    assert sorted(seen) == [7.0, 7.0, 7.0 + 100 * SIZE, 7.0 + 100 * SIZE]
    workers[1].free()  # barriers no longer wait for it
    workers[0].barrier()
    with pytest.raises(ValueError, match="number is 2; expected 0 to 1"):
        store.worker(2)


def test_a_long_pull_lets_other_threads_run(comm):
    length = 1 << 15
    store = syncyte.Store(1, length)
    worker, keys, is_over, steps = store.worker(), np.zeros(1600, np.int64), threading.Event(), 0
    out = np.empty((1600, length), np.float32)

    def work() -> None:
        worker.pull(keys, out)
        is_over.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not is_over.is_set():
        steps += 1
        time.sleep(0.001)
    thread.join()
    assert steps > 5


def test_samples_are_of_the_range(store):
    worker = store.worker()
    for scheme in ("prepared", "intended", "shared", "local"):
        store.set_sampling(scheme, "log-uniform", 2, 7, with_replacement=scheme == "shared")
        sample = worker.prepare_sample(5)
        keys, values = worker.pull_sample(sample, 2)
        rest = torch.empty(3, dtype=torch.int64)
        assert worker.pull_sample(sample, rest, torch.empty(9))[0] is rest
        drawn = keys.tolist() + rest.tolist()
        assert all(2 <= key < 7 for key in drawn)
        assert values.shape == (2, 3)
        if scheme != "shared":
            assert sorted(drawn) == [2, 3, 4, 5, 6]
        with pytest.raises(ValueError, match=f"sample is {sample}; expected the number of a sample that has keys left"):
            worker.pull_sample(sample, 1)
        worker.finish_sample(worker.prepare_sample(3))
    assert worker.info().prepared_samples == 0
    for text, options in {
        "scheme is 'best'; expected one of prepared, intended, shared, local": {"scheme": "best"},
        "distribution is 'normal'; expected one of uniform, log-uniform": {"distribution": "normal"},
        r"max_key is 11; expected 1 to 10": {"max_key": 11},
    }.items():
        with pytest.raises(ValueError, match=text):
            store.set_sampling(**{"scheme": "local", "distribution": "uniform", "min_key": 0, "max_key": 10} | options)
    with pytest.raises(ValueError, match="count is -1"):
        worker.prepare_sample(-1)


def test_homes_are_chosen_and_files_are_by_key(comm):
    keys = np.arange(20)
    rows = np.arange(60, dtype=np.float32).reshape(20, 3)
    saved = None  # what a job with block homes saved: the rows in the order of the keys
    for homes in ("block", "cyclic", "hash"):
        store = syncyte.Store(20, 3, homes=homes)
        worker = store.worker()
        own = keys[comm.rank :: comm.size].copy()  # any division of the file among the ranks
        worker.set(own, (rows if saved is None else saved)[own])
        store.sync()
        saved = worker.pull(keys)
        assert np.array_equal(saved, rows)
        owners = store.owner(keys)
        counts = np.bincount(owners, minlength=SIZE)
        assert counts.max() - counts.min() <= 1
        if homes == "block":
            assert owners.tolist() == sorted(owners.tolist())
        if homes == "cyclic":
            assert owners[SIZE:].tolist() == owners[:-SIZE].tolist()
            assert sorted(owners[:SIZE]) == list(range(SIZE))
        store.sync()
        worker.free()
    with pytest.raises(syncyte.ArgumentError, match="homes is 'rows'; expected one of cyclic, hash, block"):
        syncyte.Store(20, 3, homes="rows")


def test_a_workers_operations_are_in_order(comm):
    store = syncyte.Store(8000 * SIZE, 16)
    worker = store.worker()
    other = np.arange(8000) * SIZE + (comm.rank + 1) % SIZE
    values, one = np.full((8000, 16), 100, np.float32), np.ones((1, 16), np.float32)
    for _ in range(10):
        requests = [worker.iset(other, values), worker.ipush(other[-1:], one)]
        assert worker.pull(other[-1:])[0, 0] == 101
        syncyte.wait_all(requests)
    store.sync()
    worker.free()


def test_what_handlers_of_signals_do_disturbs_no_call(store):
    worker, handled, depth = store.worker(), 0, 0
    keys, ones = [torch.tensor([key]) for key in range(2)], torch.ones(3)

    def handle(number, frame) -> None:
        nonlocal handled, depth
        if depth == 3:
            return  # on a busy machine a push takes longer than the time to the next signal
        handled, depth = handled + 1, depth + 1
        worker.push(keys[1], ones)
        depth -= 1

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    try:
        for _ in range(20000):
            worker.push(keys[0], ones)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    counts = WORLD.allreduce(handled)
    assert handled > 0
    assert worker.pull(keys[0])[0, 0] <= 20000 * SIZE
    store.sync()
    assert worker.pull([0, 1])[:, 0].tolist() == [20000 * SIZE, counts]


def test_ctrl_c_ends_a_wait_for_workers(comm):
    store = syncyte.Store(1, 1, workers=2)
    waiting, other = store.worker(0), store.worker(1)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        waiting.barrier()
    timer.join()
    in_threads(lambda number: (waiting, other)[number].barrier())


def test_keys_move_to_the_node_that_localizes_them(comm):
    store = syncyte.Store(20, 2, foreign_bytes=4096)
    worker = store.worker()
    keys = np.arange(5, 9)
    assert store.locate(keys).tolist() == store.owner(keys).tolist()
    for turn in range(SIZE):
        worker.barrier()
        if turn == RANK:
            assert worker.ilocalize(keys).wait() is None
            assert store.is_local(keys).all()
            worker.push(keys, np.ones((4, 2), np.float32))
            assert worker.pull_if_local(keys) is not None
    worker.barrier()
    assert worker.pull(keys).tolist() == [[SIZE, SIZE]] * 4
    assert set(store.locate(keys).tolist()) <= set(range(SIZE))
    assert not store.adopt_last(keys).any()  # none is lost
    for call in (worker.localize, worker.ilocalize, store.is_local, store.locate):
        with pytest.raises(syncyte.OutOfRangeError, match=r"keys\[1\] is 20"):
            call([3, 20])
    worker.barrier()


def test_a_budget_for_keys_of_other_nodes_is_not_negative(comm):
    with pytest.raises(syncyte.ArgumentError, match="foreign_bytes is -2"):
        syncyte.Store(3, 1, foreign_bytes=-2)


@pytest.mark.parametrize("intents", ["move-or-copy", "move", "copy"])
def test_intents_bring_keys_or_copies(intents):
    store, size = syncyte.Store(40, 2, intents=intents), syncyte.COMM_WORLD.size
    worker, keys = store.worker(), np.arange(40)
    worker.intent(keys, 0, 10)
    for _ in range(2):  # main copies that nodes share come back as copies
        worker.flush()
        worker.barrier()
    if intents != "move":
        assert store.is_local(keys).all()
    for step in range(1, 4):
        worker.push(keys, np.ones((40, 2), np.float32))
        worker.barrier()
        assert (worker.pull(keys) == step * size).all()
        worker.barrier()
    with pytest.raises(syncyte.ArgumentError, match="intents is 'stay'; expected"):
        syncyte.Store(3, 1, intents="stay")


def test_clocks_and_intents_are_recorded(store):
    worker = store.worker()
    assert worker.clock == 0
    assert worker.advance_clock() == 1
    worker.intent([1, 2], 1, 3)
    worker.intent(torch.tensor([5]), 2)
    worker.localize([4])
    worker.advance_clock()
    worker.advance_clock()
    info = worker.info()
    assert (info.clock, info.intended_keys, info.active_intents, info.localized_keys) == (3, 3, 0, 1)
    for text, window in {
        "start is -1": (-1,),
        "end is 2; expected more than start": (2, 2),
        "end is 0": (0, 0),
    }.items():
        with pytest.raises(ValueError, match=text):
            worker.intent([1], *window)


WRONG = {
    "keys is of float64; expected int64": (np.array([1.0, 2.0]), np.zeros(6, np.float32)),
    "keys is of int16; expected int64": (np.array([1, 2], np.int16), np.zeros(6, np.float32)),
    "is of float64; expected float32": ([1, 2], np.zeros(6)),
    "is not contiguous": (np.array([1, 2]), np.zeros((6, 2), np.float32)[:, 0]),
    "of 5 elements; expected 6, the sum of the keys' lengths": ([1, 2], np.zeros(5, np.float32)),
    re.escape("keys[1] is -2; expected 0 to 9"): ([1, -2], np.zeros(6, np.float32)),
    re.escape("keys[0] is 10; expected 0 to 9"): ([10, 2], np.zeros(6, np.float32)),
}


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_keys_of_int32_and_strided_ones(comm, library):
    store = syncyte.Store(10, 3, comm=syncyte.COMM_SELF)
    worker, plain, values = store.worker(), np.array([7, 2, 5]), np.arange(9, dtype=np.float32)
    given = [plain.astype(np.int32), np.repeat(plain, 2)[::2], np.repeat(plain, 3).astype(np.int32)[::3]]
    for keys in given if library == "numpy" else map(torch.from_numpy, given):
        worker.set(keys, values)
        assert np.asarray(worker.pull(keys)).ravel().tolist() == values.tolist()
        worker.ipush(keys, values).wait()
        out = np.zeros(9, np.float32)
        worker.ipull(keys, out).wait()
        assert out.tolist() == (2 * values).tolist()
        assert store.owner(keys).tolist() == [0, 0, 0]
        assert store.lengths(keys).tolist() == [3, 3, 3]
        worker.localize(keys)
        worker.intent(keys, 0)


@pytest.mark.parametrize("text", WRONG)
def test_wrong_arrays_change_nothing(store, text):
    worker = store.worker()
    keys, values = WRONG[text]
    values = values + 1 if values.flags.c_contiguous else values
    before = values.copy()
    for operation in (worker.pull, worker.push, worker.set, worker.ipull, worker.ipush, worker.iset):
        with pytest.raises((ValueError, TypeError, IndexError), match=text):
            operation(keys, values)
    assert (values == before).all()
    assert not worker.pull(np.arange(10)).any()


def test_wrong_stores_are_every_ranks_error(comm):
    last = RANK == SIZE - 1
    for text, given in {
        r"lengths\[1\] is 2.5; expected a whole number": (2, [1, 2.5]),
        r"lengths\[0\] is 0; expected 1 or more": (2, [0, 2]),
        "lengths is of shape .1, 2.": (2, [[1, 2]]),
        "lengths is 'x'": (2, "x"),
        "lengths_length is 3; expected 1, or 2": (2, [1, 2, 3]),
        "num_keys is 'x'; expected an integer": ("x", 2),
    }.items():
        with pytest.raises((ValueError, TypeError), match=text):
            syncyte.Store(*(given if last else (2, 2)))
    for text, options in {
        "dtype is float64; expected float32": {"dtype": "float64"},
        "workers is 0; expected 1 or more": {"workers": 0},
    }.items():
        with pytest.raises((ValueError, NotImplementedError), match=text):
            syncyte.Store(2, 2, **(options if last else {}))
    if SIZE > 1:
        with pytest.raises(ValueError, match="lengths"):
            syncyte.Store(2, 3 if last else 2)


def test_what_was_freed_is_an_error(store):
    worker = store.worker()
    store.free()
    assert worker.pull([1]).shape == (1, 3)  # a worker keeps its store
    worker.free()
    for use in (lambda: worker.pull([1]), worker.barrier, lambda: store.worker()):
        with pytest.raises(ValueError, match="has been freed"):
            use()


def test_several_dimensions_end_with_a_keys_values(store):
    worker = store.worker()
    for values in (np.ones((3, 4), np.float32), torch.ones(3, 4)):  # transposed
        for operation in (worker.push, worker.set, worker.pull, worker.pull_if_local):
            with pytest.raises(ValueError, match=r"of shape \(3, 4\); expected one dimension, or a last one of 3"):
                operation([0, 1, 2, 3], values)
    worker.push(torch.tensor([0, 1]), torch.ones(1, 2, 3))
    assert repr(store) == "Store(10 keys of 3 values, name='parameters')"


def test_a_worker_that_nobody_refers_to_is_still_waited_for(store):
    store.worker()
    gc.collect()
    with pytest.raises(ValueError, match="number is 0, which is a worker already"):
        store.worker()


def test_views_and_inference_tensors_are_pulled_into_as_others_are(store):
    worker = store.worker()
    keys, room = torch.arange(10), torch.zeros(20, 3)
    worker.set(keys, torch.arange(30.0))
    store.sync()
    assert worker.pull(keys[2:4], room[5:7]).tolist() == [[6, 7, 8], [9, 10, 11]]
    assert room.sum() == 51
    with torch.inference_mode():
        assert worker.pull(keys[:1], torch.zeros(3)).tolist() == [0, 1, 2]
    negative = torch.view_as_complex(torch.ones(3, 2)).conj().imag  # -1, stored as 1 with torch's negative bit
    with pytest.raises(TypeError, match="negative"):
        worker.push(keys[:1], negative)
    with pytest.raises(ValueError, match="requires grad|gradient"):
        worker.push(keys[:1], torch.ones(3, requires_grad=True))


def test_a_pull_is_no_part_of_a_graph(store):
    worker = store.worker()
    with pytest.raises(ValueError, match="requires grad"):
        worker.pull(torch.tensor([1]), torch.zeros(3, requires_grad=True))
    out = torch.zeros(3)
    version = out._version
    worker.pull(torch.tensor([1]), out)
    assert out._version > version


def test_an_idle_store_has_no_threads_and_takes_no_time(comm):
    comm.barrier()
    threads = len(os.listdir("/proc/self/task"))
    store = syncyte.Store(1000, 16)
    worker = store.worker()
    worker.push(np.arange(1000), np.ones((1000, 16), np.float32))
    assert len(os.listdir("/proc/self/task")) == threads
    begin = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - begin < 0.05


def mapped_bytes() -> int:
    """Bytes of shared memory that this process has mapped."""
    total = 0
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "memfd:" in line or "/dev/shm" in line or "/dev/zero" in line:
                begin, end = line.split()[0].split("-")
                total += int(end, 16) - int(begin, 16)
    return total


@pytest.mark.skipif(os.environ.get("SYNCYTE_SHM") == "none", reason="memory is not shared")
def test_a_key_takes_its_values_and_32_bytes_at_most(comm):
    keys = 1 << 19
    for lengths in (16, np.full(keys, 16)):
        gc.collect()  # stores of other tests
        syncyte.COMM_WORLD.collect()
        before = mapped_bytes()
        store = syncyte.Store(keys, lengths)
        taken = mapped_bytes() - before  # shared memory of all ranks of the node
        assert 72 * keys <= taken <= 96 * keys, taken / keys
        store.free()
