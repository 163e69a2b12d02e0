#include "storage/mpiio/romio_hints.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "scratch.hpp"

namespace slabmark::mpiio {
namespace {

using Heard = std::map<std::string, std::string>;

class RomioHints : public testing::Test {
 protected:
  RomioHints() {
    std::ofstream(path_)
        << "# a_comment 1\nromio_ds_write disable\nromio_ds_write enable\n\ncb_nodes 2\nlonely\n"
           "cb_buffer_size 4096 # of which ROMIO takes no notice\n";
    setenv("ROMIO_HINTS", path_.c_str(), 1);
  }
  ~RomioHints() override { unsetenv("ROMIO_HINTS"); }

  const Scratch scratch_;
  const std::string path_ = scratch_.file("hints");
};

TEST_F(RomioHints, OfTheFileThatTheVariableNamesHold) {
  EXPECT_EQ(hints_effective_in_romio({}),
            (Heard{{"romio_ds_write", "disable"}, {"cb_nodes", "2"}}));
}

TEST_F(RomioHints, OfAProgramHideThoseOfTheFileHeardOrNot) {
  EXPECT_EQ(hints_effective_in_romio({{"cb_nodes", "4"}}),
            romio_hears_hints_of_opening()
                ? (Heard{{"romio_ds_write", "disable"}, {"cb_nodes", "4"}})
                : (Heard{{"romio_ds_write", "disable"}}));
}

TEST_F(RomioHints, ThatWouldButHideThoseOfTheFileAreNotGiven) {
  const Hints ours = {{"romio_ds_write", "disable"}, {"nc_var_align_size", "1"}};
  EXPECT_EQ(without_unheard(ours), romio_hears_hints_of_opening() ? ours : Hints{ours[1]});
}

}  // namespace
}  // namespace slabmark::mpiio
