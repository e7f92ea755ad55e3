# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed.checkpoint in Syncyte's files, and communicators, groups and DTensors of each other's ranks."""

import copy
import inspect
import io
import os
import pickle
import shutil
import tempfile
import threading
import warnings

import h5py
import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.state_dict import set_optimizer_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

import syncyte
from syncyte.distributed import (
    StorageReader,
    StorageWriter,
    local_state_dict,
    optimizer_state_dict,
    pg_of,
    state_dict,
)  # fmt: skip

COMM = syncyte.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128, torch.int8,
          torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool, torch.uint16, torch.uint32, torch.uint64,
          torch.float8_e4m3fn, torch.float8_e5m2]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def group():
    dist.init_process_group("syncyte", init_method="syncyte://")
    yield
    dist.destroy_process_group()


@pytest.fixture
def path():
    """A file of all ranks."""
    places = [tempfile.mkdtemp() if RANK == 0 else ""]
    dist.broadcast_object_list(places, 0)
    yield os.path.join(places[0], "state.h5")
    dist.barrier()
    if RANK == 0:
        shutil.rmtree(places[0])


def numbers(*shape, dtype=torch.float32):
    torch.manual_seed(sum(shape))
    return (torch.rand(shape) * 100).to(dtype)


def bits(tensor):
    return tensor.detach().contiguous().cpu().reshape(-1).view(torch.uint8)


def assert_same(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert torch.equal(bits(found), bits(expected))


def mesh():
    return init_device_mesh("cpu", (SIZE,))


def save(path, state, **options):
    dcp.save(state, storage_writer=StorageWriter(path), **options)


def load(path, state, **options):
    dcp.load(state, storage_reader=StorageReader(path), **options)


def test_element_types(path):
    whole = {str(dtype): numbers(5, 3, dtype=dtype) for dtype in DTYPES}
    state = {
        "cut": {key: distribute_tensor(value, mesh(), [Shard(0)]) for key, value in whole.items()},
        "same": whole,
        "number": {key: value[4, 2] for key, value in whole.items()},
    }
    save(path, state)
    found = {
        "cut": {key: distribute_tensor(value.clone().fill_(0), mesh(), [Shard(1)]) for key, value in whole.items()},
        "same": {key: value.clone().fill_(0) for key, value in whole.items()},
        "number": {key: value[0, 0].clone().fill_(0) for key, value in whole.items()},
    }
    load(path, found)
    for key, value in whole.items():
        assert_same(found["cut"][key].full_tensor(), value)
        assert_same(found["same"][key], value)
        assert_same(found["number"][key], value[4, 2])


PLACEMENTS = [[Shard(0)], [Shard(1)], [Replicate()]]
SHAPES = [(7, 5), (1, 4), (SIZE, 2, 3), (0, 4), (4, 0)]


@pytest.mark.parametrize("before", PLACEMENTS, ids=str)
def test_placements(path, before):
    whole = [numbers(*shape) for shape in SHAPES]
    save(path, {"w": [distribute_tensor(each, mesh(), before) for each in whole]})
    for after in PLACEMENTS:
        found = [distribute_tensor(torch.zeros(shape), mesh(), after) for shape in SHAPES]
        load(path, {"w": found})
        for mine, expected in zip(found, whole, strict=True):
            assert_same(mine.full_tensor(), expected)
    alone = [torch.zeros(shape) for shape in SHAPES]
    load(path, {"w": alone})
    for mine, expected in zip(alone, whole, strict=True):
        assert_same(mine, expected)


@pytest.mark.skipif(SIZE != 4, reason="a mesh of two rows and two columns")
@pytest.mark.parametrize("placements", [[Shard(0), Shard(1)], [Shard(0), Shard(0)], [Replicate(), Shard(1)]], ids=str)
def test_meshes_of_two_dimensions(path, placements):
    grid, whole = init_device_mesh("cpu", (2, 2)), numbers(7, 5)
    save(path, {"w": distribute_tensor(whole, grid, placements)})
    found = {"w": distribute_tensor(torch.zeros(7, 5), grid, [Shard(1), Shard(0)])}
    load(path, found)
    assert_same(found["w"].full_tensor(), whole)


def test_nested_state(path):
    complexes = numbers(3).to(torch.complex64)
    state = {
        "model": {"a/b%.": numbers(3, 4).T, "list": [numbers(2), {"x": 7}, "text"], "conj": complexes.conj()},
        "rate": 0.25,
        "nothing": None,
    }  # fmt: skip
    save(path, state)
    found = {
        "model": {"a/b%.": torch.zeros(4, 3), "list": [torch.zeros(2), {"x": 0}, ""], "conj": (complexes * 0).conj()},
        "rate": 0.0,
        "nothing": 1,
    }  # fmt: skip
    load(path, found)
    assert_same(found["model"]["a/b%."], state["model"]["a/b%."].contiguous())
    assert torch.equal(found["model"]["conj"], state["model"]["conj"])
    assert_same(found["model"]["list"][0], state["model"]["list"][0])
    assert (found["rate"], found["nothing"], found["model"]["list"][1:]) == (0.25, None, [{"x": 7}, "text"])


def test_a_state_without_a_model(path):
    """torch rebuilds nested mappings and lists from the file alone."""
    from torch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
    from torch.distributed.checkpoint.state_dict_loader import _load_state_dict

    save(path, {"model": {"w": numbers(4)}, "steps": [1, numbers(2)]})
    found = {}
    _load_state_dict(found, StorageReader(path), planner=_EmptyStateDictLoadPlanner(), no_dist=True)
    assert_same(found["model"]["w"], numbers(4))
    assert found["steps"][0] == 1
    assert_same(found["steps"][1], numbers(2))


def test_other_programs_read_it(path):
    whole = numbers(7, 5)
    save(path, {"model": {"rows": distribute_tensor(whole, mesh(), [Shard(0)]),
                          "columns": distribute_tensor(whole, mesh(), [Shard(1)])}, "rate": 0.5})  # fmt: skip
    with h5py.File(path) as file:
        for key in ("model.rows", "model.columns"):
            assert np.array_equal(file[key][...], whole.numpy())
        assert torch.load(io.BytesIO(file["rate"][...].tobytes())) == 0.5
        assert list(file["model.columns"].attrs["global_shape"]) == [7, 5]
    loaded = syncyte.checkpoint.load(path, keys=["model.columns"], torch=True)
    assert_same(loaded["model.columns"], whole)


def test_files_of_checkpoint_save(path):
    mine = numbers(2, 3) + RANK
    syncyte.checkpoint.save(path, {"rows": mine, "same": numbers(4)}, sharded=["rows"])
    found = {"rows": distribute_tensor(torch.zeros(2 * SIZE, 3), mesh(), [Shard(1)]), "same": torch.zeros(4)}
    load(path, found)
    assert_same(found["rows"].full_tensor(), torch.cat([numbers(2, 3) + rank for rank in range(SIZE)]))
    assert_same(found["same"], numbers(4))


def test_targets_that_are_views(path):
    whole = numbers(6, 4)
    save(path, {"w": whole})
    found = {"w": torch.zeros(4, 6, dtype=torch.float64).T}
    load(path, found)
    assert torch.equal(found["w"], whole.double())


def test_async_save_while_training_goes_on(path):
    parameter = distribute_tensor(numbers(8, 3), mesh(), [Shard(0)])
    before, own = parameter.full_tensor().clone(), dist.new_group()
    writer = StorageWriter(path, process_group=own)
    work = dcp.async_save({"w": parameter}, storage_writer=writer, process_group=own)
    work = getattr(work, "upload_completion", work)
    turns = torch.ones(1)
    for _ in range(50):
        dist.all_reduce(turns, dist.ReduceOp.MAX)
    with torch.no_grad():
        parameter.to_local().add_(1)
    work.result()
    found = {"w": torch.zeros(8, 3)}
    load(path, found)
    assert_same(found["w"], before)


def test_an_error_on_one_rank_keeps_the_file(path):
    save(path, {"w": numbers(4)})
    broken = {"w": numbers(4) + 1, f"object {RANK}": (lambda: 0) if RANK == SIZE - 1 else 0}
    with pytest.raises(dcp.api.CheckpointException, match="pickle"):
        save(path, broken)
    found = {"w": torch.zeros(4)}
    load(path, found)
    assert_same(found["w"], numbers(4))
    save(path, {"w": numbers(4) + 2})
    load(path, found)
    assert_same(found["w"], numbers(4) + 2)
    dist.barrier()
    assert os.listdir(os.path.dirname(path)) == ["state.h5"]


@pytest.mark.skipif(SIZE == 1, reason="ranks that differ")
def test_ranks_that_differ(path):
    with pytest.raises(dcp.api.CheckpointException, match="the key 'w' is"):
        save(path, {"w": numbers(4) if RANK else numbers(5)}, planner=DefaultSavePlanner())


def test_one_save_of_a_writer_at_a_time(path):
    writer, begun, may_end = StorageWriter(path), threading.Event(), threading.Event()

    class Slow(DefaultSavePlanner):
        def resolve_data(self, item):
            begun.set()
            may_end.wait()
            return super().resolve_data(item)

    alone = StorageWriter(f"{path}.{RANK}", process_group=syncyte.COMM_SELF)
    state = {"w": numbers(3)}
    thread = threading.Thread(target=lambda: dcp.save(state, storage_writer=alone, planner=Slow(), no_dist=True))
    thread.start()
    begun.wait()
    with pytest.raises(dcp.api.CheckpointException, match="this StorageWriter is in another save"):
        dcp.save(state, storage_writer=alone, no_dist=True)
    may_end.set()
    thread.join()
    dcp.save(state, storage_writer=alone, no_dist=True)
    dcp.save(state, storage_writer=writer)


def test_after_a_failed_save_another_thread_may_save(path):
    writer, errors = StorageWriter(path), []
    with pytest.raises(dcp.api.CheckpointException, match="layout"):
        dcp.save({"w": torch.eye(3).to_sparse()}, storage_writer=writer)

    def again():
        try:
            dcp.save({"w": numbers(3)}, storage_writer=writer)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=again)
    thread.start()
    thread.join()
    assert errors == []


def test_a_planner_that_converts(path):
    class Halving(DefaultSavePlanner):
        def transform_object(self, write_item, object):
            found = super().transform_object(write_item, object)
            return found.half() if isinstance(found, torch.Tensor) else found

    save(path, {"w": numbers(4), "cut": distribute_tensor(numbers(6, 2), mesh(), [Shard(0)])}, planner=Halving())
    found = {"w": torch.zeros(4), "cut": torch.zeros(6, 2, dtype=torch.float16)}
    load(path, found)
    assert_same(found["w"], numbers(4).half().float())
    assert_same(found["cut"], numbers(6, 2).half())


def test_many_columns(path):
    """A bundle takes them all."""
    whole = [numbers(2, 3) + number for number in range(300)]
    save(path, {"w": [distribute_tensor(each, mesh(), [Shard(1)]) for each in whole]})
    found = {"w": [torch.zeros(2, 3) for _ in whole]}
    load(path, found)
    assert all(map(torch.equal, found["w"], whole))


def test_columns_in_overlapping_memory(path):
    big = numbers(4, 3)
    views = [DTensor.from_local(part, mesh(), [Shard(1)], run_check=False) for part in (big[:3], big[1:], big[:3])]
    save(path, {"w": views})
    found = {"w": [torch.zeros(3, 3 * SIZE) for _ in views]}
    load(path, found)
    for each, part in zip(found["w"], (big[:3], big[1:], big[:3]), strict=True):
        assert torch.equal(each, part.repeat(1, SIZE))


@pytest.mark.skipif(SIZE < 3, reason="a part of the ranks")
def test_a_part_of_the_ranks(path):
    members = list(range(1, SIZE))
    part = dist.new_group(members)
    if RANK in members:
        state = {f"own {RANK}": numbers(RANK + 2), "same": numbers(3)}
        dcp.save(state, storage_writer=StorageWriter(path, process_group=part), process_group=part)
    dist.barrier()
    found = {"same": torch.zeros(3)} | {f"own {rank}": torch.zeros(rank + 2) for rank in members}
    load(path, found)
    assert all(torch.equal(found[f"own {rank}"], numbers(rank + 2)) for rank in members)


@pytest.mark.skipif(SIZE < 3, reason="a part of the ranks")
def test_a_writer_of_other_ranks_is_an_error(path):
    part = dist.new_group(list(range(1, SIZE)))
    writer = StorageWriter(path)
    if RANK > 0:
        with pytest.raises(
            dcp.api.CheckpointException, match=f"number of ranks that save is {SIZE - 1}; expected {SIZE}"
        ):
            dcp.save({"w": numbers(2)}, storage_writer=writer, process_group=part)
    dist.barrier()


def test_alone(path):
    own = f"{path}.{RANK}"
    dcp.save({"w": numbers(3) + RANK}, storage_writer=StorageWriter(own, process_group=syncyte.COMM_SELF), no_dist=True)
    found = {"w": torch.zeros(3)}
    load(own, found, no_dist=True)
    assert_same(found["w"], numbers(3) + RANK)


def test_cached_plans(path):
    writer, planner = StorageWriter(), DefaultSavePlanner(enable_plan_caching=True)
    for step, extent in enumerate((3, 3, 3, 4)):
        state = {"w": distribute_tensor(numbers(extent, 2) + step, mesh(), [Shard(0)]), "same": numbers(2) + step}
        dcp.save(state, checkpoint_id=path, storage_writer=writer, planner=planner)
        found = {"w": torch.zeros(extent, 2), "same": torch.zeros(2)}
        load(path, found)
        assert_same(found["w"], numbers(extent, 2) + step)
        assert_same(found["same"], numbers(2) + step)


@pytest.mark.parametrize("damage", ["data", "metadata"])
def test_damaged_files(path, damage):
    save(path, {"w": torch.full((1000,), 3.0)})
    if RANK == 0:
        content = bytearray(open(path, "rb").read())
        place = content.index(torch.full((4,), 3.0).numpy().tobytes()) if damage == "data" else 70
        content[place] ^= 1
        open(path, "wb").write(content)
    dist.barrier()
    with pytest.raises(dcp.api.CheckpointException, match="CRC32C|manifest is damaged"):
        load(path, {"w": torch.zeros(1000)})


def test_wrong_use(path):
    with pytest.raises(dcp.api.CheckpointException, match="there is no file"):
        load(path, {"w": torch.zeros(2)})
    with pytest.raises(dcp.api.CheckpointException, match="there is no path; expected one here, or checkpoint_id="):
        dcp.save({"w": numbers(2)}, storage_writer=StorageWriter())
    with pytest.raises(dcp.api.CheckpointException, match="a key is of 2000 characters, 'xxx"):
        save(path, {"x" * 2000: numbers(2)})
    save(path, {"w": numbers(2)})
    with pytest.raises(dcp.api.CheckpointException, match="missing"):
        load(path, {"missing": torch.zeros(2)})
    with pytest.raises(dcp.api.CheckpointException, match="[Ss]ize"):
        load(path, {"w": torch.zeros(3)})
    with pytest.raises(syncyte.UnsupportedError, match="AsyncCheckpointerType.THREAD"):
        pickle.dumps(StorageWriter(path))
    with pytest.raises(dcp.api.CheckpointException, match="a tensor of layout torch.sparse_coo; expected a dense one"):
        save(path, {"w": torch.eye(3).to_sparse()})
    with pytest.raises(dcp.api.CheckpointException, match="the key 'w' is a tensor on meta"):
        save(path, {"w": torch.empty(3, device="meta")})
    with pytest.raises(dcp.api.CheckpointException, match="the key 'w' is of torch.complex32"):
        save(path, {"w": torch.ones(3).to(torch.complex32)})


def test_communicators_of_groups():
    comm = syncyte.Comm.from_group()
    assert (comm.rank, comm.size) == (RANK, SIZE)
    assert comm != COMM
    order, options = list(range(SIZE))[::-1], {}
    if "sort_ranks" in inspect.signature(dist.new_group).parameters:
        options["sort_ranks"] = False
    for each in ("syncyte", "gloo"):
        reverse = dist.new_group(order, backend=each, **options)
        ranks = dist.get_process_group_ranks(reverse)
        comm = syncyte.Comm.from_group(reverse, name="reverse")
        assert (comm.rank, comm.size) == (ranks.index(RANK), SIZE)
        assert comm.allgather(np.array(RANK)).ravel().tolist() == ranks
    if SIZE > 1:
        part = dist.new_group([0])
        if RANK > 0:
            with pytest.raises(syncyte.ArgumentError, match="this rank is not in it"):
                syncyte.Comm.from_group(part)
    with pytest.raises(syncyte.DtypeError, match="group is a int; expected a torch.distributed.ProcessGroup"):
        syncyte.Comm.from_group(7)


def test_groups_of_communicators():
    colour, can_descend = RANK % 2, "sort_ranks" in inspect.signature(dist.new_group).parameters
    half = COMM.split(colour, key=-RANK if can_descend else RANK)
    for each in (None, "gloo"):
        group = pg_of(half, backend=each)
        ranks = [rank for rank in range(SIZE) if rank % 2 == colour]
        assert dist.get_process_group_ranks(group) == ranks[:: -1 if can_descend else 1]
        total = torch.tensor(RANK)
        dist.all_reduce(total, group=group)
        assert total == sum(ranks)
        half.barrier()
        dist.destroy_process_group(group)


def layers(comm=COMM):
    torch.manual_seed(3)
    nn = syncyte.nn
    return torch.nn.ModuleDict({
        "even": nn.ParallelLinear(6, 2 * SIZE, dim=1, comm=comm),
        "rows": nn.ParallelLinear(2 * SIZE, 5, dim=0, comm=comm),
        "uneven": nn.ParallelLinear(3, SIZE + 1, dim=1, uneven=True, comm=comm),
        "table": nn.WholeEmbedding(2 * SIZE + 1, 3, optimizer="adagrad", comm=comm),
        "dense": torch.nn.Linear(2, 2),
    })  # fmt: skip


def test_layers_as_dtensors(path):
    model = layers()
    model["table"].sync()
    state = state_dict(model)
    assert isinstance(state["even.weight"], DTensor)
    assert state["even.weight"].to_local().data_ptr() == model["even"].weight.data_ptr()
    whole = syncyte.nn.collect_state_dict(model)
    assert_same(state["even.weight"].full_tensor(), whole["even.weight"])
    save(path, {"model": state})
    kept = {key: value.clone() for key, value in whole.items() if isinstance(value, torch.Tensor)}
    with torch.no_grad():
        for each in model.parameters():
            each.zero_()
    model["table"].sync()
    load(path, {"model": state})
    model["table"].sync()
    found = syncyte.nn.collect_state_dict(model)
    for key, expected in kept.items():
        assert_same(found[key], expected)
    with h5py.File(path) as file:
        assert np.array_equal(file["model.uneven.weight"][...], kept["uneven.weight"].numpy())
    alone = {"model": {"rows.weight": torch.zeros_like(kept["rows.weight"])}}
    load(path, alone)
    assert_same(alone["model"]["rows.weight"], kept["rows.weight"])


class Application:
    """As torch's documentation has it: what DCP saves and loads."""

    def __init__(self):
        self.model = layers()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.1)

    def train(self):
        for _ in range(2):
            for name, each in self.model.named_parameters():
                torch.manual_seed(0)
                is_whole = name == "rows.bias" or name.startswith("dense")
                each.grad = torch.rand_like(each) * (1 if is_whole else RANK + 1)
            self.optimizer.step()

    def state_dict(self):
        return {"model": state_dict(self.model), "optimizer": optimizer_state_dict(self.model, self.optimizer)}

    def load_state_dict(self, state):
        local = local_state_dict(state)
        self.model.load_state_dict(local["model"])
        set_optimizer_state_dict(self.model, self.optimizer, local["optimizer"])


def test_optimizers_of_layers(path):
    first, second = Application(), Application()
    first.train()
    for group in first.optimizer.param_groups:
        group["lr"] = 0.25
    save(path, {"app": first})
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*taken for this one")
        load(path, {"app": second})
    assert second.optimizer.param_groups[0]["lr"] == 0.25
    for mine, expected in zip(second.model.parameters(), first.model.parameters(), strict=True):
        assert_same(mine, expected)
        for name, value in first.optimizer.state[expected].items():
            assert_same(second.optimizer.state[mine][name], value)
    with h5py.File(path) as file:
        assert file["app.optimizer.state.uneven.weight.exp_avg"].shape == (SIZE + 1, 3)


@pytest.mark.skipif(SIZE == 1, reason="parts")
def test_a_part_in_place_of_the_whole_is_an_error(path):
    model = layers()
    optimizer = torch.optim.Adam(model.parameters())
    for each in model.parameters():
        each.grad = torch.ones_like(each)
    optimizer.step()
    for state in (model.state_dict(), optimizer.state_dict(), {"rows": model["table"].table.local}):
        with pytest.raises(dcp.api.CheckpointException, match="is a part of a larger tensor"):
            save(path, {"state": state})


@pytest.mark.skipif(SIZE != 3, reason="counts of three ranks")
@pytest.mark.parametrize("counts", [(0, 4, 3), (4, 0, 3), (0, 0, 7), (0, 7, 0)], ids=str)
def test_ranks_without_rows(path, counts):
    table = syncyte.nn.WholeEmbedding(7, 3, local_rows=counts[RANK])
    model = torch.nn.ModuleDict({"t": table})
    kept = syncyte.nn.collect_state_dict(model)["t.weight"].clone()
    save(path, {"model": state_dict(model)})
    found = {"model": {"t.weight": torch.zeros_like(kept)}}
    load(path, found)
    assert_same(found["model"]["t.weight"], kept)


def test_layers_after_another_start():
    """Meshes end with the default group."""
    dist.destroy_process_group()
    model = layers()
    with pytest.raises(syncyte.ArgumentError, match="not initialized"):
        state_dict(model)
    with pytest.raises(syncyte.ArgumentError, match="not initialized"):
        syncyte.Comm.from_group()
    with pytest.raises(syncyte.ArgumentError, match="not initialized"):
        pg_of(COMM)
    for each in ("syncyte", "gloo"):
        dist.init_process_group(each, init_method="syncyte://")
        assert state_dict(model)["even.weight"].full_tensor().shape[0] == 2 * SIZE
        total = torch.tensor(RANK)
        dist.all_reduce(total, group=dist.new_group(backend="syncyte"))
        assert total == sum(range(SIZE))
        dist.destroy_process_group()
    dist.init_process_group("syncyte", init_method="syncyte://")


def test_copies_of_a_reader(path):
    save(path, {"w": numbers(3)})
    reader = copy.copy(StorageReader(path))
    found = {"w": torch.zeros(3)}
    dcp.load(found, storage_reader=reader)
    dcp.load(found, storage_reader=reader)
    assert_same(found["w"], numbers(3))
