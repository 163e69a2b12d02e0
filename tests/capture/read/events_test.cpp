#include "capture/read/events.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

/// The sentence by which these numbers are refused as events; empty: they are not.
std::string refusal_of(std::initializer_list<std::uint64_t> numbers) {
  capture::Bytes bytes;
  for (const std::uint64_t number : numbers) capture::put_varint(bytes, number);
  EventReader reader(bytes, "The events");
  try {
    for (CapturedEvent event; reader.next(event);) {
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Block: token, two times, bytes of the body, body, parameters, column of these.
// New track: step, file, dataset, call, flags, type, details, dimensions, arguments.

TEST(EventReader, ASmallBlockIsRead) {
  EXPECT_EQ(refusal_of({1, 0, 0, 12, 0, 0, 1, 1, 1, 0, 0, 1, 0, 2, 10, 0, 3, 0, 0, 4}), "");
}

TEST(EventReader, DamagedTokensAreRefused) {
  EXPECT_THAT(refusal_of({99}),
              HasSubstr("The events are damaged at byte 1: there is no such token"));
  EXPECT_THAT(refusal_of({4, 4}), HasSubstr("something follows the end"));
  EXPECT_THAT(refusal_of({2, 0}), HasSubstr("a block is used before it is there"));
  EXPECT_THAT(refusal_of({1, 0, 0, 50, 0}), HasSubstr("50 bytes are said to follow"));
  EXPECT_THAT(refusal_of({1, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0}),
              HasSubstr("other parameters than it needs"));
}

TEST(EventReader, DamagedEventsAreRefused) {
  EXPECT_THAT(refusal_of({1, 0, 0, 1, 4}), HasSubstr("a track is used before it is there"));
  EXPECT_THAT(refusal_of({1, 0, 0, 2, 0, 1}), HasSubstr("number of a file is 1, more than 0"));
  EXPECT_THAT(refusal_of({1, 0, 0, 3, 0, 0, 2}),
              HasSubstr("number of a dataset is 2, more than 1"));
}

TEST(EventReader, ARequestThatWasNotMadeIsRefused) {
  // It waits for one request, the first of all counted back.
  EXPECT_THAT(refusal_of({1, 0, 0, 12, 0, 0, 0, 1, 64, 0, 0, 0, 0, 4, 0, 2, 1, 0, 0}),
              HasSubstr("a request is waited for that was not made"));
}

TEST(EventReader, ABoxThatIsLongerThanAnyArrayIsRefused) {
  EXPECT_THAT(refusal_of({1, 0, 0, 20, 0, 0, 1, 1, 1, 0, 0, 1, 0, 2, std::uint64_t{1} << 62, 0}),
              HasSubstr("a box is longer than any array"));
}

}  // namespace
}  // namespace slabmark
