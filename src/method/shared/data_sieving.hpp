#pragma once

#include <string>

#include "method/method.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

/// Why a method opens its file with a hint that nobody asked for: where calls have holes in the
/// file, ROMIO may read these and write them again, *data sieving*, and loses what other ranks
/// write there meanwhile (docs/methods.md).
class DataSieving {
 public:
  /// To be left out for `cause`, which begins a sentence; a hint of the user's holds.
  void leave_out(const Settings& settings, const std::string& cause);

  mpiio::Hints added_to(mpiio::Hints hints) const;
  /// As "added_hints", "NAME=VALUE" with the cause.
  void report(nlohmann::json& effective) const;

 private:
  std::string cause_;  ///< empty: nothing is left out
};

}  // namespace slabmark
