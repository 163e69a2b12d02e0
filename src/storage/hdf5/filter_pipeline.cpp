#include "storage/hdf5/filter_pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::hdf5 {

namespace {

const std::string chunk_in_memory = "a chunk in memory";

/// Bytes that the driver takes of the chunk being written, or hands out of the one being read.
struct Exchange {
  const FilterPipeline::Room* room;  ///< none: nothing is taken
  std::span<const std::byte> to_read;
  std::span<const std::byte> written = {};
};
Exchange* under_way = nullptr;

/// For as long as it lives, the driver deals with elements so.
class Intercept {
 public:
  explicit Intercept(Exchange exchange) : exchange_(exchange) { under_way = &exchange_; }
  ~Intercept() { under_way = nullptr; }
  Intercept(const Intercept&) = delete;
  Intercept& operator=(const Intercept&) = delete;

  std::span<const std::byte> written() const { return exchange_.written; }

 private:
  Exchange exchange_;
};

struct MemoryDriver {
  H5FD_class_t original;
  hid_t id;
};

const MemoryDriver& memory();

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
             const void* data) {
  if (type != H5FD_MEM_DRAW) {
    return memory().original.write(file, type, list, address, bytes, data);
  }
  if (under_way == nullptr || under_way->room == nullptr || data == placeholder()) return 0;
  try {
    std::byte* const to = (*under_way->room)(bytes);
    std::memcpy(to, data, bytes);
    under_way->written = {to, bytes};
  } catch (const std::exception&) {  // which must not go through HDF5
    return -1;
  }
  return 0;
}

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t list, haddr_t address, std::size_t bytes,
            void* data) {
  if (type != H5FD_MEM_DRAW) {
    return memory().original.read(file, type, list, address, bytes, data);
  }
  if (under_way == nullptr || under_way->to_read.size() != bytes) return -1;
  std::memcpy(data, under_way->to_read.data(), bytes);
  return 0;
}

Handle memory_access() {
  constexpr std::size_t growth = 16 << 10;
  auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", chunk_in_memory);
  check(H5Pset_fapl_core(access.get(), growth, false), "H5Pset_fapl_core", chunk_in_memory);
  check(H5Pset_vol(access.get(), H5VL_NATIVE, nullptr), "H5Pset_vol", chunk_in_memory);
  return access;
}

// Never unregistered: see placeholder.cpp.
const MemoryDriver& memory() {
  static const MemoryDriver made = [] {
    const auto original = driver_class(memory_access().get());
    auto ours = original;
    ours.name = "slabmark_core";
    ours.value = 6207;
    ours.terminate = nullptr;
    ours.write = write;
    ours.read = read;
    const hid_t id = H5FDregister(&ours);
    if (id < 0) fail("H5FDregister", chunk_in_memory);
    return MemoryDriver{original, id};
  }();
  return made;
}

struct Filter {
  H5Z_filter_t number = 0;
  unsigned flags = 0;
  std::vector<unsigned> values;
  bool operator==(const Filter&) const = default;
};

std::vector<Filter> filters_of(hid_t creation) {
  std::vector<Filter> filters(static_cast<std::size_t>(std::max(0, H5Pget_nfilters(creation))));
  for (unsigned i = 0; i < filters.size(); ++i) {
    auto& [number, flags, values] = filters[i];
    for (std::size_t count = 0;;) {  // first asks how many there are
      unsigned configuration = 0;
      number =
          H5Pget_filter2(creation, i, &flags, &count, values.data(), 0, nullptr, &configuration);
      check(number, "H5Pget_filter2", chunk_in_memory);
      if (count <= values.size()) break;
      values.resize(count);
    }
  }
  return filters;
}

}  // namespace

Extent chunk_of(hid_t creation) {
  std::array<hsize_t, H5S_MAX_RANK> lengths;
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, lengths.data());
  check(rank, "H5Pget_chunk", chunk_in_memory);
  return {lengths.begin(), lengths.begin() + rank};
}

bool filters_edges(hid_t creation) {
  unsigned options = 0;
  check(H5Pget_chunk_opts(creation, &options), "H5Pget_chunk_opts", chunk_in_memory);
  return (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
}

std::vector<std::byte> stored_fill(hid_t type, hid_t creation) {
  std::vector<std::byte> fill(H5Tget_size(type));
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  H5D_fill_time_t time = H5D_FILL_TIME_NEVER;
  check(H5Pfill_value_defined(creation, &defined), "H5Pfill_value_defined", chunk_in_memory);
  check(H5Pget_fill_time(creation, &time), "H5Pget_fill_time", chunk_in_memory);
  if (defined == H5D_FILL_VALUE_UNDEFINED || time == H5D_FILL_TIME_NEVER) return fill;
  check(H5Pget_fill_value(creation, type, fill.data()), "H5Pget_fill_value", chunk_in_memory);
  return fill;
}

class FilterPipeline::File {
 public:
  File(hid_t type, hid_t creation)
      : chunk_(chunk_of(creation)),
        type_(own(H5Tcopy(type), H5Tclose, "H5Tcopy", chunk_in_memory)),
        space_(own(H5Screate_simple(static_cast<int>(chunk_.size()), chunk_.data(), nullptr),
                   H5Sclose, "H5Screate_simple", chunk_in_memory)) {
    silence();
    const auto access = memory_access();
    check(H5Pset_driver(access.get(), memory().id, H5Pget_driver_info(access.get())),
          "H5Pset_driver", chunk_in_memory);
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST),
          "H5Pset_libver_bounds", chunk_in_memory);
    static std::uint64_t made = 0;  // HDF5 tells files in memory apart by name
    const auto of_its_own = fmt::format("{} ({})", chunk_in_memory, ++made);
    file_ = own(H5Fcreate(of_its_own.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                "H5Fcreate", chunk_in_memory);
    make_dataset(creation);
  }

  // Nothing in it is kept.
  ~File() {
    const Intercept intercept({nullptr, {}});
    dataset_ = {};
    file_ = {};
  }

  Filtered apply(const std::byte* chunk, const Room& room) {
    const Intercept intercept({&room, {}});
    // HDF5 2.2.0 enters a mask only where the size is another than before.
    enter(1);
    check(H5Dwrite(dataset_.get(), type_.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, chunk), "H5Dwrite",
          chunk_in_memory);
    const std::vector<hsize_t> first(chunk_.size(), 0);
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    check(H5Dget_chunk_info_by_coord(dataset_.get(), first.data(), &mask, &address, &bytes),
          "H5Dget_chunk_info_by_coord", chunk_in_memory);
    return {intercept.written(), mask};
  }

  void undo(std::span<const std::byte> filtered, std::byte* chunk) {
    const Intercept intercept({nullptr, filtered});
    enter(filtered.size());
    check(H5Dread(dataset_.get(), type_.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, chunk), "H5Dread",
          chunk_in_memory);
  }

 private:
  void make_dataset(hid_t creation) {
    const auto ours = own(H5Pcopy(creation), H5Pclose, "H5Pcopy", chunk_in_memory);
    check(H5Pset_alloc_time(ours.get(), H5D_ALLOC_TIME_INCR), "H5Pset_alloc_time", chunk_in_memory);
    if (makes_same_values(ours.get())) return;
    dataset_ = own(make(ours.get()), H5Dclose, "H5Dcreate_anon", chunk_in_memory);
  }

  // A filter may change its values when a dataset is made; mostly it takes those that it has made
  // for its own again. Bitshuffle puts three before those that it is given, each time.
  bool makes_same_values(hid_t ours) {
    bool made = makes_same(ours, ours);
    const auto filters = filters_of(ours);
    for (std::size_t i = 0; i < filters.size() && !made; ++i) {
      const auto& [number, flags, values] = filters[i];
      if (number < H5Z_FILTER_RESERVED) continue;
      for (std::size_t left_out = 1; left_out <= values.size() && !made; ++left_out) {
        const auto list = own(H5Pcopy(ours), H5Pclose, "H5Pcopy", chunk_in_memory);
        check(H5Pmodify_filter(list.get(), number, flags, values.size() - left_out,
                               values.data() + left_out),
              "H5Pmodify_filter", chunk_in_memory);
        made = makes_same(list.get(), ours);
      }
    }
    return made;
  }

  // True if a dataset made with `list` has the filters that `wanted` has.
  bool makes_same(hid_t list, hid_t wanted) {
    dataset_ = Handle(make(list), H5Dclose);
    if (!dataset_.is_open()) return false;
    const Handle made(H5Dget_create_plist(dataset_.get()), H5Pclose);
    return filters_of(made.get()) == filters_of(wanted);
  }

  // Without a cache of chunks HDF5 filters a chunk at once.
  hid_t make(hid_t list) {
    const auto access = own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "H5Pcreate", chunk_in_memory);
    check(H5Pset_chunk_cache(access.get(), 0, 0, 1), "H5Pset_chunk_cache", chunk_in_memory);
    return H5Dcreate_anon(file_.get(), type_.get(), space_.get(), list, access.get());
  }

  void enter(std::size_t bytes) {
    const std::vector<hsize_t> first(chunk_.size(), 0);
    check(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, first.data(), bytes, placeholder()),
          "H5Dwrite_chunk", chunk_in_memory);
  }

  std::vector<hsize_t> chunk_;
  Handle type_, space_, file_, dataset_;
};

FilterPipeline::FilterPipeline(hid_t type, hid_t creation)
    : type_(own(H5Tcopy(type), H5Tclose, "H5Tcopy", chunk_in_memory)),
      creation_(own(H5Pcopy(creation), H5Pclose, "H5Pcopy", chunk_in_memory)),
      fill_(stored_fill(type, creation)),
      filters_edges_(hdf5::filters_edges(creation)) {
  const int filters = H5Pget_nfilters(creation);
  check(filters, "H5Pget_nfilters", chunk_in_memory);
  filters_ = static_cast<unsigned>(filters);
  const auto chunk = chunk_of(creation);
  chunk_bytes_ = std::accumulate(chunk.begin(), chunk.end(), fill_.size(), std::multiplies<>());
  if (has_filters()) writer_ = std::make_unique<File>(type, creation);
}
FilterPipeline::FilterPipeline(std::size_t chunk_bytes, std::vector<std::byte> fill)
    : chunk_bytes_(chunk_bytes), fill_(std::move(fill)) {}
FilterPipeline::~FilterPipeline() = default;
FilterPipeline::FilterPipeline(FilterPipeline&&) noexcept = default;
FilterPipeline& FilterPipeline::operator=(FilterPipeline&&) noexcept = default;

FilterPipeline::Filtered FilterPipeline::apply(const std::byte* chunk, const Room& room) {
  if (!has_filters()) return {{chunk, chunk_bytes()}, 0};
  return writer_->apply(chunk, room);
}

void FilterPipeline::undo(std::span<const std::byte> filtered, std::uint32_t mask,
                          std::byte* chunk) {
  const std::uint32_t all = (std::uint64_t{1} << filters_) - 1;
  if ((mask & all) != all) {
    reader(mask).undo(filtered, chunk);
  } else if (filtered.size() == chunk_bytes()) {
    std::copy(filtered.begin(), filtered.end(), chunk);
  } else {
    throw IoError(fmt::format("A chunk without filters has {} bytes instead of {}.",
                              filtered.size(), chunk_bytes()));
  }
}

// A file of its own for each mask: HDF5 2.2.0 remembers the mask that the last chunk had before. A
// list is made anew: where H5Premove_filter takes one away before another without values, HDF5
// frees what is not its own when a copy of the list is closed.
FilterPipeline::File& FilterPipeline::reader(std::uint32_t mask) {
  auto& file = readers_[mask];
  if (file) return *file;
  const auto creation = own(H5Pcopy(creation_.get()), H5Pclose, "H5Pcopy", chunk_in_memory);
  check(H5Premove_filter(creation.get(), H5Z_FILTER_ALL), "H5Premove_filter", chunk_in_memory);
  auto rest = mask;
  for (const auto& [number, flags, values] : filters_of(creation_.get())) {
    if ((rest & 1) == 0) {
      check(H5Pset_filter(creation.get(), number, flags, values.size(), values.data()),
            "H5Pset_filter", chunk_in_memory);
    }
    rest >>= 1;
  }
  file = std::make_unique<File>(type_.get(), creation.get());
  return *file;
}

FilterPipeline& PipelineCache::of(hid_t type, hid_t creation) {
  std::string key;
  const auto append = [&](const char* call, const auto& encode) {
    std::size_t bytes = 0;
    check(encode(nullptr, &bytes), call, "a dataset");
    const auto at = key.size();
    key.resize(at + bytes);
    check(encode(key.data() + at, &bytes), call, "a dataset");
  };
  append("H5Tencode", [&](void* to, std::size_t* bytes) { return H5Tencode(type, to, bytes); });
  append("H5Pencode2", [&](void* to, std::size_t* bytes) {
    return H5Pencode2(creation, to, bytes, H5P_DEFAULT);
  });
  const auto found = made_.find(key);
  return found != made_.end() ? found->second
                              : made_.emplace(key, FilterPipeline(type, creation)).first->second;
}

}  // namespace slabmark::hdf5
