# SPDX-License-Identifier: BSD-3-Clause
"""A program that ends without destroy_process_group while operations are in flight: its end waits for them."""

import torch
import torch.distributed as dist

import syncyte.distributed

dist.init_process_group("syncyte", init_method="syncyte://")
for _ in range(20):
    dist.all_reduce(torch.ones(100_000), async_op=True)
dist.all_reduce(torch.ones(100_000), group=dist.new_group(list(range(dist.get_world_size()))), async_op=True)
print(f"rank {syncyte.COMM_WORLD.rank} ends")
