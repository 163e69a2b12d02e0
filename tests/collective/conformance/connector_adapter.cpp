// The HDF5 connector with layout=canonical, as a program loads it: a plugin, by its path.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "accel/hdf5_connector/api/slablog.h"
#include "collective/conformance/adapter.hpp"
#include "collective/conformance/hdf5.hpp"
#include "collective/conformance/mpi_info.hpp"
#include "core/base/error.hpp"
#include "storage/hdf5/element_type.hpp"
#include "storage/mpiio/implementation.hpp"

namespace slabmark::conformance {

namespace {

enum class Hdf5Calls { union_of_hyperslabs, many_hyperslabs };

/// A rank's part of a request in the order of the file, which is that of a selection.
struct InFileOrder {
  RunList runs;
  std::vector<std::size_t> places;  ///< in memory, by run

  explicit InFileOrder(const RunList& in_memory) {
    std::vector<std::size_t> order(in_memory.size()), at(in_memory.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 1; i < at.size(); ++i) at[i] = at[i - 1] + in_memory[i - 1].length;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return in_memory[i].offset; });
    for (const std::size_t i : order) {
      runs.push_back(in_memory[i]);
      places.push_back(at[i]);
    }
  }

  /// Calls visit(bytes in memory, bytes in the order of the file, how many).
  template <class Visit>
  void for_each(std::vector<std::byte>& memory, std::vector<std::byte>& sorted, std::size_t size,
                const Visit& visit) const {
    std::byte* next = sorted.data();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t bytes = runs[i].length * size;
      if (bytes > 0) visit(memory.data() + places[i] * size, next, bytes);
      next += bytes;
    }
  }
};

class ConnectorSession : public Session {
 public:
  ConnectorSession(int rank, const Program& program, const std::string& path, hid_t access,
                   Hdf5Calls calls, bool writes)
      : rank_(rank), program_(program), path_(path), calls_(calls), writes_(writes) {
    // HDF5 reads through MPI-IO, which may fail where several ranks read an element in one call.
    if (writes || !mpiio::fails_on_overlaps_in(".")) {
      H5Pset_dxpl_mpio(transfer_.get(), H5FD_MPIO_COLLECTIVE);
    }
    file_ = hdf5::own(writes ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access)
                             : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access),
                      H5Fclose, writes ? "H5Fcreate" : "H5Fopen", path);
    for (const Array& array : program.arrays) {
      datasets_.push_back(writes ? create_dataset(file_.get(), array, path)
                                 : open_dataset(file_.get(), array, path));
    }
    records_.assign(program.arrays.size(), 1);
  }

  // A rank whose call is refused takes part in what follows.
  void move(std::size_t step, Buffers& buffers) override {
    std::string failure;
    const auto note = [&](herr_t status, const char* call) {
      if (status < 0 && failure.empty()) failure = hdf5::failure_of(call, path_);
    };
    const Step& requests = program_.steps[step];
    for (std::size_t r = 0; r < requests.size(); ++r) {
      if (writes_) grow(requests[r]);
      note(calls_ == Hdf5Calls::many_hyperslabs ? move_hyperslabs(requests[r], buffers[r])
                                                : move_union(requests[r], buffers[r]),
           writes_ ? "H5Dwrite" : "H5Dread");
    }
    if (writes_) note(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush");
    if (!failure.empty()) throw IoError(failure);
  }

  void close() override {
    datasets_.clear();
    hdf5::check(H5Fclose(file_.release()), "H5Fclose", path_);
  }

 private:
  void grow(const Request& request) {
    const Array& array = program_.array_of(request);
    std::uint64_t& records = records_[request.array];
    if (request.record < records) return;
    records = request.record + 1;
    set_records(datasets_[request.array].get(), array, records, path_);
  }

  herr_t move_hyperslabs(const Request& request, std::vector<std::byte>& buffer) {
    Hyperslabs mine(program_.array_of(request), request.record,
                    request.runs[static_cast<std::size_t>(rank_)]);
    std::vector<hsize_t*> starts, counts;
    for (auto& one : mine.starts) starts.push_back(one.data());
    for (auto& one : mine.counts) counts.push_back(one.data());
    return (writes_ ? H5Dwrite_n : H5Dread_n)(datasets_[request.array].get(),
                                              hdf5::native_type(program_.array_of(request).type),
                                              static_cast<int>(starts.size()), starts.data(),
                                              counts.data(), transfer_.get(), buffer.data());
  }

  herr_t move_union(const Request& request, std::vector<std::byte>& buffer) {
    const ElementType type = program_.array_of(request).type;
    const hid_t dataset = datasets_[request.array].get(), native = hdf5::native_type(type);
    const InFileOrder mine(request.runs[static_cast<std::size_t>(rank_)]);
    const auto space = hdf5::own(H5Dget_space(dataset), H5Sclose, "H5Dget_space", path_);
    H5Sselect_none(space.get());
    const Hyperslabs slabs(program_.array_of(request), request.record, mine.runs);
    for (std::size_t i = 0; i < slabs.starts.size(); ++i) {
      H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, slabs.starts[i].data(), nullptr,
                          slabs.counts[i].data(), nullptr);
    }
    const hsize_t elements = buffer.size() / size_of(type);
    const auto memory =
        hdf5::own(H5Screate_simple(1, &elements, nullptr), H5Sclose, "H5Screate_simple", path_);
    std::vector<std::byte> sorted(buffer.size());
    if (writes_) {
      mine.for_each(
          buffer, sorted, size_of(type),
          [](std::byte* from, std::byte* to, std::size_t n) { std::memcpy(to, from, n); });
      return H5Dwrite(dataset, native, memory.get(), space.get(), transfer_.get(), sorted.data());
    }
    const herr_t status =
        H5Dread(dataset, native, memory.get(), space.get(), transfer_.get(), sorted.data());
    mine.for_each(buffer, sorted, size_of(type),
                  [](std::byte* to, std::byte* from, std::size_t n) { std::memcpy(to, from, n); });
    return status;
  }

  int rank_;
  const Program& program_;
  std::string path_;
  Hdf5Calls calls_;
  bool writes_;
  hdf5::Handle transfer_ = property_list(H5P_DATASET_XFER);
  hdf5::Handle file_;
  std::vector<hdf5::Handle> datasets_;
  std::vector<std::uint64_t> records_;  ///< by array
};

class ConnectorAdapter : public Adapter {
 public:
  ConnectorAdapter(const Comm& comm, const OpenOptions& options, Hdf5Calls calls)
      : rank_(comm.rank()), calls_(calls) {
    hdf5::silence();
    H5PLprepend(SLABMARK_CONNECTOR_FOLDER);
    const MpiInfo info(options.hints);
    hdf5::check(H5Pset_fapl_mpio(access_.get(), comm.get(), info.get()), "H5Pset_fapl_mpio", "");
    const char* const words =
        options.little_memory ? "layout=canonical;buffer=3000" : "layout=canonical";
    hdf5::check(slablog_set(access_.get(), words), "slablog_set", "");
  }

  std::string lacks(Ability ability) const override {
    if (ability == Ability::repeat_elements && calls_ == Hdf5Calls::union_of_hyperslabs)
      return "a selection of HDF5 holds an element once";
    return "";
  }

  std::unique_ptr<Session> create(const std::string& path, const Program& program) override {
    return start(path, program, true);
  }
  std::unique_ptr<Session> open(const std::string& path, const Program& program) override {
    return start(path, program, false);
  }
  std::unique_ptr<PlainFile> open_plainly(const std::string& path, const Program&) const override {
    return open_hdf5(path);
  }

 private:
  std::unique_ptr<Session> start(const std::string& path, const Program& program, bool writes) {
    return std::make_unique<ConnectorSession>(rank_, program, path, access_.get(), calls_, writes);
  }

  int rank_;
  Hdf5Calls calls_;
  hdf5::Handle access_ = property_list(H5P_FILE_ACCESS);
};

AdapterInfo connector_info(const char* name, Hdf5Calls calls) {
  return {name, [calls](const Comm& comm, const OpenOptions& options) {
            return std::make_unique<ConnectorAdapter>(comm, options, calls);
          }};
}

}  // namespace

std::vector<AdapterInfo> connector_adapters() {
  return {connector_info("connector", Hdf5Calls::union_of_hyperslabs),
          connector_info("connector-n", Hdf5Calls::many_hyperslabs)};
}

}  // namespace slabmark::conformance
