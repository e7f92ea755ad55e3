# SPDX-License-Identifier: BSD-3-Clause
"""Reads a checkpoint by what docs/checkpoints.md says of the file, without Syncyte and HDF5."""

import struct

import numpy as np

DTYPES = [None, "f2", "bf16", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "?", "u2", "u4", "u8"]
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Manifest:
    def __init__(self, data):
        self.data, self.at = data, 0

    def numbers(self, form):
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def text(self):
        (size,) = self.numbers("I")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def texts(self, each):
        return [self.text() for _ in range(each * self.numbers("I")[0])]

    def attributes(self):
        texts = self.texts(2)
        return dict(zip(texts[::2], texts[1::2], strict=True))


def read(path):
    """Step, ranks that saved, attributes of the file, and the arrays by key; bfloat16 as float32."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, header_bytes, userblock, manifest_bytes, file_bytes, rest_crc, metadata_crc, zeros, header_crc = (
        struct.unpack_from("<8sIIQQQII12sI", data)
    )
    assert (magic, header_bytes, zeros) == (bytes.fromhex("8953594E430D0A1A"), 64, bytes(12))
    assert version in (1, 2)
    assert len(data) == file_bytes
    assert crc32c(data[:60]) == header_crc
    assert crc32c(data[64:userblock]) == rest_crc
    assert not any(data[64 + manifest_bytes : userblock])
    manifest = Manifest(data[64 : 64 + manifest_bytes])
    step, ranks, block = manifest.numbers("qqQ")
    assert version == 1 or manifest.texts(1) == []  # features
    attributes = manifest.attributes() if version > 1 else {}
    arrays, parts = {}, []
    for _ in range(manifest.numbers("Q")[0]):
        key = manifest.text()
        number, kind, ndim = manifest.numbers("iiI")
        shape = manifest.numbers(f"{ndim}q")
        (offset,) = manifest.numbers("Q")
        assert kind in (0, 1)
        of_key = manifest.attributes() if version > 1 else {}
        assert of_key == ({"parallel_dim": "0"} if version > 1 and kind == 1 else {})
        dtype = np.dtype("<u2" if DTYPES[number] == "bf16" else "<" + DTYPES[number])
        elements = data[offset : offset + int(np.prod(shape)) * dtype.itemsize]
        sums = [crc32c(elements[at : at + block]) for at in range(0, len(elements), block)]
        assert list(manifest.numbers(f"{len(sums)}I")) == sums
        array = np.frombuffer(elements, dtype).reshape(shape)
        arrays[key] = (array.astype("u4") << 16).view("f4") if DTYPES[number] == "bf16" else array
        parts.append((offset, offset + len(elements)))
    assert manifest.at == manifest_bytes
    assert list(arrays) == sorted(arrays, key=str.encode)
    metadata, end = b"", userblock
    for first, after in sorted(part for part in parts if part[0] < part[1]):
        metadata, end = metadata + data[end:first], after
    assert crc32c(metadata + data[end:]) == metadata_crc
    return step, ranks, attributes, arrays
