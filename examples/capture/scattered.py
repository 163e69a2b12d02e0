"""The same as scattered.c in h5py: mpiexec -n 4 python scattered.py out.h5 [rows] [columns] [steps]

h5py must be built with MPI (https://docs.h5py.org/en/stable/mpi.html)."""

import sys

import h5py
import numpy
from mpi4py import MPI

NAMES = ["temperature", "salinity", "velocity"]


def main(path="scattered.h5", rows=4096, columns=64, steps=4):
    rows, columns, steps = int(rows), int(columns), int(steps)
    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    cells = numpy.arange(rank, rows, ranks)[:, None] * columns + numpy.arange(columns)
    with h5py.File(path, "w", driver="mpio", comm=MPI.COMM_WORLD) as file:
        datasets = [file.create_dataset(name, (steps, rows, columns), "f8") for name in NAMES]
        for step in range(steps):
            for number, dataset in enumerate(datasets):
                if len(cells):
                    dataset[step, rank::ranks, :] = 1 + number + 10.0 * step + 1e-3 * cells


main(*sys.argv[1:])
