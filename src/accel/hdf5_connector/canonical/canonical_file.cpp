#include "accel/hdf5_connector/canonical/canonical_file.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "accel/hdf5_connector/canonical/write_alone.hpp"
#include "accel/hdf5_connector/log/find_datasets.hpp"
#include "accel/hdf5_connector/log/overlaps.hpp"
#include "accel/hdf5_connector/log/plain_file.hpp"
#include "accel/hdf5_connector/transfer.hpp"
#include "collective/exchange/chunk_order.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "storage/hdf5/filter_pipeline.hpp"
#include "storage/hdf5/space.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::slablog {

namespace {

constexpr std::uint64_t page = 4096;

// Points of HDF5 take memory for each coordinate.
constexpr std::uint64_t most_points = 1 << 16;

bool is_zero(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; });
}

std::uint64_t hint_number(const CanonicalFile::Hints& hints, const char* name,
                          std::uint64_t otherwise) {
  const auto found = hints.find(name);
  if (found == hints.end()) return otherwise;
  try {
    return parse_size(found->second, name);
  } catch (const InputError&) {
    return otherwise;  // libraries put words there, too
  }
}

/// Appends where an element is in an array.
void append_coordinates(const Extent& extent, std::uint64_t offset, std::vector<hsize_t>& all) {
  const auto at = all.size();
  all.resize(at + extent.size());
  for (auto d = extent.size(); d-- > 0; offset /= extent[d]) all[at + d] = offset % extent[d];
}

/// Pointers to each, as HDF5 takes lists of coordinates.
std::vector<const hsize_t*> pointers(const std::vector<Extent>& all) {
  std::vector<const hsize_t*> found;
  for (const auto& one : all) found.push_back(one.data());
  return found;
}

}  // namespace

std::uint64_t CanonicalDataset::part_bytes() const {
  const std::uint64_t bytes = element_bytes();
  return std::min<std::uint64_t>(8, bytes & (~bytes + 1));
}

void CanonicalDataset::set_grid() {
  auto of_parts = extent();
  auto chunk_of_parts = chunk;
  of_parts.back() *= parts();
  chunk_of_parts.back() *= parts();
  grid = ChunkGrid(std::move(of_parts), std::move(chunk_of_parts));
}

CanonicalFile::CanonicalFile(std::string path, Ranks ranks, const Config& config, Hints hints,
                             std::uint64_t left_out, std::shared_ptr<hdf5::DeferredError> deferred)
    : DataFile(std::move(path), std::move(ranks), config, true),
      hints_(std::move(hints)),
      left_out_(left_out),
      deferred_(std::move(deferred)) {}

bool CanonicalFile::takes(hid_t space, hid_t creation) const {
  // HDF5 2.2.0 writes beyond its memory when it selects points in so many dimensions.
  if (H5Sget_simple_extent_ndims(space) == H5S_MAX_RANK) return false;
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS) return H5Sget_simple_extent_npoints(space) > 0;
  // Chunks of one element are no units of the exchange.
  const auto is_one = [](hsize_t length) { return length == 1; };
  if (std::ranges::all_of(hdf5::chunk_of(creation), is_one)) return false;
  return H5Pall_filters_avail(creation) > 0;
}

std::shared_ptr<CanonicalDataset> CanonicalFile::described(const Opened& opened) const {
  const auto found = describe(opened.number, opened.type, opened.space, opened.creation);
  auto dataset = std::make_shared<CanonicalDataset>(std::move(*found));
  if (H5Pget_layout(opened.creation) == H5D_CHUNKED) {
    dataset->chunk = hdf5::chunk_of(opened.creation);
    dataset->set_grid();
    if (H5Pget_nfilters(opened.creation) > 0) {
      dataset->creation = hdf5::own(H5Pcopy(opened.creation), H5Pclose, "H5Pcopy", path_);
    } else {
      dataset->plain.emplace(element_count(dataset->chunk) * dataset->element_bytes(),
                             hdf5::stored_fill(dataset->type(), opened.creation));
      dataset->pipeline = &*dataset->plain;
    }
    dataset->fresh = opened.created && !is_strict();  // ranks may write it through HDF5
  } else {
    dataset->address = allocated_address(opened.under, opened.connector);
    dataset->fresh = opened.created && !is_strict() && is_zero(dataset->fill());
  }
  H5D_fill_value_t filled = H5D_FILL_VALUE_DEFAULT;
  hdf5::check(H5Pfill_value_defined(opened.creation, &filled), "H5Pfill_value_defined", path_);
  dataset->never_filled = filled == H5D_FILL_VALUE_UNDEFINED;
  return dataset;
}

std::shared_ptr<LogDataset> CanonicalFile::take(const Opened& opened) {
  if (!takes(opened.space, opened.creation)) return nullptr;
  if (const auto found = known_.find(opened.number); found != known_.end()) {
    ++found->second->users;
    return found->second;
  }
  auto dataset = described(opened);
  // HDF5 gives a contiguous dataset of a parallel file its space when it is created, or opened.
  if (is_parallel() && !dataset->in_chunks() && !dataset->address) return nullptr;
  dataset->under =
      opened.owned ? opened.under : open_again(opened.under, opened.connector, opened.number);
  dataset->users = 1;
  connector_ = opened.connector;
  known_[opened.number] = dataset;
  return dataset;
}

herr_t CanonicalFile::close(LogDataset& dataset, void* under, hid_t list, bool last) {
  const auto known = known_.find(dataset.number());
  auto& mine = *known->second;
  --mine.users;
  if (mine.users == 0) show_whole(mine);
  herr_t status = 0;
  if (under != mine.under) status = H5VLdataset_close(under, connector_, list, nullptr);
  const bool may_go = last || (!is_parallel() && !mine.has_pending());
  if (mine.users > 0 || !may_go) return status;
  const auto closed = H5VLdataset_close(mine.under, connector_, list, nullptr);
  known_.erase(known);
  return closed < 0 ? closed : status;
}

// Programs leave thousands of small datasets, which HDF5 would all have open until the next flush.
void CanonicalFile::show_whole(CanonicalDataset& dataset) {
  if (is_parallel() || abandoned_ || dataset.in_chunks()) return;
  if (!dataset.has_pending() || !dataset.is_all_pending()) return;
  try {
    flush_alone(dataset);
    drop_pending(dataset);
  } catch (const IoError&) {
    // The next flush tries it again, and says why it fails.
  }
}

std::vector<LogDataset*> CanonicalFile::datasets() const {
  std::vector<LogDataset*> all;
  for (const auto& [number, dataset] : known_) all.push_back(dataset.get());
  return all;
}

void CanonicalFile::release(bool only_without_pending) {
  std::erase_if(known_, [&](const auto& one) {
    const auto& dataset = *one.second;
    if (dataset.users > 0 || (only_without_pending && dataset.has_pending())) return false;
    H5VLdataset_close(dataset.under, connector_, H5P_DATASET_XFER_DEFAULT, nullptr);
    return true;
  });
}

void CanonicalFile::become_strict(const Location& file) {
  flush(file);
  config_.visibility = Visibility::strict;
  for (const auto& [number, dataset] : known_) dataset->fresh = false;
}

std::string CanonicalFile::abandon() {
  abandoned_ = true;
  drop_pending();
  release(true);
  return "has lost what was written since its last flush";
}

void CanonicalFile::check_written(bool well, const char* call) const {
  check_all(well, call, [this] {
    if (deferred_) deferred_->check();
  });
}

void CanonicalFile::after_close(bool well) {
  if (!abandoned_) check_written(well, "H5Fclose");
}

bool CanonicalFile::may_be_unreadable(const LogDataset& dataset) const {
  const auto& mine = *known_.at(dataset.number());
  return mine.never_filled && (is_parallel() ? mine.has_filters() : mine.has_pending());
}

bool CanonicalFile::has_plain_edges(const LogDataset& dataset) const {
  const auto& mine = *known_.at(dataset.number());
  return mine.has_filters() && !hdf5::filters_edges(mine.creation.get());
}

// What was pending was flushed before HDF5 changed the extent.
void CanonicalFile::reshape(const Location&, LogDataset& dataset, const Extent& extent) {
  auto& mine = *known_.at(dataset.number());
  // HDF5 forgets masks where it gives chunks up.
  const auto& old = mine.extent();
  if (!std::equal(old.begin(), old.end(), extent.begin(), std::less_equal<>()))
    mine.misread.reset();
  mine.reshape(extent);
  if (mine.in_chunks()) mine.set_grid();
  mine.fresh = false;
}

std::optional<CanonicalFile::Cut> CanonicalFile::cut(LogDataset& dataset, const Extent& extent) {
  const auto& mine = *known_.at(dataset.number());
  if (!is_parallel() || !mine.has_filters()) return std::nullopt;
  const auto& old = mine.extent();
  Cut cut{extent, {}, {}, {}};
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] < old[d]) cut.between[d] -= extent[d] % mine.chunk[d];
  }
  if (cut.between == extent) return std::nullopt;
  const ChunkGrid chunks(old, mine.chunk);
  std::uint64_t turn = 0;
  ranks_.agreed([&] {
    for (std::uint64_t number = 0; number < chunks.chunks(); ++number) {
      const auto first = chunks.first_element(number);
      bool is_cut = false;
      bool stays = true;
      Extent count(first.size());
      for (std::size_t d = 0; d < first.size(); ++d) {
        stays = stays && first[d] < extent[d];
        is_cut = is_cut || first[d] >= cut.between[d];
        count[d] = std::min({first[d] + mine.chunk[d], old[d], extent[d]}) - first[d];
      }
      if (!stays || !is_cut) continue;
      // Metadata may be read collectively.
      if (!stored_chunk(mine.under, connector_, {first.begin(), first.end()})) continue;
      const auto reader = turn++ % static_cast<std::uint64_t>(ranks_.size());
      if (reader != static_cast<std::uint64_t>(ranks_.rank())) continue;
      cut.starts.push_back(first);
      cut.counts.push_back(count);
    }
    const auto kept =
        boxes(dataset, cut.starts.size(), pointers(cut.starts).data(), pointers(cut.counts).data());
    cut.elements.resize(total_length(*kept.in_dataset) * dataset.element_bytes());
    read(dataset, reads_of(*kept.in_dataset, cut.elements.data(), dataset.element_bytes()));
  });
  return cut;
}

void CanonicalFile::restore(const Location& file, LogDataset& dataset, const Cut& cut) {
  begin_write(true);
  ranks_.agreed([&] {
    write_elements(
        *this, dataset, dataset.type(),
        boxes(dataset, cut.starts.size(), pointers(cut.starts).data(), pointers(cut.counts).data()),
        H5P_DEFAULT, cut.elements.data());
  });
  flush(file);
}

// Another rank brings elements to a dataset that this one does not have open.
CanonicalDataset& CanonicalFile::known(std::uint64_t number) {
  if (const auto found = known_.find(number); found != known_.end()) return *found->second;
  auto* under = open_at(file_, number);
  const auto get = [&](H5VL_dataset_get_t what) {
    H5VL_dataset_get_args_t args{};
    args.op_type = what;
    hdf5::check(H5VLdataset_get(under, file_.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
                "H5Dget", path_);
    return args.args;
  };
  const hdf5::Handle type(get(H5VL_DATASET_GET_TYPE).get_type.type_id, H5Tclose);
  const hdf5::Handle space(get(H5VL_DATASET_GET_SPACE).get_space.space_id, H5Sclose);
  const hdf5::Handle creation(get(H5VL_DATASET_GET_DCPL).get_dcpl.dcpl_id, H5Pclose);
  connector_ = file_.connector;
  auto dataset =
      described({under, connector_, number, type.get(), space.get(), creation.get(), false, true});
  dataset->under = under;
  return *(known_[number] = std::move(dataset));
}

hdf5::FilterPipeline* CanonicalFile::pipeline_of(CanonicalDataset& dataset) {
  if (dataset.pipeline != nullptr) return dataset.pipeline;
  const auto append = [](std::string& key, const auto& encode) {
    std::size_t bytes = 0;
    hdf5::check(encode(nullptr, &bytes), "H5Tencode", "a dataset");
    const auto at = key.size();
    key.resize(at + bytes);
    hdf5::check(encode(key.data() + at, &bytes), "H5Tencode", "a dataset");
  };
  std::string key;
  append(key, [&](void* to, std::size_t* bytes) { return H5Tencode(dataset.type(), to, bytes); });
  append(key, [&](void* to, std::size_t* bytes) {
    return H5Pencode2(dataset.creation.get(), to, bytes, H5P_DEFAULT);
  });
  auto found = pipelines_.find(key);
  if (found == pipelines_.end()) {
    found =
        pipelines_.emplace(key, hdf5::FilterPipeline(dataset.type(), dataset.creation.get())).first;
  }
  return dataset.pipeline = &found->second;
}

std::vector<FilteredArray> CanonicalFile::arrays(
    const std::map<std::uint64_t, std::uint64_t>& offsets) {
  std::vector<FilteredArray> found;
  if (offsets.empty()) return found;
  std::map<std::uint64_t, Chunked> chunked;
  ranks_.agreed([&] {
    for (const auto& [number, offset] : offsets) {
      auto& dataset = known(number);
      auto* pipeline = pipeline_of(dataset);
      found.push_back({offset, &dataset.grid, pipeline});
      chunked[offset] = {dataset.under,   connector_, &dataset.grid,
                         dataset.parts(), pipeline,   &dataset.misread};
    }
  });
  if (!chunks_) chunks_ = std::make_unique<ChunkFile>(*ranks_.comm(), files_.hdf5, left_out_);
  chunks_->set(std::move(chunked));
  return found;
}

void CanonicalFile::read(LogDataset& dataset, std::vector<ReadRun> reads) {
  const auto& mine = *known_.at(dataset.number());
  Gathering gathering(files_, dataset, most_points);
  for_each_request(std::move(reads), dataset.element_bytes(), most_points, [&](Request& request) {
    dataset.find(request, gathering);
    std::vector<ReadRun> missing;
    request.for_each_missing([&](const ReadRun& read) { missing.push_back(read); });
    if (!missing.empty()) read_below(mine, missing);
  });
  gathering.finish();
}

// HDF5 reads nothing at all of a dataset that it would not fill and that has no space yet. (Where
// several have the file open it has, or a rank that asks about chunks alone may wait for ever.)
bool CanonicalFile::is_unreadable(const CanonicalDataset& dataset) const {
  if (!dataset.never_filled || is_parallel()) return false;
  return dataset.in_chunks() ? !has_chunks(dataset.under, connector_)
                             : !allocated_address(dataset.under, connector_);
}

void CanonicalFile::read_below(const CanonicalDataset& dataset, const std::vector<ReadRun>& reads) {
  if (!dataset.misread) return read_by_hdf5(dataset, reads);
  const auto chunk = elements_of(dataset, dataset.misread->stored);
  const auto size = dataset.element_bytes();
  const ChunkGrid grid(dataset.extent(), dataset.chunk);
  const auto number = grid.chunk_of({dataset.misread->first.begin(), dataset.misread->first.end()});
  std::vector<ReadRun> others;
  for (auto rest : reads) {
    grid.for_each_run({rest.offset, rest.length}, [&](Run on_line) {
      while (on_line.length > 0) {
        const auto place = on_line.offset % grid.chunk_elements();
        const auto length = std::min(on_line.length, grid.chunk_elements() - place);
        if (on_line.offset / grid.chunk_elements() == number) {
          std::copy_n(chunk.data() + place * size, length * size, rest.target);
        } else {
          others.push_back({rest.offset, length, rest.target});
        }
        rest = after(rest, length, size);
        on_line = {on_line.offset + length, on_line.length - length};
      }
    });
  }
  if (!others.empty()) read_by_hdf5(dataset, others);
}

std::vector<std::byte> CanonicalFile::elements_of(const CanonicalDataset& dataset,
                                                  const StoredChunk& chunk) {
  const LibraryContext context;
  std::vector<std::byte> filtered(chunk.bytes);
  files_.hdf5.read_at(chunk.address, filtered.data(), chunk.bytes);
  std::vector<std::byte> elements(dataset.pipeline->chunk_bytes());
  dataset.pipeline->undo(filtered, chunk.mask, elements.data());
  return elements;
}

void CanonicalFile::read_by_hdf5(const CanonicalDataset& dataset,
                                 const std::vector<ReadRun>& reads) const {
  const auto& extent = dataset.extent();
  std::vector<hsize_t> coordinates;
  std::uint64_t elements = 0;
  for (const auto& read : reads) {
    for (auto offset = read.offset; offset < read.end(); ++offset) {
      append_coordinates(extent, offset, coordinates);
    }
    elements += read.length;
  }
  hdf5::Space in_file(extent);
  in_file.select_points(coordinates);
  const hdf5::Space line({elements});
  std::vector<std::byte> found(elements * dataset.element_bytes());
  const bool readable = !is_unreadable(dataset);
  auto* under = dataset.under;
  hid_t type = dataset.type();
  hid_t memory = line.get();
  hid_t file = in_file.get();
  void* buffer = found.data();
  if (readable) {
    hdf5::check(H5VLdataset_read(1, &under, connector_, &type, &memory, &file,
                                 H5P_DATASET_XFER_DEFAULT, &buffer, nullptr),
                "H5Dread", path_);
  }
  const auto* from = found.data();
  for (const auto& read : reads) {
    const auto bytes = read.length * dataset.element_bytes();
    std::copy(from, from + bytes, read.target);
    from += bytes;
  }
}

void CanonicalFile::flush(const Location& file) {
  if (abandoned_) return;
  check_creations();
  file_ = file;
  if (const auto* comm = ranks_.comm()) {
    flush_together(*comm);
  } else {
    flush_alone(nullptr);
  }
  drop_pending();
  release(true);
}

// All ranks must choose the same, also where the file system looks different to them.
void CanonicalFile::settle_settings(const Comm& comm) {
  if (alignment_ > 0) return;
  settings_.aggregators = comm.min(hint_number(hints_, "cb_nodes", 0));
  settings_.stripes =
      comm.min(std::max<std::uint64_t>(hint_number(hints_, "striping_factor", 1), 1));
  settings_.writers = comm.any(posix::locks_file_to_write(path_)) ? 1 : 0;
  alignment_ = comm.min(std::max(hint_number(hints_, "striping_unit", page), page));
}

Posting CanonicalFile::posting_of(CanonicalDataset& dataset, const std::byte* spilled) const {
  const auto part = dataset.part_bytes();
  const auto scale = dataset.parts();
  Posting posting;
  posting.fresh = dataset.fresh;
  if (dataset.in_chunks()) {
    posting.array = {1, dataset.number(), part, dataset.grid.elements(),
                     dataset.grid.chunk_elements()};
    posting.grid = &dataset.grid;
  } else {
    posting.array = {0, *dataset.address, part, element_count(dataset.extent()) * scale, 0};
  }
  if (const auto& post = dataset.only_post(); post.runs) {
    posting.runs = post.runs;
    posting.scale = scale;
    posting.data = post.data;
    return posting;
  }
  const auto address_of = [&](const LogRun& run) {
    return run.source == in_memory ? run.position
                                   : reinterpret_cast<std::uintptr_t>(spilled) + run.position;
  };
  auto lowest = std::numeric_limits<std::uint64_t>::max();
  dataset.for_each_pending(1, [&](const LogRuns& runs) {
    for (const auto& run : runs) {
      const auto address = address_of(run);
      lowest = std::min(lowest, address);
      // Memory and spill file keep to multiples of the part: see DataFile::spill().
      const Piece piece{run.offset * scale, address / part, run.length * scale};
      if (!posting.pieces.empty()) {  // the calls of runs that touch do not matter any more
        auto& last = posting.pieces.back();
        if (last.file + last.length == piece.file && last.buffer + last.length == piece.buffer) {
          last.length += piece.length;
          continue;
        }
      }
      posting.pieces.push_back(piece);
    }
  });
  posting.data = reinterpret_cast<const std::byte*>(lowest);
  for (auto& piece : posting.pieces) piece.buffer -= lowest / part;
  if (dataset.in_chunks()) posting.pieces = in_chunk_order(posting.pieces, dataset.grid);
  return posting;
}

void CanonicalFile::flush_together(const Comm& comm) {
  settle_settings(comm);
  if (!writer_) writer_ = CollectiveWriter::of(comm.get());
  posix::Mapping spilled;
  const LibraryContext context;  // filters are HDF5's own, on files in memory
  const auto write = [&] {
    std::vector<Posting> mine;
    ranks_.agreed([&] {
      if (files_.spill.is_open()) spilled = files_.spill.map(spilled_bytes_);
      for (const auto& [number, dataset] : known_) {
        if (dataset->has_pending()) mine.push_back(posting_of(*dataset, spilled.data()));
      }
    });
    return writer_->write(
        mine, settings_, alignment_,
        [&](std::uint64_t at, std::byte* memory, std::uint64_t bytes) {
          files_.hdf5.write_at(at, memory, bytes);
        },
        *this);
  };
  std::vector<ArrayName> arrays;
  try {
    arrays = write();
  } catch (const ElementsOfSeveral&) {  // on all ranks, before anything was written
    std::vector<LogDataset*> pending;
    for (const auto& [number, dataset] : known_) {
      if (dataset->has_pending()) pending.push_back(dataset.get());
    }
    resolve_overlaps(comm, pending, calls_);
    arrays = write();
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> written;
  for (const auto& array : arrays) written.insert({array.chunked, array.number});
  for (const auto& [number, dataset] : known_) {
    const bool chunked = dataset->in_chunks();
    if (written.contains({chunked, chunked ? number : *dataset->address})) dataset->fresh = false;
  }
}

void CanonicalFile::write_by_hdf5(CanonicalDataset& dataset, hid_t memory, hid_t file,
                                  std::uint64_t address) {
  hid_t type = dataset.type();
  const auto* data = reinterpret_cast<const void*>(address);
  hdf5::check(H5VLdataset_write(1, &dataset.under, connector_, &type, &memory, &file,
                                H5P_DATASET_XFER_DEFAULT, &data, nullptr),
              "H5Dwrite", path_);
}

// HDF5 gives space, and fills it where it has to, when it writes the first element.
void CanonicalFile::allocate(CanonicalDataset& dataset) {
  const auto first = dataset.first_pending();
  std::vector<std::byte> element(dataset.element_bytes());
  Gathering gathering(files_, dataset, 1);
  gathering.add(part_of(first, first.offset, first.offset + 1, element.size()), element.data());
  gathering.finish();
  std::vector<hsize_t> coordinates;
  append_coordinates(dataset.extent(), first.offset, coordinates);
  hdf5::Space in_file(dataset.extent());
  in_file.select_points(coordinates);
  const hdf5::Space line({1});
  write_by_hdf5(dataset, line.get(), in_file.get(),
                reinterpret_cast<std::uintptr_t>(element.data()));
  dataset.address = allocated_address(dataset.under, connector_);
}

void CanonicalFile::flush_alone(CanonicalDataset& dataset) {
  if (!dataset.has_pending()) return;
  if (dataset.in_chunks()) {
    write_chunks_alone(files_, dataset, dataset.chunk, dataset.under, connector_,
                       is_unreadable(dataset));
    return;
  }
  if (!dataset.address && dataset.is_all_pending()) {
    const auto all = dataset.first_pending();
    if (all.source == in_memory) return write_by_hdf5(dataset, H5S_ALL, H5S_ALL, all.position);
  }
  if (!dataset.address) allocate(dataset);
  write_alone(files_, dataset, *dataset.address);
}

// One that fails does not keep the others from the file. Goes by number, since HDF5 gives space
// when the first element is written.
void CanonicalFile::flush_alone(const LogDataset* only) {
  std::exception_ptr first_failure;
  for (const auto& [number, dataset] : known_) {
    try {
      flush_alone(*dataset);
      drop_pending(*dataset);
    } catch (const IoError&) {
      if (!first_failure && (only == nullptr || only == dataset.get()))
        first_failure = std::current_exception();
    }
  }
  if (first_failure) std::rethrow_exception(first_failure);
}

// Alone, contiguous ones go to their places. Chunks wait in the spill file, so that each goes
// through its filters once in a flush.
void CanonicalFile::make_room() {
  for (const auto& [number, dataset] : known_) {
    if (is_parallel() || dataset->in_chunks()) continue;
    flush_alone(*dataset);
    drop_pending(*dataset);
  }
  if (is_full()) spill();
}

void CanonicalFile::show(const LogDataset& dataset) {
  if (!is_parallel() && !abandoned_) flush_alone(&dataset);
}

}  // namespace slabmark::slablog
