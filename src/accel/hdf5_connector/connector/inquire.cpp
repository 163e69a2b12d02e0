#include "accel/hdf5_connector/connector/inquire.hpp"

#include <H5VLconnector_passthru.h>
#include <cstring>

#include <H5VLconnector.h>

namespace slabmark::slablog {

H5VL_loc_params_t named(H5I_type_t type, const char* name) {
  auto place = self(type);
  place.type = H5VL_OBJECT_BY_NAME;
  place.loc_data.loc_by_name = {name, H5P_LINK_ACCESS_DEFAULT};
  return place;
}

std::optional<H5O_info2_t> basic_info(void* under, const H5VL_loc_params_t& place,
                                      hid_t connector) {
  H5O_info2_t info{};
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_BASIC;
  herr_t status = -1;
  H5E_BEGIN_TRY {
    status = H5VLobject_get(under, &place, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr);
  }
  H5E_END_TRY
  if (status < 0) return std::nullopt;
  return info;
}

std::optional<unsigned long> find_file_number(void* under, H5I_type_t type, hid_t connector) {
  const auto info = basic_info(under, self(type), connector);
  return info ? std::optional(info->fileno) : std::nullopt;
}

std::string file_name(void* under, H5I_type_t type, hid_t connector) {
  std::size_t length = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_NAME;
  args.args.get_name = {type, 0, nullptr, &length};
  const auto call = [&] {
    hdf5::check(H5VLfile_get(under, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
                "H5Fget_name", "a file");
  };
  call();
  std::string name(length, '\0');
  args.args.get_name.buf = name.data();
  args.args.get_name.buf_size = length + 1;
  call();
  return name;
}

unsigned long file_number(void* under, H5I_type_t type, hid_t connector) {
  const auto number = find_file_number(under, type, connector);
  if (!number) hdf5::fail("H5Oget_info", "the file");
  return *number;
}

bool are_same(const H5O_token_t& a, const H5O_token_t& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace slabmark::slablog
