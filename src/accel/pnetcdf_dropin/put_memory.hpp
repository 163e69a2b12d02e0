#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accel/pnetcdf_dropin/request.hpp"

namespace slabmark::dropin {

/// Which puts are copied when they are posted, of those that are moved as they stand in memory.
enum class CopyPolicy {
  never,
  overlap,  ///< small ones, and from the first on whose memory another pending request has, all
  always
};

/// The policy of a file with these hints in effect.
CopyPolicy copy_policy(const std::map<std::string, std::string>& in_effect);

/// The memory of a file's pending puts: copies, and the memory of the program that is moved from
/// where it stands. The latter must not be shared or changed before the wait.
class PutMemory {
 public:
  explicit PutMemory(CopyPolicy policy) : policy_(policy) {}

  /// Adds a request that becomes pending. Copies it, and pending puts that have memory in common
  /// with it, as the policy asks. Where that throws, the request is not added.
  void add(Request& request);
  /// Forgets a request that is not pending any more.
  void release(const Request& request);

  /// Bytes of the copies that pending requests have.
  std::uint64_t held_bytes() const { return held_bytes_; }

  /// Looks whether the memory of these puts is as it was posted, where it was not copied.
  void check(const std::vector<Request*>& puts);
  static constexpr int none_changed = -1;
  /// A variable whose pending puts had their memory changed; none_changed where that was not seen.
  int changed_variable() const { return changed_variable_; }
  void forget_change() { changed_variable_ = none_changed; }

  /// Some rank has changed such memory, so all puts of this process are copied. Returns whether
  /// they were not before.
  static bool copy_all_from_now_on();

 private:
  void copy_shared(const Request& request);

  CopyPolicy policy_;
  std::uint64_t held_bytes_ = 0;
  /// Pending puts that are moved from the program's memory, by where that begins.
  std::map<const std::byte*, Request*> in_place_;
  int changed_variable_ = none_changed;
};

}  // namespace slabmark::dropin
