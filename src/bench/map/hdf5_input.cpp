#include <algorithm>
#include <array>
#include <hdf5_hl.h>

#include <fmt/format.h>

#include "bench/map/map_input.hpp"
#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/attribute.hpp"
#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/file.hpp"
#include "storage/posix/file.hpp"

namespace slabmark {

namespace {

/// E3SM-IO keeps a dimension in an attribute of this name with the dimension's own at its end.
constexpr char dimension_prefix[] = "-DIM_";

class Hdf5Input final : public MapInput {
 public:
  Hdf5Input(const Comm& comm, const std::string& path) : MapInput(comm, path) {
    ask([&] {
      file_bytes_ = posix::File::open_input(path, "decomposition file").size();
      file_ = hdf5::File::open_serial(path);
      is_netcdf_ = !file_.has_attribute(dimension_prefix + std::string("num_decomp"));
    });
  }

  std::string format() const override { return is_netcdf_ ? "NetCDF-4" : "HDF5"; }

  bool has_variable(const std::string& name) const override {
    bool has = false;
    ask([&] { has = file_.has(name); });
    return has;
  }

  void require_elements(const Variable& variable, std::uint64_t elements) const override {
    ask([&] {
      const hdf5::Dataset dataset = open(variable);
      if (elements == 0) return;
      switch (H5Pget_layout(dataset.creation().get())) {
        case H5D_COMPACT:
          return;
        case H5D_CONTIGUOUS:
          return require_contiguous(dataset, variable, elements);
        case H5D_CHUNKED:
          return require_chunks(dataset, variable);
        default:
          fail(fmt::format("the elements of the variable {} are not in this file", variable.name));
      }
    });
  }

 protected:
  Variable find_variable(const std::string& name) const override {
    Variable found{name, 0, {}};
    ask([&] {
      const hdf5::Dataset dataset = file_.open_dataset(name, ElementType::int64);
      found.extent = dataset.space().extent();
      found.bytes_each = bytes_of_whole_number(dataset);
    });
    return found;
  }

  std::optional<std::uint64_t> find_dimension(const std::string& name) const override {
    if (const auto values = find_attribute(dimension_prefix + name)) {
      if (values->empty() || values->front() < 0) {
        fail(fmt::format("the dimension {} has no length", name));
      }
      return static_cast<std::uint64_t>(values->front());
    }
    std::optional<std::uint64_t> length;
    ask([&] {
      if (!file_.has(name)) return;
      const hdf5::Dataset dataset = file_.open_dataset(name, ElementType::float32);
      const Extent extent = dataset.space().extent();
      if (extent.size() == 1 && H5DSis_scale(dataset.get()) > 0) length = extent.front();
    });
    return length;
  }

  std::optional<std::vector<long long>> find_attribute(const std::string& name) const override {
    std::optional<std::vector<long long>> values;
    ask([&] {
      if (file_.has_attribute(name)) {
        values = hdf5::read_whole_numbers(file_.get(), name, path());
      }
    });
    return values;
  }

  void read_box(const Variable& variable, const Extent& start, const Extent& count,
                std::span<long long> values) const override {
    if (values.empty()) return;
    as_input_error([&] {
      hdf5::Dataset dataset = open(variable);
      hdf5::Space selected = dataset.space();
      selected.select(make_box(start, count));
      dataset.read(hdf5::Space(Extent{values.size()}), selected,
                   hdf5::TransferList(hdf5::TransferList::Mode::serial), values.data());
    });
  }

 private:
  /// A file that HDF5 cannot read when it is opened for reading is damaged.
  template <class Work>
  void as_input_error(const Work& work) const {
    try {
      work();
    } catch (const IoError& error) {
      throw InputError(
          fmt::format("\"{}\" is a damaged or truncated HDF5 file: {} Copy or make it "
                      "again.",
                      path(), error.what()));
    }
  }

  /// Each rank asks its own copy of the header, and a fault that only one of them meets is known to
  /// all.
  template <class Work>
  void ask(const Work& work) const {
    agreed(comm(), [&] { as_input_error(work); });
  }

  hdf5::Dataset open(const Variable& variable) const {
    return file_.open_dataset(variable.name, ElementType::int64);
  }

  std::uint64_t bytes_of_whole_number(const hdf5::Dataset& dataset) const {
    const auto type =
        hdf5::own(H5Dget_type(dataset.get()), H5Tclose, "H5Dget_type", dataset.path());
    if (H5Tget_class(type.get()) != H5T_INTEGER || H5Tget_sign(type.get()) != H5T_SGN_2) return 0;
    const std::size_t bytes = H5Tget_size(type.get());
    return bytes == 4 || bytes == 8 ? bytes : 0;
  }

  void require_contiguous(const hdf5::Dataset& dataset, const Variable& variable,
                          std::uint64_t elements) const {
    if (dataset.storage_bytes() == 0) fail_unwritten(variable);
    const std::uint64_t begin = dataset.address();
    if (begin <= file_bytes_ && elements <= (file_bytes_ - begin) / variable.bytes_each) return;
    fail_truncated(variable, elements, begin, file_bytes_);
  }

  /// HDF5 reads the fill value where a chunk was never written, whatever extent is claimed.
  void require_chunks(const hdf5::Dataset& dataset, const Variable& variable) const {
    std::array<hsize_t, H5S_MAX_RANK> lengths;
    const int rank =
        H5Pget_chunk(dataset.creation().get(), static_cast<int>(lengths.size()), lengths.data());
    hdf5::check(rank, "H5Pget_chunk", path());
    Extent chunks;
    for (std::size_t i = 0; i < variable.extent.size(); ++i) {
      chunks.push_back((variable.extent[i] - 1) / lengths.at(i) + 1);
    }
    hsize_t written = 0;
    hdf5::check(H5Dget_num_chunks(dataset.get(), H5S_ALL, &written), "H5Dget_num_chunks", path());
    if (written != element_count(chunks)) fail_unwritten(variable);
  }

  [[noreturn]] void fail_unwritten(const Variable& variable) const {
    fail(fmt::format("the variable {} was never written, or in part", variable.name));
  }

  std::uint64_t file_bytes_ = 0;
  hdf5::File file_;
  bool is_netcdf_ = true;
};

}  // namespace

std::unique_ptr<MapInput> open_hdf5_input(const Comm& comm, const std::string& path) {
  return std::make_unique<Hdf5Input>(comm, path);
}

}  // namespace slabmark
