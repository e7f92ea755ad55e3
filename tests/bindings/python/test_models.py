# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.SharedModels, without mpirun: modules that become views of a published model, sources, loads, wrong use."""

import copy
import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import syncyte
from syncyte import SharedModels, _library
from syncyte import _declarations as c
from syncyte._buffers import as_buffer

spawned = multiprocessing.get_context("spawn")
GROUP = 8 << 20  # bytes of a group of tensors


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_FOLDER", str(tmp_path / "meet"))
    monkeypatch.setenv("SYNCYTE_CACHE_TIMEOUT", "30")


@pytest.fixture
def models():
    return SharedModels()


def make_network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 10)
    )


def train(network):
    """One step of training, which writes parameters and running statistics."""
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    network(torch.ones(4, 3, 8, 8)).sum().backward()
    optimizer.step()


def bits(network):
    return {name: value.clone() for name, value in network.state_dict().items()}


def equal(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def work(pipe):
    """Runs in a second process."""
    models = SharedModels.connect(name="test", nonce=7, timeout=60)
    network = make_network(1)
    models.bind("net", network)
    pipe.send(bits(network)["3.weight"].numpy())
    train(network)
    pipe.send([each.holders for each in models.describe()])
    pipe.recv()


def test_two_processes_share_a_network(models):
    ours, theirs = spawned.Pipe()
    worker = spawned.Process(target=work, args=(theirs,))
    worker.start()
    models.serve(name="test", nonce=7)
    network = make_network()
    models.publish("net", network, checksums=True)
    assert ours.poll(60)
    assert np.array_equal(ours.recv(), network.state_dict()["3.weight"].numpy())
    assert ours.poll(60)
    assert ours.recv() == [(worker.pid,)]
    bound = make_network(1)
    model = models.bind("net", bound)
    assert equal(bits(bound), bits(network))  # not what the worker has trained
    model.verify()
    with pytest.raises(syncyte.BusyError, match=str(worker.pid)):
        models.remove("net")
    ours.send("end")
    worker.join(60)
    assert worker.exitcode == 0
    (listed,) = models.describe()
    assert (listed.name, listed.state, listed.publisher) == ("net", "ready", os.getpid())
    assert set(listed.holders) == {os.getpid()}


READER = """
import sys, syncyte
models = syncyte.SharedModels.connect(timeout=30)
model = models.bind("net")
array = model["matrix"]
array[0, 0] = 5
print(model.keys(), array.tolist(), array.dtype, "torch" in sys.modules)
"""


def test_a_process_without_torch_binds(models):
    models.serve()
    models.publish("net", {"matrix": np.arange(6, dtype=np.int16).reshape(2, 3).T, "empty": np.zeros((3, 0))})
    done = subprocess.run([sys.executable, "-c", READER], capture_output=True, text=True, timeout=60)
    assert done.stdout == "['matrix', 'empty'] [[5, 3], [1, 4], [2, 5]] int16 False\n", done.stderr
    assert models.bind("net")["matrix"][0, 0] == 0


def test_training_after_a_bind_stays_private(models):
    network = make_network()
    network[3].bias.requires_grad_(False)
    models.publish("net", network)
    before = bits(network)
    first, second = make_network(1), make_network(2)
    first[0].weight.requires_grad_(False)
    models.bind("net", first)
    models.bind("net", second)
    assert equal(bits(first), before)
    assert [each.requires_grad for each in first.parameters()] == [False, True, True, True, True, True]
    assert all(type(each) is torch.nn.Parameter for each in first.parameters())
    train(first)
    train(first)
    assert not equal(bits(first), before)
    assert first[1].num_batches_tracked == 2
    first.half()
    assert equal(bits(second), before)
    assert equal(bits(network), before)
    second.eval()
    network.eval()
    assert torch.equal(second(torch.ones(1, 3, 8, 8)), network(torch.ones(1, 3, 8, 8)))


class Everything(torch.nn.Module):
    """Tensors of every type and form."""

    def __init__(self, fill):
        super().__init__()
        for dtype in syncyte.DType:
            kind = getattr(torch, dtype.name.lower())
            self.register_buffer(dtype.name, torch.arange(6).mul(fill).to(kind).view(2, 3))
        self.turned = torch.nn.Parameter(torch.arange(12.0).mul(fill).view(3, 4).t())
        self.scalar = torch.nn.Parameter(torch.tensor(2.0 * fill))
        self.empty = torch.nn.Parameter(torch.empty(0, 4))
        self.register_buffer("gaps", torch.arange(20.0).mul(fill)[::2])
        self.register_buffer("expanded", torch.tensor([float(fill)]).expand(5))
        self.register_buffer("channels", torch.ones(2, 3, 4, 4).mul(fill).to(memory_format=torch.channels_last))
        self.register_buffer("not_saved", torch.ones(3), persistent=False)
        self.register_buffer("none", None)
        self.tied = self.turned
        self.inner = torch.nn.Linear(2, 2)
        self.same = self.inner


def test_tensors_of_every_type_and_form(models):
    source, target = Everything(3), Everything(1)
    models.publish("all", source)
    with torch.no_grad():
        models.bind("all", target)
    assert equal(bits(target), bits(source))
    assert target.tied is target.turned
    assert target.turned.stride() == source.turned.stride()
    assert target.channels.is_contiguous(memory_format=torch.channels_last)
    assert target.expanded.tolist() == [3.0] * 5
    assert target.not_saved.tolist() == [1.0] * 3
    assert target.same.weight is target.inner.weight
    assert all(each.data_ptr() % 64 == 0 for each in target.parameters())
    assert target.scalar.untyped_storage().nbytes() == 4
    target.turned.data[0, 0] = 70
    assert source.turned[0, 0] == 0
    again = copy.deepcopy(target)
    assert equal(bits(again), bits(target))
    meta = Everything(1).to(device="meta")
    models.bind("all", meta)
    assert equal(bits(meta), bits(source))


def test_views_of_one_tensor_are_told_apart_by_their_strides(models):
    line, square = torch.arange(8.0), torch.arange(16.0).view(4, 4)
    source = {"second": line[::2], "first": line[:4], "again": line[::2], "part": square[::2, ::2],
              "turned": square[::2, ::2].t(), "expanded": line[:3].expand(3, 3)}  # fmt: skip
    source["expanded turned"] = source["expanded"].t()
    models.publish("views", source)
    model = models.bind("views")
    assert equal({name: model[name] for name in model}, source)
    assert model["again"].data_ptr() == model["second"].data_ptr()


def test_a_bind_under_another_default_device(models):
    source = Everything(2)
    models.publish("all", source)
    with torch.device("meta"):
        target = Everything(1)
        models.bind("all", target)
    assert not any(each.is_meta for each in target.parameters())
    assert equal(bits(target), bits(source))


def test_modules_that_list_their_parameters_use_the_new_ones(models):
    source, target = torch.nn.LSTM(4, 5, num_layers=2), torch.nn.LSTM(4, 5, num_layers=2)
    models.publish("net", source)
    models.bind("net", target)
    assert torch.equal(source(torch.ones(3, 4))[0], target(torch.ones(3, 4))[0])


def test_all_differences_are_named_and_nothing_changes(models):
    models.publish("net", {"0.weight": torch.ones(4, 3), "0.bias": torch.ones(4), "more": torch.ones(2),
                           "1.weight": torch.ones(4, dtype=torch.float64)})  # fmt: skip
    network = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.LayerNorm(4))
    before, tensors = bits(network), list(network.parameters())
    with pytest.raises(syncyte.ArgumentError) as raised:
        models.bind("net", network)
    for difference in (
        "'1.bias' is not in the model",
        "'more' is not in the module",
        "'0.weight' is float32 [4, 3] in the model and float32 [4, 5] in the module",
        "'1.weight' is float64 [4] in the model and float32 [4] in the module",
    ):
        assert difference in str(raised.value)
    assert all(new is old for new, old in zip(network.parameters(), tensors, strict=True))
    assert equal(bits(network), before)
    with pytest.raises(syncyte.DtypeError, match="module is a dict"):
        models.bind("net", {})


def test_tensors_share_memory_in_both_or_in_none(models):
    def pair(is_tied):
        made = torch.nn.Sequential(torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False))
        if is_tied:
            made[1].weight = made[0].weight
        return made

    for published in (True, False):
        name = f"tied {published}"
        models.publish(name, pair(published))
        bound = pair(published)
        models.bind(name, bound)
        assert (bound[0].weight is bound[1].weight) == published
        with pytest.raises(syncyte.ArgumentError, match="'1.weight' shares memory with"):
            models.bind(name, pair(not published))


class Loading:
    """A publication whose tensors come one by one: networks of linear layers of one group each."""

    WIDTH = 1600  # 10 MB

    def __init__(self, models, name, layers=3):
        self.network = torch.nn.Sequential(*[torch.nn.Linear(self.WIDTH, self.WIDTH) for _ in range(layers)])
        self.core = _library.core()
        self.handle = self.core.output("syncyte_publication_create", models.handle, name.encode(), None)
        for key, value in self.network.state_dict().items():
            buffer = as_buffer(value, key)
            buffer.description.data = None
            self.core.syncyte_publication_add(self.handle, key.encode(), buffer.reference)
        self.core.syncyte_publication_start(self.handle)

    def fill(self, layer):
        for key, value in self.network[layer].state_dict().items():
            buffer = as_buffer(value, key)
            self.core.syncyte_publication_fill(self.handle, f"{layer}.{key}".encode(), buffer.reference)

    def finish(self):
        self.core.syncyte_publication_finish(self.handle)

    def fail(self):
        self.core.syncyte_publication_fail(self.handle, c.Status.ERR_IO, b"the disk is gone")


def hooks(network):
    return sum(len(each._forward_pre_hooks) for each in network.modules())


def test_the_first_layers_compute_while_others_arrive(models):
    loading, bound = Loading(models, "net"), Loading(models, "other").network
    model = models.bind("net", bound)
    assert model.groups == 3
    assert model.ready() == 0
    assert models.describe()[0].state == "loading"
    with pytest.raises(syncyte.BusyError, match="is being published by process .*; use another name$"):
        models.publish("net", loading.network)
    loading.fill(0)
    x = torch.ones(1, Loading.WIDTH)
    assert torch.equal(bound[0](x), loading.network[0](x))
    assert hooks(bound) == 2
    result = []
    thread = threading.Thread(target=lambda: result.append(bound(x)))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    loading.fill(1)
    loading.fill(2)
    loading.finish()
    thread.join(30)
    assert torch.equal(result[0], loading.network(x))
    assert hooks(bound) == 0
    assert all(type(each) is torch.nn.Parameter for each in bound.parameters())
    assert models.describe()[0].state == "ready"


def test_threads_use_one_module_while_it_loads(models):
    loading, bound = Loading(models, "net", 1), Loading(models, "other", 1).network
    models.bind("net", bound)
    x = torch.ones(1, Loading.WIDTH)
    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(bound, x) for _ in range(4)] + [pool.submit(bound[0].bias.sum) for _ in range(4)]
        loading.fill(0)
        loading.finish()
        for each in results[:4]:
            assert torch.equal(each.result(30), loading.network(x))
        for each in results[4:]:
            assert torch.equal(each.result(30), loading.network[0].bias.sum())


def test_copies_of_a_loading_module_wait(models):
    loading, bound = Loading(models, "net", 2), Loading(models, "other", 2).network
    models.bind("net", bound)
    loading.fill(0)
    copied = copy.deepcopy(bound[0])
    pickled = pickle.loads(pickle.dumps(bound[0]))
    loading.fill(1)
    loading.finish()
    for each in (copied, pickled, copy.deepcopy(bound)[0], pickle.loads(pickle.dumps(bound))[0], bound[0]):
        assert type(each.weight) is torch.nn.Parameter
        assert torch.equal(each.weight, loading.network[0].weight)
        assert torch.equal(each(torch.ones(1, Loading.WIDTH)), loading.network[0](torch.ones(1, Loading.WIDTH)))
    assert hooks(copied) == hooks(pickled) == hooks(bound) == 0


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_a_module_is_an_ordinary_one_once_all_is_there(models):
    loading, bound = Loading(models, "net"), Loading(models, "other").network
    model = models.bind("net", bound)
    loading.fill(0)
    model.wait(0)
    assert hooks(bound) == 3
    for layer in (1, 2):
        loading.fill(layer)
    loading.finish()
    model.wait()
    assert hooks(bound) == 0
    assert all(type(each) is torch.nn.Parameter for each in bound.parameters())
    assert torch.equal(torch.tensor(bound[2].bias.tolist()), loading.network[2].bias)
    torch.jit.script(bound)


def test_a_forked_child_uses_what_its_parent_has_loaded(models):
    state = {str(number): torch.full((GROUP // 4,), float(number)) for number in range(3)}
    done = models.load("net", state)
    model = models.bind("net")
    done.result(30)
    child = os.fork()
    if child == 0:
        code = 1
        try:  # without torch's threads, which a forked child does not have
            code = 0 if [model[key][-1].item() for key in model] == [0.0, 1.0, 2.0] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_every_use_waits_for_its_tensor(models):
    loading, bound = Loading(models, "net"), Loading(models, "other").network
    models.bind("net", bound)
    optimizer = threading.Timer(0.2, lambda: [loading.fill(layer) for layer in range(3)] and loading.finish())
    optimizer.start()
    with torch.no_grad():
        bound[1].weight.add_(1)  # would be lost if it wrote before the bytes arrive
        torch._foreach_mul_([bound[2].weight, bound[2].bias], 2)
    assert torch.equal(bound[1].weight, loading.network[1].weight + 1)
    assert torch.equal(bound[2].weight, loading.network[2].weight * 2)
    assert torch.equal(models.bind("net")["1.weight"], loading.network[1].weight)
    optimizer.join()


def add_one(values: torch.Tensor):
    return values + 1


def add_as_another_class(weight):
    return torch.Tensor._make_subclass(torch.Tensor, weight) + 1


def add_without_torch_functions(weight):
    with torch._C.DisableTorchFunctionSubclass():
        return weight + 1


def add_as_data(weight):
    other = torch.nn.Parameter(torch.empty(0))
    other.data = weight
    return other + 1


@pytest.mark.filterwarnings("ignore:.*torch.jit.script", "ignore:To copy construct")
@pytest.mark.skipif(not hasattr(torch._C, "_set_storage_data_ptr_access_error_msg"), reason="they end the process")
def test_uses_that_cannot_wait_are_errors(models):
    loading, bound = Loading(models, "net", 1), Loading(models, "other", 1).network
    models.bind("net", bound.requires_grad_(False))
    weight = bound[0].weight
    uses = [
        torch.tensor,
        torch.jit.script(add_one),
        torch.func.grad(lambda values: (values * 2).sum()),
        torch.utils.dlpack.to_dlpack,
        add_as_another_class,
        add_without_torch_functions,
        add_as_data,
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match=r"'0.weight' of the model 'net' is loading, and this use does not wait"):
            use(weight)
    loading.fill(0)
    loading.finish()
    assert torch.equal(weight, loading.network[0].weight)
    assert torch.equal(add_without_torch_functions(weight), weight + 1)
    assert torch.equal(torch.tensor(weight), weight)


def test_an_error_of_the_loader_reaches_every_waiter(models):
    loading, bound = Loading(models, "net"), Loading(models, "other").network
    model = models.bind("net", bound)
    loading.fill(0)
    threading.Timer(0.1, loading.fail).start()
    x = torch.ones(1, Loading.WIDTH)
    for _ in range(2):
        with pytest.raises(syncyte.StorageError, match=r"\"net\" has failed: the disk is gone"):
            bound(x)
    with pytest.raises(syncyte.StorageError):
        model.wait()
    assert bound[0](x).shape == x.shape  # what was there can be used
    with pytest.raises(syncyte.NotFoundError):
        models.bind("net")
    models.publish("net", loading.network)
    models.bind("net", bound)  # does not wait for what has failed
    assert torch.equal(bound(x), loading.network(x))
    assert hooks(bound) == 0


def test_load_copies_in_the_background(models):
    state = {f"layers.{number}": torch.full((GROUP // 4,), float(number)) for number in range(6)}
    done = models.load("net", state, checksums=True)
    model = models.bind("net")
    for number, name in enumerate(model):
        assert model[name][-1] == number
    assert done.result(30) is None
    model.verify()
    with pytest.raises(syncyte.BusyError, match="was published by process"):
        models.load("net", state)


def write_safetensors(path, arrays, **changes):
    header, at, body = {"__metadata__": {"format": "pt"}}, 0, b""
    for name, (kind, array) in arrays.items():
        data = array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(data)], **changes}
        body, at = body + data, at + len(data)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def test_files_are_sources(models, tmp_path):
    network = make_network()
    torch.save(network.state_dict(), tmp_path / "net.pt")
    models.publish("torch", tmp_path / "net.pt")
    bound = make_network(1)
    models.bind("torch", bound)
    assert equal(bits(bound), bits(network))

    arrays = {"weight": ("F32", np.arange(12, dtype=np.float32).reshape(4, 3)), "bias": ("F32", np.ones(4, np.float32)),
              "half": ("BF16", np.arange(3, dtype=np.uint16)), "empty": ("I64", np.zeros((0, 2), np.int64)),
              "flag": ("BOOL", np.array(True))}  # fmt: skip
    path = tmp_path / "net.safetensors"
    write_safetensors(path, arrays)
    models.publish("safe", str(path))
    model = models.bind("safe")
    assert set(model) == arrays.keys()
    for name, (_, array) in arrays.items():
        found = model[name]
        assert tuple(found.shape) == array.shape
        assert found.contiguous().view(-1).view(torch.uint8).numpy().tobytes() == array.tobytes()
    assert model["half"].dtype == torch.bfloat16

    whole = path.read_bytes()
    for damaged in (b"", whole[:5], whole[:100], whole[:-1], whole[:20] + b"!" + whole[21:]):
        path.write_bytes(damaged)
        with pytest.raises(syncyte.FileFormatError, match=r"net\.safetensors"):
            models.publish("damaged", path)
    for changes in ({"shape": [-1]}, {"data_offsets": [5, 1]}, {"data_offsets": [0, 1 << 60]}, {"shape": "a"}):
        write_safetensors(path, arrays, **changes)
        with pytest.raises(syncyte.FileFormatError, match=r"net\.safetensors"):
            models.publish("damaged", path)
    write_safetensors(path, arrays, dtype="F8_E4M3")
    with pytest.raises(syncyte.DtypeError, match="F8_E4M3"):
        models.publish("damaged", path)
    with pytest.raises(FileNotFoundError):
        models.publish("missing", tmp_path / "absent.safetensors")


def test_damaged_files_are_errors_of_syncyte(models, tmp_path):
    path = tmp_path / "net.safetensors"
    arrays = {"a": ("F32", np.ones(2, np.float32))}
    for changes in ({"shape": [0, 1 << 63], "data_offsets": [0, 0]}, {"shape": [1] * 40, "data_offsets": [0, 4]}):
        write_safetensors(path, arrays, **changes)
        with pytest.raises(syncyte.FileFormatError, match="'a'"):
            models.publish("damaged", path)
    write_safetensors(path, arrays, dtype=["F32"])
    with pytest.raises(syncyte.DtypeError, match=r"\['F32'\]"):
        models.publish("damaged", path)
    write_safetensors(path, {"\ud800": arrays["a"]})
    with pytest.raises(syncyte.ArgumentError, match="without surrogates"):
        models.publish("damaged", path)
    path.write_bytes((100000).to_bytes(8, "little") + b"[" * 100000)
    with pytest.raises(syncyte.FileFormatError, match="header"):
        models.publish("damaged", path)
    torch.save({"a": torch.ones(1)}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    (tmp_path / "junk.pt").write_bytes(b"junk" * 20)
    (tmp_path / "empty.pt").touch()
    for name in ("old.pt", "junk.pt", "empty.pt"):
        with pytest.raises(syncyte.FileFormatError, match=name):
            models.publish("damaged", tmp_path / name)


FILE_READER = """
import sys, syncyte
models = syncyte.SharedModels()
models.serve()
models.publish("net", sys.argv[1])
print("torch" in sys.modules, flush=True)
input()
"""


def test_a_file_has_its_types_whoever_publishes_it(tmp_path):
    half = torch.arange(3.0).to(torch.bfloat16)
    path = tmp_path / "net.safetensors"
    # The longer name moves the bytes by 1 to 3: they are not aligned.
    for name in ("half", "halves"):
        write_safetensors(path, {name: ("BF16", half.view(torch.int16).numpy()), "f": ("F32", np.ones(2, np.float32))})
        with subprocess.Popen([sys.executable, "-c", FILE_READER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as server:  # fmt: skip
            models = SharedModels.connect(timeout=30)
            assert server.stdout.readline() == "False\n"
            model = models.bind("net")
            assert model[name].dtype == torch.bfloat16
            assert torch.equal(model[name], half)
            assert model["f"].tolist() == [1.0, 1.0]
            server.communicate("\n", timeout=30)
        assert server.returncode == 0


def test_wrong_arguments_are_named(models):
    for source, message in ((5, "source is a int"), ({1: torch.ones(1)}, "key 1"), ({"a": "b"}, r"source\['a'\]"),
                            ({"a": torch.ones(1, dtype=torch.float8_e4m3fn)}, "a: torch.float8_e4m3fn")):  # fmt: skip
        with pytest.raises(syncyte.DtypeError, match=message):
            models.publish("net", source)
    with pytest.raises(syncyte.ArgumentError, match="without tensors; expected 1 or more"):
        models.publish("net", {})
    with pytest.raises(syncyte.ArgumentError, match="name"):
        models.publish("", {"a": torch.ones(1)})
    with pytest.raises(syncyte.ArgumentError, match="name"):
        models.bind("a\0b")
    with pytest.raises(syncyte.NotFoundError, match="none is published"):
        models.bind("net")
    with pytest.raises(syncyte.ArgumentError, match="budget is 0"):
        SharedModels(0)
    with pytest.raises(syncyte.OutOfMemoryError, match="budget of 100000 bytes"):
        SharedModels(100000).publish("net", {"a": torch.ones(100000)})
    with pytest.raises(syncyte.ShapeError, match=r"source\['a'\] is of 40 dimensions"):
        models.publish("net", {"a": torch.ones([1] * 40)})
    lazy = torch.nn.Sequential(torch.nn.LazyLinear(3))
    with pytest.raises(syncyte.ArgumentError, match=r"'0\.weight' is not initialized"):
        models.publish("net", lazy)
    models.publish("net", {"a": torch.ones(1)})
    with pytest.raises(syncyte.ArgumentError, match=r"'0\.weight' is not initialized"):
        models.bind("net", lazy)
    model = models.bind("net")
    with pytest.raises(syncyte.NotFoundError, match="'b'"):
        model["b"]
    with pytest.raises(syncyte.OutOfRangeError, match="group is 1"):
        model.wait(1)
    with pytest.raises(syncyte.UnsupportedError, match="without checksums"):
        model.verify()
    for each in (models, model):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(each)
        with pytest.raises(TypeError):
            copy.copy(each)


def test_tensors_keep_a_model_and_nothing_else_does(models):
    models.publish("net", {"a": torch.arange(5.0), "b": torch.zeros(3)})
    model = models.bind("net")
    tensor = model["a"][2:]
    assert repr(model) == "<Model 'net', 2 tensors>"
    model.free()
    assert repr(model) == "<Model 'net', freed>"
    del model
    gc.collect()
    with pytest.raises(syncyte.BusyError):
        models.remove("net")
    assert tensor.tolist() == [2.0, 3.0, 4.0]
    del tensor
    gc.collect()
    models.remove("net")
    assert models.describe() == []
    kept = SharedModels()
    kept.publish("net", {"a": torch.arange(5.0)})
    tensor = kept.bind("net")["a"]
    kept.free()
    assert tensor.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(syncyte.HandleError):
        kept.bind("net")


def test_a_signal_ends_a_wait(models):
    loading = Loading(models, "net", 1)
    model = models.bind("net")

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            model.wait()
    finally:
        signal.signal(signal.SIGALRM, before)
    loading.fill(0)
    loading.finish()
    model.wait()


def test_a_time_limit_ends_a_wait(models):
    loading = Loading(models, "net", 2)
    model = models.bind("net")
    with pytest.raises(syncyte.WaitTimeoutError, match="0 of 2 groups"):
        model.wait(0, timeout=0.05)
    loading.fill(0)
    model.wait(0, timeout=30)
