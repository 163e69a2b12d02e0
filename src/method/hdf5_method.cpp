#include "method/hdf5_method.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/effective.hpp"
#include "method/raw_layout.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {

namespace {

// File formats before HDF5 2.0 hold a chunk's size in 32 bits.
constexpr std::uint64_t largest_chunk_bytes = (std::uint64_t{1} << 32) - 1;

/// Value of an option that takes one of a few words.
template <class Value>
Value choice(const Settings& settings, const std::string& name, const std::string& standard,
             const std::vector<std::pair<std::string, Value>>& choices) {
  const auto text = settings.text(name, standard);
  std::string known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + word;
  }
  throw InputError(fmt::format("Option {} is '{}'; it takes {}.", name, text, known));
}

std::vector<std::pair<std::string, H5F_libver_t>> format_versions() {
  return {
    {"earliest", H5F_LIBVER_EARLIEST}, {"v18", H5F_LIBVER_V18}, {"v110", H5F_LIBVER_V110},
        {"v112", H5F_LIBVER_V112}, {"v114", H5F_LIBVER_V114},
#if H5_VERSION_GE(2, 0, 0)
        {"v200", H5F_LIBVER_V200},
#endif
    {
      "latest", H5F_LIBVER_LATEST
    }
  };
}

hdf5::AccessSettings access_settings(const Settings& settings) {
  hdf5::AccessSettings access;
  access.low = choice(settings, "hdf5.libver", "earliest", format_versions());
  access.high = std::max(access.low, access.high);
  access.collective_metadata = settings.flag("hdf5.collective_metadata", true);
  return access;
}

hdf5::CreationSettings creation_settings(const Settings& settings) {
  hdf5::CreationSettings creation;
  creation.fill = choice<H5D_fill_time_t>(settings, "hdf5.fill", "never",
                                          {{"never", H5D_FILL_TIME_NEVER},
                                           {"alloc", H5D_FILL_TIME_ALLOC},
                                           {"ifset", H5D_FILL_TIME_IFSET}});
  creation.alloc = choice<H5D_alloc_time_t>(settings, "hdf5.alloc", "default",
                                            {{"default", H5D_ALLOC_TIME_DEFAULT},
                                             {"early", H5D_ALLOC_TIME_EARLY},
                                             {"incr", H5D_ALLOC_TIME_INCR},
                                             {"late", H5D_ALLOC_TIME_LATE}});
  return creation;
}

std::uint64_t chunk_bytes(const Extent& chunk, ElementType type) {
  auto bytes = static_cast<std::uint64_t>(size_of(type));
  for (const auto length : chunk) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) return largest_chunk_bytes + 1;
  }
  return bytes;
}

// One time step a chunk, cut along its slow dimensions until HDF5 can hold it.
Extent whole_step(const Dataset& dataset) {
  auto chunk = dataset.extent();
  for (auto& length : chunk) length = std::max<std::uint64_t>(1, length);
  for (auto& length : chunk) {
    while (length > 1 && chunk_bytes(chunk, dataset.type) > largest_chunk_bytes) {
      length = (length + 1) / 2;
    }
  }
  return chunk;
}

/// Chunk with time in front; empty for a contiguous dataset.
Extent chunk_of(const Dataset& dataset) {
  if (!dataset.chunk && !dataset.has_time) return {};
  auto chunk = dataset.chunk ? *dataset.chunk : whole_step(dataset);
  const auto extent = dataset.extent();
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    // HDF5 refuses chunks that are longer than a dimension that cannot grow.
    chunk[d] = std::min(chunk[d], std::max<std::uint64_t>(1, extent[d]));
  }
  if (dataset.has_time) chunk.insert(chunk.begin(), 1);
  return chunk;
}

Extent with_records(const Dataset& dataset, std::uint64_t records) {
  auto extent = dataset.extent();
  if (dataset.has_time) extent.insert(extent.begin(), records);
  return extent;
}

std::optional<std::string> beyond_hdf5(const Pattern& pattern, const Settings&) {
  std::set<std::string> names;
  for (const auto& dataset : pattern.datasets) {
    if (dataset.name.empty()) return "a dataset has no name";
    if (!names.insert(dataset.name).second) {
      return fmt::format("two datasets are called '{}'", dataset.name);
    }
    const auto rank = dataset.dimensions.size();
    if (rank + 1 > H5S_MAX_RANK) {
      return fmt::format("dataset {} has {} dimensions; HDF5 holds {}", dataset.name, rank,
                         H5S_MAX_RANK);
    }
    if (!dataset.chunk) continue;
    if (rank == 0 || dataset.chunk->size() != rank ||
        std::find(dataset.chunk->begin(), dataset.chunk->end(), 0) != dataset.chunk->end()) {
      return fmt::format("the chunk {} does not suit dataset {} of {}", to_string(*dataset.chunk),
                         dataset.name, to_string(dataset.extent()));
    }
    if (chunk_bytes(chunk_of(dataset), dataset.type) > largest_chunk_bytes) {
      return fmt::format("the chunk {} of dataset {} is 4 GiB or more", to_string(*dataset.chunk),
                         dataset.name);
    }
  }
  return too_large_for_raw(pattern);
}

}  // namespace

MethodInfo hdf5_info(std::string name, std::string summary) {
  MethodInfo info;
  info.name = std::move(name);
  info.summary = std::move(summary);
  info.format = FileFormat::hdf5;
  info.options = {
      {"hdf5.collective", "on", "off: independent H5Dwrite and H5Dread"},
      {"hdf5.collective_metadata", "on", "off: each rank reads and writes metadata on its own"},
      {"hdf5.fill", "never", "when fill values are written: never, alloc or ifset"},
      {"hdf5.alloc", "default", "when space is allocated: default, early, incr or late"},
      {"hdf5.libver", "earliest",
       "lowest format version: earliest, v18, v110, v112, v114, v200 or latest; the highest is "
       "v110 "
       "unless this is higher"}};
  info.supports = beyond_hdf5;
  return info;
}

Hdf5Method::Hdf5Method(const MethodContext& context)
    : context_(context),
      collective_(context.settings.flag("hdf5.collective", true)),
      access_(access_settings(context.settings)),
      creation_(creation_settings(context.settings)),
      transfer_(collective_ ? hdf5::TransferList::Mode::collective
                            : hdf5::TransferList::Mode::independent) {}

void Hdf5Method::create(const std::string& path) {
  const mpiio::Info info(context_.settings.hints);
  file_ = hdf5::File::create(context_.comm.get(), info.get(), path, access_);
}

void Hdf5Method::define() {
  for (const auto& dataset : context_.pattern.datasets) {
    auto settings = creation_;
    settings.chunk = chunk_of(dataset);
    const hdf5::Space space(with_records(dataset, 0), dataset.has_time);
    auto created = file_.create_dataset(dataset.name, dataset.type, space, settings);
    auto file_space = created.space();
    datasets_.push_back({std::move(created), std::move(file_space), 0});
  }
}

void Hdf5Method::open(const std::string& path) {
  const mpiio::Info info(context_.settings.hints);
  file_ = hdf5::File::open(context_.comm.get(), info.get(), path, access_);
  for (const auto& dataset : context_.pattern.datasets) {
    auto opened = file_.open_dataset(dataset.name, dataset.type);
    auto space = opened.space();
    datasets_.push_back({std::move(opened), std::move(space), 0});
  }
}

hdf5::Space& Hdf5Method::file_space(std::size_t dataset, std::uint64_t time) {
  auto& open = datasets_[dataset];
  const auto& description = context_.pattern.datasets[dataset];
  if (writing() && description.has_time && time >= open.records) {
    context_.clock.span("extend", [&] {
      open.records = time + 1;
      open.dataset.extend(with_records(description, open.records));
      open.space = open.dataset.space();
    });
  }
  return open.space;
}

void Hdf5Method::move(std::size_t dataset, const hdf5::Space& memory, const hdf5::Space& file,
                      void* data) {
  auto& target = datasets_[dataset].dataset;
  if (writing()) {
    target.write(memory, file, transfer_, data);
  } else {
    target.read(memory, file, transfer_, data);
  }
  ++calls_[writing() ? "H5Dwrite" : "H5Dread"];
  ++modes_[transfer_.actual_mode()];
  if (collective_)
    causes_.merge([&] {
      const auto causes = transfer_.no_collective_causes();
      return std::set<std::string>(causes.begin(), causes.end());
    }());
}

void Hdf5Method::sync() { file_.sync(); }

void Hdf5Method::close() {
  std::uint64_t contiguous = 0;
  std::uint64_t chunked = 0;
  std::uint64_t bytes = 0;
  for (const auto& open : datasets_) {
    ++(open.dataset.is_chunked() ? chunked : contiguous);
    bytes += open.dataset.storage_bytes();
  }
  at_close_["layout"] = {{"contiguous", contiguous}, {"chunked", chunked}};
  at_close_["storage_bytes"] = bytes;
  at_close_["library"] = "HDF5 " + hdf5::library_version();
  report_hints(at_close_, context_.settings, mpiio::hints_of(file_.mpi_file(), file_.path()));
  datasets_.clear();
  file_.close();
}

nlohmann::json Hdf5Method::effective() const {
  auto effective = at_close_;
  effective["calls"] = calls_;
  effective["io_mode"] = modes_;
  effective["no_collective_cause"] = causes_;
  const auto versions = format_versions();
  const auto name = [&](H5F_libver_t bound) {
    return std::find_if(versions.begin(), versions.end(),
                        [&](const auto& version) { return version.second == bound; })
        ->first;
  };
  effective["libver"] = {name(access_.low), name(access_.high)};
  effective["collective_metadata"] = access_.collective_metadata;
  return effective;
}

}  // namespace slabmark
