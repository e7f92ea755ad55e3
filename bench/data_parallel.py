# SPDX-License-Identifier: BSD-3-Clause
"""Time that data-parallel training adds to a step: syncyte.torch.DataParallel against torch's DistributedDataParallel
with gloo. The model is a perceptron of 25 million parameters; each rank has 16 samples and one thread."""

import os
import socket

import torch
import torch.distributed

import syncyte
from paired import WORLD, Row, print_row, seconds_of

ROUNDS = 11


def network() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(1024, 4096),
        torch.nn.ReLU(),
        torch.nn.Linear(4096, 4096),
        torch.nn.ReLU(),
        torch.nn.Linear(4096, 1024),
    )


def join_gloo() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = WORLD.bcast(free.getsockname()[1])
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=WORLD.rank, world_size=WORLD.size
    )


def main() -> None:
    torch.set_num_threads(1)
    join_gloo()
    x = torch.randn(16, 1024, generator=torch.Generator().manual_seed(WORLD.rank))
    alone, averaged = network(), network()
    averager = syncyte.torch.DataParallel(averaged)
    distributed = torch.nn.parallel.DistributedDataParallel(network(), gradient_as_bucket_view=True)

    def step(model: torch.nn.Module) -> float:
        def run() -> None:
            model.zero_grad(set_to_none=False)
            (model(x) ** 2).mean().backward()

        return seconds_of(run, 3) / 3

    for model in (alone, averaged, distributed):
        step(model)
    pairs = zip(averaged.parameters(), distributed.parameters(), strict=True)
    assert all(torch.allclose(ours.grad, theirs.grad, atol=1e-7) for ours, theirs in pairs), "the gradients differ"
    ours, theirs = [], []
    for turn in range(ROUNDS):
        compute = step(alone)
        pairs = [(averaged, ours), (distributed, theirs)]
        for model, times in pairs if turn % 2 == 0 else reversed(pairs):
            times.append(step(model) - compute)
    print_row(
        Row("data-parallel step above compute alone", "ms", "DistributedDataParallel with gloo", "lower", 0.6),
        [1e3 * value for value in ours],
        [1e3 * value for value in theirs],
        [mine / other for mine, other in zip(ours, theirs, strict=True)],
    )
    averager.remove()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
