#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::pass_through {

/// The connector below, and its options: HDF5 copies, compares and prints these. A
/// connector with options of its own derives from this.
struct Info {
  hid_t under = H5I_INVALID_HID;
  void* under_info = nullptr;
};

/// HDF5 may hand in a null pointer for the native connector and default options.
template <class Layer>
struct InfoCallbacks {
  using Own = typename Layer::Info;

  static void* copy(const void* from) {
    return Layer::guarded("info copy", [&]() -> void* {
      const Functions& hdf5 = Layer::functions();
      if (from == nullptr) {
        auto* info = new Own(Layer::default_info());
        info->under = hdf5.H5VLregister_connector_by_value(H5_VOL_NATIVE, H5P_DEFAULT);
        return info;
      }
      const auto& given = *static_cast<const Own*>(from);
      auto* info = new Own(given);
      hdf5.H5Iinc_ref(info->under);
      if (given.under_info != nullptr) {
        hdf5.H5VLcopy_connector_info(info->under, &info->under_info, given.under_info);
      }
      return info;
    });
  }

  static herr_t compare(int* result, const void* a, const void* b) {
    return Layer::guarded("info compare", [&]() -> herr_t {
      const Functions& hdf5 = Layer::functions();
      *result = options_of(a).compare(options_of(b));
      if (*result != 0 || a == nullptr || b == nullptr) return 0;
      const auto& first = *static_cast<const Own*>(a);
      const auto& second = *static_cast<const Own*>(b);
      hdf5.H5VLcmp_connector_cls(result, first.under, second.under);
      if (*result == 0) {
        hdf5.H5VLcmp_connector_info(result, first.under, first.under_info, second.under_info);
      }
      return 0;
    });
  }

  // Failed calls end here, too; what the program finds on the error stack stays.
  static herr_t free(void* freed) {
    const Functions& hdf5 = Layer::functions();
    auto* info = static_cast<Own*>(freed);
    KeptErrors errors(hdf5);
    errors.keep();
    if (info->under_info != nullptr) hdf5.H5VLfree_connector_info(info->under, info->under_info);
    hdf5.H5Idec_ref(info->under);
    delete info;
    return 0;
  }

  static herr_t to_text(const void* given, char** text) {
    return Layer::guarded("info to text", [&]() -> herr_t {
      const Functions& hdf5 = Layer::functions();
      H5VL_class_value_t value = H5_VOL_NATIVE;
      char* inner = nullptr;
      if (given != nullptr) {
        const auto& info = *static_cast<const Own*>(given);
        hdf5.H5VLget_value(info.under, &value);
        hdf5.H5VLconnector_info_to_str(info.under_info, info.under, &inner);
      }
      const auto line = "under_vol=" + std::to_string(value) + ";under_info={" +
                        (inner == nullptr ? "" : inner) + "}" + options_of(given);
      hdf5.H5free_memory(inner);
      *text = static_cast<char*>(hdf5.H5allocate_memory(line.size() + 1, false));
      if (*text == nullptr) return -1;
      std::memcpy(*text, line.c_str(), line.size() + 1);
      return 0;
    });
  }

  /// "under_vol=N;under_info={...}" and the connector's own options; nothing: the native connector.
  static herr_t from_text(const char* text, void** result) {
    return Layer::guarded("info from text", [&]() -> herr_t {
      const Functions& hdf5 = Layer::functions();
      const std::string_view words(text == nullptr ? "" : text);
      std::string value = "0";
      if (const auto at = words.find("under_vol="); at != words.npos) {
        value = words.substr(at + 10, words.find(';', at) - at - 10);
      }
      auto info = std::make_unique<Own>(Layer::parsed(words, value));
      info->under = hdf5.H5VLregister_connector_by_value(std::atoi(value.c_str()), H5P_DEFAULT);
      if (info->under < 0) return Layer::refuse_missing(value);
      const auto begin = words.find('{');
      const auto end = words.rfind('}');
      if (begin != words.npos && end != words.npos && end > begin + 1) {
        const std::string inner(words.substr(begin + 1, end - begin - 1));
        hdf5.H5VLconnector_str_to_info(inner.c_str(), info->under, &info->under_info);
      }
      *result = info.release();
      return 0;
    });
  }

  static std::string options_of(const void* info) {
    return Layer::options_text(static_cast<const Own*>(info));
  }

  static constexpr H5VL_info_class_t callbacks = {sizeof(Own), copy,    compare,
                                                  free,        to_text, from_text};
};

}  // namespace slabmark::pass_through
