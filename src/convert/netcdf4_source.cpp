#include "convert/netcdf4_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <hdf5_hl.h>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "convert/netcdf4_names.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/hdf5/filter_pipeline.hpp"
#include "storage/posix/cached_pages.hpp"

namespace slabmark::convert {

namespace {

using hdf5::check;
using hdf5::own;

/// The type of elements that are stored like this, in any byte order.
std::optional<ElementType> type_of_stored(hid_t stored) {
  if (H5Tget_class(stored) == H5T_STRING) {
    const bool is_character = H5Tis_variable_str(stored) == 0 && H5Tget_size(stored) == 1;
    return is_character ? std::optional(ElementType::character) : std::nullopt;
  }
  for (const ElementTypeInfo& info : element_types) {
    for (const H5T_order_t order : {H5T_ORDER_LE, H5T_ORDER_BE}) {
      const hdf5::Handle type(H5Tcopy(hdf5::native_type(info.type)), H5Tclose);
      if (info.type != ElementType::character && H5Tset_order(type.get(), order) >= 0 &&
          H5Tequal(type.get(), stored) > 0) {
        return info.type;
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> names_in_order(hid_t file, const std::string& path) {
  const auto root = own(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "H5Gopen2", path);
  const auto list = own(H5Gget_create_plist(root.get()), H5Pclose, "H5Gget_create_plist", path);
  unsigned order = 0;
  check(H5Pget_link_creation_order(list.get(), &order), "H5Pget_link_creation_order", path);
  const auto note = [](hid_t, const char* name, const H5L_info2_t*, void* names) -> herr_t {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> names;
  const auto index = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  check(H5Literate2(root.get(), index, H5_ITER_INC, nullptr, note, &names), "H5Literate2", path);
  return names;
}

std::vector<std::string> attribute_names(hid_t object, const std::string& path) {
  const auto note = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
    if (!is_reserved(name)) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> names;
  // HDF5 goes by name where it does not know the order.
  hsize_t from = 0;
  if (H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &from, note, &names) < 0) {
    names.clear();
    from = 0;
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &from, note, &names), "H5Aiterate2",
          path);
  }
  return names;
}

VariableFilters filters_in(hid_t creation, const std::string& path) {
  VariableFilters filters;
  const int count = H5Pget_nfilters(creation);
  check(count, "H5Pget_nfilters", path);
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    unsigned flags = 0, level = 0;
    std::size_t values = 1;
    const H5Z_filter_t number =
        H5Pget_filter2(creation, i, &flags, &values, &level, 0, nullptr, nullptr);
    check(number, "H5Pget_filter2", path);
    switch (number) {
      case H5Z_FILTER_SHUFFLE:
        filters.shuffle = true;
        break;
      case H5Z_FILTER_FLETCHER32:
        filters.fletcher32 = true;
        break;
      case H5Z_FILTER_DEFLATE:
        filters.compression = Compression::deflate;
        filters.level = level;
        break;
      case hdf5::zstd_filter:
        filters.compression = Compression::zstd;
        filters.level = level;
        break;
      default:
        filters.other = number;
    }
  }
  return filters;
}

/// Reads attributes of an object, which messages call `owner`.
class AttributeReader {
 public:
  AttributeReader(hid_t object, std::string owner, const std::string& path)
      : object_(object), owner_(std::move(owner)), path_(path) {}

  std::vector<FileAttribute> all() const {
    std::vector<FileAttribute> attributes;
    for (const std::string& name : attribute_names(object_, path_)) attributes.push_back(one(name));
    return attributes;
  }

  /// Empty where there is no such attribute.
  std::string text(const char* name) const {
    if (H5Aexists(object_, name) <= 0) return "";
    const std::vector<std::byte> values = one(name).values;
    return {reinterpret_cast<const char*>(values.data()), values.size()};
  }

  /// Whole numbers; none where there is no such attribute.
  std::vector<int> numbers(const char* name) const {
    if (H5Aexists(object_, name) <= 0) return {};
    const auto attribute = own(H5Aopen(object_, name, H5P_DEFAULT), H5Aclose, "H5Aopen", path_);
    std::vector<int> numbers(count(attribute));
    check(H5Aread(attribute.get(), H5T_NATIVE_INT, numbers.data()), "H5Aread", path_);
    return numbers;
  }

 private:
  std::size_t count(const hdf5::Handle& attribute) const {
    const auto space = own(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space", path_);
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return 0;
    return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
  }

  // netCDF's attributes are lines.
  bool has_rows(const hdf5::Handle& attribute) const {
    const auto space = own(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space", path_);
    return H5Sget_simple_extent_ndims(space.get()) > 1;
  }

  FileAttribute one(const std::string& name) const {
    const auto attribute =
        own(H5Aopen(object_, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", path_);
    const auto stored = own(H5Aget_type(attribute.get()), H5Tclose, "H5Aget_type", path_);
    if (has_rows(attribute)) refuse(name);
    const std::size_t values = count(attribute);
    FileAttribute made{.name = name};
    if (H5Tis_variable_str(stored.get()) > 0) {
      made.strings = strings(attribute, stored, values);
      return made;
    }
    if (H5Tget_class(stored.get()) == H5T_STRING && values <= 1) {
      made.values.resize(values * H5Tget_size(stored.get()));
      if (values > 0) {
        check(H5Aread(attribute.get(), stored.get(), made.values.data()), "H5Aread", path_);
      }
      return made;
    }
    const auto type = type_of_stored(stored.get());
    if (!type || *type == ElementType::character) refuse(name);
    made.type = *type;
    made.values.resize(values * size_of(*type));
    if (values > 0) {
      check(H5Aread(attribute.get(), hdf5::native_type(*type), made.values.data()), "H5Aread",
            path_);
    }
    return made;
  }

  std::vector<std::string> strings(const hdf5::Handle& attribute, const hdf5::Handle& stored,
                                   std::size_t values) const {
    const auto space = own(H5Aget_space(attribute.get()), H5Sclose, "H5Aget_space", path_);
    std::vector<char*> texts(values, nullptr);
    if (values > 0) check(H5Aread(attribute.get(), stored.get(), texts.data()), "H5Aread", path_);
    std::vector<std::string> found;
    for (const char* const text : texts) found.emplace_back(text == nullptr ? "" : text);
    if (values > 0) H5Treclaim(stored.get(), space.get(), H5P_DEFAULT, texts.data());
    return found;
  }

  [[noreturn]] void refuse(const std::string& name) const {
    throw InputError(fmt::format(
        "Attribute '{}' of {} is of a type or shape that netCDF conversions do not know; remove it "
        "with ncatted.",
        name, owner_));
  }

  hid_t object_;
  std::string owner_;
  const std::string& path_;
};

/// Identifies an object of one file.
using Token = std::array<unsigned char, H5O_MAX_TOKEN_SIZE>;

Token token_of(hid_t object, const std::string& path) {
  H5O_info2_t info;
  check(H5Oget_info3(object, &info, H5O_INFO_BASIC), "H5Oget_info3", path);
  return std::to_array(info.token.__data);
}

/// Of the attribute _NCProperties, which is a list such as "version=2,classic=cdf5".
std::string classic_format_in(const std::string& properties) {
  const std::size_t begin = properties.find(classic_property);
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + classic_property.size();
  return properties.substr(value, properties.find(',', value) - value);
}

struct StoredDataset {
  std::string name;
  hdf5::Dataset dataset;
  Extent extent, most;
  bool is_scale = false, is_variable = true;
};

/// Finds the structure of a file.
class Structure {
 public:
  Structure(const hdf5::File& file, std::string path) : file_(file), path_(std::move(path)) {}

  FileContents read(std::vector<hdf5::Dataset>& datasets) {
    for (const std::string& name : names_in_order(file_.get(), path_)) open(name);
    find_dimensions();
    const AttributeReader reader(file_.get(), fmt::format("'{}'", path_), path_);
    contents_.attributes = reader.all();
    contents_.classic_format = classic_format_in(reader.text("_NCProperties"));
    for (StoredDataset& one : stored_) {
      if (!one.is_variable) continue;
      contents_.variables.push_back(variable_of(one));
      datasets.push_back(std::move(one.dataset));
    }
    return std::move(contents_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& name) const {
    throw InputError(fmt::format(
        "Cannot convert '{}': '{}' is {}, and conversions handle variables of numbers and "
        "characters outside groups. Take it out first, with ncks for example.",
        path_, name, what));
  }

  void open(const std::string& name) {
    const auto object =
        own(H5Oopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", path_);
    if (H5Iget_type(object.get()) == H5I_GROUP) refuse("a group", name);
    if (H5Iget_type(object.get()) != H5I_DATASET) refuse("a type", name);
    hdf5::Handle handle =
        own(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", path_);
    const auto stored = own(H5Dget_type(handle.get()), H5Tclose, "H5Dget_type", path_);
    const auto type = type_of_stored(stored.get());
    if (!type) refuse("of strings or of a type of its own", name);
    StoredDataset one{name, hdf5::Dataset(std::move(handle), *type, path_), {}, {}};
    const hdf5::Space space = one.dataset.space();
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) refuse("without elements", name);
    const auto rank = static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get()));
    std::vector<hsize_t> lengths(rank), most(rank);
    check(H5Sget_simple_extent_dims(space.get(), lengths.data(), most.data()),
          "H5Sget_simple_extent_dims", path_);
    one.extent.assign(lengths.begin(), lengths.end());
    one.most.assign(most.begin(), most.end());
    one.is_scale = H5DSis_scale(one.dataset.get()) > 0 && rank > 0;
    if (one.is_scale) {
      std::string text(no_variable.size() + 1, '\0');
      H5DSget_scale_name(one.dataset.get(), text.data(), text.size());
      one.is_variable = !text.starts_with(no_variable);
    }
    stored_.push_back(std::move(one));
  }

  // In the order of their numbers, by which other attributes call them; else in that of the file.
  void find_dimensions() {
    std::vector<std::pair<int, const StoredDataset*>> scales;
    int next = 0;
    for (const StoredDataset& one : stored_) {
      if (!one.is_scale) continue;
      const auto number = reader(one).numbers("_Netcdf4Dimid");
      scales.emplace_back(number.empty() ? next : number.front(), &one);
      next = scales.back().first + 1;
    }
    std::ranges::stable_sort(scales, {}, [](const auto& scale) { return scale.first; });
    for (const auto& [number, one] : scales) {
      dimension_of_[token_of(one->dataset.get(), path_)] = contents_.dimensions.size();
      dimension_with_[number] = contents_.dimensions.size();
      contents_.dimensions.push_back(
          {one->name, one->extent.front(), one->most.front() == H5S_UNLIMITED});
    }
  }

  AttributeReader reader(const StoredDataset& one) const {
    return {one.dataset.get(), fmt::format("variable '{}'", one.name), path_};
  }

  FileVariable variable_of(const StoredDataset& one) {
    FileVariable variable{.name = one.name, .type = one.dataset.type()};
    if (variable.name.starts_with(no_coordinates)) variable.name.erase(0, no_coordinates.size());
    const auto numbers = reader(one).numbers("_Netcdf4Coordinates");
    for (std::size_t i = 0; i < one.extent.size(); ++i) {
      const std::size_t d = dimension_along(one, i, numbers);
      FileDimension& dimension = contents_.dimensions[d];
      if (dimension.is_unlimited) dimension.length = std::max(dimension.length, one.extent[i]);
      variable.dimensions.push_back(d);
    }
    variable.attributes = reader(one).all();
    if (one.dataset.is_chunked()) {
      const hdf5::Handle creation = one.dataset.creation();
      variable.stored_chunk = hdf5::chunk_of(creation.get());
      variable.filters = filters_in(creation.get(), path_);
    }
    return variable;
  }

  std::size_t dimension_along(const StoredDataset& one, std::size_t i,
                              const std::vector<int>& numbers) {
    if (one.is_scale && i == 0) return dimension_of_.at(token_of(one.dataset.get(), path_));
    if (i < numbers.size()) {
      const auto found = dimension_with_.find(numbers[i]);
      if (found != dimension_with_.end()) return found->second;
    }
    if (const auto attached = one.is_scale ? std::nullopt : attached_scale(one, i)) {
      return *attached;
    }
    return unnamed(one.extent[i], one.most[i] == H5S_UNLIMITED);
  }

  std::optional<std::size_t> attached_scale(const StoredDataset& one, std::size_t i) const {
    const auto note = [](hid_t, unsigned, hid_t scale, void* found) -> herr_t {
      *static_cast<Token*>(found) = token_of(scale, "a dimension scale");
      return 1;
    };
    Token token{};
    const auto axis = static_cast<unsigned>(i);
    if (H5DSget_num_scales(one.dataset.get(), axis) <= 0) return std::nullopt;
    check(H5DSiterate_scales(one.dataset.get(), axis, nullptr, note, &token), "H5DSiterate_scales",
          path_);
    const auto dimension = dimension_of_.find(token);
    if (dimension == dimension_of_.end()) return std::nullopt;
    return dimension->second;
  }

  // As netCDF-C calls dimensions of files that have none.
  std::size_t unnamed(std::uint64_t length, bool is_unlimited) {
    const auto [known, is_new] =
        unnamed_.try_emplace({length, is_unlimited}, contents_.dimensions.size());
    if (is_new) {
      contents_.dimensions.push_back(
          {fmt::format("phony_dim_{}", known->second), length, is_unlimited});
    }
    return known->second;
  }

  const hdf5::File& file_;
  std::string path_;
  std::vector<StoredDataset> stored_;
  FileContents contents_;
  std::map<Token, std::size_t> dimension_of_;
  std::map<int, std::size_t> dimension_with_;  ///< by the number in the file
  std::map<std::pair<std::uint64_t, bool>, std::size_t> unnamed_;
};

class Netcdf4Source : public Source {
 public:
  Netcdf4Source(const Comm& comm, const std::string& path) {
    agreed(comm, [&] {
      file_ = hdf5::File::open_serial(path);
      contents_ = Structure(file_, path).read(datasets_);
    });
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    hdf5::Dataset& dataset = datasets_[variable];
    hdf5::Space file = dataset.space();
    const Extent stored = file.extent();
    Hyperslab there = box;
    for (std::size_t d = 0; d < stored.size(); ++d) {
      const std::uint64_t end = std::min(stored[d], box.start[d] + box.block[d]);
      there.block[d] = end - std::min(end, box.start[d]);
    }
    // Where another variable has more records, this one has fill values.
    if (there != box) fill(dataset, memory, element_count(box));
    if (element_count(there) == 0) return;
    hdf5::Space room(box.block);
    if (!stored.empty()) {
      file.select(there);
      there.start.assign(stored.size(), 0);
      room.select(there);
    }
    dataset.read(room, file, list_, memory);
    pages_.drop();
  }

  void drop_behind() override { pages_ = posix::CachedPages(file_.path()); }

 private:
  static void fill(const hdf5::Dataset& dataset, std::byte* memory, std::uint64_t elements) {
    const std::vector<std::byte> value =
        hdf5::stored_fill(hdf5::native_type(dataset.type()), dataset.creation().get());
    for (std::uint64_t i = 0; i < elements; ++i) {
      std::memcpy(memory + i * value.size(), value.data(), value.size());
    }
  }

  hdf5::File file_;
  posix::CachedPages pages_;  ///< without a file: they are kept
  std::vector<hdf5::Dataset> datasets_;
  hdf5::TransferList list_{hdf5::TransferList::Mode::serial};
};

}  // namespace

std::unique_ptr<Source> open_netcdf4(const Comm& comm, const std::string& path) {
  return std::make_unique<Netcdf4Source>(comm, path);
}

}  // namespace slabmark::convert
