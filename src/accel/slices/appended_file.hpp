#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accel/slices/slice_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::slice {

/// The file of appended outputs, as all ranks of a cut see it. The keeper alone has it open in
/// HDF5; it tells the others where the data of the next outputs goes.
class AppendedFile {
 public:
  AppendedFile(const Comm& comm, int keeper, std::uint64_t fields)
      : comm_(comm), keeper_(keeper), fields_(fields) {}

  bool is_keeper() const { return comm_.rank() == keeper_; }

  // On the keeper.
  void create(const std::string& path, const Description& description);
  bool is_open() const { return series_.has_value(); }
  SeriesFile& series() { return *series_; }
  void drop() { series_.reset(); }

  /// No output begins after the first `outputs` without grow().
  bool is_full(std::uint64_t outputs) const { return outputs == capacity_; }

  /// Collective. Makes room for more outputs, on disk too, with the `whole` ones that are written.
  /// False where the keeper found none, which `attempt` has then.
  bool grow(std::uint64_t whole, Attempt& attempt);

  /// Returns where each field's data of an output begins, or null if the file has no room for it.
  const std::uint64_t* data_of(std::uint64_t output) const {
    return addresses_.empty() ? nullptr : &addresses_[(output - first_) * fields_];
  }

 private:
  void make_room(std::uint64_t whole);

  const Comm& comm_;
  const int keeper_;
  const std::uint64_t fields_;
  std::uint64_t bytes_ = 0;               ///< of one output, on the keeper
  std::uint64_t capacity_ = 0;            ///< outputs that there is room for
  std::uint64_t first_ = 0;               ///< output of addresses_[0]
  std::vector<std::uint64_t> addresses_;  ///< of the last growth: field after field of each output
  std::optional<SeriesFile> series_;      ///< on the keeper
};

}  // namespace slabmark::slice
