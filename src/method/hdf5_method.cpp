#include "method/hdf5_method.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/effective.hpp"
#include "method/hdf5_chunk.hpp"
#include "method/hdf5_connector.hpp"
#include "method/raw_layout.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark {

namespace {

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

Extent with_records(const Dataset& dataset, std::uint64_t records) {
  auto extent = dataset.extent();
  if (dataset.has_time) extent.insert(extent.begin(), records);
  return extent;
}

std::set<std::string> as_set(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

std::optional<std::string> beyond_hdf5(const Pattern& pattern, const Settings& settings) {
  const Hdf5Chunks chunks(settings);
  connector_of(settings, false);  // its values are checked
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
    if (auto reason = chunks.unsuited(dataset)) return reason;
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
      hdf5_chunk_option(),
      {"hdf5.fill", "never", "when fill values are written: never, alloc or ifset"},
      {"hdf5.alloc", "default", "when space is allocated: default, early, incr or late"},
      {"hdf5.libver", "earliest",
       "lowest format version: earliest, v18, v110, v112, v114, v200 or latest; the highest is "
       "v110 "
       "unless this is higher"},
      connector_option(),
      log_view_option()};
  info.supports = beyond_hdf5;
  return info;
}

Hdf5Method::Hdf5Method(const MethodContext& context, bool into_log)
    : context_(context),
      collective_(context.settings.flag("hdf5.collective", true)),
      chunks_(context.settings),
      access_(access_settings(context.settings)),
      creation_(creation_settings(context.settings)),
      transfer_(collective_ ? hdf5::TransferList::Mode::collective
                            : hdf5::TransferList::Mode::independent) {
  access_.connector = connector_of(context.settings, into_log);
}

void Hdf5Method::create(const std::string& path) {
  const mpiio::Info info(context_.settings.hints);
  file_ = hdf5::File::create(context_.comm.get(), info.get(), path, access_);
}

void Hdf5Method::define() {
  for (const auto& dataset : context_.pattern.datasets) {
    auto settings = creation_;
    settings.chunk = chunks_.of(dataset);
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
    const auto records = dataset.has_time ? space.extent().front() : 0;
    datasets_.push_back({std::move(opened), std::move(space), records});
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

void Hdf5Method::post(std::uint64_t round, std::span<std::byte* const> buffers) {
  seconds_in_calls_ = 0.0;
  move_round(round, buffers);
  context_.clock.add_to_span(call_name(), seconds_in_calls_);
}

// The span would build a string a call; there may be millions.
template <class Call>
void Hdf5Method::timed(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  seconds_in_calls_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++outcomes_[transfer_.outcome()];
}

void Hdf5Method::move(std::size_t dataset, const hdf5::Space& memory, const hdf5::Space& file,
                      void* data) {
  auto& target = datasets_[dataset].dataset;
  timed([&] {
    if (writing()) {
      target.write(memory, file, transfer_, data);
    } else {
      target.read(memory, file, transfer_, data);
    }
  });
}

void Hdf5Method::move_boxes(std::size_t dataset, std::vector<hsize_t*>& starts,
                            std::vector<hsize_t*>& counts, void* data) {
  auto& target = datasets_[dataset].dataset;
  timed([&] {
    if (writing()) {
      target.write_n(starts, counts, transfer_, data);
    } else {
      target.read_n(starts, counts, transfer_, data);
    }
  });
}

void Hdf5Method::move(std::span<const Part> parts) {
  std::vector<hdf5::Dataset::Part> all;
  all.reserve(parts.size());
  for (const auto& part : parts) {
    all.push_back({&datasets_[part.dataset].dataset, part.memory, part.file, part.data});
  }
  timed([&] {
    if (writing()) {
      hdf5::Dataset::write(all, transfer_);
    } else {
      hdf5::Dataset::read(all, transfer_);
    }
  });
}

// HDF5's own H5Dwrite and H5Dread block; the log-layout connector keeps what is written.
void Hdf5Method::flush() {
  if (writing() && access_.connector) file_.flush();
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
  std::uint64_t calls = 0;
  std::map<std::string, std::uint64_t> modes;
  std::map<std::string, std::uint64_t> selection_modes;
  std::set<std::string> no_collective;
  std::set<std::string> no_selection;
  for (const auto& [outcome, times] : outcomes_) {
    calls += times;
    modes[hdf5::mode_name(outcome)] += times;
    selection_modes[hdf5::selection_mode_name(outcome)] += times;
    if (collective_) no_collective.merge(as_set(hdf5::no_collective_causes(outcome)));
    no_selection.merge(as_set(hdf5::no_selection_causes(outcome)));
  }
  if (calls > 0) effective["calls"] = {{call_name(), calls}};
  effective["io_mode"] = modes;
  effective["no_collective_cause"] = no_collective;
#if H5_VERSION_GE(1, 14, 3)
  effective["selection_io_mode"] = selection_modes;
  effective["no_selection_io_cause"] = no_selection;
#endif
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
