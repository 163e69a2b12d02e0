#include "storage/pnetcdf/file.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/parallel/comm.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

TEST(PnetcdfFiles, WhatRanksWriteTogetherIsReadBack) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  const std::string path = scratch.file("f.nc");
  const MPI_Offset start = comm.rank();
  const MPI_Offset count = 1;
  {
    pnetcdf::File file = pnetcdf::File::create(comm.get(), path, NC_CLOBBER | NC_64BIT_DATA);
    const int ranks = file.def_dim("ranks", static_cast<std::uint64_t>(comm.size()));
    const int variable = file.def_var("v", NC_INT64, std::vector{ranks});
    file.put_att_text(variable, "unit", "m");
    file.put_att(NC_GLOBAL, "numbers", NC_INT, std::vector<long long>{3, 5});
    file.enddef();
    const long long value = 100 + comm.rank();
    file.put_vara_all(variable, &start, &count, &value, 1, MPI_LONG_LONG_INT);
    EXPECT_GE(file.inq_put_size(), 8);
    file.close();
  }
  pnetcdf::File file = pnetcdf::File::open(comm.get(), path);
  EXPECT_EQ(file.inq_format(), NC_FORMAT_CDF5);
  EXPECT_EQ(file.inq_dimlen(file.inq_dimid("ranks")), static_cast<std::uint64_t>(comm.size()));
  const int variable = file.inq_varid("v");
  EXPECT_EQ(file.inq_var(variable).type, NC_INT64);
  char unit = 0;
  EXPECT_EQ(file.inq_attlen(variable, "unit"), 1u);
  EXPECT_EQ(ncmpi_get_att_text(file.id(), variable, "unit", &unit), NC_NOERR);
  EXPECT_EQ(unit, 'm');
  EXPECT_EQ(file.get_att(NC_GLOBAL, "numbers"), (std::vector<long long>{3, 5}));
  EXPECT_FALSE(file.inq_attlen(NC_GLOBAL, "others").has_value());
  EXPECT_FALSE(file.has_var("w"));
  long long value = 0;
  file.get_vara_all(variable, &start, &count, &value, 1, MPI_LONG_LONG_INT);
  EXPECT_EQ(value, 100 + comm.rank());
  file.close();
}

TEST(PnetcdfFiles, AFailedCallNamesItselfFileRankAndReason) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  try {
    pnetcdf::File::open(comm.get(), scratch.file("missing.nc"));
    FAIL() << "a missing file was opened";
  } catch (const pnetcdf::CallError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("ncmpi_open"), std::string::npos) << message;
    EXPECT_NE(message.find("missing.nc"), std::string::npos) << message;
    EXPECT_NE(message.find("rank " + std::to_string(comm.rank())), std::string::npos) << message;
    EXPECT_EQ(error.code(), NC_ENOENT) << message;
  }
}

TEST(PnetcdfFiles, AFileLeftOpenInDefineModeIsGone) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  const std::string path = scratch.file("left.nc");
  {
    pnetcdf::File file = pnetcdf::File::create(comm.get(), path, NC_CLOBBER);
    file.def_dim("x", 1);
  }
  comm.barrier();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PnetcdfFiles, TheLibraryTellsItsVersion) {
  const std::string version = pnetcdf::library_version();
  EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos) << version;
}

}  // namespace
}  // namespace slabmark
