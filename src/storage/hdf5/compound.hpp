#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// A member of a compound element, little-endian.
struct Member {
  enum class Type { int32, uint32, uint64, text };  ///< `text`: a const char*, or null

  const char* name;
  std::size_t offset;
  Type type;
  std::size_t count = 1;  ///< more: an array
};

/// Puts a scalar attribute `name` of a compound type on the root group of `file`, and the type
/// there as `type_name`. `bytes` has the members at their offsets and is as large as the type.
/// Throws IoError that names `path`.
void put_compound(hid_t file, const std::string& name, const std::string& type_name,
                  std::span<const Member> members, std::span<const std::byte> bytes,
                  const std::string& path);

/// Reads such an attribute of `bytes` bytes, whatever the offsets in the file are: `take` gets the
/// members at theirs, and 0 where the file has none. Texts live until it returns. Throws as above.
void read_compound(hid_t file, const std::string& name, std::span<const Member> members,
                   std::size_t bytes, const std::string& path,
                   const std::function<void(const std::byte* bytes)>& take);

}  // namespace slabmark::hdf5
