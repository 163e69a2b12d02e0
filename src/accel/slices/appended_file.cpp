#include "accel/slices/appended_file.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace slabmark::slice {

namespace {

/// Room is made for several outputs at once, since HDF5 and the other ranks are asked each time.
/// Unused space goes back without a gap as long as the index has one node; later a node may lie
/// behind it, so growth is kept small beside the existing bytes.
std::uint64_t growth(std::uint64_t capacity, std::uint64_t bytes_an_output) {
  constexpr std::uint64_t most_bytes = 64 << 20;
  const auto most =
      std::max<std::uint64_t>(most_bytes / std::max(bytes_an_output, std::uint64_t{1}), 1);
  if (capacity < hdf5::chunks_a_node) return std::min(most, hdf5::chunks_a_node - capacity);
  return std::clamp<std::uint64_t>(capacity / 16, 1, most);
}

}  // namespace

void AppendedFile::create(const std::string& path, const Description& description) {
  bytes_ = description.bytes() * fields_;
  series_.emplace(path, description);
}

// If the disk has no room for many outputs, it may have room for fewer.
void AppendedFile::make_room(std::uint64_t whole) {
  for (auto more = growth(capacity_, bytes_);; more /= 2) {
    try {
      addresses_ = series_->grow(capacity_ + more, whole);
      return;
    } catch (const IoError&) {
      if (more == 1) throw;
    }
  }
}

bool AppendedFile::grow(std::uint64_t whole, Attempt& attempt) {
  addresses_.clear();
  if (is_keeper()) attempt.run([&] { make_room(whole); });
  addresses_.resize(comm_.broadcast(std::uint64_t{addresses_.size()}, keeper_));
  if (addresses_.empty()) return false;
  check_mpi(MPI_Bcast(addresses_.data(), static_cast<int>(addresses_.size()), MPI_UINT64_T, keeper_,
                      comm_.get()),
            "MPI_Bcast");
  first_ = capacity_;
  capacity_ += addresses_.size() / fields_;
  return true;
}

}  // namespace slabmark::slice
