# SPDX-License-Identifier: BSD-3-Clause
"""PipeSwitch's frontend and workers, as PipeSwitch has them, with its six functions of torch.cuda.

The frontend has a pinned tensor for each group of layers, and copies one after the other into the part for parameters.
A worker has two streams for each of its models, a tensor for each parameter, and waits before each group. Both models,
of the shapes of ResNet-152 and BERT-base, are in every worker. Prints "right" for each answer that is bit for bit that
of a private copy, and the resident bytes of the cache's memory (on the stand-in for CUDA's driver).
"""

import os
import sys
from pathlib import Path

import torch
import torch.multiprocessing as mp
from torch import nn

sys.path.append(str(Path(__file__).parents[3] / "examples" / "cache"))
from networks import ResNet152

torch.set_num_threads(1)
torch.backends.cudnn.enabled = False  # the stand-in runs operators on the CPU
if "SYNCYTE_TEST_HOST_OPS" in os.environ:
    torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])

WIDTH = 768
BLOCK = 512


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.dense, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        query, key, value = (
            layer(x).view(*x.shape[:2], 12, 64).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        weights = torch.softmax(query @ key.transpose(2, 3) / 8, -1)
        return self.norm(x + self.dense((weights @ value).transpose(1, 2).reshape(x.shape)))


class Output(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(4 * WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, before):
        return self.norm(before + self.dense(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.intermediate, self.output = Attention(), nn.Linear(WIDTH, 4 * WIDTH), Output()

    def forward(self, x):
        x = self.attention(x)
        return self.output(nn.functional.gelu(self.intermediate(x)), x)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(28996, WIDTH), nn.Embedding(512, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        return self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device)))


class Bert(nn.Sequential):
    """108 million parameters."""

    def __init__(self):
        super().__init__(Embeddings(), nn.Sequential(*[Layer() for _ in range(12)]), nn.Linear(WIDTH, WIDTH))


def import_model(name):
    torch.manual_seed(1)
    model = {"resnet152": ResNet152, "bert_base": Bert}[name]().eval()
    for fullname, module in model.named_modules():
        module.fullname = fullname
    return model


def partition_model(name, model):
    if name == "resnet152":
        return [[child] for child in model.children()]
    parts = [[part] for layer in model[1].children() for part in layer.children()]
    return [[model[0]], *parts, [model[2]]]


def leaves(group):
    return [module for each in group for module in each.modules() if not list(module.children())]


def float_buffers(modules):
    return [(mod, key) for mod in modules for key, each in mod._buffers.items() if each.dtype is torch.float32]


def group_to_shape(group):
    modules = leaves(group)
    parameters, buffers = [each for mod in modules for each in mod.parameters()], float_buffers(modules)
    shapes = [each.shape for each in parameters] + [mod._buffers[key].shape for mod, key in buffers]
    return shapes, parameters, buffers, modules


def group_to_batch(group):
    def pad(tensor):
        size = -(-tensor.nbytes // BLOCK) * BLOCK
        padded = torch.zeros(size // tensor.element_size())
        padded[: tensor.numel()] = tensor.reshape(-1)
        return padded

    modules = leaves(group)
    tensors = [pad(each.detach()) for mod in modules for each in mod.parameters()]
    tensors += [pad(mod._buffers[key]) for mod, key in float_buffers(modules)]
    return torch.cat(tensors) if tensors else None, [mod.fullname for mod in modules]


class ModelSummary:
    def __init__(self, name, param_trans_pipe):
        self.param_trans_pipe = param_trans_pipe
        self.model = import_model(name)
        self.shape_summary_list = [group_to_shape(group) for group in partition_model(name, self.model)]
        self.insert_lock_hook()
        self.cuda_stream_for_parameter = torch.cuda.Stream()
        self.cuda_stream_for_computation = torch.cuda.Stream()
        with torch.cuda.stream(self.cuda_stream_for_parameter):
            torch.cuda.insert_shared_cache_for_parameter()
        with torch.cuda.stream(self.cuda_stream_for_computation):
            torch.cuda.insert_shared_cache_for_computation()
        with torch.cuda.stream(self.cuda_stream_for_parameter):
            for shape_list, param_list, buf_list, _ in self.shape_summary_list:
                for shape, p in zip(shape_list[: len(param_list)], param_list, strict=True):
                    p.data = torch.empty(shape, device="cuda")
                for shape, (mod, key) in zip(shape_list[len(param_list) :], buf_list, strict=True):
                    mod._buffers[key] = torch.empty(shape, device="cuda")

    def insert_lock_hook(self):
        def hook_wait_for_parameter_lock(mod, _):
            if not mod.initialized:
                if self.param_trans_pipe.recv() != mod.fullname:
                    raise RuntimeError("Invalid complete trans")
                mod.initialized = True

        for _, _, _, modules in self.shape_summary_list:
            modules[0].initialized = False
            modules[0].register_forward_pre_hook(hook_wait_for_parameter_lock)

    def reset_initialized(self):
        for module in self.model.modules():
            if hasattr(module, "initialized"):
                module.initialized = False

    def execute(self, data):
        with torch.no_grad():
            return self.model(data.cuda(non_blocking=True))


class WorkerProc(mp.get_context("spawn").Process):
    def __init__(self, model_list, pipe, param_trans_pipe):
        super().__init__()
        self.model_list, self.pipe, self.param_trans_pipe = model_list, pipe, param_trans_pipe

    def run(self):
        torch.randn(1024, device="cuda")
        torch.cuda.recv_shared_cache()
        model_map = {name: ModelSummary(name, self.param_trans_pipe) for name in self.model_list}
        while (request := self.pipe.recv()) is not None:
            name, data = request
            model_summary = model_map[name]
            with torch.cuda.stream(model_summary.cuda_stream_for_computation):
                output = model_summary.execute(torch.from_numpy(data))
                self.pipe.send(output.cpu().numpy())
                del output
            model_summary.reset_initialized()


def load_model(name):
    batches = [group_to_batch(group) for group in partition_model(name, import_model(name))]
    return [(batch if batch is None else batch.pin_memory(), modules) for batch, modules in batches]


def transfer_parameter(batched_parameter_list, cuda_stream_for_parameter, param_trans_pipe):
    param_cuda_list = []
    for param, mod_list in batched_parameter_list:
        with torch.cuda.stream(cuda_stream_for_parameter):
            if param is not None:
                param_cuda_list.append(param.cuda(non_blocking=True))
                e = torch.cuda.Event()
                e.record()
                e.synchronize()
            param_trans_pipe.send(mod_list[0])


def resident_bytes():
    """Bytes of the stand-in's memory that are resident, of parts of the cache: nothing else is as large."""
    found = [os.stat(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if is_device_memory(each)]
    return sum({each.st_ino: each.st_blocks * 512 for each in found if each.st_size >= 1 << 30}.values())


def is_device_memory(descriptor):
    try:
        return "memfd:standin-gpu" in os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return False


def requests():
    torch.manual_seed(2)
    for name in ("resnet152", "bert_base", "bert_base", "resnet152"):
        yield name, torch.rand(1, 3, 64, 64) if name == "resnet152" else torch.randint(28996, (1, 8))


def main():
    torch.randn(1024, device="cuda")
    torch.cuda.allocate_shared_cache()
    model_list = ["resnet152", "bert_base"]
    worker_list = []
    for _ in range(2):
        p_parent, p_child = mp.Pipe()
        param_trans_parent, param_trans_child = mp.Pipe()
        worker = WorkerProc(model_list, p_child, param_trans_child)
        worker.start()
        torch.cuda.send_shared_cache()
        worker_list.append((p_parent, worker, param_trans_parent))
    models = {name: load_model(name) for name in model_list}
    private = {name: import_model(name).cuda() for name in model_list}
    cuda_stream_for_parameter = torch.cuda.Stream()
    for number, (name, data) in enumerate(requests()):
        pipe, _, param_trans_pipe = worker_list[number % 2]
        pipe.send((name, data.numpy()))
        with torch.cuda.stream(cuda_stream_for_parameter):
            torch.cuda.insert_shared_cache_for_parameter()
        transfer_parameter(models[name], cuda_stream_for_parameter, param_trans_pipe)
        with torch.cuda.stream(cuda_stream_for_parameter):
            torch.cuda.clear_shared_cache()
        answer = torch.from_numpy(pipe.recv())
        with torch.no_grad():
            wanted = private[name](data.cuda()).cpu()
        print(name, "right" if torch.equal(answer, wanted) else "wrong", flush=True)
    for pipe, worker, _ in worker_list:
        pipe.send(None)
        worker.join()
        print("worker", worker.exitcode)
    print("resident", resident_bytes())


if __name__ == "__main__":
    main()
