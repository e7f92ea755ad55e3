# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints from Python. tests/bindings/hdf5 tests the file format."""

import contextlib
import functools
import gc
import gzip
import io
import json
import os
import time

import h5py
import numpy as np
import pytest
import torch

import syncyte
from syncyte import DType, _parts, _progress, checkpoint

FORMAT_1 = os.path.join(os.path.dirname(__file__), "..", "hdf5", "format1.h5.gz")


@pytest.fixture
def path(comm, tmp_path):
    """A file name that all ranks share."""
    return comm.bcast(str(tmp_path / "checkpoint.h5"))


def state(world):
    """Replicated tensors, and this rank's rows of sharded ones."""
    rows = np.arange(12.0).reshape(6, 2)[world.rank * 6 // world.size : (world.rank + 1) * 6 // world.size]
    return {
        "layer.weight": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        "step/count": np.array(7),
        "rows": np.ascontiguousarray(rows),
        "empty": np.zeros((0, 3), np.float32),
    }


def test_save_and_load(world, path):
    saved = state(world)
    checkpoint.save(path, saved, sharded=["rows"], step=42)
    loaded = checkpoint.load(path, torch=False)
    assert set(loaded) == set(saved)
    assert loaded["rows"].tolist() == np.arange(12.0).reshape(6, 2).tolist()
    assert loaded["step/count"] == 7
    assert loaded["empty"].shape == (0, 3)
    assert loaded["layer.weight"].dtype == np.uint16
    tensors = checkpoint.load(path, keys=["layer.weight", "rows"], sharded=["rows"])
    assert torch.equal(tensors["layer.weight"], saved["layer.weight"])
    each, more = divmod(6, world.size)
    assert tensors["rows"].shape == (each + (world.rank < more), 2)
    assert world.allgatherv(tensors["rows"])[:, 0].tolist() == [0, 2, 4, 6, 8, 10]


def test_load_into(world, path):
    saved = state(world)
    checkpoint.save(path, saved, sharded={"rows"})
    into = {"rows": np.zeros_like(saved["rows"]), "layer.weight": torch.zeros(2, 3, dtype=torch.bfloat16)}
    version = into["layer.weight"]._version
    assert checkpoint.load(path, into, sharded={"rows"}) is into
    np.testing.assert_array_equal(into["rows"], saved["rows"])
    assert torch.equal(into["layer.weight"], saved["layer.weight"])
    assert into["layer.weight"]._version > version


@pytest.mark.parametrize("dtype", list(DType))
def test_whole_tensors_are_sharded(world, path, dtype):
    tensor = syncyte.WholeTensor((7, 2), dtype)
    tensor.local[:] = torch.arange(14).reshape(7, 2).to(tensor.torch_dtype)[tensor.rows().start : tensor.rows().stop]
    tensor.sync()
    checkpoint.save(path, {"table": tensor})
    last = world.rank == world.size - 1
    other = syncyte.WholeTensor((7, 2), dtype, local_rows=7 if last else 0)
    checkpoint.load(path, {"table": other})
    other.sync()
    assert torch.equal(other[:], torch.arange(14).reshape(7, 2).to(tensor.torch_dtype))
    with checkpoint.open(path) as opened:
        assert opened["table"] == ((7, 2), dtype, True)


def test_views_of_own_rows_are_rows(world, path):
    """What `local` and `local_array` give is never saved as the whole."""
    tensor = syncyte.WholeTensor((7, 2), "float64")
    rows = slice(tensor.rows().start, tensor.rows().stop)
    whole = np.arange(14.0).reshape(7, 2)
    tensor.local_array[:] = whole[rows]
    tensor.sync()
    for view in (tensor.local, tensor.local_array, tensor.local.detach(), tensor.local_array.reshape(-1, 2)):
        checkpoint.save(path, {"rows": view})
        np.testing.assert_array_equal(checkpoint.load(path, torch=False)["rows"], whole)
        view[:] = 0
        checkpoint.load(path, {"rows": view})
        np.testing.assert_array_equal(tensor.local_array, whole[rows])
    if world.size > 1:
        with pytest.raises(syncyte.ArgumentError, match=r"mapping\['rows'\] is a view of a part .* \[7, 2\]"):
            checkpoint.save(path, {"rows": tensor.local_array[1:]})
    checkpoint.save(path, {"row": tensor.local_array[:1].copy()})
    assert checkpoint.load(path)["row"].shape == (1, 2)
    first = syncyte.WholeTensor((3,), local_rows=0 if world.rank else 3)
    checkpoint.save(path, {"rows": first.local})
    assert checkpoint.load(path)["rows"].shape == (3,)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_wrapped_rows_are_rows(world, path, kind):
    """Also if a rank has none, and only while the whole tensor exists."""
    counts = [2 * rank for rank in range(world.size)]
    own = torch.full((counts[world.rank], 2), float(world.rank))
    tensor = syncyte.WholeTensor.wrap(own.numpy() if kind == "numpy" else own, comm=world)
    expected = [[float(rank)] * 2 for rank in range(world.size) for _ in range(2 * rank)]
    for view in (tensor.local, tensor.local.detach(), tensor.local_array, tensor.local_array[:]):
        checkpoint.save(path, {"x": view})
        assert checkpoint.load(path)["x"].tolist() == expected
    del view
    tensor.sync()
    del tensor
    gc.collect()
    checkpoint.save(path, {"x": torch.ones(3), "y": own[:0]})


def test_rows_of_several_ranks_are_refused(world, path):
    """A node's view, which does not have the rows of all nodes."""
    if world.size == 1:
        return
    tensor = syncyte.WholeTensor((4 * world.size, 2), "float32")
    node = np.zeros((6, 2), np.float32)
    tensor._remember_view(node, 6, 0)
    with pytest.raises(syncyte.ArgumentError, match=r"mapping\['x'\] is a view of a part .* \[0:6\] along axis 0"):
        checkpoint.save(path, {"x": node})
    checkpoint.save(path, {"x": node.copy()})
    assert checkpoint.load(path, {"x": node})["x"] is node


def part_of(array):
    return _parts.Part(0, 0, array.shape[0], (99, *array.shape[1:]), 0, 2)


def is_known(array):
    address = array.data_ptr() if isinstance(array, torch.Tensor) else array.ctypes.data
    return _parts.Parts({}).of_array(array, address, array.nbytes) is not None


def test_a_part_is_known_as_long_as_its_memory_exists():
    first = np.arange(10.0)
    _parts.remember(first, part_of(first))
    view = first.reshape(5, 2)
    _parts.remember(view, part_of(first))
    del first
    gc.collect()
    assert is_known(view)
    assert not is_known(np.arange(10.0))
    for change in (lambda tensor: tensor.share_memory_(), lambda tensor: tensor.untyped_storage().resize_(1 << 20)):
        tensor = torch.arange(1000.0)
        _parts.remember(tensor, part_of(tensor))
        assert is_known(tensor)
        assert is_known(tensor.detach())
        address = tensor.data_ptr()
        change(tensor)
        if tensor.data_ptr() != address:  # other memory may be there
            assert _parts.Parts({}).of_array(torch.ones(1000), address, 4000) is None
    array = torch.ones(10).numpy()
    _parts.remember(array, part_of(array))
    assert is_known(array)
    assert is_known(array[:])
    for empty in (torch.empty(0, 2), np.empty((0, 2))):
        _parts.remember(empty, part_of(empty))
        assert is_known(empty)
        assert is_known(empty[:])
        assert not is_known(np.empty((0, 2)))
        assert not is_known(torch.empty(0, 2))


def test_a_part_has_each_owner_once():
    tensor, array = torch.ones(10), np.ones(10)
    for _ in range(100):
        _parts.remember(tensor.detach(), part_of(tensor))
        _parts.remember(array[:], part_of(array))
    assert len(_parts._memory[tensor.data_ptr()].owners) == len(_parts._memory[array.ctypes.data].owners) == 1


def test_a_rank_saves_and_loads_its_own_rows(world, tmp_path):
    if world.size == 1:
        return
    tensor, own = syncyte.WholeTensor((2 * world.size, 2), "float32"), syncyte.COMM_SELF
    tensor.local.fill_(world.rank)
    path = str(tmp_path / f"{world.rank}.h5")
    with pytest.raises(syncyte.ArgumentError, match=r"to save it as it is, a clone\(\), or its key in sharded="):
        checkpoint.save(path, {"x": tensor.local}, own)
    checkpoint.save(path, {"x": tensor.local}, own, sharded=["x"])
    for saved in (None, {"x": tensor.local.clone()}):
        if saved:
            checkpoint.save(path, saved, own)
        tensor.local.zero_()
        checkpoint.load(path, {"x": tensor.local}, own)
        assert tensor.local.tolist() == [[world.rank] * 2] * 2
    checkpoint.save(path, {"x": torch.full((1, 2), 7.0)}, own)
    checkpoint.load(path, {"x": tensor.local[1:]}, own)
    assert tensor.local[:, 0].tolist() == [world.rank, 7]
    checkpoint.save(path, {"x": torch.zeros(2 * world.size, 2)}, own)
    with pytest.raises(syncyte.ShapeError):
        checkpoint.load(path, {"x": tensor.local}, own)
    tensor.sync()


def test_channels_last(world, path):
    """The file is row-major, and tensors keep their strides; rows too."""
    values = torch.arange(2 * 3 * 4 * 5.0).view(2, 3, 4, 5)
    image, volume = (
        values.contiguous(memory_format=torch.channels_last),
        values.view(2, 3, 2, 2, 5).contiguous(memory_format=torch.channels_last_3d),
    )
    checkpoint.save(path, {"image": image, "volume": volume, "rows": image}, sharded=["rows"])
    found = checkpoint.load(path)
    assert torch.equal(found["image"], values)
    assert torch.equal(found["volume"].flatten(), values.flatten())
    assert torch.equal(found["rows"], torch.cat([values] * world.size))
    into = {"image": torch.zeros_like(image), "volume": torch.zeros_like(volume), "rows": torch.zeros_like(image)}
    version = into["image"]._version
    checkpoint.load(path, into, sharded=["rows"])
    assert all(torch.equal(into[name], expected) for name, expected in {"image": image, "rows": image}.items())
    assert torch.equal(into["volume"], volume)
    assert into["image"].stride() == image.stride() != values.stride()
    assert into["image"]._version > version
    with pytest.raises(ValueError, match="not contiguous"):
        checkpoint.save(path, {"other": values.permute(3, 2, 1, 0)})


def test_float8_is_refused_and_its_bits_are_saved(world, path):
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        tensor = torch.arange(6.0).to(dtype)
        with pytest.raises(TypeError, match=r"of torch.float8.*expected its bits, .view\(torch.uint8\)"):
            checkpoint.save(path, {"x": tensor})
        checkpoint.save(path, {"x": tensor.view(torch.uint8)})
        assert torch.equal(checkpoint.load(path)["x"].view(dtype).float(), tensor.float())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal(tmp_path, monkeypatch):
    """After a second, which is none here, on rank 0."""
    cases = (0.0, Terminal(), 0), (60.0, Terminal(), 0), (0.0, io.StringIO(), 0), (0.0, Terminal(), 1)
    for delay, stream, rank in cases:
        monkeypatch.setattr(_progress, "DELAY", delay)
        monkeypatch.setattr("sys.stderr", stream)
        is_shown = delay == 0 and stream.isatty() and rank == 0
        with _progress.progress(rank, "saving x.h5", 4 << 20, "wchar"):
            (tmp_path / "x").write_bytes(bytes(3 << 20))
            end = time.monotonic() + 20
            while is_shown and "3.00M" not in stream.getvalue() and time.monotonic() < end:
                time.sleep(0.01)
        text = stream.getvalue()
        assert all((part in text) == is_shown for part in ("saving x.h5", "3.00M", "100%", "4.00M")), text


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, object(), closed()], ids=["None", "no isatty", "closed"])
def test_there_is_no_progress_without_a_stream(world, path, monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    checkpoint.save(path, {"x": np.ones(3)})
    assert checkpoint.load(path)["x"].shape == (3,)


def test_a_failed_save_is_not_complete(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    monkeypatch.setattr("sys.stderr", stream)
    with pytest.raises(OSError), _progress.progress(0, "saving x.h5", 4 << 20, "wchar"):
        end = time.monotonic() + 20
        while "saving x.h5" not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        raise OSError
    assert "100%" not in stream.getvalue()


def test_an_error_of_the_bar_ends_nothing(monkeypatch):
    ends = []
    monkeypatch.setattr("threading.excepthook", ends.append)
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr(_progress, "_move_to", lambda *_: 1 / 0)
    with _progress.progress(0, "saving x.h5", 4 << 20, "wchar"):
        time.sleep(0.3)
    assert ends == []


def test_saves_and_loads_show_their_progress(world, path, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def record(*arguments):
        seen.append(arguments)
        yield

    monkeypatch.setattr(checkpoint, "progress", record)
    arrays = {"x": np.ones(3), "rows": torch.ones(2, 2)}
    checkpoint.save(path, arrays, sharded=["rows"])
    checkpoint.load(path)
    checkpoint.load(path, arrays, sharded=["rows"])
    whole = 24 + 16 * world.size
    assert seen == [
        (world.rank, f"saving {path}", 40, "wchar"),
        (world.rank, f"loading {path}", whole, "rchar"),
        (world.rank, f"loading {path}", 40, "rchar"),
    ]


def test_reading_rows(world, path):
    table = np.arange(4000.0).reshape(1000, 4)
    checkpoint.save(path, {"table": table, "other": np.ones(3, "i4")}, step=-3, block_bytes=4096)
    with checkpoint.open(path) as opened:
        assert list(opened) == ["other", "table"]
        assert len(opened) == 2
        assert opened.step == -3
        assert "table" in opened
        assert "none" not in opened
        assert 3 not in opened
        assert opened["other"].dtype == DType.INT32
        assert not opened["other"].sharded
        np.testing.assert_array_equal(opened.read("table", range(100, 103), torch=False), table[100:103])
        assert opened.bytes_read <= 3 * 4096
        assert isinstance(opened.read("table", (5, 6)), torch.Tensor)
        out = np.empty((2, 4))
        assert opened.read("table", (998, 1000), out=out) is out
        np.testing.assert_array_equal(out, table[998:])
        opened.read("table", out=out)
        np.testing.assert_array_equal(out, table[:2])
        assert opened.read("table", (7, 7)).shape == (0, 4)
    with pytest.raises(ValueError, match="closed"):
        opened.read("table")
    opened.close()
    assert "closed" in repr(opened)


def test_h5py_reads_it(world, path):
    checkpoint.save(path, state(world), sharded=["rows"])
    if world.rank == 0:
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["rows"][...], np.arange(12.0).reshape(6, 2))
    world.barrier()


def test_what_is_missing(world, path):
    for call in (lambda: checkpoint.open(path), lambda: checkpoint.load(path), lambda: checkpoint.load(path, {})):
        with pytest.raises(FileNotFoundError) as caught:
            call()
        assert isinstance(caught.value, syncyte.NotFoundError)
        assert path in str(caught.value)
        assert caught.value.fields.operation.startswith("checkpoint_")
    checkpoint.save(path, {"a": np.ones(2)})
    with checkpoint.open(path) as opened:
        for call in (lambda: opened["b"], lambda: opened.read("b")):
            with pytest.raises(KeyError, match="b") as caught:
                call()
            assert not isinstance(caught.value, FileNotFoundError)
    for arguments in ({"keys": ["b"]}, {"into": {"b": np.ones(2)}}):
        with pytest.raises(KeyError):
            checkpoint.load(path, **arguments)
    with pytest.raises(OSError):
        checkpoint.save(os.path.join(os.path.dirname(path), "no", "folder", "a.h5"), {"a": np.ones(2)})


def test_damaged_files(world, path):
    checkpoint.save(path, {"a": np.arange(4096.0)})
    size = os.path.getsize(path)
    world.barrier()
    if world.rank == 0:
        with open(path, "r+b") as file:
            file.seek(size // 2)
            byte = file.read(1)
            file.seek(size // 2)
            file.write(bytes([byte[0] ^ 0x55]))
    world.barrier()
    with pytest.raises((syncyte.ChecksumError, syncyte.FileFormatError), match="checkpoint.h5"):
        checkpoint.load(path)
    if world.rank == 0:
        os.truncate(path, size // 2)
    world.barrier()
    with pytest.raises(syncyte.FileFormatError, match="checkpoint.h5"):
        checkpoint.load(path)
    if world.rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            file.write("not HDF5 at all")
    world.barrier()
    with pytest.raises(syncyte.FileFormatError, match="checkpoint.h5"):
        checkpoint.open(path)
    world.barrier()


def crc32c(data):
    """CRC32C, computed one bit at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_newer_format_is_no_damage(world, path):
    checkpoint.save(path, {"a": np.arange(4.0)})
    if world.rank == 0:
        with open(path, "r+b") as file:  # the version, and the CRC32C of the first 60 bytes
            header = bytearray(file.read(64))
            header[8:12] = (3).to_bytes(4, "little")
            header[60:] = crc32c(header[:60]).to_bytes(4, "little")
            file.seek(0)
            file.write(header)
    world.barrier()
    for call in (lambda: checkpoint.open(path), lambda: checkpoint.load(path)):
        with pytest.raises(syncyte.VersionError, match="checkpoint.h5.*newer Syncyte"):
            call()


def test_wrong_use(world, path):
    last = world.rank == world.size - 1
    good = {"a": np.ones((2, 3))}
    checkpoint.save(path, good, step=1)
    for wrong, error in [
        ({"a": np.ones((3, 2)).T}, syncyte.ShapeError),
        ({"a": "text"}, TypeError),
        ({"": np.ones(2)}, ValueError),
        ({3: np.ones(2)}, TypeError),
        ({"k" * 1024: np.ones(2)}, ValueError),
        ([np.ones(2)], TypeError),
    ]:
        with pytest.raises(error) as caught:
            checkpoint.save(path, wrong if last else good)
        assert isinstance(caught.value, syncyte.Error)
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError):
            checkpoint.save(path, {"b" if last else "a": np.ones(2)})
    for options in ({"sharded": ["b"]}, {"sharded": "a"}, {"block_bytes": 5}, {"step": 0.5}):
        with pytest.raises((ValueError, TypeError)):
            checkpoint.save(path, good, **options)
    with pytest.raises((ValueError, TypeError)):
        checkpoint.save(3.5, good)
    for into, error in [({"a": np.ones((2, 3), np.float32)}, TypeError), ({"a": np.ones((2, 4))}, syncyte.ShapeError)]:
        with pytest.raises(error):
            checkpoint.load(path, into)
        with pytest.raises((error, syncyte.MismatchError)):
            checkpoint.load(path, into if last else {"a": np.ones((2, 3))})
    with pytest.raises(syncyte.ShapeError):
        checkpoint.load(path, {"a": np.ones((3, 3))}, sharded=True)
    with checkpoint.open(path) as opened:
        assert opened.step == 1  # the file of the last good save
        for rows, error in [
            ((0, 3), IndexError),
            ((1, 0), ValueError),
            (range(0, 2, 2), ValueError),
            ((0,), ValueError),
        ]:
            with pytest.raises(error):
                opened.read("a", rows)
        with pytest.raises(TypeError):
            opened.read("a", out=np.ones((2, 3), np.int8))


def test_whether_a_key_is_there_is_asked_without_listing_all(world, path, monkeypatch):
    checkpoint.save(path, {"a/b": np.ones(2), "c": np.ones(3)})
    with checkpoint.open(path) as file:
        monkeypatch.setattr(checkpoint.Checkpoint, "__iter__", lambda self: pytest.fail("all keys are listed"))
        assert "a/b" in file
        assert "c" in file
        for other in ("a", "", "c\0", "\ud800", "k" * 2000, 3, None):
            assert other not in file
    with pytest.raises(syncyte.ArgumentError, match="is closed"):
        _ = "c" in file


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_one(world, path):
    checkpoint.save(path, {"x": np.ones(2)})
    if world.rank == 0:
        os.chmod(path, 0o640)
        os.symlink(path, path + ".link")
    world.barrier()
    checkpoint.save(path + ".link", {"x": np.zeros(2)})
    assert os.path.islink(path + ".link")
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert checkpoint.load(path, torch=False)["x"].tolist() == [0, 0]
    world.barrier()


def test_attributes(world, path):
    attributes = {
        "time": 0.1,
        "name": "run \u00e9",
        "on": True,
        "none": None,
        "many": 1 << 70,
        "extents": np.array([[1, 2], [3, 4]]),
        "one": np.float32(0.5),
        "nested": {"list": [1, "two", (3.0,)]},
    }
    plain = {
        **attributes, "extents": [[1, 2], [3, 4]], "one": 0.5, "nested": {"list": [1, "two", [3.0]]},
    }  # fmt: skip
    checkpoint.save(path, {"x": np.zeros(2)}, attributes=attributes)
    with checkpoint.open(path) as file:
        assert file.attributes == plain
    if world.rank == 0:
        with h5py.File(path) as file:
            assert json.loads(file.attrs["attributes"]) == plain
    world.barrier()
    checkpoint.save(path, {}, attributes={"text": "x" * (1 << 20)})
    with checkpoint.open(path) as file:
        assert len(file.attributes["text"]) == 1 << 20
    checkpoint.save(path, {})
    with checkpoint.open(path) as file:
        assert file.attributes == {}


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"x": float("nan")}, r"attributes\['x'\] is nan; expected what JSON can hold"),
        ({"x": {"y": [1j]}}, r"attributes\['x'\]\['y'\]\[0\] is 1j"),
        ({"x": {1: 2}}, r"a key of attributes\['x'\] is 1; expected a string"),
        ({"x": np.array([np.inf])}, r"attributes\['x'\]\[0\] is inf"),
        ({"x": {1, 2}}, r"attributes\['x'\] is \{1, 2\}"),
        ({"x": np.longdouble(1.5)}, r"attributes\['x'\] is a longdouble"),
        ({"x": np.datetime64("2020-01-01", "ns")}, r"attributes\['x'\] is a datetime64"),
        ({"x": np.ma.array([1, 2], mask=[False, True])}, r"attributes\['x'\] is a MaskedArray"),
        ({"x": memoryview(b"abc")}, r"attributes\['x'\] is a memoryview"),
        ({"x": torch.ones(2, device="meta")}, r"attributes\['x'\] is a Tensor"),
        ({"x": "\ud83d\ude00"}, r"attributes\['x'\] is '\\ud83d\\ude00'"),
        ({"x": 10**5000}, "attributes cannot be written as JSON"),
        ({"x": functools.reduce(lambda inner, _: [inner], range(5000), 0)}, "attributes cannot be written as JSON"),
        ("text", "attributes"),
    ],
)
def test_attributes_that_json_cannot_hold(world, path, attributes, message):
    given = attributes if world.rank == world.size - 1 else {}
    with pytest.raises(syncyte.Error, match=message):
        checkpoint.save(path, {}, attributes=given)
    world.barrier()


def test_attributes_that_differ(world, path):
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="attributes"):
            checkpoint.save(path, {}, attributes={"rank": world.rank})


def test_a_file_of_format_1_is_read(world, path):
    """tests/bindings/hdf5/format1.h5.gz was saved by 0.1.0 on 3 ranks."""
    if world.rank == 0:
        with gzip.open(FORMAT_1) as packed, open(path, "wb") as file:
            file.write(packed.read())
    world.barrier()
    loaded = checkpoint.load(path, torch=False)
    rows = [np.arange(2 * (rank + 1) * 3, dtype="float32").reshape(-1, 3) + 100 * rank for rank in range(3)]
    assert np.array_equal(loaded["rows"], np.concatenate(rows))
    assert loaded["scalar"] == 0.25
    assert np.array_equal(loaded["flags"], [True, False, True])
    assert np.array_equal(loaded["a/b"], np.arange(4, dtype="complex64"))
    with checkpoint.open(path) as file:
        assert file.step == -7
        assert file.attributes == {}
