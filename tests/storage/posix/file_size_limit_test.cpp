#include "storage/posix/file_size_limit.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark::posix {
namespace {

TEST(FileSizeLimit, IsASentenceForWhatWouldBeLargerAndForNothingElse) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  EXPECT_NO_THROW(require_file_size_allowed("'f'", 1 << 20));
  try {
    require_file_size_allowed("'f'", (1 << 20) + 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'f' may have"), std::string::npos) << error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(FileSizeLimit, IsNoneWhereThereIsNone) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  if (limit.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "the tests themselves run under a limit";
  EXPECT_NO_THROW(require_file_size_allowed("'f'", ~std::uint64_t{0}));
}

TEST(Space, IsASentenceWhereThereIsLessAndNothingWhereItIsNotSaid) {
  EXPECT_NO_THROW(require_space("f", 0));
  try {
    require_space("f", ~std::uint64_t{0});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'f' would have"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(space_left("/proc/f"));  // of size 0, as some in user space
  EXPECT_NO_THROW(require_space("/proc/f", ~std::uint64_t{0}));
  EXPECT_FALSE(space_left("/this/is/not/there"));
}

}  // namespace
}  // namespace slabmark::posix
