# SPDX-License-Identifier: BSD-3-Clause
"""What stands on torch.distributed, on gloo and on Syncyte: both must give the result of one process."""

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed import _functional_collectives as functional
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.join import Join
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

import syncyte
from syncyte.distributed import StorageReader, StorageWriter

RANK, SIZE = syncyte.COMM_WORLD.rank, syncyte.COMM_WORLD.size


@pytest.fixture(autouse=True, params=["gloo", "syncyte"], scope="module")
def backend(request):
    dist.init_process_group(request.param, init_method="syncyte://")
    yield request.param
    dist.destroy_process_group()


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 12 * SIZE), torch.nn.ReLU(), torch.nn.Linear(12 * SIZE, 4))


def batch(step):
    torch.manual_seed(step)
    return torch.randn(4 * SIZE, 8)


def mine_of(whole):
    return whole[4 * RANK : 4 * RANK + 4]


def train(model, parameters, optimizer, part=mine_of):
    for step in range(3):
        optimizer.zero_grad()
        model(part(batch(step))).square().mean().backward()
        optimizer.step()
    return [each.detach() for each in parameters()]


@pytest.fixture(scope="module")
def trained():
    """The parameters after three steps of one process with all data."""
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    return train(model, model.parameters, optimizer, part=lambda whole: whole)


def assert_trained(found, trained):
    for mine, expected in zip(found, trained, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"static_graph": True}, {"find_unused_parameters": True}], ids=str)
def test_ddp(trained, options):
    model = DistributedDataParallel(network(), **options)
    assert_trained(train(model, model.parameters, torch.optim.AdamW(model.parameters(), lr=0.1)), trained)


def test_ddp_with_a_hook():
    model = DistributedDataParallel(network())
    model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    model(mine_of(batch(0))).sum().backward()
    alone = network()
    (alone(batch(0)).sum() / SIZE).backward()
    for mine, expected in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, expected.grad, rtol=0.05, atol=0.1)


def test_ddp_join():
    model = DistributedDataParallel(network())
    with Join([model]):
        for step in range(1 + RANK):
            model(batch(step)).sum().backward()
    gathered = [torch.empty(4) for _ in range(SIZE)]
    dist.all_gather(gathered, model.module[2].bias.grad)
    assert all(torch.isfinite(each).all() for each in gathered)


def test_zero(trained):
    model = DistributedDataParallel(network())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=0.1)
    assert_trained(train(model, model.parameters, optimizer), trained)


def test_fsdp1(trained):
    model = FullyShardedDataParallel(network(), device_id=torch.device("cpu"))
    train(model, model.parameters, torch.optim.AdamW(model.parameters(), lr=0.1))
    with FullyShardedDataParallel.summon_full_params(model):
        assert_trained([each.detach().clone() for each in model.parameters()], trained)


def sharded(mesh):
    model = network()
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def whole_parameters(model):
    return lambda: [each.full_tensor() for each in model.parameters()]


def test_fsdp2(trained):
    model = sharded(init_device_mesh("cpu", (SIZE,)))
    assert_trained(train(model, whole_parameters(model), torch.optim.AdamW(model.parameters(), lr=0.1)), trained)


@pytest.mark.skipif(SIZE % 2 != 0, reason="a mesh of two rows")
def test_hsdp(trained):
    model = sharded(init_device_mesh("cpu", (2, SIZE // 2), mesh_dim_names=("replicas", "shards")))
    assert_trained(train(model, whole_parameters(model), torch.optim.AdamW(model.parameters(), lr=0.1)), trained)


def test_dtensor():
    mesh = init_device_mesh("cpu", (SIZE,))
    torch.manual_seed(1)
    whole = torch.randn(7, 5)
    rows = distribute_tensor(whole, mesh, [Shard(0)])
    assert torch.equal(rows.full_tensor(), whole)
    assert torch.equal(rows.redistribute(mesh, [Shard(1)]).full_tensor(), whole)
    assert torch.equal(rows.redistribute(mesh, [Replicate()]).to_local(), whole)
    torch.testing.assert_close((rows @ rows.T).full_tensor(), whole @ whole.T)


def test_tensor_parallel():
    mesh = init_device_mesh("cpu", (SIZE,))
    model, alone = network(), network()
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    data = batch(0)
    torch.testing.assert_close(model(data), alone(data))
    model(data).sum().backward()
    alone(data).sum().backward()
    torch.testing.assert_close(model[0].weight.grad.full_tensor(), alone[0].weight.grad)


@pytest.mark.skipif(SIZE == 1, reason="a pipeline of several stages")
def test_pipeline():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(SIZE)))
    data, target = torch.randn(8, 4), torch.randn(8, 4)
    expected = torch.nn.functional.mse_loss(layers(data), target)
    stage = PipelineStage(layers[RANK], RANK, SIZE, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, 2, loss_fn=torch.nn.functional.mse_loss)
    losses: list[torch.Tensor] = []
    ends = {"target": target, "losses": losses} if RANK == SIZE - 1 else {}
    schedule.step(*([data] if RANK == 0 else []), **ends)
    if RANK == SIZE - 1:
        torch.testing.assert_close(torch.stack(losses).mean().detach(), expected.detach())
    assert layers[RANK].weight.grad is not None


def test_dcp(backend, tmp_path_factory):
    place = [str(tmp_path_factory.mktemp("dcp"))]
    dist.broadcast_object_list(place, 0)
    model = sharded(init_device_mesh("cpu", (SIZE,)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    saved = train(model, whole_parameters(model), optimizer)
    state, moments = get_state_dict(model, optimizer)
    dcp.save({"model": state, "optimizer": moments}, checkpoint_id=f"{place[0]}/now")
    dcp.async_save({"model": state}, checkpoint_id=f"{place[0]}/behind").result()
    dcp.save({"model": state, "optimizer": moments}, storage_writer=StorageWriter(f"{place[0]}/one.h5"))
    for name in ("now", "behind", "one.h5"):
        with torch.no_grad():
            for each in model.parameters():
                each.zero_()
        state, moments = get_state_dict(model, optimizer)
        wanted = {"model": state} if name == "behind" else {"model": state, "optimizer": moments}
        reader = StorageReader() if name == "one.h5" else None
        dcp.load(wanted, checkpoint_id=f"{place[0]}/{name}", storage_reader=reader)
        set_state_dict(model, optimizer, model_state_dict=state, optim_state_dict=moments)
        assert all(map(torch.equal, whole_parameters(model)(), saved))


def test_functional_collectives_in_a_compiled_graph():
    def add_up(tensor):
        return functional.all_reduce(tensor * 2, "sum", dist.group.WORLD) + 1

    compiled = torch.compile(add_up, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 2.0 * SIZE + 1))
    parts = functional.all_to_all_single(torch.full((SIZE,), float(RANK)), None, None, dist.group.WORLD)
    assert torch.equal(functional.wait_tensor(parts), torch.arange(float(SIZE)))


def test_monitored_barrier():
    dist.monitored_barrier()
