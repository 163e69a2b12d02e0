// Random programs of HDF5 calls, which check all that they read and the file that they leave.
//
//     hdf5_random <file> <first seed> <programs> [<options of the connector>...]
//
// Each program has a seed of its own, which a message names: `hdf5_random <file> <seed> 1` repeats
// it alone. It takes one of the options; without any, its file is a native one. All ranks draw the
// calls of all ranks from the same seed, so each knows which values are right:
//   * collective calls happen in their order, and so do the calls of one rank;
//   * a barrier separates independent calls that have an element in common;
//   * ranks that write one element in one call write the same value;
//   * a collective read shows all that was written before. An independent one shows what the rank
//     wrote itself, and what was flushed. HDF5 itself shows everything, and the connector shows
//     what docs/reference/hdf5-connector.md promises of visibility=strict. Other elements are not
//     compared.
// MPI-IO must be ROMIO or as good: OMPIO loses elements that several ranks access in one call
// (docs/known-issues.md). With HDF5_RANDOM_SHOWS in the environment the calls are printed.
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <hdf5.h>
#include <mpi.h>

#include "accel/hdf5_connector/api/slablog.h"

namespace {

using Dims = std::vector<hsize_t>;

int rank = 0;
int ranks = 1;
std::uint64_t seed = 0;
int operation = 0;
bool shows = false;
char hangs[80];

/// Rank 0 knows what the others do, and prints the whole program.
[[gnu::format(printf, 1, 2)]] void show(const char* format, ...) {
  if (!shows || rank != 0) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::printf("%3d: ", operation);
  std::vprintf(format, arguments);
  std::printf("\n");
  std::fflush(stdout);
  va_end(arguments);
}

hid_t checked(hid_t result, const char* call) {
  if (result >= 0) return result;
  std::fprintf(stderr, "seed %ju, operation %d, rank %d: %s failed\n",
               static_cast<std::uintmax_t>(seed), operation, rank, call);
  MPI_Abort(MPI_COMM_WORLD, 3);
  return result;
}
#define CHECK(call) checked(call, #call)

/// An identifier of HDF5's.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) checked(close_(id_), "closing an identifier");
  }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

Id space_of(const Dims& dims) {
  return {CHECK(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr)), H5Sclose};
}

class Random {
 public:
  explicit Random(std::uint64_t from) : engine_(from) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool once_in(std::size_t n) { return below(n) == 0; }
  hid_t type() {
    const hid_t types[] = {H5T_NATIVE_INT, H5T_NATIVE_SHORT, H5T_NATIVE_LLONG, H5T_NATIVE_DOUBLE,
                           H5T_STD_I32BE};
    return types[below(5)];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (auto i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

/// An element: what it holds, and who may expect that.
struct Element {
  int value = 0;
  unsigned seen_by = ~0U;  ///< the ranks whose independent reads bring it
  unsigned writers = 0;    ///< independent ones since the last barrier
  unsigned readers = 0;
  int written_in = -1;  ///< operation
};

struct Dataset {
  std::string name;
  Dims extent;
  Dims most;  ///< no dimension ever gets longer
  bool grows = false;
  bool filtered = false;
  bool written = false;
  hid_t type = H5T_NATIVE_INT;
  int fill = 0;
  std::vector<Element> elements;  ///< of an array of `most`
  std::vector<Id> handles;

  std::size_t index_of(const Dims& at) const {
    std::size_t index = 0;
    for (std::size_t d = 0; d < most.size(); ++d) index = index * most[d] + at[d];
    return index;
  }
};

/// Calls `visit` with each place of [low, high), the last dimension fastest.
void each_place(const Dims& low, const Dims& high, const std::function<void(const Dims&)>& visit) {
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (low[d] >= high[d]) return;
  }
  Dims at = low;
  for (;;) {
    visit(at);
    auto d = at.size();
    while (d > 0 && ++at[d - 1] == high[d - 1]) {
      at[d - 1] = low[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

/// What one rank accesses of a dataset, in the order in which HDF5 moves the elements.
struct Selection {
  Id file;
  Id memory;
  bool all = false;
  std::vector<std::size_t> elements;
  std::vector<Dims> starts;  ///< of boxes for H5Dwrite_n and H5Dread_n, if there are any
  std::vector<Dims> counts;
  std::size_t step = 1;  ///< in memory
  hid_t type = H5T_NATIVE_INT;
  hid_t handle = -1;  ///< of the dataset, by which this rank calls

  std::size_t length() const { return std::max<std::size_t>(1, elements.size() * step); }

  std::vector<char> buffer(const std::vector<int>& values) const {
    std::vector<int> spread(length(), -9);
    for (std::size_t i = 0; i < values.size(); ++i) spread[i * step] = values[i];
    std::vector<char> bytes(length() * sizeof(double));
    std::memcpy(bytes.data(), spread.data(), length() * sizeof(int));
    CHECK(H5Tconvert(H5T_NATIVE_INT, type, length(), bytes.data(), nullptr, H5P_DEFAULT));
    return bytes;
  }

  std::vector<int> values(std::vector<char> bytes) const {
    CHECK(H5Tconvert(type, H5T_NATIVE_INT, length(), bytes.data(), nullptr, H5P_DEFAULT));
    std::vector<int> spread(length());
    std::memcpy(spread.data(), bytes.data(), length() * sizeof(int));
    std::vector<int> found(elements.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = spread[i * step];
    return found;
  }

  hid_t file_id() const { return all ? static_cast<hid_t>(H5S_ALL) : file.get(); }
  hid_t memory_id() const { return all ? static_cast<hid_t>(H5S_ALL) : memory.get(); }
};

struct Box {
  Dims start, stride, count, block;
};

Box random_box(Random& random, const Dims& low, const Dims& high) {
  Box box;
  for (std::size_t d = 0; d < low.size(); ++d) {
    const auto start = low[d] + random.below(high[d] - low[d]);
    const auto block = 1 + random.below(std::min<hsize_t>(3, high[d] - start));
    const auto stride = block + random.below(3);
    box.start.push_back(start);
    box.block.push_back(block);
    box.stride.push_back(stride);
    box.count.push_back(1 + random.below((high[d] - start - block) / stride + 1));
  }
  return box;
}

bool holds(const Box& box, const Dims& at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] < box.start[d]) return false;
    const auto beyond = at[d] - box.start[d];
    if (beyond / box.stride[d] >= box.count[d] || beyond % box.stride[d] >= box.block[d])
      return false;
  }
  return true;
}

void select_boxes(Random& random, const Dataset& dataset, const Dims& low, const Dims& high,
                  Selection& selection) {
  std::vector<Box> boxes = {random_box(random, low, high)};
  if (random.once_in(4)) boxes.push_back(random_box(random, low, high));
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const auto& box : boxes) {
    CHECK(H5Sselect_hyperslab(selection.file.get(), how, box.start.data(), box.stride.data(),
                              box.count.data(), box.block.data()));
    how = H5S_SELECT_XOR;
  }
  each_place(low, high, [&](const Dims& at) {
    bool selected = false;
    for (const auto& box : boxes) selected = selected != holds(box, at);
    if (selected) selection.elements.push_back(dataset.index_of(at));
  });
}

void select_points(Random& random, const Dataset& dataset, const Dims& low, const Dims& high,
                   Selection& selection) {
  std::vector<Dims> places;
  each_place(low, high, [&](const Dims& at) { places.push_back(at); });
  random.shuffle(places);  // HDF5 2.2.0 fails in collective reads of points that come twice
  places.resize(1 + random.below(std::min<std::size_t>(6, places.size())));
  Dims points;
  for (const auto& at : places) {
    points.insert(points.end(), at.begin(), at.end());
    selection.elements.push_back(dataset.index_of(at));
  }
  CHECK(H5Sselect_elements(selection.file.get(), H5S_SELECT_SET, places.size(), points.data()));
}

/// Two boxes beside each other in the first dimension, the later one first.
void select_two(Random& random, const Dataset& dataset, const Dims& low, const Dims& high,
                Selection& selection) {
  const auto middle = low[0] + random.below(high[0] - low[0] + 1);
  for (const bool later : {true, false}) {
    Dims start = low;
    Dims end = high;
    (later ? start : end)[0] = middle;
    if (start[0] >= end[0]) continue;
    Dims count;
    for (std::size_t d = 0; d < start.size(); ++d) {
      start[d] += random.below(end[d] - start[d]);
      count.push_back(1 + random.below(end[d] - start[d]));
      end[d] = start[d] + count[d];
    }
    selection.starts.push_back(start);
    selection.counts.push_back(count);
    each_place(start, end,
               [&](const Dims& at) { selection.elements.push_back(dataset.index_of(at)); });
  }
}

/// In [low, high) of the extent; `boxes`: for H5Dwrite_n or H5Dread_n.
Selection random_selection(Random& random, const Dataset& dataset, const Dims& low,
                           const Dims& high, bool boxes) {
  Selection selection;
  selection.handle = dataset.handles[random.below(dataset.handles.size())].get();
  selection.type = random.type();
  // HDF5 2.2.0 cannot write filtered chunks that are larger than the extent of the selection.
  selection.file = {CHECK(H5Dget_space(selection.handle)), H5Sclose};
  bool empty = false;
  for (std::size_t d = 0; d < low.size(); ++d) empty = empty || low[d] >= high[d];
  const auto kind = empty ? 0 : random.below(8);
  if (kind == 0) {
    CHECK(H5Sselect_none(selection.file.get()));
  } else if (boxes) {
    select_two(random, dataset, low, high, selection);
  } else if (kind == 1 && low == Dims(low.size(), 0) && high == dataset.extent) {
    selection.all = true;
    each_place(low, high,
               [&](const Dims& at) { selection.elements.push_back(dataset.index_of(at)); });
  } else if (kind == 2) {
    select_points(random, dataset, low, high, selection);
  } else {
    select_boxes(random, dataset, low, high, selection);
  }
  if (boxes) return selection;
  if (!selection.all) selection.step = 1 + random.below(2);
  const hsize_t length = selection.length();
  const hsize_t count = selection.elements.size();
  const hsize_t start = 0;
  const hsize_t step = selection.step;
  selection.memory = space_of({length});
  if (count == 0) {
    CHECK(H5Sselect_none(selection.memory.get()));
  } else {
    CHECK(H5Sselect_hyperslab(selection.memory.get(), H5S_SELECT_SET, &start, &step, &count,
                              nullptr));
  }
  return selection;
}

class Program {
 public:
  Program(std::string path, std::uint64_t from, const std::vector<const char*>& options);
  /// True if it finds all values.
  bool run();

 private:
  enum class Call { one, many, boxes };
  using Values = std::vector<int>;
  struct Access {
    bool writes = false;
    bool together = false;  ///< by all ranks
    int who = 0;            ///< if not
    Call call = Call::one;
    bool same_values = false;  ///< whichever rank writes an element
    std::vector<std::size_t> datasets;
    std::vector<std::vector<Selection>> selections;  ///< of each dataset, those of all ranks

    bool by(int r) const { return together || r == who; }
  };

  void make_datasets();
  void step();
  void access_elements(bool writes, bool together);
  std::vector<Selection> selections_in(const Dataset& dataset, bool apart, bool boxes);
  template <class Visit>
  void each_element(const Access& access, Visit visit);
  bool needs_barrier(const Access& access);
  void transfer(const Access& access);
  void note(const Access& access);
  int new_value(const Access& access, std::size_t element, int who) const;
  void compare(const Dataset& dataset, const Selection& selection, const Values& found,
               bool together, const char* call);
  void barrier();
  void all_is_seen();
  void close();
  void reopen_file();
  void change_handles();
  void move();
  void grow();
  void check_file();
  Dataset& any_dataset() { return datasets_[random_.below(datasets_.size())]; }
  hid_t any_file() { return files_[random_.below(files_.size())].get(); }
  hid_t any_handle(const Dataset& dataset) {
    return dataset.handles[random_.below(dataset.handles.size())].get();
  }

  std::string path_;
  Random random_;
  Id access_;
  Id together_;
  std::vector<Id> files_;
  std::vector<Dataset> datasets_;
  /// HDF5 2.2.0 itself moves filtered chunks right only if all ranks do it together and without
  /// conversion: it refuses other writes, and other reads bring what its cache of chunks held
  /// before. It hangs where ranks read together what was never written and one selects nothing.
  bool native_ = true;
  bool is_strict_ = false;
  bool has_filters_ = true;     ///< a log takes none
  bool were_together_ = false;  ///< in a call that may go on elsewhere, since the last barrier
  bool good_ = true;
};

Program::Program(std::string path, std::uint64_t from, const std::vector<const char*>& options)
    : path_(std::move(path)), random_(from), native_(options.empty()) {
  access_ = {CHECK(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose};
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  // ROMIO would rewrite the elements between the pieces of a request, which others may write.
  MPI_Info_set(info, "romio_ds_write", "disable");
  CHECK(H5Pset_fapl_mpio(access_.get(), MPI_COMM_WORLD, info));
  MPI_Info_free(&info);
  // A handle of the file may be closed before what was opened through it.
  CHECK(H5Pset_fclose_degree(access_.get(), H5F_CLOSE_WEAK));
  if (!native_) {
    const auto* const chosen = options[random_.below(options.size())];
    has_filters_ = std::strstr(chosen, "layout=canonical") != nullptr;
    is_strict_ = std::strstr(chosen, "visibility=strict") != nullptr;
    CHECK(slablog_set(access_.get(), chosen));
    show("%s", chosen);
  }
  together_ = {CHECK(H5Pcreate(H5P_DATASET_XFER)), H5Pclose};
  CHECK(H5Pset_dxpl_mpio(together_.get(), H5FD_MPIO_COLLECTIVE));
}

void Program::make_datasets() {
  const auto n = 1 + random_.below(3);
  for (std::size_t i = 0; i < n; ++i) {
    Dataset dataset;
    dataset.name = "d" + std::to_string(i);
    const auto dimensions = 1 + random_.below(3);
    const hsize_t longest = dimensions == 1 ? 60 : dimensions == 2 ? 14 : 7;
    for (std::size_t d = 0; d < dimensions; ++d)
      dataset.extent.push_back(1 + random_.below(longest));
    const auto creation = Id(CHECK(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
    const auto kind = random_.below(has_filters_ ? 3 : 2);
    dataset.grows = kind > 0;
    dataset.filtered = kind == 2;
    dataset.most = dataset.grows ? Dims(dimensions, longest) : dataset.extent;
    if (dataset.grows) {
      Dims chunk;
      for (std::size_t d = 0; d < dimensions; ++d)
        chunk.push_back(2 + random_.below(dimensions == 1 ? 9 : 3));
      CHECK(H5Pset_chunk(creation.get(), static_cast<int>(dimensions), chunk.data()));
    }
    if (dataset.filtered) {
      if (random_.once_in(2)) CHECK(H5Pset_shuffle(creation.get()));
      CHECK(H5Pset_deflate(creation.get(), 1));
    }
    if (random_.once_in(4)) CHECK(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY));
    dataset.fill = static_cast<int>(random_.below(3));
    CHECK(H5Pset_fill_value(creation.get(), H5T_NATIVE_INT, &dataset.fill));
    const Id space(CHECK(H5Screate_simple(static_cast<int>(dimensions), dataset.extent.data(),
                                          dataset.most.data())),
                   H5Sclose);
    dataset.type = random_.type();
    dataset.handles.emplace_back(
        CHECK(H5Dcreate2(files_[0].get(), dataset.name.c_str(), dataset.type, space.get(),
                         H5P_DEFAULT, creation.get(), H5P_DEFAULT)),
        H5Dclose);
    std::size_t elements = 1;
    for (const auto length : dataset.most) elements *= length;
    Element element;
    element.value = dataset.fill;
    dataset.elements.assign(elements, element);
    std::string extent;
    for (const auto length : dataset.extent) extent += " " + std::to_string(length);
    show("%s of%s, %s, elements of %zu bytes", dataset.name.c_str(), extent.c_str(),
         dataset.filtered ? "deflate"
         : dataset.grows  ? "chunks"
                          : "contiguous",
         H5Tget_size(dataset.type));
    datasets_.push_back(std::move(dataset));
  }
  were_together_ = true;  // space is filled with what nobody has written yet
}

/// Of all ranks. `apart`: no two ranks select one element.
std::vector<Selection> Program::selections_in(const Dataset& dataset, bool apart, bool boxes) {
  const auto d = random_.below(dataset.extent.size());
  std::vector<std::size_t> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_.shuffle(order);
  std::vector<Selection> selections;
  for (const auto place : order) {
    Dims low(dataset.extent.size(), 0);
    Dims high = dataset.extent;
    if (apart) {
      low[d] = dataset.extent[d] * place / order.size();
      high[d] = dataset.extent[d] * (place + 1) / order.size();
    }
    selections.push_back(random_selection(random_, dataset, low, high, boxes));
  }
  return selections;
}

/// Calls visit(dataset, element of it, rank) for all that is accessed.
template <class Visit>
void Program::each_element(const Access& access, Visit visit) {
  for (std::size_t i = 0; i < access.datasets.size(); ++i) {
    for (int r = 0; r < ranks; ++r) {
      if (!access.by(r)) continue;
      for (const auto element : access.selections[i][static_cast<std::size_t>(r)].elements)
        visit(datasets_[access.datasets[i]], element, r);
    }
  }
}

bool Program::needs_barrier(const Access& access) {
  bool needed = !access.together && were_together_;
  each_element(access, [&](const Dataset& dataset, std::size_t at, int r) {
    const auto& element = dataset.elements[at];
    const auto others = element.writers | (access.writes ? element.readers : 0U);
    needed = needed || (others & ~(1U << r)) != 0;
  });
  return needed;
}

int Program::new_value(const Access& access, std::size_t element, int who) const {
  const auto any = static_cast<std::size_t>(operation) * 997 + element * 31 +
                   (access.same_values ? 0 : static_cast<std::size_t>(who + 1) * 7919);
  return static_cast<int>(1 + any % 32000);  // which each type holds
}

void Program::compare(const Dataset& dataset, const Selection& selection, const Values& found,
                      bool together, const char* call) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& element = dataset.elements[selection.elements[i]];
    const bool known = together || (element.seen_by >> rank & 1U) != 0;
    if (!known || found[i] == element.value) continue;
    if (good_) {
      std::fprintf(
          stderr,
          "seed %ju, operation %d, rank %d: %s of %s brings %d for element %zu, which holds "
          "%d since operation %d\n",
          static_cast<std::uintmax_t>(seed), operation, rank, call, dataset.name.c_str(), found[i],
          selection.elements[i], element.value, element.written_in);
    }
    good_ = false;
  }
}

/// This rank's part.
void Program::transfer(const Access& access) {
  const auto n = access.datasets.size();
  std::vector<std::vector<char>> buffers;
  std::vector<hid_t> handles;
  std::vector<hid_t> types;
  std::vector<hid_t> memory;
  std::vector<hid_t> file;
  std::vector<void*> data;
  const auto mine = [&](std::size_t i) -> const Selection& {
    return access.selections[i][static_cast<std::size_t>(rank)];
  };
  for (std::size_t i = 0; i < n; ++i) {
    Values values;
    for (const auto element : mine(i).elements)
      values.push_back(access.writes ? new_value(access, element, rank) : -1);
    buffers.push_back(mine(i).buffer(values));
    handles.push_back(mine(i).handle);
    types.push_back(mine(i).type);
    memory.push_back(mine(i).all ? static_cast<hid_t>(H5S_ALL) : mine(i).memory.get());
    file.push_back(mine(i).all ? static_cast<hid_t>(H5S_ALL) : mine(i).file.get());
  }
  for (auto& buffer : buffers) data.push_back(buffer.data());
  const auto list = access.together ? together_.get() : static_cast<hid_t>(H5P_DEFAULT);
  switch (access.call) {
    case Call::one:
      CHECK(access.writes ? H5Dwrite(handles[0], types[0], memory[0], file[0], list, data[0])
                          : H5Dread(handles[0], types[0], memory[0], file[0], list, data[0]));
      break;
    case Call::many: {
      std::vector<const void*> sources(data.begin(), data.end());
      CHECK(access.writes ? H5Dwrite_multi(n, handles.data(), types.data(), memory.data(),
                                           file.data(), list, sources.data())
                          : H5Dread_multi(n, handles.data(), types.data(), memory.data(),
                                          file.data(), list, data.data()));
      break;
    }
    case Call::boxes: {
      std::vector<hsize_t*> starts;
      std::vector<hsize_t*> counts;
      for (const auto& start : mine(0).starts) starts.push_back(const_cast<hsize_t*>(start.data()));
      for (const auto& count : mine(0).counts) counts.push_back(const_cast<hsize_t*>(count.data()));
      CHECK((access.writes ? H5Dwrite_n : H5Dread_n)(handles[0], types[0],
                                                     static_cast<int>(starts.size()), starts.data(),
                                                     counts.data(), list, data[0]));
    }
  }
  if (access.writes) return;
  for (std::size_t i = 0; i < n; ++i) {
    compare(datasets_[access.datasets[i]], mine(i), mine(i).values(buffers[i]), access.together,
            access.together ? "a collective read" : "an independent read");
  }
}

/// Updates the elements after the call.
void Program::note(const Access& access) {
  each_element(access, [&](Dataset& dataset, std::size_t at, int r) {
    auto& element = dataset.elements[at];
    const auto self = 1U << r;
    if (!access.writes) {
      element.readers |= self;
      return;
    }
    const bool is_seen =
        native_ || (is_strict_ && (access.together || (has_filters_ && !dataset.filtered)));
    element.seen_by = is_seen                           ? ~0U
                      : element.written_in == operation ? element.seen_by | self
                                                        : self;
    element.value = new_value(access, at, r);
    dataset.written = true;
    element.written_in = operation;
    if (!access.together) element.writers |= self;
  });
}

void Program::access_elements(bool writes, bool together) {
  Access access;
  access.writes = writes;
  access.together = together;
  access.who = static_cast<int>(random_.below(static_cast<std::size_t>(ranks)));
  access.call = std::vector{Call::one, Call::one, Call::many, Call::boxes}[random_.below(4)];
  access.same_values = random_.once_in(4);
  for (std::size_t i = 0; i < datasets_.size(); ++i) {
    const auto& dataset = datasets_[i];
    if (!dataset.filtered || (together ? writes || dataset.written : !native_))
      access.datasets.push_back(i);
  }
  if (access.datasets.empty()) return;
  random_.shuffle(access.datasets);
  access.datasets.resize(access.call == Call::many ? 1 + random_.below(access.datasets.size()) : 1);
  for (const auto i : access.datasets) {
    const bool apart = writes && together && !access.same_values;
    access.selections.push_back(selections_in(datasets_[i], apart, access.call == Call::boxes));
  }
  if (native_ && std::any_of(access.datasets.begin(), access.datasets.end(),
                             [&](std::size_t i) { return datasets_[i].filtered; })) {
    for (std::size_t i = 0; i < access.datasets.size(); ++i) {
      for (auto& selection : access.selections[i])
        selection.type = datasets_[access.datasets[i]].type;
    }
  }
  if (needs_barrier(access) || (together && random_.once_in(2))) barrier();
  if (shows) {
    std::string names;
    for (const auto i : access.datasets) names += " " + datasets_[i].name;
    show("%s %s%s of%s%s", together ? "all" : std::to_string(access.who).c_str(),
         writes ? "write" : "read",
         access.call == Call::one    ? ""
         : access.call == Call::many ? "_multi"
                                     : "_n",
         names.c_str(), writes && access.same_values ? ", the same values" : "");
    for (std::size_t i = 0; i < access.datasets.size(); ++i) {
      for (int r = 0; r < ranks; ++r) {
        if (!access.by(r)) continue;
        std::string elements;
        for (const auto element : access.selections[i][static_cast<std::size_t>(r)].elements)
          elements += " " + std::to_string(element);
        show("  %d %s:%s", r, datasets_[access.datasets[i]].name.c_str(), elements.c_str());
      }
    }
  }
  if (access.by(rank)) transfer(access);
  note(access);
  were_together_ = were_together_ || (together && writes);
}

void Program::barrier() {
  show("barrier");
  MPI_Barrier(MPI_COMM_WORLD);
  were_together_ = false;
  for (auto& dataset : datasets_) {
    for (auto& element : dataset.elements) element.writers = element.readers = 0;
  }
}

void Program::all_is_seen() {
  for (auto& dataset : datasets_) {
    for (auto& element : dataset.elements) {
      element.seen_by = ~0U;
    }
  }
  were_together_ = true;
}

void Program::close() {
  for (auto& dataset : datasets_) dataset.handles.clear();
  files_.clear();
  all_is_seen();
}

void Program::reopen_file() {
  show("close and open the file");
  close();
  files_.emplace_back(CHECK(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_.get())), H5Fclose);
  for (auto& dataset : datasets_) {
    dataset.handles.emplace_back(
        CHECK(H5Dopen2(files_[0].get(), dataset.name.c_str(), H5P_DEFAULT)), H5Dclose);
  }
}

void Program::change_handles() {
  auto& dataset = any_dataset();
  auto& handles = dataset.handles;
  const auto open = [&] {
    handles.emplace_back(CHECK(H5Dopen2(any_file(), dataset.name.c_str(), H5P_DEFAULT)), H5Dclose);
  };
  switch (random_.below(4)) {
    case 0:
      show("reopen the file");
      files_.emplace_back(CHECK(H5Freopen(any_file())), H5Fclose);
      break;
    case 1:
      show("open %s", dataset.name.c_str());
      open();
      break;
    case 2:
      show("close one handle of %s%s", dataset.name.c_str(),
           handles.size() == 1 ? " and open it" : "");
      handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(random_.below(handles.size())));
      if (handles.empty()) open();
      break;
    default:
      if (files_.size() == 1) break;
      show("close one handle of the file");
      files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(random_.below(files_.size())));
  }
}

void Program::move() {
  auto& dataset = any_dataset();
  const auto name = (random_.once_in(2) ? "m" : "g/m") + std::to_string(operation);
  show("move %s to %s", dataset.name.c_str(), name.c_str());
  const auto from = any_file();
  CHECK(H5Lmove(from, dataset.name.c_str(), from, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  dataset.name = name;
}

void Program::grow() {
  auto& dataset = any_dataset();
  if (!dataset.grows) return;
  const auto d = random_.below(dataset.extent.size());
  auto& length = dataset.extent[d];
  length += random_.below(dataset.most[d] - length + 1);
  show("dimension %zu of %s gets %ju long", d, dataset.name.c_str(),
       static_cast<std::uintmax_t>(length));
  CHECK(H5Dset_extent(any_handle(dataset), dataset.extent.data()));
  were_together_ = true;
}

void Program::step() {
  switch (random_.below(24)) {
    case 0:
      show("flush");
      CHECK(H5Fflush(any_file(), H5F_SCOPE_GLOBAL));
      all_is_seen();
      break;
    case 1:
      barrier();
      break;
    case 2:
      reopen_file();
      break;
    case 3:
    case 4:
      change_handles();
      break;
    case 5:
      move();
      break;
    case 6:
      grow();
      break;
    case 7:
    case 8:
    case 9:
    case 10:
      access_elements(false, true);
      break;
    case 11:
    case 12:
    case 13:
      access_elements(false, false);
      break;
    case 14:
    case 15:
    case 16:
    case 17:
      access_elements(true, false);
      break;
    default:
      access_elements(true, true);
  }
}

/// Reads the file without a connector, as other programs do.
void Program::check_file() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const Id access(CHECK(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
    CHECK(H5Pset_vol(access.get(), H5VL_NATIVE, nullptr));
    const Id file(CHECK(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get())), H5Fclose);
    for (const auto& dataset : datasets_) {
      const Id handle(CHECK(H5Dopen2(file.get(), dataset.name.c_str(), H5P_DEFAULT)), H5Dclose);
      Selection whole;
      each_place(Dims(dataset.extent.size(), 0), dataset.extent,
                 [&](const Dims& at) { whole.elements.push_back(dataset.index_of(at)); });
      auto bytes = whole.buffer({});
      CHECK(H5Dread(handle.get(), whole.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
      compare(dataset, whole, whole.values(bytes), true, "the closed file");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) ::unlink(path_.c_str());
}

bool Program::run() {
  operation = 0;
  files_.emplace_back(CHECK(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_.get())),
                      H5Fclose);
  Id(CHECK(H5Gcreate2(files_[0].get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)), H5Gclose);
  make_datasets();
  const auto steps = static_cast<int>(5 + random_.below(40));
  while (++operation <= steps) step();
  close();
  check_file();
  int good = good_ ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return good != 0;
}

void say_that_it_hangs(int) {
  [[maybe_unused]] const auto said = ::write(STDERR_FILENO, hangs, std::strlen(hangs));
  ::_exit(4);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) {
    if (rank == 0) std::fputs("hdf5_random <file> <seed> <programs> [<options>...]\n", stderr);
    MPI_Finalize();
    return 2;
  }
  const auto first = std::strtoull(argv[2], nullptr, 10);
  const auto programs = std::strtoull(argv[3], nullptr, 10);
  shows = std::getenv("HDF5_RANDOM_SHOWS") != nullptr;
  ::signal(SIGALRM, say_that_it_hangs);
  std::uint64_t bad = 0;
  for (seed = first; seed < first + programs; ++seed) {
    std::snprintf(hangs, sizeof hangs, "seed %ju hangs\n", static_cast<std::uintmax_t>(seed));
    ::alarm(60);
    if (!Program(argv[1], seed, {argv + 4, argv + argc}).run()) ++bad;
  }
  ::alarm(0);
  if (rank == 0) {
    std::printf("%ju of %ju programs find other values\n", static_cast<std::uintmax_t>(bad),
                static_cast<std::uintmax_t>(programs));
  }
  MPI_Finalize();
  return bad == 0 ? 0 : 1;
}
