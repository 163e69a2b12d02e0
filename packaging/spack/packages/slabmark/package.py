# Copyright 2026 The Slabmark developers
#
# SPDX-License-Identifier: BSD-3-Clause

import os

from spack.package import *

try:  # where Spack 1.0 and newer keep it
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # older ones: part of spack.package
    pass


class Slabmark(CMakePackage):
    """Measures, explains and improves how parallel programs move arrays to storage:
    known I/O patterns of simulations through POSIX, MPI-IO, PnetCDF and HDF5."""

    # The recipe lives in the repository that it builds, two folders above the recipe's own.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("BSD-3-Clause")

    version("main", branch="main")
    version("1.0.0", tag="v1.0.0")

    variant("pnetcdf", default=True, description="PnetCDF methods and .nc decomposition maps")

    variant("plugins", default=True, description="Fill functions of seism-core-slice")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.14: +mpi +shared +hl")
    depends_on("parallel-netcdf@1.12: +shared", when="+pnetcdf")
    depends_on("cli11@2.1:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.10:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("googletest@1.12:", type="test")

    conflicts("%gcc@:11", msg="Slabmark is written in C++20")

    def cmake_args(self):
        args = [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("HDF5_ROOT", self.spec["hdf5"].prefix),
            self.define("BUILD_TESTING", self.run_tests),
            self.define_from_variant("BUILD_PLUGINS", "plugins"),
            # Its Python packages come from a package index, which a build must not ask; pip install ./lab adds it.
            self.define("SLABMARK_LAB", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_PnetCDF", self.spec.satisfies("~pnetcdf")),
        ]
        if self.spec.satisfies("+pnetcdf"):
            args.append(self.define("PNETCDF_DIR", self.spec["parallel-netcdf"].prefix))
        return args
