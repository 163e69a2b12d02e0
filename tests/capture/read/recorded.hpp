#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "capture/read/pattern_file.hpp"
#include "capture/record/streams/recording.hpp"
#include "capture/record/streams/spool.hpp"
#include "core/base/error.hpp"

namespace slabmark {

/// The sentence by which something is refused; empty: it is not.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A process that writes `steps` boxes of a dataset of a file that all ranks open.
inline void record_steps(capture::Recording& recording, int ranks, std::int64_t steps) {
  auto& definitions = recording.definitions;
  const auto file = definitions.open_file(R"({"kind":"file","level":"pnetcdf","path":"out.nc",)"
                                          R"("ranks":)" +
                                          std::to_string(ranks) + "}");
  const auto create = definitions.define_call("ncmpi_create", "create");
  const auto put = definitions.define_call("ncmpi_put_vara_all", "write");
  const auto close = definitions.define_call("ncmpi_close", "close");
  const auto dataset =
      definitions.define(R"({"extent":[100,7],"kind":"dataset","name":"u","type":"float64"})");
  recording.record({.call = create, .file = file, .flags = capture::collective});
  capture::Boxes boxes(2);
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t start[] = {step, 0}, count[] = {1, 7};
    boxes.clear(2);
    boxes.add(start, count);
    recording.record({.call = put,
                      .file = file,
                      .dataset = dataset,
                      .flags = capture::writes | capture::collective,
                      .selection = &boxes});
    recording.end_block();
  }
  recording.record({.call = close, .file = file, .flags = capture::collective});
}

/// A process that leaves its streams in the spool of `pattern`.
class SpoolingProcess {
 public:
  explicit SpoolingProcess(const std::string& pattern) : spool_(pattern) {}

  capture::Recording recording;

  void set_rank(int rank, int ranks, const std::string& more = "") {
    recording.definitions.put(R"({"kind":"process","rank":)" + std::to_string(rank) +
                              R"(,"ranks":)" + std::to_string(ranks) + more + "}");
  }
  void write() {
    spool_.add(capture::Stream::definitions, recording.definitions.bytes());
    spool_.add(capture::Stream::lists, recording.lists.bytes());
    spool_.add(capture::Stream::events, recording.events.bytes());
    spool_.write();
  }
  void finish() {
    recording.finish();
    write();
  }
  capture::Spool& spool() { return spool_; }

 private:
  capture::Spool spool_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace slabmark
