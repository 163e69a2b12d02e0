#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace slabmark {

/// A line of a text file, without its newline.
struct Line {
  std::uint64_t offset = 0;  ///< in the file, bytes
  std::uint64_t bytes = 0;
  std::string head;       ///< its first 4096 bytes at most
  bool is_ended = false;  ///< a newline follows; false only at the end of the file

  bool is_blank() const { return head.find_first_not_of(" \t\r") == std::string::npos; }
};

/// Finds the lines of a text file in one sequential pass without keeping them: lines of a
/// decomposition are many megabytes long.
class LineScanner {
 public:
  explicit LineScanner(const std::string& path);

  /// False at the end of the file.
  bool next(Line& line);

  std::uint64_t line_number() const { return line_number_; }  ///< of the last line, from 1

 private:
  bool refill();

  std::ifstream file_;
  std::vector<char> block_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t block_offset_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace slabmark
