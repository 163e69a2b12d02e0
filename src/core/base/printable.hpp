#pragma once

#include <string>
#include <string_view>

namespace slabmark {

/// `text` as a terminal may be given it: one line of valid UTF-8. Control characters become "\n",
/// "\x1b" and the like, as do bytes that are no UTF-8. Of more than 2000 bytes the beginning and
/// the end stay, so that a sentence that quotes a huge culprit still says what is wrong and what to
/// do.
std::string printable(std::string_view text);

}  // namespace slabmark
