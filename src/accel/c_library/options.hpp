#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collective/overlap.hpp"
#include "collective/settings.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// The options of a system, which a program sets before it opens a file. Functions throw Failure.
class SystemOptions {
 public:
  const collective::Options& of_exchange() const { return of_exchange_; }
  std::uint64_t held() const { return held_; }  ///< most bytes of copies; 0: no bound
  std::uint64_t in_flight() const { return in_flight_; }
  const collective::Overlap& overlap() const { return overlap_; }

  /// `has_io_ranks`: no thread is needed to write in the background.
  void set(const std::string& name, const std::string& value, bool has_io_ranks);
  /// Collective over the ranks that set them. They stay as they are then.
  void agree(const Comm& comm);
  /// Collective, with each file: ranks that take them, those for I/O, get them from the root.
  void share(const Comm& comm, bool takes);

 private:
  void set_value(const std::string& name, const std::string& value, bool has_io_ranks);

  collective::Options of_exchange_;
  std::uint64_t held_ = 0;
  std::uint64_t in_flight_ = 0;
  collective::Overlap overlap_;
  std::vector<std::pair<std::string, std::string>> as_set_;
  bool are_agreed_ = false, are_shared_ = false;
};

}  // namespace slabmark::rearrange
