// The connector's options, in its access list and in the environment.
#include <array>
#include <string>

#include <gmock/gmock.h>

#include "log_file_fixture.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;

class Options : public LogFileTest {
 protected:
  ~Options() override {
    for (const char* name : {"SLABLOG_VIEW", "SLABLOG_WRITE", "SLABLOG_BUFFER", "SLABLOG_CAP"})
      unsetenv(name);
  }

  void write_file(const char* options) const {
    const auto file = create("a.h5", options);
    const auto d = dataset(file, "d", {3 * static_cast<hsize_t>(ranks())});
    ASSERT_GE(write_n(d, {{3 * mine()}, {3 * mine() + 2}}, {{1}, {1}}, {1, 2}), 0);
  }

  bool has_view() const {
    const auto file = open_plainly("a.h5");
    return H5Lexists(file.get(), "/_slablog/d0.view", H5P_DEFAULT) > 0;
  }

  H5D_layout_t layout_of_view() const {
    const auto file = open_plainly("a.h5");
    const auto view = opened(file, "/_slablog/d0.view");
    const auto list = handle(H5Dget_create_plist(view.get()), H5Pclose);
    return H5Pget_layout(list.get());
  }
};

TEST_F(Options, SayWhatOtherProgramsSeeAtClose) {
  write_file("view=vds");
  EXPECT_EQ(layout_of_view(), H5D_VIRTUAL);
  world_.barrier();
  write_file("view=materialise");
  EXPECT_EQ(layout_of_view(), H5D_CONTIGUOUS);
  world_.barrier();
  write_file("view=none");
  EXPECT_FALSE(has_view());
  world_.barrier();
  // More hyperslabs than the cap: contiguous all the same.
  write_file("view=vds;cap=1");
  EXPECT_EQ(layout_of_view(), H5D_CONTIGUOUS);
}

TEST_F(Options, OfTheEnvironmentHoldWhereTheAccessListIsSilent) {
  setenv("SLABLOG_VIEW", "none", 1);
  write_file("buffer=1K");
  EXPECT_FALSE(has_view());
  world_.barrier();
  write_file("view=vds");
  EXPECT_EQ(layout_of_view(), H5D_VIRTUAL);
  world_.barrier();
  setenv("SLABLOG_VIEW", "vds", 1);
  setenv("SLABLOG_CAP", "1", 1);
  write_file("");
  EXPECT_EQ(layout_of_view(), H5D_CONTIGUOUS);
}

TEST_F(Options, CollectiveWritingTakesRanksWithMoreAndWithoutWrites) {
  const hsize_t each = 700000;  // more than a window
  {
    const auto file = create("a.h5", "write=collective");
    const auto d = dataset(file, "d", {each * static_cast<hsize_t>(ranks())});
    const auto unused = dataset(file, "unused", {2});
    if (rank() % 2 == 0) {
      ASSERT_GE(write_n(d, {{each * mine()}}, {{each}}, std::vector<int>(each, rank() + 1)), 0);
    }
    if (rank() == ranks() - 1) {
      ASSERT_GE(write_n(unused, {{1}}, {{1}}, {7}), 0);
    }
  }
  const auto values = all_plainly("a.h5", "d");
  for (std::size_t i = 0; i < values.size(); i += each / 2) {
    const auto owner = static_cast<int>(i / each);
    EXPECT_EQ(values[i], owner % 2 == 0 ? owner + 1 : 0) << i;
  }
  EXPECT_THAT(all_plainly("a.h5", "unused"), ElementsAre(0, 7));
}

// How MPI-IO writes HDF5's metadata, of which ROMIO would else write what lies between, too.
TEST_F(Options, LeaveMpiIoTheProgramsHintsAndForbidDataSievingWhereThereIsNone) {
#ifndef H5FD_CTL_GET_MPI_INFO_OPCODE
  GTEST_SKIP() << "HDF5 before 1.14.4 does not say which hints an open file has";
#endif
  const auto hint = [](hid_t file) {
    const auto list = handle(H5Fget_access_plist(file), H5Pclose);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    EXPECT_GE(H5Pget_fapl_mpio(list.get(), &comm, &info), 0);
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    if (info != MPI_INFO_NULL) {
      MPI_Info_get(info, "romio_ds_write", MPI_MAX_INFO_VAL, value.data(), &found);
      MPI_Info_free(&info);
    }
    MPI_Comm_free(&comm);
    return std::string(found != 0 ? value.data() : "none");
  };
  MPI_Info own = MPI_INFO_NULL;
  MPI_Info_create(&own);
  MPI_Info_set(own, "romio_ds_write", "enable");
  // Of Open MPI 5 it would not be heard, and hide what the user's file of hints says.
  const std::string given = mpiio::romio_hears_hints_of_opening() ? "disable" : "none";
  for (const char* options : {"", "layout=canonical"}) {
    EXPECT_EQ(hint(create("a.h5", options).get()), given) << options;
    world_.barrier();
    const auto list = access(options);
    H5Pset_fapl_mpio(list.get(), world_.get(), own);
    slablog_set(list.get(), options);
    const auto file =
        handle(H5Fcreate(path("b.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.get()), H5Fclose);
    EXPECT_EQ(hint(file.get()), "enable") << options;
  }
  MPI_Info_free(&own);
}

TEST_F(Options, ThatMakeNoSenseAreRefusedBeforeAFileIsMade) {
  for (const char* options :
       {"view=some", "write=all", "visibility=some", "buffer=big", "cap=-1"}) {
    const auto list = handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    EXPECT_LT(slablog_set(list.get(), options), 0) << options;
  }
  setenv("SLABLOG_BUFFER", "much", 1);
  const auto list = handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  EXPECT_LT(slablog_set(list.get(), ""), 0);
}

TEST_F(Options, ALogClosedWithoutAViewIsReadThroughTheConnector) {
  write_file("view=none");
  const auto file = open("a.h5");
  const auto values = all(opened(file, "d"));
  EXPECT_THAT(std::vector<int>(values.end() - 3, values.end()), ElementsAre(1, 0, 2));
}

}  // namespace
}  // namespace slabmark::slablog
