// The connector's info as HDF5 copies, compares and prints it: which connector is below. HDF5 may
// hand in a null pointer for the native one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "capture/interpose/hdf5/object.hpp"

namespace slabmark::capture {

namespace {

void* copy_info(const void* from) {
  auto* info = new Info;
  if (from == nullptr) {
    info->under = hdf5().H5VLregister_connector_by_value(H5_VOL_NATIVE, H5P_DEFAULT);
    return info;
  }
  const auto& given = *static_cast<const Info*>(from);
  info->under = given.under;
  hdf5().H5Iinc_ref(info->under);
  if (given.under_info != nullptr) {
    hdf5().H5VLcopy_connector_info(info->under, &info->under_info, given.under_info);
  }
  return info;
}

herr_t compare_info(int* result, const void* a, const void* b) {
  *result = 0;
  if (a == nullptr || b == nullptr) return 0;
  const auto& first = *static_cast<const Info*>(a);
  const auto& second = *static_cast<const Info*>(b);
  hdf5().H5VLcmp_connector_cls(result, first.under, second.under);
  if (*result == 0) {
    hdf5().H5VLcmp_connector_info(result, first.under, first.under_info, second.under_info);
  }
  return 0;
}

/// Failed calls end here, too; what the program finds on the error stack stays.
herr_t free_info(void* freed) {
  auto* info = static_cast<Info*>(freed);
  const KeptErrors errors;
  if (info->under_info != nullptr) hdf5().H5VLfree_connector_info(info->under, info->under_info);
  hdf5().H5Idec_ref(info->under);
  delete info;
  return 0;
}

herr_t info_to_text(const void* given, char** text) {
  const auto& info = *static_cast<const Info*>(given);
  H5VL_class_value_t value = H5_VOL_NATIVE;
  hdf5().H5VLget_value(info.under, &value);
  char* inner = nullptr;
  hdf5().H5VLconnector_info_to_str(info.under_info, info.under, &inner);
  const auto line = "under_vol=" + std::to_string(value) + ";under_info={" +
                    (inner == nullptr ? "" : inner) + "}";
  hdf5().H5free_memory(inner);
  *text = static_cast<char*>(hdf5().H5allocate_memory(line.size() + 1, false));
  if (*text == nullptr) return -1;
  std::memcpy(*text, line.c_str(), line.size() + 1);
  return 0;
}

/// "under_vol=N;under_info={...}"; nothing: the native connector.
herr_t info_from_text(const char* text, void** result) {
  const std::string_view words(text == nullptr ? "" : text);
  H5VL_class_value_t value = H5_VOL_NATIVE;
  std::string inner;
  if (const auto at = words.find("under_vol="); at != words.npos) {
    value = static_cast<H5VL_class_value_t>(std::atoi(words.data() + at + 10));
  }
  const auto begin = words.find('{');
  const auto end = words.rfind('}');
  if (begin != words.npos && end != words.npos && end > begin) {
    inner = words.substr(begin + 1, end - begin - 1);
  }
  const auto under = hdf5().H5VLregister_connector_by_value(value, H5P_DEFAULT);
  if (under < 0) {
    // In one piece, as all sentences that several ranks may say at once.
    const std::string sentence =
        "slabcapture: HDF5 finds no connector of number " + std::to_string(value) +
        " (under_vol) to capture the program above; is its folder in HDF5_PLUGIN_PATH?\n";
    std::fputs(sentence.c_str(), stderr);
    return -1;
  }
  auto* info = new Info{under, nullptr};
  if (!inner.empty()) hdf5().H5VLconnector_str_to_info(inner.c_str(), under, &info->under_info);
  *result = info;
  return 0;
}

}  // namespace

const H5VL_info_class_t info_callbacks = {sizeof(Info), copy_info,    compare_info,
                                          free_info,    info_to_text, info_from_text};

}  // namespace slabmark::capture
