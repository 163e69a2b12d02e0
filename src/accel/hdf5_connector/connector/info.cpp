// The connector's info (which connector is below it, and its options) as HDF5 copies, compares and
// prints it. HDF5 may hand in a null pointer for "the defaults".
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

namespace {

void* copy_info(const void* from) {
  return guarded_object("info copy", [&]() -> void* {
    auto* info = from == nullptr ? new Info{H5VL_NATIVE, nullptr, parse_config("")}
                                 : new Info(*static_cast<const Info*>(from));
    H5Iinc_ref(info->under);
    if (from != nullptr && info->under_info != nullptr) {
      H5VLcopy_connector_info(info->under, &info->under_info, info->under_info);
    }
    return info;
  });
}

std::string options_of(const void* info) {
  return info == nullptr ? to_string(parse_config(""))
                         : to_string(static_cast<const Info*>(info)->config);
}

herr_t compare_info(int* result, const void* a, const void* b) {
  return guarded("info compare", [&] {
    *result = options_of(a).compare(options_of(b));
    if (*result != 0 || a == nullptr || b == nullptr) return 0;
    const auto& first = *static_cast<const Info*>(a);
    const auto& second = *static_cast<const Info*>(b);
    H5VLcmp_connector_cls(result, first.under, second.under);
    if (*result == 0) {
      H5VLcmp_connector_info(result, first.under, first.under_info, second.under_info);
    }
    return 0;
  });
}

herr_t free_info(void* freed) {
  auto* info = static_cast<Info*>(freed);
  if (info->under_info != nullptr) H5VLfree_connector_info(info->under, info->under_info);
  H5Idec_ref(info->under);
  delete info;
  return 0;
}

herr_t info_to_text(const void* info, char** text) {
  return guarded("info to text", [&] {
    const auto line =
        fmt::format("under_vol={};under_info={{}};{}", H5_VOL_NATIVE, options_of(info));
    *text = static_cast<char*>(H5allocate_memory(line.size() + 1, false));
    std::memcpy(*text, line.c_str(), line.size() + 1);
    return 0;
  });
}

// "under_vol=N;under_info={...};view=vds;...". Only the native connector can be below: the elements
// go past it, to addresses that only it knows.
herr_t info_from_text(const char* text, void** info) {
  return guarded("info from text", [&] {
    const std::string_view words(text == nullptr ? "" : text);
    if (const auto at = words.find("under_vol="); at != std::string_view::npos) {
      const auto value = words.substr(at + 10, words.find(';', at) - at - 10);
      if (value != "0") {
        throw Refusal(H5E_VOL, H5E_UNSUPPORTED,
                      fmt::format("slablog works above HDF5's native connector (under_vol=0), not "
                                  "above connector {}.",
                                  value));
      }
    }
    auto config = parse_config(words);
    H5Iinc_ref(H5VL_NATIVE);
    *info = new Info{H5VL_NATIVE, nullptr, config};
    return 0;
  });
}

}  // namespace

const H5VL_info_class_t info_callbacks = {sizeof(Info), copy_info,    compare_info,
                                          free_info,    info_to_text, info_from_text};

}  // namespace slabmark::slablog
