# SPDX-License-Identifier: BSD-3-Clause
"""h5py has its own copy of the HDF5 library. Both copies work in one process, whichever is loaded first."""

import sys

import numpy as np


def with_h5py():
    import h5py

    with h5py.File("theirs.h5", "w") as file:
        file["x"] = np.arange(5.0)
    with h5py.File("theirs.h5") as file:
        assert (file["x"][...] == np.arange(5.0)).all()
    return h5py


def with_syncyte():
    from checkpoint_calls import Checkpoints

    checkpoints = Checkpoints()
    data = np.arange(12.0).reshape(3, 4)
    checkpoints.save("ours.h5", [checkpoints.entry("x", data)])
    read = np.zeros_like(data)
    checkpoints.load("ours.h5", [checkpoints.entry("x", read)])
    assert (read == data).all()
    return checkpoints


def main():
    if sys.argv[1] == "h5py_first":
        with_h5py()
    with_syncyte()
    h5py = with_h5py()
    with h5py.File("ours.h5") as file:
        assert (file["x"][...] == np.arange(12.0).reshape(3, 4)).all()
    with_syncyte().finalize()


main()
