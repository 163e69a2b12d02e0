#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace slabmark::collective {

/// The file that a name stands for, whatever other names it has.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

/// Of the file that MPI-IO finds by this name; nothing where there is none.
std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace slabmark::collective
