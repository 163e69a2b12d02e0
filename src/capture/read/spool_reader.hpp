#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/format/spool_frame.hpp"

namespace slabmark {

/// The frames of all processes in the files of a spool.
class SpoolReader {
 public:
  /// Looks at all frames; damaged ones are left out. Throws InputError where there is no spool.
  explicit SpoolReader(const std::string& folder);

  struct Frame {
    std::size_t file = 0;
    std::uint64_t offset = 0;  ///< of its bytes
    std::uint32_t bytes = 0;
    capture::Stream stream = capture::Stream::events;
  };
  struct Process {
    std::vector<Frame> frames;  ///< in order, up to the first that is not there
    bool cut = false;           ///< later frames are left out
    /// The frame that ends the events of a process that was killed within a block.
    std::optional<std::size_t> last_block;
    std::uint64_t calls_of_children = 0;  ///< which are not captured
  };

  /// By the number that a process has drawn.
  const std::map<std::uint64_t, Process>& processes() const { return processes_; }
  std::uint64_t damaged() const { return damaged_; }  ///< places where bytes were no frame
  /// Of processes that left nothing else.
  std::uint64_t other_calls_of_children() const { return other_calls_of_children_; }

  /// Hands the bytes of a stream of a process to `take`, frame by frame.
  void read(const Process& process, capture::Stream stream,
            const std::function<void(std::span<const std::uint8_t>)>& take) const;

 private:
  void scan(std::size_t file);
  void count_calls_of_children();

  std::vector<std::string> paths_, paths_of_children_;
  std::map<std::uint64_t, Process> processes_;
  std::map<std::uint64_t, std::map<std::uint64_t, Frame>> found_;  ///< by process and number
  std::uint64_t damaged_ = 0;
  std::uint64_t other_calls_of_children_ = 0;
};

}  // namespace slabmark
