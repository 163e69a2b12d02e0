#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/method/hdf5/options.hpp"
#include "bench/method/method.hpp"
#include "bench/method/shared/data_sieving.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

using Hdf5Make = std::unique_ptr<Method> (*)(const MethodContext&, Hdf5Options);
using Hdf5Reason = std::optional<std::string>;

/// In what a method differs from the other HDF5 methods, but for its calls.
struct Hdf5Traits {
  OptionTable<Hdf5Options> options = hdf5_options();
  void (*force)(Hdf5Options&) = nullptr;  ///< sets what the user cannot choose
  /// Features of HDF5 that it lacks.
  Hdf5Reason (*unmet)(const Pattern&, const Hdf5Options&) = nullptr;
};

MethodInfo hdf5_info(std::string name, std::string summary, Hdf5Make make, Hdf5Traits traits = {});

/// Why HDF5 cannot hold the pattern, or not in the way that the options ask for.
Hdf5Reason beyond_hdf5(const Pattern& pattern, const Hdf5Options& options);

/// An object of the method hdf5-slab, for methods that differ in the file, not in the calls.
std::unique_ptr<Method> make_hdf5_slab(const MethodContext& context, Hdf5Options options);

template <class Class>
std::unique_ptr<Method> make_hdf5(const MethodContext& context, Hdf5Options options) {
  return std::make_unique<Class>(context, std::move(options));
}

/// Extent of a dataset with so many records, time in front if it has time.
Extent with_records(const Dataset& dataset, std::uint64_t records);

/// The common part of HDF5 methods: the file with one dataset for each of the pattern, time as an
/// unlimited chunked dimension, and the report on the library.
class Hdf5Method : public Method {
 public:
  Hdf5Method(const MethodContext& context, Hdf5Options options);

  void choose_hints() override;
  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void post(std::uint64_t round, std::span<std::byte* const> buffers) override;
  void flush() override;
  void sync() override;
  void inspect() override;
  void close() override;
  Json effective() const override;

 protected:
  bool fixed_time() const { return options_.fixed_time; }
  bool collective() const { return options_.collective; }

  /// Calls that a rank with data makes for a transfer. For collective ones the others take part
  /// with empty selections.
  virtual std::uint64_t calls_for(const Transfer& transfer) const {
    return transfer.file->element_count() > 0 ? 1 : 0;
  }

  /// File space of a dataset, large enough for `time`. When writing, collective: the dataset grows
  /// where it must.
  hdf5::Space& file_space(std::size_t dataset, std::uint64_t time);

  /// The work of post(), inside which the seconds in HDF5's own calls are added up as a span of
  /// their name.
  virtual void move_round(std::uint64_t round, std::span<std::byte* const> buffers) = 0;

  /// The call that moves data, for the record: by default one dataset's.
  virtual std::string call_name() const { return writing() ? "H5Dwrite" : "H5Dread"; }

  /// One H5Dwrite or H5Dread, counted with what HDF5 made of it.
  void move(std::size_t dataset, const hdf5::Space& memory, const hdf5::Space& file, void* data);

  struct Part {
    std::size_t dataset;
    const hdf5::Space* memory;
    const hdf5::Space* file;
    void* data;
  };

  /// One H5Dwrite_n or H5Dread_n of boxes, whose elements lie in `data` one box after another.
  void move_boxes(std::size_t dataset, std::span<hsize_t* const> starts,
                  std::span<hsize_t* const> counts, void* data);

  /// One H5Dwrite_multi or H5Dread_multi: each dataset at most once.
  void move(std::span<const Part> parts);

 private:
  struct OpenDataset {
    hdf5::Dataset dataset;
    hdf5::Space space;
    std::uint64_t records;
  };

  void precreate(const std::string& path);
  hdf5::Dataset create_dataset(hdf5::File& file, const Dataset& dataset) const;
  void open_dataset(const Dataset& dataset);

  template <class Call>
  void timed(const Call& call);

  Hdf5Options options_;
  std::uint64_t all_records_;  ///< asking each time for each dataset would count all of them
  hdf5::TransferList transfer_;
  hdf5::File file_;  // before datasets_, which must be closed first
  std::vector<OpenDataset> datasets_;
  DataSieving sieving_;            // HDF5 opens the file
  double seconds_in_calls_ = 0.0;  ///< in the round being posted
  std::map<hdf5::TransferOutcome, std::uint64_t> outcomes_;
  Json at_close_;
};

}  // namespace slabmark
