#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "storage/hdf5/error.hpp"
#include "storage/hdf5/pass_through/info.hpp"

namespace slabmark::pass_through {
namespace {

/// A connector with one option, "level=N".
struct Layer {
  struct Info : pass_through::Info {
    std::string level = "0";
  };

  static const Functions& functions() { return linked(); }
  static Info default_info() { return {}; }
  static Info parsed(std::string_view words, const std::string&) {
    Info info;
    if (const auto at = words.find("level="); at != words.npos) info.level = words.substr(at + 6);
    return info;
  }
  static std::string options_text(const Info* info) {
    std::string text(";level=");
    return text.append(info == nullptr ? "0" : info->level);
  }
  static herr_t refuse_missing(const std::string& value) {
    missing = value;
    return -1;
  }
  template <class Body>
  static auto guarded(const char*, const Body& body) {
    return body();
  }

  static inline std::string missing;
};

using Callbacks = InfoCallbacks<Layer>;

struct FreeInfo {
  void operator()(void* info) const { Callbacks::free(info); }
};
using InfoPtr = std::unique_ptr<void, FreeInfo>;

InfoPtr parse(const char* text) {
  void* info = nullptr;
  EXPECT_GE(Callbacks::from_text(text, &info), 0);
  return InfoPtr(info);
}

std::string text_of(const void* info) {
  char* text = nullptr;
  EXPECT_GE(Callbacks::to_text(info, &text), 0);
  std::string copy(text);
  H5free_memory(text);
  return copy;
}

int compare(const InfoPtr& a, const InfoPtr& b) {
  int result = 0;
  EXPECT_GE(Callbacks::compare(&result, a.get(), b.get()), 0);
  return result;
}

TEST(PassThroughInfo, IsTheSameAfterItsTextWasRead) {
  for (const char* text : {"under_vol=0;under_info={};level=3", "level=3"}) {
    EXPECT_EQ(text_of(parse(text).get()), "under_vol=0;under_info={};level=3");
  }
  EXPECT_EQ(text_of(parse(nullptr).get()), "under_vol=0;under_info={};level=0");
  EXPECT_EQ(text_of(nullptr), "under_vol=0;under_info={};level=0");
}

TEST(PassThroughInfo, CopiesAreEqualAndOtherOptionsAreNot) {
  const auto three = parse("level=3");
  const InfoPtr copy(Callbacks::copy(three.get()));
  const InfoPtr defaults(Callbacks::copy(nullptr));
  EXPECT_EQ(compare(three, copy), 0);
  EXPECT_NE(compare(three, defaults), 0);
  EXPECT_EQ(compare(defaults, parse("")), 0);
}

TEST(PassThroughInfo, AConnectorThatHdf5DoesNotFindIsNamed) {
  hdf5::silence();
  void* info = nullptr;
  EXPECT_LT(Callbacks::from_text("under_vol=511;under_info={}", &info), 0);
  EXPECT_EQ(Layer::missing, "511");
}

TEST(KeptErrors, AreThereAgainAfterCallsThatClearThem) {
  hdf5::silence();
  ASSERT_LT(H5Dclose(H5I_INVALID_HID), 0);
  const auto before = H5Eget_num(H5E_DEFAULT);
  ASSERT_GT(before, 0);
  {
    KeptErrors errors(linked());
    errors.keep();
    H5Eclear2(H5E_DEFAULT);
  }
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), before);
}

}  // namespace
}  // namespace slabmark::pass_through
