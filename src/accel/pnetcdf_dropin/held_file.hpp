#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>

#include "accel/pnetcdf_dropin/data_file.hpp"

namespace slabmark::dropin {

/// A descriptor of a file that the program has open, by which it is found again whatever becomes of
/// its name. Ranks that have the file open share a lock of it, if that cannot be in the way of
/// MPI-IO's own locks: on file systems of this machine.
class HeldFile {
 public:
  HeldFile() = default;
  /// Waits for one who replaces the file. Nothing is held where there is none.
  explicit HeldFile(const std::string& path);
  ~HeldFile();
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&& other) noexcept;
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool is_held() const { return descriptor_ >= 0; }
  bool has_lock() const { return has_lock_; }
  bool is_hdf5() const;
  std::optional<FileIdentity> identity() const;
  unsigned permissions() const;
  std::uint64_t bytes() const;
  bool is_deleted() const;  ///< no name leads to it
  /// Where the file is now; empty: it was deleted, or cannot be found.
  std::string place() const;
  /// Nobody else may open it from now on. False where others have it open.
  bool lock_alone();
  /// The same, but others are waited for. False where the file is no longer there afterwards.
  bool wait_alone();
  /// Others may replace the file.
  void unlock();

 private:
  struct stat status() const;  ///< all 0 where it cannot be had

  int descriptor_ = -1;
  bool has_lock_ = false;
};

}  // namespace slabmark::dropin
