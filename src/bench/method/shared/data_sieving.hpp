#pragma once

#include <map>
#include <string>

#include "bench/method/method.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

/// The hint that keeps ROMIO from data sieving in writing, "NAME=VALUE".
std::string hint_against_sieving();

/// True if a file with these hints leaves ROMIO data sieving in collective writes.
bool may_be_sieved(const std::map<std::string, std::string>& hints);

/// Why a method opens its file with a hint that nobody asked for: where calls have holes in the
/// file, ROMIO may read these and write them again, *data sieving*, and loses what other ranks
/// write there meanwhile (docs/known-issues.md).
class DataSieving {
 public:
  /// `is_heard`: whether ROMIO hears the hints with which the file is opened.
  explicit DataSieving(bool is_heard) : is_heard_(is_heard) {}

  /// To be left out for `cause`, which begins a sentence; a hint of the user's holds.
  void leave_out(const Settings& settings, const std::string& cause);

  mpiio::Hints added_to(mpiio::Hints hints) const;
  /// As "added_hints", "NAME=VALUE" with the cause; as "lacks_hint", "NAME=VALUE", where it would
  /// not be heard and the user's file of hints (mpiio::hints_effective_in_romio()) does not have
  /// it.
  void report(Json& effective, const Settings& settings) const;

 private:
  bool is_heard_;
  std::string cause_;  ///< empty: nothing is left out
};

}  // namespace slabmark
