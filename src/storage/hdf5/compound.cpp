#include "storage/hdf5/compound.hpp"

#include <vector>

#include "storage/hdf5/attribute.hpp"

namespace slabmark::hdf5 {

namespace {

Handle type_of(const Member& member, const std::string& path) {
  const auto number = [&] {
    switch (member.type) {
      case Member::Type::int32:
        return H5T_STD_I32LE;
      case Member::Type::uint32:
        return H5T_STD_U32LE;
      default:
        return H5T_STD_U64LE;
    }
  };
  if (member.type == Member::Type::text) return text_type(H5T_VARIABLE, path);
  if (member.count == 1) return own(H5Tcopy(number()), H5Tclose, "H5Tcopy", path);
  const hsize_t length = member.count;
  return own(H5Tarray_create2(number(), 1, &length), H5Tclose, "H5Tarray_create2", path);
}

Handle type_of(std::span<const Member> members, std::size_t bytes, const std::string& path) {
  auto type = own(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose, "H5Tcreate", path);
  for (const Member& member : members) {
    check(H5Tinsert(type.get(), member.name, member.offset, type_of(member, path).get()),
          "H5Tinsert", path);
  }
  return type;
}

}  // namespace

void put_compound(hid_t file, const std::string& name, const std::string& type_name,
                  std::span<const Member> members, std::span<const std::byte> bytes,
                  const std::string& path) {
  const auto type = type_of(members, bytes.size(), path);
  check(H5Tcommit2(file, type_name.c_str(), type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Tcommit2", path);
  write_attribute(file, name, type.get(), Space(Extent{}), bytes.data(), path);
}

void read_compound(hid_t file, const std::string& name, std::span<const Member> members,
                   std::size_t bytes, const std::string& path,
                   const std::function<void(const std::byte* bytes)>& take) {
  const auto attribute = own(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path);
  const auto type = type_of(members, bytes, path);
  std::vector<std::byte> read(bytes);
  check(H5Aread(attribute.get(), type.get(), read.data()), "H5Aread", path);
  take(read.data());
  check(H5Treclaim(type.get(), Space(Extent{}).get(), H5P_DEFAULT, read.data()), "H5Treclaim",
        path);
}

}  // namespace slabmark::hdf5
