"""Checkpoints from Python. tests/bindings/hdf5 tests the file format."""

import contextlib
import io
import os
import time

import h5py
import numpy as np
import pytest
import torch

import syncyte
from syncyte import DType, _progress, checkpoint


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
    assert loaded["step/count"] == 7 and loaded["empty"].shape == (0, 3)
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
    assert torch.equal(into["layer.weight"], saved["layer.weight"]) and into["layer.weight"]._version > version


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


def test_channels_last(world, path):
    """The file is row-major, and tensors keep their strides; rows too."""
    values = torch.arange(2 * 3 * 4 * 5.0).view(2, 3, 4, 5)
    image, volume = (
        values.contiguous(memory_format=torch.channels_last),
        values.view(2, 3, 2, 2, 5).contiguous(memory_format=torch.channels_last_3d),
    )
    checkpoint.save(path, {"image": image, "volume": volume, "rows": image}, sharded=["rows"])
    found = checkpoint.load(path)
    assert torch.equal(found["image"], values) and torch.equal(found["volume"].flatten(), values.flatten())
    assert torch.equal(found["rows"], torch.cat([values] * world.size))
    into = {"image": torch.zeros_like(image), "volume": torch.zeros_like(volume), "rows": torch.zeros_like(image)}
    version = into["image"]._version
    checkpoint.load(path, into, sharded=["rows"])
    assert all(torch.equal(into[name], expected) for name, expected in {"image": image, "rows": image}.items())
    assert torch.equal(into["volume"], volume) and into["image"].stride() == image.stride() != values.stride()
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
        assert list(opened) == ["other", "table"] and len(opened) == 2 and opened.step == -3
        assert "table" in opened and "none" not in opened and 3 not in opened
        assert opened["other"].dtype == DType.INT32 and not opened["other"].sharded
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
        assert isinstance(caught.value, syncyte.NotFoundError) and path in str(caught.value)
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
            header[8:12] = (2).to_bytes(4, "little")
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
    for into, error in [
        ({"a": np.ones((2, 3), np.float32)}, TypeError),
        ({"a": np.ones((2, 4))}, syncyte.ShapeError),
    ]:
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
        assert "a/b" in file and "c" in file
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
    assert os.path.islink(path + ".link") and os.stat(path).st_mode & 0o777 == 0o640
    assert checkpoint.load(path, torch=False)["x"].tolist() == [0, 0]
    world.barrier()
