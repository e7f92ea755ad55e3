# SPDX-License-Identifier: BSD-3-Clause
"""Two worker processes switch between two networks that lie in one shared cache. No weight is copied in a switch.

    python examples/cache/two_models.py

The controller writes the weights of both networks into the cache once. Requests go to the two workers in turn. A worker
inserts the network's slice, which already holds the weights, and a slice for the computation. The controller compares
each answer bit for bit with the answer of its own copy of the network.
"""

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

import torch
from networks import BertBase, ResNet152

from syncyte import SharedCache
from syncyte.cache import clear

NETWORKS = {"ResNet-152": ResNet152, "BERT-base": BertBase}
COMPUTATION_BYTES = 1 << 28
UNIT = 512  # bytes; a tensor in the cache takes a multiple of it


def slice_bytes(network: torch.nn.Module) -> int:
    return sum(-(-each.nbytes // UNIT) * UNIT for each in network.state_dict().values())


def slices(networks: dict[str, torch.nn.Module]) -> dict[str, tuple[int, int]]:
    """Offset and size of each network's weights in the cache: the same in all processes."""
    offset, found = 0, {}
    for name, network in networks.items():
        found[name] = offset, slice_bytes(network)
        offset += found[name][1]
    return found


def empty_state(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Tensors for the network's weights, allocated in the slice that was inserted last, always in the same order."""
    return {name: torch.empty(each.shape, dtype=each.dtype) for name, each in network.state_dict().items()}


def write_weights(cache: SharedCache, network: torch.nn.Module, place: tuple[int, int]) -> None:
    cache.insert(*place)
    for (_, target), source in zip(empty_state(network).items(), network.state_dict().values(), strict=True):
        target.copy_(source)
    del target
    clear()


def answer(cache: SharedCache, network: torch.nn.Module, place: tuple[int, int], data: torch.Tensor) -> bytes:
    cache.insert(*place)
    network.load_state_dict(empty_state(network), assign=True)
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    result = network(data).numpy().tobytes()  # copied, because the tensor's memory is in the slice
    network.to_empty(device="meta")
    clear()
    return result


def serve(requests: Connection) -> None:
    """A worker. Its networks are on the device "meta": they have shapes but no memory of their own."""
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    with torch.device("meta"):
        networks = {name: make().eval() for name, make in NETWORKS.items()}
    places = slices(networks)
    cache = SharedCache.receive(timeout=60)
    while (request := requests.recv()) is not None:
        name, data = request
        requests.send(answer(cache, networks[name], places[name], torch.from_numpy(data)))


def requests() -> Iterator[tuple[str, torch.Tensor]]:
    """Each worker gets each network in turn."""
    torch.manual_seed(2)
    for name in ("ResNet-152", "BERT-base", "BERT-base", "ResNet-152") * 2:
        yield name, torch.rand(1, 3, 64, 64) if name == "ResNet-152" else torch.randint(30522, (1, 32))


def main() -> None:
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    networks = {name: make().eval() for name, make in NETWORKS.items()}
    places = slices(networks)
    cache = SharedCache(sum(size for _, size in places.values()), COMPUTATION_BYTES)
    for name, network in networks.items():
        write_weights(cache, network, places[name])

    spawn = multiprocessing.get_context("spawn")
    workers = []
    for _ in range(2):
        here, there = spawn.Pipe()
        worker = spawn.Process(target=serve, args=(there,), daemon=True)
        worker.start()
        cache.send(timeout=60)
        workers.append((worker, here))

    for number, (name, data) in enumerate(requests()):
        worker, pipe = workers[number % 2]
        begin = time.perf_counter()
        pipe.send((name, data.numpy()))
        result = pipe.recv()
        seconds = time.perf_counter() - begin
        if result != networks[name](data).numpy().tobytes():
            raise SystemExit(f"{name} gave another answer in worker {number % 2} than here")
        print(f"worker {number % 2} answered with {name} after {seconds:.2f} s, as the controller does")
    for worker, pipe in workers:
        pipe.send(None)
        worker.join()


if __name__ == "__main__":
    main()
