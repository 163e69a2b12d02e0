#include "slablog/canonical_file.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "exchange/chunk_order.hpp"
#include "slablog/find_datasets.hpp"
#include "slablog/plain_file.hpp"
#include "slablog/write_alone.hpp"
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

std::uint64_t number_of(const CanonicalFile::Hints& hints, const char* name,
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

/// The rearranger knows elements of 1, 2, 4 and 8 bytes; others are several of these.
std::uint64_t unit_of(std::uint64_t element_bytes) {
  return std::min<std::uint64_t>(8, element_bytes & (~element_bytes + 1));
}

}  // namespace

CanonicalFile::CanonicalFile(std::string path, Ranks ranks, const Config& config, Hints hints)
    : DataFile(std::move(path), std::move(ranks), config, true), hints_(std::move(hints)) {}

// (The rearranger moves elements of 1, 2, 4 and 8 bytes within chunks.)
bool CanonicalFile::takes(hid_t type, hid_t space, hid_t creation) const {
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS) return H5Sget_simple_extent_npoints(space) > 0;
  const auto bytes = H5Tget_size(type);
  std::array<hsize_t, H5S_MAX_RANK> chunk;
  const auto rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data());
  // Chunks of one element are no units of the exchange.
  const auto is_one = [](hsize_t length) { return length == 1; };
  if (std::all_of(chunk.begin(), chunk.begin() + std::max(0, rank), is_one)) return false;
  return is_parallel() && bytes == unit_of(bytes) && H5Pall_filters_avail(creation) > 0;
}

std::shared_ptr<CanonicalDataset> CanonicalFile::described(const Opened& opened) const {
  const auto found = describe(opened.number, opened.type, opened.space, opened.creation);
  auto dataset = std::make_shared<CanonicalDataset>(std::move(*found));
  if (H5Pget_layout(opened.creation) == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(dataset->extent().size());
    hdf5::check(H5Pget_chunk(opened.creation, static_cast<int>(chunk.size()), chunk.data()),
                "H5Pget_chunk", path_);
    dataset->grid = ChunkGrid(dataset->extent(), {chunk.begin(), chunk.end()});
    dataset->creation = hdf5::own(H5Pcopy(opened.creation), H5Pclose, "H5Pcopy", path_);
    dataset->fresh = opened.created;
  } else {
    dataset->address = allocated_address(opened.under, opened.connector);
    dataset->fresh = opened.created && is_zero(dataset->fill());
  }
  return dataset;
}

std::shared_ptr<LogDataset> CanonicalFile::take(const Opened& opened) {
  if (!takes(opened.type, opened.space, opened.creation)) return nullptr;
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
  herr_t status = 0;
  if (under != mine.under) status = H5VLdataset_close(under, connector_, list, nullptr);
  const bool may_go = last || (!is_parallel() && !mine.has_pending());
  if (mine.users > 0 || !may_go) return status;
  const auto closed = H5VLdataset_close(mine.under, connector_, list, nullptr);
  known_.erase(known);
  return closed < 0 ? closed : status;
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

std::string CanonicalFile::abandon() {
  abandoned_ = true;
  drop_pending();
  release(true);
  return "has lost what was written since its last flush";
}

void CanonicalFile::after_close(bool well) {
  if (!abandoned_) check_all(well, "H5Fclose", {});
}

// What was pending was flushed before HDF5 changed the extent.
void CanonicalFile::reshape(const Location&, LogDataset& dataset, const Extent& extent) {
  auto& mine = *known_.at(dataset.number());
  mine.reshape(extent);
  mine.grid = ChunkGrid(extent, mine.grid.chunk());
  mine.fresh = false;
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

hdf5::FilterPipeline* CanonicalFile::pipeline_of(const CanonicalDataset& dataset) {
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
  const auto found = pipelines_.find(key);
  if (found != pipelines_.end()) return &found->second;
  return &pipelines_.emplace(key, hdf5::FilterPipeline(dataset.type(), dataset.creation.get()))
              .first->second;
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
      chunked[offset] = {dataset.under, connector_, &dataset.grid, pipeline};
    }
  });
  if (!chunks_) chunks_ = std::make_unique<ChunkFile>(*ranks_.comm(), files_.hdf5);
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

void CanonicalFile::read_below(const CanonicalDataset& dataset,
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
  auto* under = dataset.under;
  hid_t type = dataset.type();
  hid_t memory = line.get();
  hid_t file = in_file.get();
  void* buffer = found.data();
  hdf5::check(H5VLdataset_read(1, &under, connector_, &type, &memory, &file,
                               H5P_DATASET_XFER_DEFAULT, &buffer, nullptr),
              "H5Dread", path_);
  const auto* from = found.data();
  for (const auto& read : reads) {
    const auto bytes = read.length * dataset.element_bytes();
    std::copy(from, from + bytes, read.target);
    from += bytes;
  }
}

void CanonicalFile::flush(const Location& file) {
  if (abandoned_) return;
  file_ = file;
  if (const auto* comm = ranks_.comm()) {
    flush_together(*comm);
  } else {
    flush_alone();
  }
  drop_pending();
  release(true);
}

// All ranks must choose the same, also where the file system looks different to them.
void CanonicalFile::settle_settings(const Comm& comm) {
  if (alignment_ > 0) return;
  settings_.aggregators = comm.min(number_of(hints_, "cb_nodes", 0));
  settings_.stripes = comm.min(std::max<std::uint64_t>(number_of(hints_, "striping_factor", 1), 1));
  settings_.writers = comm.any(posix::locks_file_to_write(path_)) ? 1 : 0;
  alignment_ = comm.min(std::max(number_of(hints_, "striping_unit", page), page));
}

Posting CanonicalFile::posting_of(CanonicalDataset& dataset, const std::byte* spilled) const {
  const auto unit = unit_of(dataset.element_bytes());
  const auto scale = dataset.element_bytes() / unit;
  Posting posting;
  posting.fresh = dataset.fresh;
  if (dataset.in_chunks()) {
    posting.array = {1, dataset.number(), unit, dataset.grid.elements(),
                     dataset.grid.chunk_elements()};
    posting.grid = &dataset.grid;
  } else {
    posting.array = {0, *dataset.address, unit, element_count(dataset.extent()) * scale, 0};
  }
  if (const auto& post = dataset.only_post(); post.runs) {
    posting.runs = post.runs;
    posting.scale = scale;
    posting.data = post.data;
    return posting;
  }
  const auto address_of = [&](const LogRun& run) {
    return run.source == in_memory ? reinterpret_cast<const std::byte*>(run.position)
                                   : spilled + run.position;
  };
  const auto& pending = dataset.pending();
  posting.data = address_of(pending.front());
  for (const auto& run : pending) posting.data = std::min(posting.data, address_of(run));
  posting.pieces.reserve(pending.size());
  for (const auto& run : pending) {
    // Memory and spill file keep to multiples of the unit: see DataFile::spill().
    const auto distance = static_cast<std::uint64_t>(address_of(run) - posting.data);
    posting.pieces.push_back({run.offset * scale, distance / unit, run.length * scale});
  }
  if (dataset.in_chunks()) posting.pieces = in_chunk_order(posting.pieces, dataset.grid);
  return posting;
}

void CanonicalFile::flush_together(const Comm& comm) {
  settle_settings(comm);
  if (!writer_) writer_ = InPlaceWriter::of(comm.get());
  posix::Mapping spilled;
  std::vector<Posting> mine;
  const LibraryContext context;  // filters are HDF5's own, on files in memory
  ranks_.agreed([&] {
    if (files_.spill.is_open()) spilled = files_.spill.map(spilled_bytes_);
    for (const auto& [number, dataset] : known_) {
      if (dataset->has_pending()) mine.push_back(posting_of(*dataset, spilled.data()));
    }
  });
  std::set<std::pair<std::uint64_t, std::uint64_t>> written;
  const auto arrays = writer_->write(
      mine, settings_, alignment_,
      [&](std::uint64_t at, std::byte* memory, std::uint64_t bytes) {
        files_.hdf5.write_at(at, memory, bytes);
      },
      *this);
  for (const auto& array : arrays) written.insert({array.chunked, array.number});
  for (const auto& [number, dataset] : known_) {
    const bool chunked = dataset->in_chunks();
    if (written.contains({chunked, chunked ? number : *dataset->address})) dataset->fresh = false;
  }
}

// HDF5 gives space, and fills it where it has to, when it writes the first element.
void CanonicalFile::allocate(CanonicalDataset& dataset) {
  const auto first = dataset.pending().front();
  std::vector<std::byte> element(dataset.element_bytes());
  Gathering gathering(files_, dataset, 1);
  gathering.add(part_of(first, first.offset, first.offset + 1, element.size()), element.data());
  gathering.finish();
  std::vector<hsize_t> coordinates;
  append_coordinates(dataset.extent(), first.offset, coordinates);
  hdf5::Space in_file(dataset.extent());
  in_file.select_points(coordinates);
  const hdf5::Space line({1});
  hid_t type = dataset.type();
  hid_t memory = line.get();
  hid_t file = in_file.get();
  const void* buffer = element.data();
  hdf5::check(H5VLdataset_write(1, &dataset.under, connector_, &type, &memory, &file,
                                H5P_DATASET_XFER_DEFAULT, &buffer, nullptr),
              "H5Dwrite", path_);
  dataset.address = allocated_address(dataset.under, connector_);
}

void CanonicalFile::flush_alone() {
  for (const auto& [number, dataset] : known_) {
    if (!dataset->has_pending()) continue;
    if (!dataset->address) allocate(*dataset);
    write_alone(files_, *dataset, *dataset->address);
  }
}

}  // namespace slabmark::slablog
