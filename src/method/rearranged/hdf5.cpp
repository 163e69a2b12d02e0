#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/hdf5/method.hpp"
#include "method/raw/raw_layout.hpp"
#include "method/rearranged/method.hpp"

namespace slabmark {

namespace {

// Enough for the metadata of all datasets to lie in one block, before the data: HDF5 2.2 takes
// somewhat less for a dataset with its entry in the group, and for an attribute.
std::uint64_t metadata_block(const Pattern& pattern) {
  std::uint64_t attributes = pattern.attributes.size();
  for (const Dataset& dataset : pattern.datasets) attributes += dataset.attributes.size();
  return 2048 + 512 * pattern.datasets.size() + 128 * attributes;
}

/// A step is one chunk whatever the pattern says: only so does it lie in one piece.
Extent step_chunk(Dataset dataset) {
  dataset.chunk.reset();
  return Hdf5Chunks().of(dataset);
}

/// The only one of the options of HDF5 methods that is of use here.
OptionTable<Hdf5Options> libver_option() { return hdf5_options().only({"hdf5.libver"}); }

/// An HDF5 file whose datasets get their space when they are created. The numbers are, for each
/// dataset, where its offsets begin among the numbers, and then the offsets: one for each record,
/// or one.
class Hdf5Header : public CanonicalHeader {
 public:
  Hdf5Header(const Pattern& pattern, const Settings& settings)
      : pattern_(pattern), access_(completed(libver_option().read(settings))) {
    access_.metadata_block = metadata_block(pattern);
    access_.replace = true;  // MPI-IO has made the file
  }

  void create(const std::string& path, const mpiio::Hints& hints) override {
    // MPI-IO makes the file, for striping hints hold from then on; HDF5 goes on without it, since
    // defining is slower through its parallel driver even on one rank.
    mpiio::File::create(MPI_COMM_SELF, path, hints).close();
    file_ = hdf5::File::create_serial(path, access_);
  }

  std::vector<std::uint64_t> define() override {
    const std::uint64_t records = record_count(pattern_);
    std::vector<hdf5::Dataset> datasets;
    for (const Dataset& dataset : pattern_.datasets) {
      hdf5::CreationSettings creation;
      creation.alloc = H5D_ALLOC_TIME_EARLY;
      creation.chunk = step_chunk(dataset);
      const hdf5::Space space(with_records(dataset, records), dataset.has_time);
      datasets.push_back(file_.create_dataset(dataset.name, dataset.type, space, creation));
      for (const auto& [name, text] : dataset.attributes) {
        datasets.back().put_attribute(name, text);
      }
    }
    for (const auto& [name, text] : pattern_.attributes) file_.put_attribute(name, text);
    return numbers_and_close(datasets);
  }

  std::vector<std::uint64_t> read(const std::string& path) override {
    file_ = hdf5::File::open_serial(path);
    std::vector<hdf5::Dataset> datasets;
    for (const Dataset& dataset : pattern_.datasets) {
      datasets.push_back(file_.open_dataset(dataset.name, dataset.type));
      if (datasets.back().is_native()) continue;
      throw IoError(fmt::format(
          "Dataset '{}' of '{}' does not hold {} as this machine does, and bytes that are read "
          "without HDF5 are not converted; read it with another HDF5 method.",
          dataset.name, path, name_of(dataset.type)));
    }
    return numbers_and_close(datasets);
  }

  std::uint64_t offset(std::span<const std::uint64_t> numbers, std::size_t dataset,
                       std::uint64_t time) const override {
    return numbers[numbers[dataset] + (pattern_.datasets[dataset].has_time ? time : 0)];
  }

  std::string library() const override { return "HDF5 " + hdf5::library_version(); }

 private:
  std::vector<std::uint64_t> numbers_and_close(std::vector<hdf5::Dataset>& datasets) {
    std::vector<std::uint64_t> numbers(datasets.size());
    for (std::size_t d = 0; d < datasets.size(); ++d) {
      numbers[d] = numbers.size();
      if (element_count(pattern_.datasets[d].extent()) == 0) continue;
      const auto offsets = datasets[d].step_offsets();
      numbers.insert(numbers.end(), offsets.begin(), offsets.end());
    }
    datasets.clear();
    file_.close();
    return numbers;
  }

  const Pattern& pattern_;
  hdf5::AccessSettings access_;
  hdf5::File file_;
};

Hdf5Reason step_too_large(const Pattern& pattern, const Settings&) {
  for (const Dataset& dataset : pattern.datasets) {
    const auto step = element_count(dataset.extent());
    if (!dataset.has_time || step == 0 || element_count(step_chunk(dataset)) == step) continue;
    return fmt::format("a step of dataset {} is more than the 4 GiB that one chunk holds",
                       dataset.name);
  }
  return beyond_hdf5(pattern, {});
}

}  // namespace

MethodInfo hdf5_rearranged_method() {
  std::vector<OptionInfo> options = rearranged_options("hdf5");
  for (const OptionInfo& libver : std::vector<OptionInfo>(libver_option())) {
    options.push_back(libver);
  }
  return {.name = "hdf5-rearranged",
          .summary = "data put together by a plan, datasets by HDF5, large writes",
          .format = FileFormat::hdf5,
          .options = std::move(options),
          .supports = step_too_large,
          .make = [](const MethodContext& context) -> std::unique_ptr<Method> {
            return std::make_unique<RearrangedMethod>(
                context, "hdf5", std::make_unique<Hdf5Header>(context.pattern, context.settings));
          }};
}

}  // namespace slabmark
