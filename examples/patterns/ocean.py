"""An ocean's mesh in parts, as a NetCDF variable and as a pattern:  python3 ocean.py [FOLDER]

ocean.nc has what ocean.toml asks for. ocean.pattern is the pattern of ocean.toml, made from the array itself.
"""

import pathlib
import sys

import netCDF4
import numpy
from slabmark import pattern


def mesh(cells):
    """Points on a sphere, nearly evenly spread, those of land left out."""
    number = numpy.arange(cells)
    height, angle = 1 - (2 * number + 1) / cells, number * numpy.pi * (3 - 5**0.5)
    points = numpy.stack(
        [numpy.sqrt(1 - height**2) * numpy.cos(angle), numpy.sqrt(1 - height**2) * numpy.sin(angle), height], axis=1
    )
    return points[numpy.sin(3 * points[:, 0]) + numpy.sin(4 * points[:, 1]) < 0.7]


def parts(points, number):
    """Owners by halving along the longest axis, again and again; `number` is a power of two."""
    if number == 1:
        return numpy.zeros(len(points), dtype=int)
    axis = numpy.argmax(numpy.ptp(points, axis=0))
    upper = numpy.argsort(numpy.argsort(points[:, axis], kind="stable"), kind="stable") >= len(points) // 2
    owner = numpy.empty(len(points), dtype=int)
    owner[~upper] = parts(points[~upper], number // 2)
    owner[upper] = parts(points[upper], number // 2) + number // 2
    return owner


folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
owner = parts(mesh(4000), 8)

with netCDF4.Dataset(folder / "ocean.nc", "w", format="NETCDF3_64BIT_DATA") as file:
    file.createDimension("nCells", len(owner))
    file.createVariable("owner", "i4", ("nCells",))[:] = owner

made = pattern.Pattern()
cells = pattern.owners(owner)
columns = cells.levels(20, fastest=True)
names = ("nCells", "levels_20")
for name in ("temperature", "salinity"):
    made.variable(name, columns, dimensions=names)
made.variable("ssh", cells, dimensions=names[:1])
for step in range(3):
    made.step(path=f"out_{step + 1}")
made.save(folder / "ocean.pattern")
