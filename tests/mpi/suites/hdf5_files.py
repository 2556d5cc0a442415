# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""One rank of a program whose ranks write one HDF5 file together: contiguous, in chunks,
compressed, by rows and by columns, and growing. Each rank reads what others wrote, and rank 0
prints a digest of the file's contents: hdf5_files.py FILE SEED"""
import hashlib
import sys

import h5py
import numpy
from mpi4py import MPI

SHAPE = (240, 331)
LAYOUTS = {"whole": {}, "chunked": {"chunks": (16, 50)},
           "compressed": {"chunks": (8, 31), "shuffle": True, "compression": "gzip"}}
ROUNDS = 3
GROUPS = 40
STEPS = 20


def write(file, data, ranks):
    mine = numpy.array_split(numpy.arange(SHAPE[0]), ranks.size)[ranks.rank]
    rows = slice(mine[0], mine[-1] + 1)
    for name, layout in LAYOUTS.items():
        values = file.create_dataset(name, SHAPE, data.dtype, **layout)
        for added in range(ROUNDS):
            with values.collective:
                values[rows, :] = data[rows] + added
    columns = file.create_dataset("columns", SHAPE, data.dtype)
    with columns.collective:
        columns[:, ranks.rank::ranks.size] = data[:, ranks.rank::ranks.size]
    file.create_dataset("each by itself", SHAPE, data.dtype)[rows, :] = data[rows]
    for number in range(GROUPS):
        file.create_group(f"group {number}").attrs["number"] = number


def grow(file, ranks):
    growing = file.create_dataset("growing", (0, 9), "f8", maxshape=(None, 9), chunks=(4, 9))
    for step in range(STEPS):
        growing.resize(((step + 1) * ranks.size, 9))
        with growing.collective:
            growing[step * ranks.size + ranks.rank] = numpy.arange(9) * step + ranks.rank


def read(file, data, ranks):
    """Checks the values by columns, independent of their writer."""
    expected = {**{name: ROUNDS - 1 for name in LAYOUTS}, "columns": 0, "each by itself": 0}
    for name, added in expected.items():
        values = file[name]
        with values.collective:
            found = values[:, ranks.rank::ranks.size]
        assert (found == data[:, ranks.rank::ranks.size] + added).all(), name


def digest(path):
    """Returns a digest of the values, not of the file, whose unused bytes are not deterministic."""
    held = hashlib.sha256()
    with h5py.File(path, "r") as file:
        for name in sorted(file):
            held.update(name.encode())
            held.update(repr(sorted(file[name].attrs.items())).encode())
            if isinstance(file[name], h5py.Dataset):
                held.update(repr((file[name].shape, file[name].chunks)).encode() + file[name][()].tobytes())
    return held.hexdigest()


def main():
    path, seed = sys.argv[1], int(sys.argv[2])
    ranks = MPI.COMM_WORLD
    data = numpy.random.default_rng(seed).integers(0, 1 << 40, size=SHAPE)
    with h5py.File(path, "w", driver="mpio", comm=ranks) as file:
        write(file, data, ranks)
        grow(file, ranks)
    with h5py.File(path, "r", driver="mpio", comm=ranks) as file:
        read(file, data, ranks)
    ranks.Barrier()
    if ranks.rank == 0:
        print("digest", digest(path))


if __name__ == "__main__":
    main()
