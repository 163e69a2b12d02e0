#include "bench/method/hdf5/method.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "accel/hdf5_connector/api/slablog.h"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/shared/effective.hpp"
#include "bench/method/shared/round_maxima.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "storage/mpiio/file.hpp"
#include "storage/mpiio/romio_hints.hpp"

namespace slabmark {

namespace {

std::set<std::string> as_set(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

}  // namespace

Hdf5Reason beyond_hdf5(const Pattern& pattern, const Hdf5Options& options) {
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
    if (auto reason = options.chunks.unsuited(dataset, options.time_chunk)) return reason;
  }
  if (options.precreate && !options.fixed_time && record_count(pattern) > 0) {
    return "a file that rank 0 makes beforehand cannot grow; ask for hdf5.time=fixed";
  }
  if (auto reason = hdf5_unmet(options)) return reason;
  return too_large_for_raw(pattern);
}

Extent with_records(const Dataset& dataset, std::uint64_t records) {
  auto extent = dataset.extent();
  if (dataset.has_time) extent.insert(extent.begin(), records);
  return extent;
}

MethodInfo hdf5_info(std::string name, std::string summary, Hdf5Make make, Hdf5Traits traits) {
  const auto read = [traits](const Settings& settings) {
    Hdf5Options options = traits.options.read(settings);
    if (traits.force) traits.force(options);
    return completed(std::move(options));
  };
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .format = FileFormat::hdf5,
      .options = traits.options,
      .supports = [=](const Pattern& pattern, const Settings& settings) -> Hdf5Reason {
        const Hdf5Options options = read(settings);
        auto reason = traits.unmet ? traits.unmet(pattern, options) : std::nullopt;
        return reason ? reason : beyond_hdf5(pattern, options);
      },
      .make = [=](const MethodContext& context) { return make(context, read(context.settings)); },
      .overlaps_in_mpiio =
          [=](const Pattern& pattern, const Settings& settings) {
            const Hdf5Options options = read(settings);
            // Logs and subfiles take the parts of each rank for themselves.
            return pattern.ranks_overlap && options.collective && !options.logged &&
                   !options.subfiling;
          },
      .compresses =
          [=](const Settings& settings) {
            const Hdf5Options options = read(settings);
            return options.has_filters();
          }};
}

Hdf5Method::Hdf5Method(const MethodContext& context, Hdf5Options options)
    : Method(context),
      options_(std::move(options)),
      all_records_(record_count(context.pattern)),
      transfer_(options_.collective ? hdf5::TransferList::Mode::collective
                                    : hdf5::TransferList::Mode::independent),
      sieving_(mpiio::romio_hears_hints_of_opening()) {}

// Where a rank between others has nothing in a collective call, ROMIO may have these write by
// themselves (tests/mpi_faults/collective_data_sieving.c). HDF5 itself decides which rank writes a
// compressed chunk.
void Hdf5Method::choose_hints() {
  if (!collective() || options_.connector || options_.subfiling || context_.comm.size() < 3) return;
  const auto calls = [this](const auto& transfers, auto& numbers) {
    for (const auto& transfer : transfers) numbers.push_back(calls_for(transfer));
  };
  if (options_.has_filters() || some_rank_has_less(context_.comm, context_.pattern, calls)) {
    sieving_.leave_out(context_.settings, "In some calls a rank may have nothing");
  }
}

void Hdf5Method::create(const std::string& path) {
  const mpiio::Info info(sieving_.added_to(context_.settings.hints));
  if (!options_.precreate) {
    file_ = hdf5::File::create(context_.comm.get(), info.get(), path, options_);
    return;
  }
  context_.clock.span("precreate", [&] {
    // Agreed, since the others would wait in H5Fopen for a rank 0 that failed.
    agreed(context_.comm, [&] {
      if (context_.comm.is_root()) precreate(path);
    });
  });
  context_.clock.span("reopen", [&] {
    file_ =
        hdf5::File::open(context_.comm.get(), info.get(), path, options_, hdf5::Access::read_write);
  });
}

void Hdf5Method::precreate(const std::string& path) {
  auto file = hdf5::File::create_serial(path, options_);
  for (const auto& dataset : context_.pattern.datasets) create_dataset(file, dataset);
  file.put_attributes(context_.pattern.attributes);
  file.close();
}

hdf5::Dataset Hdf5Method::create_dataset(hdf5::File& file, const Dataset& dataset) const {
  hdf5::CreationSettings settings = options_;
  // HDF5 takes no chunk that is longer than a dimension that cannot grow.
  const std::uint64_t times = std::max<std::uint64_t>(1, all_records_);
  settings.chunk =
      options_.chunks.of(dataset, options_.fixed_time, std::min(options_.time_chunk, times));
  const std::uint64_t records = options_.fixed_time ? all_records_ : 0;
  const hdf5::Space space(with_records(dataset, records), dataset.has_time && !options_.fixed_time);
  auto created = file.create_dataset(dataset.name, dataset.type, space, settings);
  created.put_attributes(dataset.attributes);
  return created;
}

void Hdf5Method::define() {
  for (const auto& dataset : context_.pattern.datasets) {
    if (options_.precreate) {
      open_dataset(dataset);
      continue;
    }
    auto created = create_dataset(file_, dataset);
    auto space = created.space();
    const std::uint64_t records = options_.fixed_time ? all_records_ : 0;
    datasets_.push_back({std::move(created), std::move(space), records});
  }
  if (!options_.precreate) file_.put_attributes(context_.pattern.attributes);
}

void Hdf5Method::open_dataset(const Dataset& dataset) {
  auto opened = file_.open_dataset(dataset.name, dataset.type);
  auto space = opened.space();
  const auto records = dataset.has_time ? space.extent().front() : 0;
  datasets_.push_back({std::move(opened), std::move(space), records});
}

void Hdf5Method::open(const std::string& path) {
  const mpiio::Info info(context_.settings.hints);
  file_ = hdf5::File::open(context_.comm.get(), info.get(), path, options_);
  for (const auto& dataset : context_.pattern.datasets) open_dataset(dataset);
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

// The C functions lack a const, and change no pointer.
void Hdf5Method::move_boxes(std::size_t dataset, std::span<hsize_t* const> starts,
                            std::span<hsize_t* const> counts, void* data) {
  const auto& target = datasets_[dataset].dataset;
  const auto call = writing() ? H5Dwrite_n : H5Dread_n;
  timed([&] {
    hdf5::check(call(target.get(), hdf5::native_type(target.type()),
                     static_cast<int>(starts.size()), const_cast<hsize_t**>(starts.data()),
                     const_cast<hsize_t**>(counts.data()), transfer_.get(), data),
                writing() ? "H5Dwrite_n" : "H5Dread_n", target.path());
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
  if (writing() && options_.connector) file_.flush();
}

void Hdf5Method::sync() {
  context_.clock.span("flush", [&] { file_.flush(); });
  context_.clock.span("fsync", [&] { file_.sync(); });
}

void Hdf5Method::inspect() {
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
  if (options_.subfiling) {  // HDF5 2.2.0 cannot say it of a file that was opened without hints
    at_close_["collective_metadata"] = options_.collective_metadata;
  } else {
    at_close_["collective_metadata"] = file_.reads_metadata_collectively();
    report_hints(at_close_, context_.settings, mpiio::hints_of(file_.mpi_file(), file_.path()));
  }
}

void Hdf5Method::close() {
  datasets_.clear();
  file_.close();
}

Json Hdf5Method::effective() const {
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
    if (collective()) no_collective.merge(as_set(hdf5::no_collective_causes(outcome)));
    no_selection.merge(as_set(hdf5::no_selection_causes(outcome)));
  }
  sieving_.report(effective, context_.settings);
  if (calls > 0) effective["calls"] = {{call_name(), calls}};
  effective["io_mode"] = modes;
  effective["no_collective_cause"] = no_collective;
#if H5_VERSION_GE(1, 14, 3)
  effective["selection_io_mode"] = selection_modes;
  effective["no_selection_io_cause"] = no_selection;
#endif
  effective["libver"] = {hdf5_version_name(options_.low), hdf5_version_name(options_.high)};
  return effective;
}

}  // namespace slabmark
