#include "capture/interpose/hdf5/describe.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "capture/interpose/hdf5/selection.hpp"

namespace slabmark::capture {

namespace {

std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto left = bytes.size() - i;
    const auto byte = [&](std::size_t k) -> std::uint32_t {
      return k < left ? static_cast<unsigned char>(bytes[i + k]) : 0;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (int digit = 0; digit < 4; ++digit) {
      text +=
          static_cast<std::size_t>(digit) <= left ? digits[three >> (18 - 6 * digit) & 63] : '=';
    }
  }
  return text;
}

/// `encode` is HDF5's, which says the size first.
template <class Encode>
std::string encoded(const Encode& encode) {
  std::size_t size = 0;
  if (encode(nullptr, &size) < 0) return "";
  std::string bytes(size, '\0');
  if (encode(bytes.data(), &size) < 0) return "";
  bytes.resize(size);
  return bytes;
}

std::string bytes_of_list(hid_t list) {
  return encoded(
      [&](void* to, std::size_t* size) { return hdf5().H5Pencode2(list, to, size, H5P_DEFAULT); });
}

/// Each write hands in a transfer list, which may have changed since the last one; encoding takes
/// HDF5 as long for the size alone. In the encoded list, only the expression of a data transform
/// has a length that programs choose.
std::string bytes_of_transfer_list(hid_t list) {
  static const auto size_by_default = bytes_of_list(hdf5().default_transfer()).size();
  constexpr std::size_t more_than_numbers_take = 4096;
  ssize_t expression = 0;
  {
    const QuietErrors quiet;
    expression = hdf5().H5Pget_data_transform(list, nullptr, 0);
  }
  std::size_t size = size_by_default + more_than_numbers_take +
                     static_cast<std::size_t>(std::max<ssize_t>(0, expression));
  static thread_local std::string bytes;
  if (bytes.size() < size) bytes.resize(size);
  if (hdf5().H5Pencode2(list, bytes.data(), &size, H5P_DEFAULT) < 0) return "";
  return bytes.substr(0, size);
}

std::string bytes_of_type(hid_t type) {
  return encoded([&](void* to, std::size_t* size) { return hdf5().H5Tencode(type, to, size); });
}

/// Programs hand in the same type and transfer list with each call: what HDF5 encodes the same has
/// the same definition, which `describe` makes the first time.
using Known = std::unordered_map<std::string, Id>;
template <class Describe>
Id known_as(Known& known, const std::string& bytes, const Describe& describe) {
  const auto [place, is_new] = known.try_emplace(bytes, no_id);
  if (is_new) place->second = define(text_of(describe()));
  return place->second;
}

}  // namespace

std::string encoded_list(hid_t list) {
  if (list != hdf5().default_creation()) return base64(bytes_of_list(list));
  static const auto by_default = base64(bytes_of_list(list));
  return by_default;
}

std::string encoded_type(hid_t type) { return base64(bytes_of_type(type)); }

std::string encoded_space(hid_t space) {
  return base64(encoded([&](void* to, std::size_t* size) {
    return hdf5().H5Sencode2(space, to, size, H5P_DEFAULT);
  }));
}

namespace {

/// True if elements lead to others: variable length, references.
bool has_addresses(hid_t type) {
  return hdf5().H5Tdetect_class(type, H5T_VLEN) > 0 ||
         hdf5().H5Tdetect_class(type, H5T_REFERENCE) > 0 ||
         (hdf5().H5Tget_class(type) == H5T_STRING && hdf5().H5Tis_variable_str(type) > 0);
}

}  // namespace

bool has_names(hid_t type) {
  const auto kind = hdf5().H5Tget_class(type);
  return kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_STRING;
}

Json type_of(hid_t type) {
  static const std::array<const char*, H5T_NCLASSES> names = [] {
    std::array<const char*, H5T_NCLASSES> all;
    all.fill("other");
    all[H5T_INTEGER] = "integer";
    all[H5T_FLOAT] = "float";
    all[H5T_TIME] = "time";
    all[H5T_STRING] = "string";
    all[H5T_BITFIELD] = "bitfield";
    all[H5T_OPAQUE] = "opaque";
    all[H5T_COMPOUND] = "compound";
    all[H5T_REFERENCE] = "reference";
    all[H5T_ENUM] = "enum";
    all[H5T_VLEN] = "vlen";
    all[H5T_ARRAY] = "array";
    return all;
  }();
  const auto kind = hdf5().H5Tget_class(type);
  const auto bytes = hdf5().H5Tget_size(type);
  const bool is_little = kind <= H5T_FLOAT && hdf5().H5Tget_order(type) == H5T_ORDER_LE;
  const bool has_word = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (kind == H5T_INTEGER && is_little && has_word) {
    return (hdf5().H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + std::to_string(8 * bytes);
  }
  if (kind == H5T_FLOAT && is_little && (bytes == 4 || bytes == 8)) {
    return "float" + std::to_string(8 * bytes);
  }
  if (kind == H5T_STRING && bytes == 1) return "char";
  const bool is_known = kind >= 0 && kind < H5T_NCLASSES;
  Json made{{"class", is_known ? names[static_cast<std::size_t>(kind)] : "other"},
            {"bytes", bytes}};
  if (has_addresses(type)) made["addresses"] = true;
  return made;
}

Id memory_type(hid_t type) {
  static auto& known = *new Known;
  const std::string bytes = bytes_of_type(type);
  return known_as(known, bytes, [&] {
    return Json{{"kind", "type"},
                {"type", type_of(type)},
                {has_names(type) ? "named" : "hdf5", {{"type", base64(bytes)}}}};
  });
}

namespace {

/// The description of a dataset, but for its name, follows from this; empty if HDF5 cannot encode
/// it.
std::string key_of_dataset(hid_t type, hid_t space, hid_t creation) {
  std::string key = bytes_of_type(type);
  if (key.empty()) return key;
  std::array<hsize_t, 2 * H5S_MAX_RANK> lengths{};
  const auto rank = std::max(
      0, hdf5().H5Sget_simple_extent_dims(space, lengths.data(), lengths.data() + H5S_MAX_RANK));
  for (const auto* of : {lengths.data(), lengths.data() + H5S_MAX_RANK}) {
    key.append(reinterpret_cast<const char*>(of), static_cast<std::size_t>(rank) * sizeof *of);
  }
  key += static_cast<char>(hdf5().H5Sget_simple_extent_type(space));
  if (creation != hdf5().default_creation()) key += bytes_of_list(creation);
  return key;
}

/// A definition of a dataset but for its name.
Json describe_dataset(hid_t type, hid_t space, hid_t creation) {
  if (type <= 0 || space <= 0 || creation <= 0) {  // what is open does not say it
    return {{"kind", "dataset"}, {"type", "char"}, {"extent", Json::array()}};
  }
  Json dataset{{"kind", "dataset"}, {"type", type_of(type)}};
  std::vector<hsize_t> maximum(H5S_MAX_RANK);
  std::vector<hsize_t> extent(H5S_MAX_RANK);
  const auto rank = static_cast<std::size_t>(
      std::max(0, hdf5().H5Sget_simple_extent_dims(space, extent.data(), maximum.data())));
  extent.resize(rank);
  dataset["extent"] = extent;
  maximum.resize(rank);
  if (maximum != extent) {
    auto& lengths = dataset["maximum"] = Json::array();
    for (const auto length : maximum) {
      lengths.push_back(length == H5S_UNLIMITED ? Json() : Json(length));
    }
  }
  const auto layout = hdf5().H5Pget_layout(creation);
  if (layout == H5D_CHUNKED && rank > 0) {
    std::vector<hsize_t> chunk(rank);
    if (hdf5().H5Pget_chunk(creation, static_cast<int>(rank), chunk.data()) > 0) {
      dataset["chunk"] = chunk;
    }
  }
  if (const auto filters = hdf5().H5Pget_nfilters(creation); filters > 0) {
    auto& names = dataset["filters"] = Json::array();
    for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      std::array<char, 64> name{};
      const auto filter = hdf5().H5Pget_filter2(creation, i, &flags, &values, nullptr, name.size(),
                                                name.data(), nullptr);
      names.push_back(name[0] != '\0' ? std::string(name.data())
                                      : std::to_string(static_cast<int>(filter)));
    }
  }
  const bool names_files = layout == H5D_VIRTUAL || hdf5().H5Pget_external_count(creation) > 0;
  dataset[has_names(type) ? "named" : "hdf5"]["type"] = encoded_type(type);
  dataset[names_files ? "named" : "hdf5"]["creation"] = encoded_list(creation);
  if (hdf5().H5Sget_simple_extent_type(space) != H5S_SIMPLE) {
    dataset["hdf5"]["space"] = encoded_space(space);
  }
  return dataset;
}

}  // namespace

Id define_dataset(const std::string& name, hid_t type, hid_t space, hid_t creation) {
  const auto describe = [&] {
    auto described = describe_dataset(type, space, creation);
    described["name"] = name;
    return described;
  };
  // Programs write the same datasets to one file after another.
  static auto& known = *new Known;
  const auto key =
      type > 0 && space > 0 && creation > 0 ? key_of_dataset(type, space, creation) : std::string();
  return key.empty() ? define(text_of(describe())) : known_as(known, name + '\0' + key, describe);
}

Id transfer_list(hid_t list) {
  if (list == hdf5().default_transfer()) return no_id;
  static auto& known = *new Known{{bytes_of_list(hdf5().default_transfer()), no_id}};
  const std::string bytes = bytes_of_transfer_list(list);
  return known_as(known, bytes, [&] {
    return Json{{"kind", "properties"}, {"base64", base64(bytes)}};
  });
}

unsigned is_collective(hid_t list) {
  int mode = 0;
  if (hdf5().H5Pget_dxpl_mpio == nullptr || list == hdf5().default_transfer()) return 0;
  return hdf5().H5Pget_dxpl_mpio(list, &mode) >= 0 && mode == 1 ? unsigned{collective} : 0;
}

}  // namespace slabmark::capture
