#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slabmark {

/// `text` as a terminal may be given it: one line of valid UTF-8. Control characters become "\n",
/// "\x1b" and the like, as do bytes that are no UTF-8. Of more than 2000 bytes the beginning and
/// the end stay, so that a sentence that quotes a huge culprit still says what is wrong and what to
/// do.
std::string printable(std::string_view text);

/// `text` with line ends in place of blanks, so that lines have at most `columns` bytes where words
/// allow it. Lines after the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns = 80);

}  // namespace slabmark
