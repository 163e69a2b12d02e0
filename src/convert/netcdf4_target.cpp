#include "convert/netcdf4_target.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "collective/context.hpp"
#include "collective/exchange/chunk_order.hpp"
#include "collective/file.hpp"
#include "collective/filters/filtered_flush.hpp"
#include "collective/plan.hpp"
#include "convert/netcdf4_header.hpp"
#include "core/geometry/chunk_grid.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/hdf5/location.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::convert {

namespace {

constexpr std::uint64_t largest_write = std::uint64_t{1} << 30;  // MPI counts in int

/// The chunked boxes of a batch, one after another beyond the bytes of the file.
struct PlacedBox {
  const VariableBox* box;
  ArrayPlace place;
  ChunkGrid grid;
  std::byte* memory;  ///< this rank's share
  Run share;
};

/// Gives chunks space in the file, which the root alone has open in HDF5.
class TargetChunks : public ChunkStore {
 public:
  TargetChunks(const Comm& comm, const std::vector<hdf5::Dataset>& datasets, collective::File& file,
               const std::string& path)
      : comm_(comm), datasets_(datasets), file_(file), path_(path) {}

  void begin(std::span<const PlacedBox> boxes) { boxes_ = boxes; }

  // Each chunk is written once, so the file holds none of them before.
  void look_up(std::vector<FilteredChunk>& chunks) override {
    for (FilteredChunk& chunk : chunks) chunk.bytes = 0;
  }

  void allocate(std::vector<FilteredChunk>& chunks) override {
    by_root(comm_, chunks, [&](std::span<FilteredChunk> all) {
      std::vector<hdf5::StoredChunk> one(1);
      for (FilteredChunk& chunk : all) {
        const PlacedBox& in = box_at(chunk.place);
        one.front() = {first_of(in, chunk.place), chunk.bytes,
                       static_cast<std::uint32_t>(chunk.mask), 0};
        hdf5::allocate_chunks(datasets_[in.box->variable].get(), one, path_);
        chunk.address = one.front().address;
        note_elements({chunk.address, chunk.bytes});
      }
    });
  }

  /// On root: these bytes of the file hold elements.
  void note_elements(Run bytes) {
    if (bytes.length == 0) return;
    auto next = elements_.lower_bound(bytes.offset);
    if (next != elements_.begin() && std::prev(next)->second == bytes.offset) {
      --next;
      next->second = bytes.end();
    } else {
      next = elements_.insert_or_assign(next, bytes.offset, bytes.end());
    }
    const auto after = std::next(next);
    if (after == elements_.end() || after->first != next->second) return;
    next->second = after->second;
    elements_.erase(after);
  }

  /// On root: the rest of a file of this size.
  std::vector<Run> ranges_without_elements(std::uint64_t size) const {
    std::vector<Run> ranges;
    std::uint64_t end = 0;
    for (const auto& [begin, next_end] : elements_) {
      if (begin > end) ranges.push_back({end, begin - end});
      end = next_end;
    }
    if (size > end) ranges.push_back({end, size - end});
    return ranges;
  }

  void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.read(address, memory, bytes);
  }
  void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.write(address, memory, bytes);
  }

 private:
  const PlacedBox& box_at(std::uint64_t place) const {
    const auto after = std::ranges::upper_bound(
        boxes_, place, {}, [](const PlacedBox& box) { return box.place.offset; });
    return *(after - 1);
  }

  static Extent first_of(const PlacedBox& in, std::uint64_t place) {
    Extent first = in.grid.first_element((place - in.place.offset) / in.place.unit_bytes());
    for (std::size_t d = 0; d < first.size(); ++d) first[d] += in.box->start[d];
    return first;
  }

  const Comm& comm_;
  const std::vector<hdf5::Dataset>& datasets_;  ///< on root
  collective::File& file_;
  const std::string& path_;
  std::span<const PlacedBox> boxes_;
  std::map<std::uint64_t, std::uint64_t> elements_;  ///< on root: end by beginning in the file
};

class Netcdf4Target : public Target {
 public:
  Netcdf4Target(const Comm& comm, const std::string& path, const Netcdf4Plan& plan)
      : comm_(comm), path_(path), plan_(plan), context_(comm.get()) {
    const auto& variables = plan.contents.variables;
    addresses_.assign(variables.size(), HADDR_UNDEF);
    agreed(comm, [&] {
      for (std::size_t v = 0; v < variables.size(); ++v) {
        creations_.push_back(
            creation_of(variables[v], plan.chunks[v], plan.settings.of(variables[v]), path));
        pipelines_.push_back(nullptr);
        if (plan.chunks[v].empty()) continue;
        pipelines_.back() = &made_.of(hdf5::native_type(variables[v].type), creations_[v].get());
      }
      if (comm.is_root()) plan.resumed == nullptr ? define() : reopen(*plan.resumed);
    });
    check_mpi(MPI_Bcast(addresses_.data(), static_cast<int>(addresses_.size()), MPI_UINT64_T, 0,
                        comm.get()),
              "MPI_Bcast");
    agreed(comm, [&] {
      file_ = collective::File(MPI_COMM_SELF, path, collective::File::Access::write, {});
    });
    const bool no_plan_yet = context_.prepare(exchange());
    static_cast<void>(no_plan_yet);
  }

  void write(const Batch& batch, std::span<const Run> shares, std::byte* memory) override {
    agreed(comm_, [&] {
      place(batch, shares, memory, [&](const VariableBox& box, Run share, std::byte* of_box) {
        write_contiguous(box, share, of_box);
      });
    });
    if (placed_.empty()) return;
    write_chunked();
    placed_.clear();
  }

  TargetState save() override {
    TargetState state;
    agreed(comm_, [&] {
      file_.sync();
      if (comm_.is_root()) state = header_state();
    });
    return state;
  }

  void close() override {
    agreed(comm_, [&] {
      file_.close();
      datasets_.clear();
      if (comm_.is_root()) close_header();
    });
  }

 private:
  void define() {
    hdf5::AccessSettings access;
    access.low = H5F_LIBVER_V18;  // netCDF-C's
    access.placeholders = true;
    access.creation_order = true;
    access.chunk_cache = false;
    header_ = hdf5::File::create_serial(path_, access);
    datasets_ = define_netcdf4(header_, plan_.contents, creations_);
    find_contiguous();
  }

  void reopen(const TargetState& state) {
    const hdf5::Handle access = hdf5::without_locks(path_);
    hdf5::leave_out_placeholders(access.get());
    hdf5::check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110),
                "H5Pset_libver_bounds", path_);
    reopened_ =
        hdf5::own(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose, "H5Fopen", path_);
    datasets_ = open_netcdf4_variables(reopened_, plan_.contents, path_);
    find_contiguous();
    std::uint64_t end = 0;
    for (const Run& range : state.ranges) {
      chunks_.note_elements({end, range.offset - end});
      end = range.end();
    }
    chunks_.note_elements({end, state.size - end});
  }

  void find_contiguous() {
    for (std::size_t v = 0; v < datasets_.size(); ++v) {
      if (!plan_.chunks[v].empty()) continue;
      addresses_[v] = hdf5::allocated_address(datasets_[v].get());
      const FileVariable& variable = plan_.contents.variables[v];
      const std::uint64_t elements = element_count(plan_.contents.extent_of(v));
      if (elements > 0) chunks_.note_elements({addresses_[v], elements * size_of(variable.type)});
    }
  }

  hid_t header() const { return reopened_.is_open() ? reopened_.get() : header_.get(); }

  void close_header() {
    header_.close();
    if (!reopened_.is_open()) return;
    hdf5::check(H5Fclose(reopened_.release()), "H5Fclose", path_);
  }

  // HDF5 keeps what describes the file in memory. A kill may come while it writes that, so a later
  // run gets a copy of it.
  TargetState header_state() {
    hdf5::check(H5Fflush(header(), H5F_SCOPE_LOCAL), "H5Fflush", path_);
    posix::File file = posix::File::open(path_, posix::File::Access::read);
    TargetState state{file.size(), chunks_.ranges_without_elements(file.size()), {}};
    for (const Run& range : state.ranges) {
      const std::size_t before = state.bytes.size();
      state.bytes.resize(before + range.length);
      file.read_at(range.offset, state.bytes.data() + before, range.length);
    }
    return state;
  }

  /// All ranks run filters.
  RearrangerSettings exchange() const {
    RearrangerSettings settings;
    settings.aggregators = static_cast<std::uint64_t>(comm_.size());
    settings.window = plan_.window;
    for (const hdf5::FilterPipeline* const pipeline : pipelines_) {
      if (pipeline != nullptr) settings.unit = std::max(settings.unit, pipeline->chunk_bytes());
    }
    return settings;
  }

  /// Sorts the boxes of a batch: those in chunks are noted, the others visited.
  template <class Visit>
  void place(const Batch& batch, std::span<const Run> shares, std::byte* memory,
             const Visit& contiguous) {
    placed_.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const VariableBox& box = batch[i];
      const std::uint64_t bytes = size_of(plan_.contents.variables[box.variable].type);
      if (plan_.chunks[box.variable].empty()) {
        contiguous(box, shares[i], memory);
      } else {
        const ChunkGrid grid(box.size, plan_.chunks[box.variable]);
        const ArrayPlace at{next_place_, bytes, grid.elements(), grid.chunk_elements()};
        placed_.push_back({&box, at, grid, memory, shares[i]});
        next_place_ += at.bytes();
      }
      memory += shares[i].length * bytes;
    }
  }

  void write_contiguous(const VariableBox& box, Run share, const std::byte* memory) {
    const std::uint64_t bytes = size_of(plan_.contents.variables[box.variable].type);
    const std::uint64_t first =
        offset_of(box.start.data(), plan_.contents.extent_of(box.variable)) + share.offset;
    for_each_part({0, share.length * bytes}, largest_write, [&](Run part) {
      file_.write(addresses_[box.variable] + first * bytes + part.offset, memory + part.offset,
                  part.length);
    });
  }

  void write_chunked() {
    std::vector<ArrayPlace> places;
    std::vector<FilteredArray> arrays;
    std::vector<std::byte*> memory;
    for (const PlacedBox& one : placed_) {
      places.push_back(one.place);
      arrays.push_back({one.place.offset, &one.grid, pipelines_[one.box->variable]});
      memory.push_back(one.memory);
    }
    const FileDomain domain(places, 0);
    plan_for(domain);
    std::vector<std::byte> staging;
    const std::vector<std::byte*> buffers = flush_plan_.buffers(memory, staging);
    const std::vector<bool> fresh(places.size(), true);
    Rearranger& rearranger = context_.rearranger();
    const Rearranger::Flush flush{domain, flush_plan_.flush(), buffers, fresh};
    chunks_.begin(placed_);
    const auto no_access = [](std::uint64_t, std::byte*, std::uint64_t) {};
    filtered_.write(rearranger, flush, arrays, no_access);
  }

  // A time series has the same boxes again and again, so the plan of the last ones may serve.
  void plan_for(const FileDomain& domain) {
    std::vector<std::uint64_t> shape;
    for (const PlacedBox& one : placed_) {
      const Extent& chunk = one.grid.chunk();
      shape.insert(shape.end(), one.box->size.begin(), one.box->size.end());
      shape.insert(shape.end(), chunk.begin(), chunk.end());
      shape.insert(shape.end(), {one.place.element_bytes, one.share.offset, one.share.length});
    }
    if (!comm_.any(shape != planned_shape_)) return;
    planned_shape_ = std::move(shape);
    std::vector<collective::Item> items;
    agreed(comm_, [&] {
      for (std::size_t i = 0; i < placed_.size(); ++i) items.push_back(item_of(i));
    });
    flush_plan_ =
        collective::Plan(comm_, domain, std::move(items), {context_.rearranger().aggregators(), 1},
                         {true, collective::Overlaps::allowed});
  }

  collective::Item item_of(std::size_t i) const {
    const PlacedBox& one = placed_[i];
    collective::Item item{i, {}, plan_.contents.variables[one.box->variable].name};
    if (one.share.length == 0) return item;
    const Piece mine{one.share.offset, 0, one.share.length};
    item.sources.push_back(
        {i, std::make_shared<const std::vector<Piece>>(in_chunk_order({&mine, 1}, one.grid)),
         false});
    return item;
  }

  const Comm& comm_;
  const std::string path_;
  const Netcdf4Plan plan_;
  collective::Context context_;
  std::vector<hdf5::Handle> creations_;
  hdf5::PipelineCache made_;
  std::vector<hdf5::FilterPipeline*> pipelines_;  ///< by variable; null: contiguous
  hdf5::File header_;                             ///< on root; before datasets_
  hdf5::Handle reopened_;                         ///< in its place where a file was there
  std::vector<hdf5::Dataset> datasets_;           ///< on root
  std::vector<std::uint64_t> addresses_;          ///< of contiguous variables
  collective::File file_;
  TargetChunks chunks_{comm_, datasets_, file_, path_};
  FilteredFlush filtered_{comm_, chunks_};
  std::vector<PlacedBox> placed_;  ///< of the batch
  std::uint64_t next_place_ = beyond_file;
  std::vector<std::uint64_t> planned_shape_;
  collective::Plan flush_plan_;
};

}  // namespace

std::unique_ptr<Target> create_netcdf4(const Comm& comm, const std::string& path,
                                       const Netcdf4Plan& plan) {
  return std::make_unique<Netcdf4Target>(comm, path, plan);
}

}  // namespace slabmark::convert
